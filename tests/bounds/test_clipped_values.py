"""Clipped Gaussian values with noise of either kind: never below what an adversary sees, and reached."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from entwined.bounds import ClippedValues, NoisyLinear, bound, certify, verify
from entwined.dependence import Gaussian, MaxCorrelation
from entwined.errors import BadLoss
from support.clipped_sticks import gaussian, hockey_stick, laplace, log_ratio, noisy, sum_law
from support.gaussian_laws import autoregression, equicorrelated

DELTA = Fraction(1, 10**3)
GRID = 0.0, 6.0, 0.5  # low, high, step: 13 codes
LENGTH = 12  # in codes


def clipped(moved, units, delta=0, grid=GRID, besides=0):
    low, high, step = map(Fraction, grid)
    return ClippedValues.of(
        moved, bounds=(low, high), units=units, rounding=step, delta=delta, besides=besides
    )


def secrets(units, rng, tries, grid=GRID):
    """A secret unit with two values inside the bounds, some known others with values anywhere, and means."""
    low, high, _ = grid
    for _ in range(tries):
        unit = int(rng.integers(units))
        others = [other for other in range(units) if other != unit]
        least = max(0, units - 3)
        sets = [found for size in range(least, units) for found in combinations(others, size)]
        known = {other: rng.uniform(low - 2, high + 2) for other in sets[rng.integers(len(sets))]}
        pair = (low, high) if rng.random() < 0.5 else np.sort(rng.uniform(low, high, 2))
        yield unit, pair, known, rng.uniform(low - 1, high + 1, units)


LAWS = [
    equicorrelated(2, 0.9),
    equicorrelated(3, 0.6),
    autoregression(3, -0.7),
    autoregression(3, 0.5) * 0.04,
]


@pytest.mark.parametrize("law", LAWS, ids=["two", "three", "a series", "narrow"])
def test_no_adversary_learns_more_from_laplace_noise(law):
    rng, units, scale = np.random.default_rng(5), len(law), 20.0
    claimed = bound(Gaussian.of(law), clipped(Fraction(LENGTH) / 20, units)).leakage.per_unit
    worst = 0.0
    for unit, pair, known, means in secrets(units, rng, 8):
        seen = [noisy(*sum_law(law, means, {unit: value}, known, GRID), laplace(scale), 60) for value in pair]
        assert log_ratio(*seen) <= claimed[unit]
        worst = max(worst, log_ratio(*seen) / claimed[unit])
    assert worst > 0.3  # where units pull against each other a sum shows less


@pytest.mark.parametrize("law", LAWS[:2], ids=["two", "three"])
def test_no_adversary_learns_more_from_gaussian_noise(law):
    rng, units, scale = np.random.default_rng(6), len(law), 15.0
    rho = Fraction(LENGTH**2) / (2 * 225)
    claimed = bound(Gaussian.of(law), clipped(rho, units, DELTA)).leakage.per_unit
    worst = 0.0
    for unit, pair, known, means in secrets(units, rng, 8):
        seen = [
            noisy(*sum_law(law, means, {unit: value}, known, GRID), gaussian(scale), 120) for value in pair
        ]
        worst = max(worst, hockey_stick(*seen, claimed[unit]))
    assert float(DELTA) / 100 < worst <= float(DELTA)


def near_copies(noise_times):
    """What is seen of two near copies in the middle of wide bounds, and what is claimed; nothing to be rounded."""
    law, grid, scale = equicorrelated(2, 0.99) * 1e-4, (0.0, 6.0, 0.01), 300.0
    claimed = bound(Gaussian.of(law), clipped(Fraction(2), 2, grid=grid)).leakage.worst
    noise, means = laplace(scale * noise_times), np.array([3.0, 3.0])
    seen = [noisy(*sum_law(law, means, {0: value}, {}, grid), noise, 1500) for value in (0.0, 6.0)]
    return log_ratio(*seen), claimed


def test_near_copies_reach_it_and_noise_times_four_fifths_is_caught():
    """Values from end to end of bounds a hundred deviations apart: the other follows, less a share of one in a hundred."""
    reached, claimed = near_copies(1.0)
    assert 0.99 * claimed < reached <= claimed
    assert claimed == pytest.approx(2 * 1.99, rel=2e-3)
    too_much, _ = near_copies(0.8)
    assert too_much > claimed


def test_a_value_at_the_edge_of_a_cell_is_rounded_further_than_it_moves():
    """Two codes, and a small pull across the edge between them: what rounding adds is seen, and is claimed."""
    grid, law = (0.0, 1.0, 1.0), np.array([[1.0, 0.3], [0.3, 0.09 + 1e-8]])
    claimed = bound(Gaussian.of(law), clipped(1, 2, grid=grid)).leakage.per_unit[0]
    means = np.array([0.5, 0.5])
    seen = [noisy(*sum_law(law, means, {0: value}, {}, grid), laplace(1.0), 6) for value in (0.0, 1.0)]
    assert 1.3 + 0.05 < log_ratio(*seen) <= claimed == pytest.approx(2)


def test_without_knowledge_less_leaks_than_with_it():
    law = [[1.0, -0.95, 0.15], [-0.95, 1.0, 0.15], [0.15, 0.15, 1.0]]
    release = clipped(1, 3, grid=(0.0, 6.0, 0.001))
    found = {known: bound(Gaussian.of(law), release, known) for known in ("any", "model")}
    assert found["any"].theorem.name == "clipped values"
    assert found["model"].theorem.name == "clipped values without knowledge"
    assert [round(one.leakage.worst, 2) for one in found.values()] == [3.0, 2.1]


def test_what_reads_more_than_values_is_charged_for_the_whole_group():
    alone = bound(Gaussian.of(equicorrelated(4, 0.3)), clipped(0, 4, besides=1)).leakage.worst
    assert alone == pytest.approx(4)
    mixed = bound(Gaussian.of(equicorrelated(4, 0.3)), clipped(1, 4, besides=1, grid=(0, 6, 0))).leakage.worst
    assert mixed == pytest.approx(4 + 1.9)
    rhos = bound(Gaussian.of(equicorrelated(4, 0.3)), clipped(0, 4, DELTA, besides="0.005")).leakage.worst
    group = NoisyLinear.total(1, 10.0, 4.0, DELTA)  # one number that moves by four tenths of a deviation
    assert rhos == pytest.approx(bound(Gaussian.of([[1.0]]), group).leakage.worst, rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [MaxCorrelation(3, 0.9), MaxCorrelation(40, 0.9), Gaussian.of(equicorrelated(3, 0.999))],
)
def test_it_is_never_above_the_group(model):
    """However strong dependence is, no value moves by more than the bounds are apart."""
    release = clipped(1, model.units)
    assert bound(model, release).leakage.worst <= model.units * (1 + 1e-9)


def test_its_certificate_says_which_secrets_it_is_about():
    release = clipped("0.5", 2, grid=(140, 200, 1))
    proof = certify(bound(Gaussian.of(equicorrelated(2, 0.5)), release))
    assert "clipped to 140 … 200" in proof.document["guarantee"]
    assert "both inside the stated bounds" in proof.document["guarantee"]
    assert "each exactly or not at all" in proof.document["guarantee"]
    assert "one of which lies outside, or both, nothing is promised" in proof.document["trusted"][0]
    assert verify(proof.document).valid
    changed = proof.document | {"leakage": proof.document["leakage"] * 0.9}
    assert not verify(changed).valid


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ClippedValues.of(1, bounds=(5, 5), units=2),
        lambda: ClippedValues.of(-1, bounds=(0, 5), units=2),
        lambda: ClippedValues.of(1, bounds=(0, 5), units=0),
        lambda: ClippedValues(
            Fraction(1), Fraction(2), Fraction(0), (Fraction(0), Fraction(1)), Fraction(0), 2
        ),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(BadLoss):
        wrong()
