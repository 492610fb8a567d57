"""The exact accountant for one sum: path by path, in fifty digits, on a grid, with discrete noise."""

from decimal import Decimal, localcontext
from itertools import combinations, pairwise, product
from time import process_time

import numpy as np
import pytest

from entwined.bounds import NoisySum
from entwined.bounds.scalar import exact_scalar_accountant_bound, least_scale
from entwined.bounds.sum_law import SumLaw, sum_law
from entwined.bounds.transport import transport_bound
from entwined.bounds.wasserstein import wasserstein_bound, wasserstein_scale
from entwined.dependence import Box, MarkovChain
from entwined.errors import BadInput, BadLoss, DoesNotApply
from entwined.loss import Loss
from support.chains import chain_of, symmetric
from support.oracle import chain_joint, count_law, laplace_leakage, worst_leakages
from support.scalar_cases import apart_alone, laws_of, random_case, scalar_leakage


def test_the_law_is_that_of_all_paths():
    rng = np.random.default_rng(1)
    for _ in range(60):
        chain, weights = random_case(rng)
        found = SumLaw.of(chain, weights)
        for unit, value in product(range(chain.length), range(chain.states)):
            law = count_law(chain.initial, chain.transition.low, chain.length, unit, value, weights)
            logs = found.logs[:, value, unit]
            mine = {found.least + found.gap * k: np.exp(logs[k]) for k in np.flatnonzero(np.isfinite(logs))}
            assert mine.keys() == law.keys()
            assert all(mine[atom] == pytest.approx(law[atom], rel=1e-11) for atom in law)
            assert found.possible[value, unit] == bool(law)


def test_it_is_the_largest_ratio_of_densities_on_a_fine_grid():
    rng = np.random.default_rng(2)
    for _ in range(60):
        chain, weights = random_case(rng)
        scale = float(10 ** rng.uniform(-1, 1.5))
        found = scalar_leakage(chain, weights, scale).per_unit
        for unit in range(chain.length):
            pairs = combinations(laws_of(chain, weights, unit), 2)
            truth = max((laplace_leakage(p, q, scale, 501) for p, q in pairs), default=0.0)
            truth = max(truth, apart_alone(chain, weights, unit) / scale)
            assert truth <= found[unit] * (1 + 1e-12) + 1e-15
            assert found[unit] == pytest.approx(truth, rel=1e-9, abs=1e-11)


def test_discrete_noise_on_the_integers_leaks_the_same():
    rng = np.random.default_rng(3)
    for _ in range(40):
        chain, weights = random_case(rng, longest=5)
        scale = float(10 ** rng.uniform(-0.7, 1))
        outputs = np.arange(-160, 161)
        found = scalar_leakage(chain, weights, scale).per_unit
        for unit in range(chain.length):
            logs = [
                np.logaddexp.reduce([np.log(p) - np.abs(outputs - k) / scale for k, p in law.items()], axis=0)
                for law in laws_of(chain, weights, unit)
            ]
            ratios = [np.abs(one - other).max() for one, other in combinations(logs, 2)]
            ratios.append(apart_alone(chain, weights, unit) / scale)
            assert found[unit] == pytest.approx(max(ratios), rel=1e-9, abs=1e-11)
            assert all(found[unit] >= ratio * (1 - 1e-13) for ratio in ratios)


def test_it_is_never_below_fifty_digits_nor_far_above():
    flip, scales = 0.03, ("0.001", "0.05", "0.7", "3", "1000", "1000000000")
    length = 40
    chain = chain_of(length, [[1 - flip, flip], [0.999, 0.001]], [0.2, 0.8])
    with localcontext() as digits:
        digits.prec = 60
        step = [[Decimal(p) for p in row] for row in chain.transition.low.tolist()]
        laws = [
            exact_law(step, [Decimal(p) for p in chain.initial.tolist()], length, 17, value)
            for value in (0, 1)
        ]
        for scale in scales:
            fade = [(-Decimal(d) / Decimal(float(scale))).exp() for d in range(length + 1)]
            logs = [
                [sum(p * fade[abs(y - k)] for k, p in enumerate(law)).ln() for y in range(length + 1)]
                for law in laws
            ]
            truth = max(abs(one - other) for one, other in zip(*logs, strict=True))
            found = scalar_leakage(chain, [0, 1], float(scale)).per_unit[17]
            assert Decimal(float(found)) >= truth
            assert float(Decimal(float(found)) / truth) - 1 < (1e-2 if float(scale) > 1e6 else 1e-7)


