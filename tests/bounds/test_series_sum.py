"""One noisy sum over many series: the exact adversary over all lengths, several series at once, and what breaks it."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.bounds.choose import named
from entwined.bounds.noisy_sum import SeriesSum
from entwined.dependence import Box, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.chains import chain_of, symmetric
from support.oracle import count_law
from support.scalar_cases import laws_of, random_case

EXACT, MOVED = named("exact scalar of series"), named("wasserstein of series")


def leakages(theorem, chain, weights, scale):
    return theorem(SeriesSum.of(weights, scale, chain.units), chain).per_unit


def discrete(one, other, scale):
    """The largest log ratio of two laws with discrete noise on them, over all integers that matter."""
    ends = [min(*one, *other) - 1, max(*one, *other) + 1]
    outputs = np.arange(ends[0], ends[1] + 1)
    logs = [
        np.logaddexp.reduce([np.log(p) - np.abs(outputs - k) / scale for k, p in law.items()], axis=0)
        for law in (one, other)
    ]
    return float(np.abs(logs[0] - logs[1]).max())


def added(law, other):
    found = {}
    for (k, p), (j, q) in product(law.items(), other.items()):
        found[k + j] = found.get(k + j, 0.0) + p * q
    return found


def sum_over(chain, weights):
    """The law of the sum over a series of which nothing is given."""
    found = {}
    for state, chance in enumerate(chain.initial):
        given = count_law(chain.initial, chain.transition.low, chain.length, 0, state, weights)
        for k, p in given.items():
            found[k] = found.get(k, 0.0) + p * chance
    return found


def truth(chain, weights, unit, scale, others=None):
    """What a series of the chain's length leaks of a step, beside an independent number."""
    laws = [law if others is None else added(law, others) for law in laws_of(chain, weights, unit)]
    return max((discrete(one, other, scale) for one, other in combinations(laws, 2)), default=0.0)


def test_it_is_the_truth_of_the_worst_length():
    rng = np.random.default_rng(11)
    for _ in range(25):
        chain, weights = random_case(rng, longest=5)
        scale = float(10 ** rng.uniform(-0.5, 1))
        found = leakages(EXACT, chain, weights, scale)
        alone = (max(weights) - min(weights)) / scale
        for unit in range(chain.length):
            each = [
                truth(chain.until(length), weights, unit, scale)
                for length in range(unit + 1, chain.length + 1)
            ]
            assert found[unit] >= max(each) * (1 - 1e-13)
            assert found[unit] == pytest.approx(max(*each, alone), rel=1e-9, abs=1e-11)


def test_other_series_and_rows_of_none_hide_and_never_show():
    rng = np.random.default_rng(12)
    for _ in range(15):
        chain, weights = random_case(rng, longest=4)
        scale = float(10 ** rng.uniform(-0.3, 1))
        found = leakages(EXACT, chain, weights, scale)
        other = chain.until(int(rng.integers(1, chain.length + 1)))
        unconditional = sum_over(other, weights)
        row = {int(rng.choice(weights)): 1.0}
        for length in range(1, chain.length + 1):
            for unit in range(length):
                beside = added(unconditional, row)
                assert truth(chain.until(length), weights, unit, scale, beside) <= found[unit] * (1 + 1e-12)
        rows = [added({weight: 1.0}, unconditional) for weight in weights]
        worst = max(discrete(one, two, scale) for one, two in combinations(rows, 2))
        assert worst <= found.min() * (1 + 1e-12)  # a row that belongs to no series


def test_a_shorter_series_may_leak_more():
    """Two steps that are nearly always opposite say nothing together; one of them alone says all."""
    chain = symmetric(0.99, 2)
    assert truth(chain, [0, 1], 0, 1.0) < 0.05
    assert leakages(EXACT, chain, [0, 1], 1.0) == pytest.approx([1.0, 1.0])


def test_of_a_step_that_was_cut_no_more_leaks_than_of_the_last():
    rng = np.random.default_rng(13)
    for _ in range(10):
        chain, weights = random_case(rng, longest=4)
        scale, kept = 1.5, chain.length
        step, found = chain.transition.low, leakages(EXACT, chain, weights, 1.5)[-1]
        last = {
            value: count_law(chain.initial, step, kept, kept - 1, value, weights)
            for value in range(chain.states)
        }
        marginal = chain.initial @ np.linalg.matrix_power(step, kept - 1)
        joint = marginal[:, None] * np.linalg.matrix_power(
            step, 2
        )  # of the last kept step and one two behind it
        mixed = []
        for value in np.flatnonzero(joint.sum(axis=0) > 0):
            law = {}
            for state in np.flatnonzero(joint[:, value] > 0):
                for k, p in last[state].items():
                    law[k] = law.get(k, 0.0) + p * joint[state, value] / joint[:, value].sum()
            mixed.append(law)
        assert all(discrete(one, two, scale) <= found * (1 + 1e-12) for one, two in combinations(mixed, 2))


def test_it_fails_for_a_series_with_gaps():
    """The chain alternates, and every second step is missing: those that are there agree."""
    step = np.array([[0.02, 0.98], [0.98, 0.02]])
    believed = leakages(EXACT, chain_of(3, step, [0.5, 0.5]), [0, 1], 1.0).max()
    agreeing = chain_of(3, step @ step, [0.5, 0.5])
    assert truth(agreeing, [0, 1], 1, 1.0) > believed + 1


def test_it_is_never_above_the_wasserstein_bound_nor_far_above_that_of_the_losses():
    rng = np.random.default_rng(14)
    for _ in range(25):
        chain, weights = random_case(rng, longest=5)
        scale = float(10 ** rng.uniform(-0.5, 1))
        exact, moved = (leakages(theorem, chain, weights, scale) for theorem in (EXACT, MOVED))
        assert (exact <= moved * (1 + 1e-12) + 1e-12).all()
        spread = max(weights) - min(weights)
        if spread:
            by_loss = bound(chain, Loss.uniform(spread / scale, chain.length), "model").leakage.worst
            assert exact.max() <= by_loss * (1 + 1e-9) + 1e-10


def test_more_noise_never_leaks_more_and_long_series_are_refused():
    chain, weights = random_case(np.random.default_rng(15))
    found = [leakages(EXACT, chain, weights, scale) for scale in np.geomspace(0.05, 50, 15)]
    assert all((after <= before * (1 + 1e-10) + 1e-11).all() for before, after in pairwise(found))
    year = MarkovChain(365, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
    with pytest.raises(DoesNotApply, match="every length that a series may have"):
        EXACT(SeriesSum.of([0, 1], 1.0, 365), year)
