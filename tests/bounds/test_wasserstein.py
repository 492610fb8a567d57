"""The Wasserstein bound: exact distances by fractions, never below the truth, safe where quantiles tie."""

from fractions import Fraction
from itertools import combinations
from time import process_time

import numpy as np
import pytest

from entwined.bounds import NoisySum
from entwined.bounds.scalar import least_scale
from entwined.bounds.wasserstein import FiniteLaw, farthest_move, wasserstein_bound, wasserstein_scale
from entwined.errors import BadInput, BadLoss, Unreachable
from support.chains import chain_of, symmetric
from support.oracle import count_law, laplace_leakage
from support.scalar_cases import apart_alone, laws_of, random_case, scalar_leakage


def wasserstein_leakage(chain, weights, scale):
    return wasserstein_bound(NoisySum.of(weights, scale, chain.units), chain)


def exact_distance(one, other):
    """The largest gap between quantiles of two laws given as {atom: Fraction}."""
    steps = sorted({*running(one), *running(other)})
    return max(abs(quantile(one, level) - quantile(other, level)) for level in steps)


def running(law):
    total = Fraction(0)
    for atom in sorted(law):
        total += law[atom]
        yield total


def quantile(law, level):
    return next(atom for atom, total in zip(sorted(law), running(law), strict=True) if total >= level)


def random_law(rng, kinds):
    atoms = rng.choice(
        np.arange(-6, 12) if kinds == "integers" else rng.normal(0, 5, 18).round(6), 6, replace=False
    )
    masses = [Fraction(int(m)) for m in rng.choice([0, 1, 1, 2, 3, 5, 1000], 6)]
    masses[0] += not any(masses)
    return {float(atom): mass / sum(masses) for atom, mass in zip(atoms, masses, strict=True) if mass}


def as_law(law):
    atoms = sorted(law)
    return FiniteLaw.of(atoms, [float(law[atom]) for atom in atoms])


@pytest.mark.parametrize("kinds", ["integers", "reals"])
def test_it_is_the_largest_gap_between_quantiles(kinds):
    rng = np.random.default_rng(1)
    for _ in range(300):
        one, other = random_law(rng, kinds), random_law(rng, kinds)
        assert farthest_move(as_law(one), as_law(other)) == pytest.approx(exact_distance(one, other))
        assert farthest_move(as_law(one), as_law(one)) == 0
        shifted = {atom + 3: mass for atom, mass in one.items()}
        assert farthest_move(as_law(one), as_law(shifted)) == pytest.approx(3)  # where every quantile ties


def test_a_difference_too_small_to_sum_still_counts():
    rare = 1e-200
    assert farthest_move(FiniteLaw.of([0, 1, 100], [0.5, 0.5, rare]), FiniteLaw.of([0, 1], [0.5, 0.5])) == 99
    assert farthest_move(FiniteLaw.of([-50, 0, 1], [rare, 0.5, 0.5]), FiniteLaw.of([0, 1], [0.5, 0.5])) == 50
    # but a sliver of a large atom may stay behind: it is counted in the leakage, not in the distance
    near = FiniteLaw.of([0, 1], [0.5 + 1e-12, 0.5 - 1e-12])
    assert farthest_move(near, FiniteLaw.of([0, 1], [0.5, 0.5])) == 0
    # and a difference above the share is never let off
    assert (
        farthest_move(FiniteLaw.of([0, 1], [0.5 + 1e-7, 0.5 - 1e-7]), FiniteLaw.of([0, 1], [0.5, 0.5])) == 1
    )


def test_the_share_left_behind_is_paid_for():
    for excess in (1e-12, 1e-10, 2e-9, 1e-8, 1e-7):
        one, other = {0: 0.5 + excess, 50: 0.5 - excess}, {0: 0.5, 50: 0.5}
        moved = farthest_move(*(FiniteLaw.of(list(law), list(law.values())) for law in (one, other)))
        for scale in (0.1, 1.0, 30.0):
            assert laplace_leakage(one, other, scale, 1001) <= moved / scale + 1.1e-8