def exact_law(step, start, length, unit, value):
    """Of the count of state 1, given one state, by a pass over the chain with as many digits as asked for."""
    now = {(state, state): start[state] for state in (0, 1)}
    if unit == 0:
        now = {key: p for key, p in now.items() if key[0] == value}
    for time in range(1, length):
        following = {}
        for (state, count), p in now.items():
            for other in (0, 1) if time != unit else (value,):
                key = (other, count + other)
                following[key] = following.get(key, Decimal(0)) + p * step[state][other]
        now = following
    total = sum(now.values())
    return [sum(p for (_, c), p in now.items() if c == count) / total for count in range(length + 1)]


@pytest.mark.parametrize(
    ("flip", "target", "scale"),
    [(0.10, 0.2, 44.93), (0.10, 1, 8.64), (0.25, 1, 2.89), (0.25, 5, 0.34), (0.40, 1, 1.47)],
)
def test_the_golden_table(flip, target, scale):
    chain = symmetric(flip, 100)
    began = process_time()
    found = least_scale(chain, [0, 1], target)
    assert process_time() - began < 1
    assert found == pytest.approx(scale, abs=0.005)
    assert scalar_leakage(chain, [0, 1], found).worst <= target
    assert scalar_leakage(chain, [0, 1], found * (1 - 1e-8)).worst > target


@pytest.mark.parametrize(("length", "leaks"), [(6, 3.851), (16, 4.495)])
def test_plain_laplace_noise_leaks_more_than_it_claims(length, leaks):
    chain = symmetric(0.1, length)
    assert scalar_leakage(chain, [0, 1], 1.0).worst == pytest.approx(leaks, abs=0.0005)
    scale = least_scale(chain, [0, 1], 1.0)
    laws = [
        [count_law([0.5, 0.5], chain.transition.low, length, unit, value, [0, 1]) for value in (0, 1)]
        for unit in range(length)
    ]
    assert max(laplace_leakage(*pair, scale, 2001) for pair in laws) <= 1.0


def test_it_is_never_above_transport_and_reached_by_some_mechanism_of_that_loss():
    rng = np.random.default_rng(4)
    for _ in range(40):
        chain, _ = random_case(rng, longest=5)
        weights = [int(state == 0) for state in range(chain.states)]
        scale = float(rng.uniform(0.5, 5))
        loss = Loss.uniform(1 / scale, chain.length)
        found = scalar_leakage(chain, weights, scale).per_unit
        assert (found <= transport_bound(loss, chain).per_unit * (1 + 1e-9) + 1e-10).all()
        joint = chain_joint(chain.initial, chain.transition.low, chain.length)
        reached = np.maximum(
            worst_leakages(joint, loss.per_unit, "model"), loss.per_unit
        )  # a constant loses its own
        assert (found <= reached + 1e-7).all()


def test_more_noise_never_leaks_more():
    rng = np.random.default_rng(5)
    for _ in range(30):
        chain, weights = random_case(rng)
        leaks = [scalar_leakage(chain, weights, scale).per_unit for scale in np.geomspace(0.01, 100, 40)]
        assert all((after <= before * (1 + 1e-10) + 1e-11).all() for before, after in pairwise(leaks))


def test_it_fails_where_the_law_is_another_one_or_a_value_is_known():
    believed = scalar_leakage(symmetric(0.4, 6), [0, 1], 1.0).worst
    sticky = count_law([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], 6, 2, 0, [0, 1])
    other = count_law([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], 6, 2, 1, [0, 1])
    assert laplace_leakage(sticky, other, 1.0, 2001) > believed + 1
    opposed = scalar_leakage(symmetric(0.99, 2), [0, 1], 1.0).worst  # the sum is nearly always 1
    assert opposed < 0.05
    assert laplace_leakage({1: 1.0}, {2: 1.0}, 1.0, 2001) == pytest.approx(
        1
    )  # but if X_2 = 1 is known, it tells X_1


