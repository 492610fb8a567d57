"""What a planned survey is worth beside a uniform guess, and whether what it proposes does as much as it says."""

import re

import numpy as np
import pytest

from entwined.learning import Codes
from entwined.survey.survey import Survey, plan_survey
from entwined.survey.worth import Worth

QUESTIONS, CHANCES, ROWS = 10, (0.6, 0.3, 0.1), 300


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(8)
    values = rng.choice(3, size=(2000, QUESTIONS), p=CHANCES)
    for column in range(1, QUESTIONS):
        same = rng.random(len(values)) < 0.3
        values[same, column] = values[same, column - 1]
    return Survey(Codes.of({f"q{number}": 3 for number in range(QUESTIONS)}, values), "pilot.csv")


@pytest.fixture(scope="module")
def drowned(survey):
    return Worth(plan_survey(survey, 0.05, "any", ROWS, at_the_door=True))


def test_the_guess_is_that_of_the_law_behind_the_pilot(drowned):
    off = ROWS * np.sqrt(QUESTIONS * sum((chance - 1 / 3) ** 2 for chance in CHANCES))
    assert drowned.guess == pytest.approx(off, rel=0.05)


def test_every_proposal_is_carried_out_and_is_as_good_as_it_says(drowned, survey):
    assert drowned.warning
    assert drowned.is_worse_than_a_guess
    assert len(drowned.unpublishable) == QUESTIONS
    tried = 0
    for one in drowned.proposals:
        options = dict(re.findall(r"--(\w+) ([\d.e-]+)", one.do))
        if not options:
            continue
        leakage = float(options.get("leakage", 0.05))
        found = Worth(plan_survey(survey, leakage, "any", ROWS, at_the_door=True, delta=options.get("delta")))
        assert found.error <= 1.02 * one.error
        assert found.error < found.guess or not one.enough
        assert not one.enough or not found.warning
        tried += 1
    assert tried >= 3
    assert drowned.proposals[0].enough
    assert drowned.document["best"] == drowned.proposals[0].words


def test_small_noise_is_not_warned_of_even_where_a_guess_is_right(survey):
    """A question whose answers are all as common is guessed exactly: that is no fault of small noise."""
    even = np.tile(np.arange(3), 600)[:, None]
    flat = Survey(Codes.of({"a": 3}, even), "pilot.csv")
    found = Worth(plan_survey(flat, 2.0, "any", 600, at_the_door=True))
    assert found.error > found.guess
    assert (found.warning, found.proposals) == ("", ())
    fine = Worth(plan_survey(survey, 8.0, "any", ROWS, at_the_door=True))
    assert (fine.warning, fine.document["helps"]) == ("", [])
    assert "uniform guess" in fine.beside
