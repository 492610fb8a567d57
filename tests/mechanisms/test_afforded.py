"""What columns alone get beside tables: nothing more where noise is weak, much where it is strong, all where it drowns."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from entwined.mechanisms.marginals.afforded import HARDLY_FURTHER, Afforded, Split

SIZES = (8, 8, 8, 8)
PAIRS = np.array(list(itertools.combinations(range(4), 2)))
REST = Fraction(2, 3)
ROWS = 10_000


def afforded(noise):
    """Pairs that are off by a third of the rows, more or less, and noise of this deviation for the whole loss."""
    far = ROWS / 3 * np.linspace(1.2, 0.8, len(PAIRS))

    def deviation(share):
        return noise / math.sqrt(share)

    def blurred(again):
        return np.array([0.5 * deviation((1 - REST + again) / len(SIZES)) * size for size in SIZES])

    return Afforded(PAIRS, far, noise, 4 * noise, REST, deviation, lambda _: SIZES, blurred)


@pytest.mark.parametrize("noise", [0.1, 1, 10, 20, 30, 40, 100, 1000])
def test_pairs_are_hardly_further_off_than_they_could_be(noise):
    one = afforded(noise)
    split = one.best(6)
    assert 0 <= split.again <= REST
    assert split.tables or split.again == REST
    eighths = [Split(split.tables, REST * Fraction(part, 8)) for part in range(8)]
    least = min(one.off(other) for other in (*eighths, Split(0, REST)))
    assert one.off(split) <= (1 + HARDLY_FURTHER) * least


def test_columns_alone_get_more_the_stronger_noise_is():
    found = [afforded(noise).best(6) for noise in (0.1, 10, 30, 1000)]
    shares = [one.again for one in found]
    assert (found[0].tables, shares[0]) == (6, 0)
    assert shares == sorted(shares)
    assert 0 < shares[2] < REST
    assert found[-1] == Split(0, REST)


MANY = np.array(list(itertools.combinations(range(40), 2)))


def many_pairs(far, unsure):
    """Forty columns of three cells, and noise of their distances that is strong beside that of tables."""

    def deviation(share):
        return 8 / math.sqrt(share)

    def blurred(again):
        return np.full(40, 1.5 * deviation((1 - REST + again) / 40))

    return Afforded(MANY, far, unsure, 4 * unsure, REST, deviation, lambda _: (3,) * 40, blurred)


@pytest.mark.parametrize("unsure", [300, 1000, 3000])
def test_of_many_pairs_those_that_noise_puts_far_off_are_not_taken_for_relations(unsure):
    noise = unsure * ndtri((np.arange(len(MANY)) + 0.5) / len(MANY))
    assert many_pairs(noise, unsure).best(50) == Split(0, REST)
    related = noise.copy()
    related[:20] = 20 * unsure
    assert 10 <= many_pairs(related, unsure).best(50).tables <= 50


def test_what_is_left_of_distances_is_no_further_than_they_are_on_average():
    """Of pairs that are off by nothing or by a bit, the furthest seem too far; drawn towards none they do not."""
    rng = np.random.default_rng(5)
    true = np.where(rng.random(len(MANY)) < 0.1, 500.0, 0.0)
    sober, plain = [], []
    for _ in range(200):
        one = many_pairs(true + 300 * rng.standard_normal(len(MANY)), 300)
        sober.append(np.square(one.sober().far - true).sum())
        plain.append(np.square(one.far - true).sum())
    assert np.mean(sober) < 0.6 * np.mean(plain)


@pytest.mark.parametrize("unsure", [300, 1000, 3000])
def test_one_relation_that_is_surely_there_is_not_overheard_among_noise(unsure):
    noise = unsure * ndtri((np.arange(len(MANY)) + 0.5) / len(MANY))
    noise[200] = 40_000
    one = many_pairs(noise, unsure)
    assert one.sober().far[200] == 40_000 - unsure
    assert one.best(50).tables