# Limits


def test_a_sum_that_says_nothing_needs_no_noise():
    assert least_scale(symmetric(0.1, 10), [3, 3], 1.0) == 0.0
    assert scalar_leakage(symmetric(0.1, 10), [3, 3], 1.0).worst < 1e-11
    hidden = chain_of(2, [[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5])
    assert least_scale(hidden, [0, 1], 1e9) < 1e-6


@pytest.mark.parametrize("least", [least_scale, wasserstein_scale])
def test_a_chain_of_which_every_step_is_certain_needs_the_noise_of_a_row_by_itself(least):
    certain = chain_of(5, [[0, 1], [1, 0]], [1, 0])
    for bound in (exact_scalar_accountant_bound, wasserstein_bound):
        assert bound(NoisySum.of([0, 3], 2.0, 5), certain).per_unit == pytest.approx([1.5] * 5)
        assert bound(NoisySum.of([3, 3], 2.0, 5), certain).worst < 1e-7
    assert least(certain, [0, 3], 0.5) == pytest.approx(6)


def test_it_needs_no_more_noise_for_larger_targets_and_scales_with_the_weights():
    chain = symmetric(0.2, 20)
    scales = [least_scale(chain, [0, 1], target) for target in (1e-6, 0.01, 0.3, 1, 5, 50)]
    assert all(more > less for more, less in pairwise(scales))
    assert least_scale(chain, [-7, 3], 1.0) == pytest.approx(10 * least_scale(chain, [0, 1], 1.0), rel=1e-8)


def test_probabilities_beyond_the_floats_are_followed():
    step, length = [[0.995, 0.005], [0.9, 0.1]], 400
    rare = chain_of(length, step, [0.5, 0.5])
    law = sum_law(rare, (0, 1))
    always_one = np.log(0.5) + (length - 1) * np.log(0.1)
    settled = np.log(0.005 / 0.905)
    assert law.logs[-1, 1, 200] == pytest.approx(always_one - settled, rel=1e-12)  # about 10^-398
    short = least_scale(chain_of(60, step, [0.5, 0.5]), [0, 1], 1.0)
    assert least_scale(rare, [0, 1], 1.0) == pytest.approx(short, rel=1e-3)


def test_a_thousand_steps_take_seconds():
    began = process_time()
    assert least_scale(symmetric(0.1, 1000), [0, 1], 1.0) == pytest.approx(8.6405, abs=5e-4)
    assert process_time() - began < 20


def test_bad_input_is_told_what_to_do():
    chain = symmetric(0.1, 5)
    for weights in ([0, 1, 2], [0, 0.5], [True, False], [0, 10**9]):
        with pytest.raises(BadInput, match="one integer a state"):
            scalar_leakage(chain, weights, 1.0)
    for scale in (0.0, -1.0, np.nan, np.inf, 1e-310):
        with pytest.raises(BadLoss, match="Give"):
            scalar_leakage(chain, [0, 1], scale)
    for target in (0.0, -1.0, np.nan, np.inf, 1e-15):
        with pytest.raises(BadLoss, match="Give"):
            least_scale(chain, [0, 1], target)
    with pytest.raises(DoesNotApply, match="initial"):
        scalar_leakage(MarkovChain(5, Box.exact([[0.9, 0.1], [0.1, 0.9]])), [0, 1], 1.0)
    with pytest.raises(DoesNotApply, match="too much"):
        scalar_leakage(symmetric(0.1, 100_000), [0, 1], 1.0)
    with pytest.raises(DoesNotApply, match="too small"):
        scalar_leakage(chain_of(3, [[1 - 1e-80, 1e-80], [0.5, 0.5]], [0.5, 0.5]), [0, 1], 1.0)
