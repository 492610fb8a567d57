"""One noisy sum over long series: never below the law of the sum itself, and the same where both can be had."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.bounds.choose import named
from entwined.bounds.noisy_sum import SeriesSum
from entwined.bounds.scalar import least_scale
from entwined.dependence import Box, MarkovChain, VaryingChain
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.chains import symmetric
from support.scalar_cases import laws_of, random_case

SIDES, EXACT = named("both sides of series"), named("exact scalar of series")
ILLNESS = np.array([[0.95, 0.05, 0.0], [0.04, 0.92, 0.04], [0.0, 0.1, 0.9]])


def leakages(theorem, chain, weights, scale):
    return theorem(SeriesSum.of(weights, scale, chain.units), chain).per_unit


def densities(laws, scale):
    """The log likelihoods of all outputs that matter under laws of a sum, one row a law."""
    outputs = np.arange(min(map(min, laws)) - 1, max(map(max, laws)) + 2)
    return np.array(
        [
            np.logaddexp.reduce([np.log(p) - np.abs(outputs - k) / scale for k, p in law.items()], axis=0)
            for law in laws
        ]
    )


def truth(laws, scale):
    logs = densities(laws, scale)
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def in_turn(initial, kernels, length, weights):
    """By step and state the law of the sum over a series of this length, every path by itself."""
    found = [[{} for _ in initial] for _ in range(length)]
    for path in product(range(len(initial)), repeat=length):
        moves = (kernels[at % len(kernels)][one, two] for at, (one, two) in enumerate(pairwise(path)))
        chance, total = initial[path[0]] * np.prod(list(moves)), sum(weights[state] for state in path)
        for at, state in enumerate(path):
            law = found[at][state]
            if chance > 0:
                law[total] = law.get(total, 0.0) + chance
    return [
        [{k: p / sum(law.values()) for k, p in law.items()} for law in laws if law]
        for laws in found
    ]  # fmt: skip


def test_it_is_never_below_the_truth_of_any_length():
    rng, same = np.random.default_rng(21), 0
    for _ in range(60):
        chain, weights = random_case(rng, longest=6)
        scale = float(10 ** rng.uniform(-0.5, 1.2))
        found = leakages(SIDES, chain, weights, scale)
        for unit in range(chain.length):
            for length in range(unit + 1, chain.length + 1):
                assert truth(laws_of(chain.until(length), weights, unit), scale) <= found[unit] * (1 + 1e-13)
        same += found.max() <= leakages(EXACT, chain, weights, scale).max() * (1 + 1e-9)
    assert same > 25


@pytest.mark.parametrize("turns", [2, 3, 4])
def test_kernels_may_come_in_turn(turns):
    """Day and night, or one kernel a step: against every path of series of every length."""
    rng = np.random.default_rng(turns)
    for _ in range(6):
        kernels, initial = rng.dirichlet(np.full(3, 0.5), (turns, 3)), rng.dirichlet(np.ones(3))
        weights, scale = rng.integers(-2, 3, 3).tolist(), float(10 ** rng.uniform(-0.2, 1))
        chain = VaryingChain(5, Box.exact(kernels), initial)
        found = leakages(SIDES, chain, weights, scale)
        for length in range(1, 6):
            for unit, laws in enumerate(in_turn(initial, chain.transitions.low, length, weights)):
                assert truth(laws, scale) <= found[unit] * (1 + 1e-12)
    even = VaryingChain(30, Box.exact([ILLNESS, ILLNESS]), np.full(3, 1 / 3))
    plain = MarkovChain(30, Box.exact(ILLNESS), np.full(3, 1 / 3))
    assert leakages(SIDES, even, [0, 0, 1], 5.0) == pytest.approx(leakages(SIDES, plain, [0, 0, 1], 5.0))


@pytest.mark.parametrize("weights", [[0, 0, 1], [0, 1, 0], [0, 1, 2]])
def test_where_states_stay_it_is_the_exact_law(weights):
    chain = MarkovChain(80, Box.exact(ILLNESS), np.full(3, 1 / 3))
    for scale in (4.0, 30.0):
        exact, sides = (leakages(theorem, chain, weights, scale) for theorem in (EXACT, SIDES))
        assert (sides >= exact * (1 - 1e-12)).all()
        assert sides.max() == pytest.approx(exact.max(), rel=1e-6)


def test_thousands_of_steps():
    """The golden chain of two states has the scale of its hundred steps, and a year of days what one series needs."""
    assert leakages(SIDES, symmetric(0.1, 2500), [0, 1], 8.6408).max() == pytest.approx(1, abs=1e-4)
    year = MarkovChain(365, Box.exact(ILLNESS), np.full(3, 1 / 3))
    scale = least_scale(year, [0, 0, 1], 1.0)
    assert leakages(SIDES, year, [0, 0, 1], scale * 1.01).max() < 1
    by_loss = bound(year, Loss.uniform(1 / scale, 365), "model").leakage.worst
    assert by_loss > 1.5
    with pytest.raises(DoesNotApply, match="every length"):
        leakages(EXACT, year, [0, 0, 1], scale)


def test_a_shorter_series_may_leak_more():
    assert leakages(SIDES, symmetric(0.99, 2), [0, 1], 1.0).min() >= 1
    assert leakages(SIDES, symmetric(0.99, 9), [0, 1], 1.0).min() >= 1


def test_more_noise_never_leaks_more_and_what_cannot_be_followed_is_said():
    chain, weights = random_case(np.random.default_rng(15))
    found = [leakages(SIDES, chain, weights, scale) for scale in np.geomspace(0.05, 50, 15)]
    assert all((after <= before * (1 + 1e-10) + 1e-11).all() for before, after in pairwise(found))
    assert np.isinf(leakages(SIDES, symmetric(0.1, 30), [0, 1], 1e-3)).all()
    with pytest.raises(DoesNotApply, match="too much to follow"):
        leakages(SIDES, symmetric(0.1, 100_000), [0, 1], 1.0)
    rare = MarkovChain(4, Box.exact([[1 - 1e-70, 1e-70], [0.5, 0.5]]), np.array([0.5, 0.5]))
    with pytest.raises(DoesNotApply, match="too small to follow"):
        leakages(SIDES, rare, [0, 1], 1.0)
    for open_ in (VaryingChain(4, Box.exact([ILLNESS])), MarkovChain(4, Box.exact(ILLNESS))):
        with pytest.raises(DoesNotApply, match="initial"):
            leakages(SIDES, open_, [0, 0, 1], 1.0)


def test_states_that_cannot_be_are_no_secrets():
    """From the first state no way leads to the third, so it is no secret, and no other one is hidden by it."""
    step = np.array([[0.7, 0.3, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])
    closed = MarkovChain(6, Box.exact(step), np.array([0.5, 0.5, 0.0]))
    alone = MarkovChain(6, Box.exact(step[:2, :2]), np.array([0.5, 0.5]))
    assert leakages(SIDES, closed, [0, 1, 9], 4.0).max() == pytest.approx(
        9 / 4
    )  # a row of no series may be in it
    inner = leakages(SIDES, alone, [0, 9], 4.0)
    assert leakages(SIDES, closed, [0, 9, 9], 4.0) == pytest.approx(inner)
    fixed = MarkovChain(3, Box.exact(np.eye(2)), np.array([1.0, 0.0]))
    assert leakages(SIDES, fixed, [0, 1], 2.0) == pytest.approx([0.5] * 3)


def test_two_sums_that_differ_on_both_sides_add():
    """Two laws apart on each side are apart by the sum at the ends, as the proof says."""
    one, two = {0: 0.9, 1: 0.1}, {0: 0.4, 1: 0.6}
    both = [{k: sum(p * law.get(k - j, 0.0) for j, p in law.items()) for k in range(3)} for law in (one, two)]
    side = truth([one, two], 3.0)
    assert max(truth(pair, 3.0) for pair in combinations(both, 2)) <= 2 * side * (1 + 1e-12)
