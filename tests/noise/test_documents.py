"""A law is a value with a document: it is read back as the same law, and nothing else is."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from entwined.errors import BadInput, BadNoise
from entwined.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialChoice,
    additive,
    law_from,
    noise_from,
)

KINDS = [DiscreteLaplace, DiscreteGaussian, ExponentialChoice]
NUMBERS = st.fractions(Fraction(1, 500), Fraction(1000), max_denominator=10**6)


@settings(max_examples=60)
@given(st.sampled_from(KINDS), NUMBERS)
def test_every_law_is_read_back_from_its_document(kind, number):
    law = kind(number)
    assert law_from(law.document) == law


def test_documents_are_plain_and_words_take_any_figures():
    law = DiscreteLaplace(Fraction(3, 2))
    assert law.document == {"law": "discrete Laplace", "scale": "3/2"}
    assert str(law) == "discrete Laplace of scale 3/2"
    assert law.words(lambda scale: f"{float(scale):.2f}") == "discrete Laplace of scale 1.50"
    assert ExponentialChoice(Fraction(2)).document == {"law": "exponential choice", "rate": "2/1"}


@pytest.mark.parametrize(
    "document",
    [
        None,
        "discrete Laplace of scale 3/2",
        {},
        {"law": "discrete Laplace"},
        {"law": "continuous Laplace", "scale": "3/2"},
        {"law": "discrete Laplace", "rate": "3/2"},
        {"law": "discrete Laplace", "scale": "3/2", "more": "1/1"},
        {"law": "discrete Laplace", "scale": 1.5},
        {"law": "discrete Laplace", "scale": "1.5"},
        {"law": "discrete Laplace", "scale": "6/4"},
        {"law": "discrete Laplace", "scale": "-3/2"},
        {"law": "discrete Laplace", "scale": "3/0"},
        {"law": "discrete Laplace", "scale": "1/3"},  # no float, so never drawn with
        {"law": "discrete Laplace", "scale": "1e999999999"},
        {"law": "discrete Laplace", "scale": "9" * 900 + "/1"},
        {"law": ["discrete Laplace"], "scale": "3/2"},
    ],
)
def test_what_no_law_wrote_is_refused(document):
    with pytest.raises(BadInput, match="no law of noise"):
        law_from(document)


def test_a_choice_is_no_noise_that_is_added():
    choice = ExponentialChoice(Fraction(1))
    with pytest.raises(BadNoise, match="not added"):
        noise_from(choice.document)
    with pytest.raises(BadNoise, match="discrete Laplace or discrete Gaussian"):
        additive(object())
    assert noise_from(DiscreteGaussian(Fraction(4)).document).half_width(0.95) == 8


@pytest.mark.parametrize("times", [Fraction(1, 3), Fraction(4)])
def test_so_many_times_the_loss_is_the_loss_so_many_times(times):
    one = Fraction(1)
    laplace, gaussian, choice = (kind(Fraction(8)) for kind in KINDS)
    assert float(laplace.at(times).loss(one)) == pytest.approx(float(times * laplace.loss(one)))
    assert float(gaussian.at(times).rho(one)) == pytest.approx(float(times * gaussian.rho(one)))
    assert choice.at(times).loss(one) == times * choice.loss(one)


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("scale", ["1/4", "7/10", "1", "3", "12"])
def test_transforms_and_moments_are_those_of_the_law_summed(kind, scale):
    law = kind(Fraction(scale))
    places = np.arange(-600, 601)
    logs = np.array([float(law.log_weight(int(place))) for place in places])
    logs -= logsumexp(logs)
    chances = np.exp(logs)
    for frequency in (0.01, 0.4, 2.0, 3.1, 7.0):
        exact = float(chances @ np.cos(frequency * places))
        assert float(np.exp(law.log_transform(np.array([frequency]))[0])) == pytest.approx(exact, abs=1e-9)
    for tilt in (0.01, 0.5 / float(law.scale), 0.9 / float(law.scale)):
        exact = float(logsumexp(logs + tilt * places))
        assert float(law.log_moment(np.array([tilt]))[0]) >= exact - 1e-9
    assert kind is DiscreteGaussian or law.log_moment(np.array([1 / float(law.scale)]))[0] == np.inf


def test_how_far_below_the_best_a_choice_is_holds_and_is_reached_in_the_mean():
    choice = ExponentialChoice(Fraction(1, 2))
    gaps = np.arange(40)
    chances = np.array(choice.probabilities((-gaps).tolist()))
    bound = choice.shortfall(len(gaps), "0.95")
    assert chances[gaps > bound].sum() <= 0.05
    assert choice.expected(gaps.astype(float)) == pytest.approx(float(chances @ gaps))