def test_it_is_never_below_the_truth_and_the_scale_keeps_the_target():
    rng = np.random.default_rng(2)
    for _ in range(120):
        chain, weights = random_case(rng)
        scale = float(10 ** rng.uniform(-1, 1.5))
        bound, truth = (
            each(chain, weights, scale).per_unit for each in (wasserstein_leakage, scalar_leakage)
        )
        assert (bound >= truth - 1e-10).all()
        for unit in range(chain.length):
            pairs = [
                laplace_leakage(p, q, scale, 201) for p, q in combinations(laws_of(chain, weights, unit), 2)
            ]
            assert bound[unit] >= max(pairs, default=0.0) - 1e-12
        enough = wasserstein_scale(chain, weights, 0.7)
        if enough > 0:
            assert scalar_leakage(chain, weights, enough).worst <= 0.7
            assert wasserstein_leakage(chain, weights, enough).worst <= 0.7
            assert least_scale(chain, weights, 0.7) <= enough * (1 + 1e-6)


def test_every_distance_is_that_of_the_laws_path_by_path():
    rng = np.random.default_rng(3)
    for _ in range(60):
        chain, weights = random_case(rng)
        moved = wasserstein_leakage(chain, weights, 1.0).per_unit
        for unit in range(chain.length):
            laws = [{atom: Fraction(p) for atom, p in law.items()} for law in laws_of(chain, weights, unit)]
            laws = [{atom: p / sum(law.values()) for atom, p in law.items()} for law in laws]
            truth = max((exact_distance(*pair) for pair in combinations(laws, 2)), default=0.0)
            truth = max(truth, apart_alone(chain, weights, unit))
            assert moved[unit] <= truth + 2e-8
            assert moved[unit] >= truth or near_tie(laws)


def near_tie(laws):
    """Whether two quantiles differ by less than the oracle's own rounding, which fractions take for a gap."""
    pairs = combinations(laws, 2)
    gaps = (abs(a - b) for one, other in pairs for a in running(one) for b in running(other))
    return any(0 < gap < Fraction(1, 10**12) for gap in gaps)


def test_independent_steps_move_the_count_by_one_and_copies_by_all():
    assert wasserstein_scale(symmetric(0.5, 100), [0, 1], 1.0) == pytest.approx(1, rel=1e-7)
    assert wasserstein_scale(chain_of(30, np.eye(2), [0.5, 0.5]), [0, 1], 1.0) == pytest.approx(30, rel=1e-7)
    copies = chain_of(30, np.eye(2), [0.5, 0.5])
    for leakage in (scalar_leakage, wasserstein_leakage):
        assert leakage(copies, [0, 1], 30.0).worst == pytest.approx(1, rel=1e-7)  # both reach the group bound


def test_it_fails_where_the_law_is_another_one():
    believed = wasserstein_scale(symmetric(0.4, 8), [0, 1], 1.0)
    laws = [count_law([0.5, 0.5], [[0.99, 0.01], [0.01, 0.99]], 8, 3, value, [0, 1]) for value in (0, 1)]
    assert laplace_leakage(*laws, believed, 2001) > 1.5


@pytest.mark.parametrize(("flip", "moves"), [(0.1, 10), (0.25, 4), (0.4, 2)])
def test_a_hundred_steps_lie_between_the_exact_accountant_and_the_group(flip, moves):
    chain = symmetric(flip, 100)
    began = process_time()
    scale = wasserstein_scale(chain, [0, 1], 1.0)
    assert process_time() - began < 1
    assert least_scale(chain, [0, 1], 1.0) <= scale == pytest.approx(moves, rel=1e-6)


def test_bad_input_is_told_what_to_do():
    wrong = [
        ([0, 1], [0.5]),
        ([0, 1], [0.5, 0.6]),
        ([1, 0], [0.5, 0.5]),
        ([0, 0], [0.5, 0.5]),
        ([], []),
        ([0, np.nan], [0.5, 0.5]),
        ([0, 1], [np.nan, 0.5]),
        ([0, 1], [-0.5, 1.5]),
    ]
    for atoms, chances in wrong:
        with pytest.raises(BadInput):
            FiniteLaw.of(atoms, chances)
    chain = symmetric(0.1, 5)
    for number in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(BadLoss, match="Give"):
            wasserstein_leakage(chain, [0, 1], number)
        with pytest.raises(BadLoss, match="Give"):
            wasserstein_scale(chain, [0, 1], number)
    with pytest.raises(Unreachable, match="rounding"):
        wasserstein_scale(chain, [0, 1], 1e-9)
    assert wasserstein_scale(chain, [2, 2], 1.0) == 0.0
