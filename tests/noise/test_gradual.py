"""Laplace noise that is taken away step by step: its law at every step, exactly, and what both tellings tell."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadNoise
from entwined.noise import DiscreteLaplace, GradualLaplace, gradual

SCALES = [(1, 2), ("0.2", 3), (7, 8), (5, 500)]


def laws(narrow, wide):
    return DiscreteLaplace(Fraction(narrow)), DiscreteLaplace(Fraction(wide))


def chance(narrow, wide):
    """That nothing is taken away, in 120 digits."""
    with localcontext(prec=120):
        a, b = ((-Decimal(law.scale.denominator) / law.scale.numerator).exp() for law in (wide, narrow))
        return Fraction(b / a * ((1 - a) / (1 - b)) ** 2)


def masses(law, reach):
    return np.array([law.probability(abs(k)) for k in range(-reach, reach + 1)])


def joint(narrow, wide, value, reach):
    """The law of the later telling (rows) and of the earlier one (columns) of a value."""
    q, places = float(chance(narrow, wide)), np.arange(-reach, reach + 1)
    later = masses(narrow, 2 * reach)[places - value + 2 * reach]
    apart = places[None, :] - places[:, None]
    added = (1 - q) * masses(wide, 2 * reach)[apart + 2 * reach] + q * (apart == 0)
    return later[:, None] * added


@pytest.mark.parametrize(("narrow", "wide"), SCALES)
def test_the_earlier_telling_has_the_wider_law_exactly(narrow, wide):
    one, two = laws(narrow, wide)
    reach = 400
    told = joint(one, two, 0, reach).sum(axis=0)
    middle = slice(reach - 60, reach + 61)
    assert told[middle] == pytest.approx(masses(two, reach)[middle], rel=1e-9)


@pytest.mark.parametrize(("narrow", "wide"), SCALES)
def test_both_tellings_tell_what_the_later_one_tells(narrow, wide):
    """One more in a cell: both are e^(1/t) likelier at most, the earlier one alone e^(1/s); each is reached."""
    one, two = laws(narrow, wide)
    reach = 150
    here, there = joint(one, two, 0, reach), joint(one, two, 1, reach)
    seen = np.minimum(here, there) > 1e-200
    both = np.abs(np.log(here[seen] / there[seen])).max()
    assert both == pytest.approx(float(1 / one.scale))
    earlier = np.abs(np.log(masses(two, reach)[1:] / masses(two, reach)[:-1])).max()
    assert earlier == pytest.approx(float(1 / two.scale))


@pytest.mark.parametrize(("narrow", "wide"), [*SCALES, (2**40, 2**41), ("0.001", 2**52), (10**6, 10**6 + 1)])
@pytest.mark.parametrize("bits", [64, 128])
def test_the_chance_is_enclosed(narrow, wide, bits):
    one, two = laws(narrow, wide)
    low, high = gradual._chance(one.scale, two.scale, bits)
    exact = chance(one, two) * 2**bits
    assert low <= exact <= high
    assert high - low <= 2


def test_more_bits_are_read_where_one_word_does_not_decide(monkeypatch):
    one, two = laws(5, 8)
    low, high = gradual._chance(one.scale, two.scale, 64)
    assert high == low + 1
    monkeypatch.setattr(gradual.secrets, "token_bytes", lambda _: np.array([low, high], np.uint64).tobytes())
    exact = chance(one, two) * 2**128 - low * 2**64
    for word in (0, 2**63, 2**64 - 1):
        monkeypatch.setattr(gradual.secrets, "randbits", lambda _, word=word: word)
        assert gradual._happens((2,), one.scale, two.scale).tolist() == [word < exact, False]


def off_by(drawn, law, reach):
    """How many deviations a chi-square is above its mean."""
    expected = len(drawn) * masses(law, reach)
    counts = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1)
    inside = slice(1, -1)
    square = float(((counts - expected)[inside] ** 2 / expected[inside]).sum())
    return (square - (2 * reach - 1)) / math.sqrt(2 * (2 * reach - 1))


def test_every_telling_has_its_law_and_a_wrong_chance_is_caught(monkeypatch):
    """Deviations of a chi-square: a false alarm once in ten million runs."""
    steps = GradualLaplace(tuple(DiscreteLaplace(Fraction(scale)) for scale in (6, 4, 2)))
    told = steps.add(np.zeros(100_000, np.int64))
    assert [len(np.unique(one)) > 10 for one in told] == [True] * 3
    assert max(off_by(one, law, 8) for one, law in zip(told, steps.laws, strict=True)) < 8
    assert np.corrcoef(told[0], told[2])[0, 1] == pytest.approx(1 / 3, abs=0.03)
    sound = gradual._chance
    monkeypatch.setattr(gradual, "_chance", lambda *given: tuple(int(0.8 * end) for end in sound(*given)))
    assert off_by(steps.add(np.zeros(100_000, np.int64))[0], steps.laws[0], 8) > 20


def test_noise_that_does_not_fall_is_refused():
    with pytest.raises(BadNoise, match="widest law first"):
        GradualLaplace(laws(2, 2))
    with pytest.raises(BadNoise, match="widest law first"):
        GradualLaplace(laws(2, 3))
