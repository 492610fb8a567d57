"""Where a δ is allowed, a stream has whichever noise is more accurate at the same price, and says which."""

import json
import math

import numpy as np
import pytest

from entwined.cli.stream import options_words
from entwined.request.tasks_outlook import tasks_outlook
from entwined.series.horizon import planned
from support.streams import streaming_in

LOSS = "loss = 1\nhorizon = {}\n"
DELTA = "delta = 1e-6"


def mean_error(streaming):
    """The root mean squared error over all steps, each worked out on its own."""
    steps = range(1, streaming.stream.counter.horizon + 1)
    return math.sqrt(np.mean([streaming.stream.variance(streaming.promise, step) for step in steps]))


@pytest.mark.parametrize(
    ("horizon", "chosen", "other"),
    [(30, 5.34, 8.41), (365, 10.3, 11.75), (1000, 12.99, 13.11), (1500, 13.65, 13.92)],
)
def test_the_noise_with_the_smaller_error_is_chosen(tmp_path, horizon, chosen, other):
    """Below about 1,000 steps at ε = 1 that is the tree without a δ; the errors are recomputed step by step."""
    (tmp_path / "free").mkdir()
    (tmp_path / "told").mkdir()
    free = streaming_in(tmp_path / "free", LOSS.format(horizon), models="", head=DELTA)
    pure = chosen > other or horizon <= 1000
    told = streaming_in(
        tmp_path / "told", LOSS.format(horizon) + f"use_delta = {str(pure).lower()}", models="", head=DELTA
    )
    assert mean_error(free) == pytest.approx(chosen, rel=0.01)
    assert mean_error(told) == pytest.approx(other, rel=0.01)
    assert (free.promise.measure.delta is None, told.promise.measure.delta is None) == (pure, not pure)
    found = planned(free)["noise_options"]
    assert [one["rms_error"] for one in found] == pytest.approx([mean_error(free), mean_error(told)])
    assert planned(free)["nominal"] == pytest.approx(planned(told)["nominal"], abs=1e-9) == 1


def test_one_answer_a_step_goes_without_a_delta_where_that_is_better(tmp_path):
    free = streaming_in(tmp_path, 'loss = 1\nanswer = "each"', models="", head=DELTA)
    assert free.promise.measure.delta is None
    laplace, gaussian = (one["rms_error"] for one in planned(free)["noise_options"])
    assert 3 * laplace < gaussian


@pytest.mark.parametrize("about", ["loss = 1", LOSS.format(1_000_000)])
def test_any_horizon_is_answered_and_the_plan_says_why_one_noise_cannot_be_had(tmp_path, about):
    streaming = streaming_in(tmp_path, about, models="", head=DELTA)
    document = planned(streaming)
    assert "delta" not in document
    chosen, other = options_words(document["noise_options"], None)
    assert chosen.startswith("Chosen: noise without a δ, discrete Laplace noise through a tree")
    assert other.startswith("Noise with δ = 1e-06 cannot be had")
    assert "a tree" in other
    assert "tree" in document["says"]
    assert tasks_outlook(streaming.request).document["delta"] is None
    json.dumps(document, allow_nan=False)
