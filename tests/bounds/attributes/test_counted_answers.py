"""Answers that are not normal: their laws, the least noise, and several answers at once."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from entwined.bounds.attributes.enumerated import least_enumerated, pairs_of_laws, slip_of
from entwined.bounds.attributes.least_trace import corners, least_diagonal, least_trace, strain
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.summed_laws import RowChances, WholeLaw
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.errors import BadModel, QueryTooComplex

MU = 1 / analytic_ratio(Fraction(1), Fraction(1, 1000))
LAW = RowChances.counting("0.3", "0.1", "0.5")


def women(rows: int, apart: object = (0.25, 0.75), **more: object) -> ColumnSecret:
    given = {"epsilon": 1, "delta": "0.001", "value": "female"} | more
    return ColumnSecret.of("sex", apart, rows=rows, **given)  # type: ignore[arg-type]


def exact(law: RowChances, counts: int, rows: int) -> list[Fraction]:
    """The law of the sum in fractions."""
    total = [Fraction(1)]
    for row in range(rows):
        added = law.inside if row < counts else law.others
        grown = [Fraction(0)] * (len(total) + len(added) - 1)
        for (at, chance), (more, other) in product(enumerate(total), enumerate(added)):
            grown[at + more] += chance * other
        total = grown
    return total


@pytest.mark.parametrize(
    "law", [LAW, RowChances((Fraction(1, 2), Fraction(1, 8), Fraction(3, 8)), (Fraction(1, 3),) * 3)]
)
def test_laws_of_sums_are_within_what_they_say(law: RowChances) -> None:
    found, truth = law.given(30, 80), [float(one) for one in exact(law, 30, 80)]
    assert np.abs(found.on(0, len(truth)) - truth).sum() <= found.missed < 1e-11


def test_order_is_found_exactly() -> None:
    assert LAW.in_order
    assert not RowChances((Fraction(1, 2), Fraction(0), Fraction(1, 2)), (Fraction(1, 3),) * 3).in_order
    with pytest.raises(BadModel, match="add up to exactly 1"):
        RowChances((Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 2), Fraction(1, 2)))


def test_the_furthest_points_are_the_worst_of_a_set() -> None:
    secret = women(12, [[0.25, 0.5], [0.5, 0.75]])
    worst = slip_of(pairs_of_laws(secret, LAW), secret.epsilon, Fraction(9), in_order=True)
    every = [
        slip_of([(LAW.given(one, 12), LAW.given(other, 12))], secret.epsilon, Fraction(9), in_order=True)
        for one, other in product(range(3, 7), range(6, 10))
    ]
    assert worst == max(every)


@pytest.mark.parametrize("reading", ["worst point", "averaged"])
def test_counts_keep_delta_exactly_and_less_noise_does_not(reading: str) -> None:
    secret = women(24, [[0.25, 0.5], [0.5, 0.75]], reading=reading)
    variance, _ = least_enumerated(secret, LAW)

    def slip(times: float) -> float:
        noise = float(variance) * times**2
        places = np.arange(-150, 151)
        drawn = np.exp(-(places**2) / (2 * noise))
        laws = []
        for span in secret.apart[0]:
            counts = secret.counts(span)
            ends = {
                "worst point": [counts[0] if span == secret.apart[0][0] else counts[-1]],
                "averaged": list(counts),
            }[reading]
            weights = np.array([math.comb(24, count) for count in ends], float)
            laws.append(
                sum(
                    w * np.convolve([float(p) for p in exact(LAW, k, 24)], drawn / drawn.sum())
                    for w, k in zip(weights / weights.sum(), ends, strict=True)
                )
            )
        one, other = laws
        return float(
            max(np.maximum(one - math.e * other, 0).sum(), np.maximum(other - math.e * one, 0).sum())
        )

    assert variance > 0
    assert slip(1.0) <= 1e-3
    assert slip(0.8) > 1e-3


def test_averaged_needs_less_noise_and_a_chance() -> None:
    sets = [[0.25, 0.5], [0.5, 0.75]]
    worst, averaged = (
        least_enumerated(women(100, sets, reading=one), LAW)[0] for one in ("worst point", "averaged")
    )
    assert averaged < worst
    with pytest.raises(BadModel, match="no chance is given"):
        least_enumerated(women(100, sets, reading="averaged"), RowChances.counting("0.3", "0.1"))
    with pytest.raises(QueryTooComplex, match="worst point, which is safe"):
        least_enumerated(women(5000, sets, reading="averaged"), LAW)


def test_laws_in_no_order_are_compared_pair_by_pair_or_refused() -> None:
    torn = RowChances((Fraction(1, 8), Fraction(0), Fraction(7, 8)), (Fraction(1, 3),) * 3)
    variance, slip = least_enumerated(women(12), torn)
    assert variance > 0
    assert slip <= 1e-3
    with pytest.raises(QueryTooComplex, match="pairs of points"):
        least_enumerated(women(1000, [[0, 0.5], [0.5, 1]]), torn)


def test_long_sums_by_thresholds_are_never_below_the_exact_ones() -> None:
    from entwined.bounds.attributes.enumerated import _by_thresholds, _summed

    (pair,) = pairs_of_laws(women(2000), LAW)
    for deviation in (20, 300, 600):
        summed = max(_summed(*pair, Fraction(1), Fraction(deviation) ** 2))
        assert summed <= _by_thresholds(*pair, Fraction(1), Fraction(deviation) ** 2) <= 1.3 * summed + 1e-9


@pytest.mark.slow
def test_a_million_rows() -> None:
    variance, slip = least_enumerated(women(10**6, [0.499, 0.501], delta="0.000001"), LAW)
    assert math.sqrt(variance) == pytest.approx(1647, rel=0.005)  # normal approximation: 1645
    assert slip <= 1e-6


def test_nothing_to_hide_needs_no_noise() -> None:
    assert least_enumerated(women(100), RowChances.counting("0.2", "0.2"))[0] == 0
    assert WholeLaw(3, np.array([1.0])).times(4).first == 12


def test_least_trace_of_one_case_is_exact_and_of_rank_one() -> None:
    shift, own = np.array([12.25, 5.0, 0.15]), np.diag([4.5, 2.0, 0.08])
    noise = least_trace([(shift, own)], MU)
    wanted = np.linalg.eigvalsh(np.outer(shift, shift) / MU**2 - own)
    assert np.trace(noise) == pytest.approx(wanted[wanted > 0].sum(), rel=1e-6)
    assert strain([(shift, own)], noise) <= MU**2
    assert strain([(shift, own)], noise * 0.98) > MU**2


def test_several_cases_are_all_kept_and_independent_noise_costs_more() -> None:
    own = np.array([[4.0, 1.0], [1.0, 2.0]])
    cases = [(vector, own) for vector in corners([1, -4], [6, 3])]
    full, alone = least_trace(cases, MU), least_diagonal(cases, MU, np.ones(2))
    for noise in (full, np.diag(alone)):
        for shift, spread in cases:
            assert shift @ np.linalg.inv(noise + spread) @ shift <= MU**2
    assert np.trace(full) < alone.sum()
    tries = np.random.default_rng(2).uniform(0.5, 1.0, (2000, 2)) * alone
    kept = [one for one in tries if strain(cases, np.diag(one)) <= MU**2]
    assert min((one.sum() for one in kept), default=math.inf) >= alone.sum() * (1 - 1e-3)


def test_no_noise_where_the_data_vary_enough() -> None:
    case = (np.array([0.1, 0.1]), np.eye(2))
    assert least_diagonal([case], MU, np.ones(2)).tolist() == [0, 0]
    assert np.trace(least_trace([case], MU)) < 1e-9
