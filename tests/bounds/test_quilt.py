"""Markov quilts: the theorems against the oracle, the searches against every quilt, long chains."""

import resource
from decimal import Decimal, localcontext
from itertools import combinations, permutations, product
from time import process_time

import numpy as np
import pytest

from entwined.bounds import chain_quilts
from entwined.bounds.chain_laws import Marginals, Supports
from entwined.bounds.quilt import markov_quilt_bound, tree_quilt_bound
from entwined.dependence import BayesNet, Box, Edge, Graph, MarkovChain, RandomField, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support import draw
from support.oracle import chain_joint, worst_leakages
from support.product import product_model

ROUNDING = 1e-9


def chain_of(length, transition, initial):
    return MarkovChain(length, Box.exact(transition), np.array(initial, dtype=float))


def symmetric(flip, length):
    return chain_of(length, [[1 - flip, flip], [flip, 1 - flip]], [0.5, 0.5])


def random_chain(rng, longest):
    """Of two or three states, some transitions and some starts impossible."""
    states = int(rng.integers(2, 4))
    step = np.exp(rng.normal(0, 1.5, (states, states)))
    start = rng.random(states)
    if rng.random() < 0.5:
        step *= rng.random(step.shape) < 0.7
        step += np.diag(step.sum(axis=1) == 0)
    if rng.random() < 0.3:
        start *= rng.random(states) < 0.5
    start = start if start.any() else np.ones(states)
    length = int(rng.integers(1, longest + 1 if states == 2 else min(longest, 6) + 1))
    return chain_of(length, step / step.sum(axis=1, keepdims=True), start / start.sum())


def as_net(chain):
    values = tuple(map(str, range(chain.states)))
    later = [Variable(f"x{t}", values, (f"x{t - 1}",), chain.transition.low) for t in range(1, chain.length)]
    return BayesNet.of([Variable("x0", values, (), [chain.initial]), *later])


# Every quilt, by enumeration


def best_quilts(joint, losses, quilts):
    """The worst pair of values, each with the least cost over (quilt, units inside), from the joint law."""
    found = []
    for unit in range(joint.ndim):
        others = tuple(j for j in range(joint.ndim) if j != unit)
        possible = np.flatnonzero(joint.sum(axis=others) > 0)
        worst = [losses[unit]]
        for s, t in permutations(possible, 2):
            costs = [
                losses[list(inside)].sum() + influence(joint, unit, quilt, s, t)
                for quilt, inside in quilts(unit)
            ]
            worst.append(min(costs))
        found.append(max(worst))
    return np.array(found)


def influence(joint, unit, quilt, s, t):
    """The largest log p(x_Q | s) / p(x_Q | t)."""
    rest = tuple(j for j in range(joint.ndim) if j != unit and j not in quilt)
    table = np.moveaxis(joint.sum(axis=rest, keepdims=True), unit, 0).reshape(joint.shape[unit], -1)
    p, q = table[s] / table[s].sum(), table[t] / table[t].sum()
    if (q[p > 0] == 0).any():
        return np.inf
    return float(np.log(p[p > 0] / q[p > 0]).max())


def chain_quilts_of(length):
    def quilts(unit):
        for left, right in product(range(-1, unit), range(unit + 1, length + 1)):
            yield [end for end in (left, right) if 0 <= end < length], range(left + 1, right)

    return quilts


def tree_quilts_of(links, size):
    """Behind each neighbour all units at one distance, or none."""
    beside = {j: [b if a == j else a for a, b in links if j in (a, b)] for j in range(size)}

    def spheres(unit, neighbour):
        levels, seen = [[neighbour]], {unit, neighbour}
        while levels[-1]:
            following = [k for j in levels[-1] for k in beside[j] if k not in seen]
            seen.update(following)
            levels.append(following)
        return [(level, [j for near in levels[:d] for j in near]) for d, level in enumerate(levels)]

    def quilts(unit):
        for choice in product(*(spheres(unit, neighbour) for neighbour in beside[unit])):
            yield (
                [j for cut, _ in choice for j in cut],
                [unit, *(j for _, inside in choice for j in inside)],
            )

    return quilts


def test_the_search_finds_the_best_of_all_quilts_of_a_chain():
    rng = np.random.default_rng(1)
    for place in range(75):
        chain = random_chain(rng, 10 if place % 5 == 0 else 7)
        losses = draw.losses(rng, chain.length) * (rng.random(chain.length) < 0.9)
        joint = chain_joint(chain.initial, chain.transition.low, chain.length)
        truth = best_quilts(joint, losses, chain_quilts_of(chain.length))
        found = markov_quilt_bound(Loss.of(losses), chain).per_unit
        assert found == pytest.approx(truth, rel=1e-9, abs=1e-11)
        assert (found >= truth * (1 - 1e-14)).all()
        equal = Loss.uniform(0.37, chain.length)
        truth = best_quilts(joint, equal.per_unit, chain_quilts_of(chain.length))
        assert markov_quilt_bound(equal, chain).per_unit == pytest.approx(truth, rel=1e-9, abs=1e-11)


def test_the_search_finds_the_best_quilts_at_a_distance_of_a_tree():
    rng = np.random.default_rng(2)
    for _ in range(120):
        drawn = draw.tree(rng)
        links = [scope for scope, _ in drawn.factors if len(scope) == 2]
        truth = best_quilts(drawn.joint(), drawn.losses, tree_quilts_of(links, len(drawn.sizes)))
        found = tree_quilt_bound(Loss.of(drawn.losses), product_model(drawn)).per_unit
        assert found == pytest.approx(truth, rel=1e-8, abs=1e-10)
        assert (found >= truth * (1 - 1e-13)).all()


def test_a_larger_tree_meets_every_quilt_too():
    rng = np.random.default_rng(3)
    for size, states in ((9, 2), (7, 3)) * 6:
        links = [(int(rng.integers(j)), j) for j in range(1, size)]
        tables = [rng.dirichlet(np.ones(states), states) for _ in links]
        start = rng.dirichlet(np.ones(states))
        factors = (((0,), start), *zip(links, tables, strict=True))
        drawn = draw.Model("tree", (states,) * size, factors, draw.losses(rng, size))
        values = tuple(map(str, range(states)))
        net = BayesNet.of(
            [Variable("0", values, (), [start])]
            + [
                Variable(str(b), values, (str(a),), table)
                for (a, b), table in zip(links, tables, strict=True)
            ]
        )
        truth = best_quilts(drawn.joint(), drawn.losses, tree_quilts_of(links, size))
        assert tree_quilt_bound(Loss.of(drawn.losses), net).per_unit == pytest.approx(truth, rel=1e-8)


def test_a_chain_written_as_a_network_has_the_same_quilts():
    rng = np.random.default_rng(4)
    for _ in range(25):
        chain = random_chain(rng, 30)
        loss = Loss.of(draw.losses(rng, chain.length))
        as_chain = markov_quilt_bound(loss, chain).per_unit
        assert tree_quilt_bound(loss, as_net(chain)).per_unit == pytest.approx(as_chain, rel=1e-9, abs=1e-11)


# The theorems against the oracle


@pytest.mark.parametrize("count", [160, pytest.param(1000, marks=pytest.mark.slow)])
def test_they_are_never_below_the_oracle(count):
    rng = np.random.default_rng(5)
    for place in range(count):
        drawn = (draw.chain if place % 2 else draw.tree)(rng)
        theorem = markov_quilt_bound if place % 2 else tree_quilt_bound
        bound = theorem(Loss.of(drawn.losses), product_model(drawn)).per_unit
        truth = worst_leakages(drawn.joint(), drawn.losses, "model")
        assert (bound >= truth - ROUNDING).all(), drawn
        assert (bound <= drawn.losses.sum() * (1 + 1e-12)).all(), drawn


def test_it_is_never_below_the_oracle_on_forests_of_fields():
    rng = np.random.default_rng(6)
    for _ in range(60):
        sizes = tuple(int(size) for size in rng.integers(2, 4, 4))
        scopes = [(int(rng.integers(j)), j) for j in range(1, 4) if rng.random() < 0.8]
        tables = [np.exp(rng.normal(0, 1.5, (sizes[a], sizes[b]))) for a, b in scopes]
        drawn = draw.Model("field", sizes, tuple(zip(scopes, tables, strict=True)), draw.losses(rng, 4))
        edges = [Edge((str(a), str(b)), table) for (a, b), table in drawn.factors]
        field = RandomField.of({str(j): size for j, size in enumerate(sizes)}, edges)
        bound = tree_quilt_bound(Loss.of(drawn.losses), field).per_unit
        assert (bound >= worst_leakages(drawn.joint(), drawn.losses, "model") - ROUNDING).all()


def test_it_is_reached_by_copies_by_strangers_and_by_a_loud_neighbour():
    copies = chain_of(4, np.eye(2), [0.3, 0.7])
    losses = Loss.of([0.1, 0.2, 0.3, 0.4])
    assert markov_quilt_bound(losses, copies).per_unit == pytest.approx([1.0] * 4, rel=1e-12)
    strangers = chain_of(4, [[0.3, 0.7], [0.3, 0.7]], [0.5, 0.5])
    assert markov_quilt_bound(losses, strangers).per_unit == pytest.approx(losses.per_unit, abs=1e-12)
    loud = Loss.of([0.0, 40.0])
    bound = markov_quilt_bound(loud, symmetric(0.1, 2)).per_unit[0]
    truth = worst_leakages(chain_joint([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], 2), loud.per_unit, "model")[0]
    assert bound == pytest.approx(truth, abs=1e-9) == pytest.approx(np.log(9))


def test_a_zero_on_one_side_shows_everything():
    step, start, losses = [[0.8, 0.2], [1.0, 0.0]], [0.5, 0.5], np.full(2, 5.0)
    chain = chain_of(2, step, start)
    truth = worst_leakages(chain_joint(start, step, 2), losses, "model")[0]
    assert truth > 5 + np.log(1 / 0.8) + 3  # 5.223 is what is left if the zero is dropped
    for theorem, model in ((markov_quilt_bound, chain), (tree_quilt_bound, as_net(chain))):
        assert theorem(Loss.of(losses), model).per_unit[0] == pytest.approx(10)


@pytest.mark.parametrize("theorem", [markov_quilt_bound, tree_quilt_bound])
def test_it_fails_where_the_law_is_another_one(theorem):
    losses = np.array([0.1, 0.1, 3.0])
    believed = symmetric(0.45, 3)
    bound = theorem(Loss.of(losses), believed if theorem is markov_quilt_bound else as_net(believed)).per_unit
    truths = {
        flip: worst_leakages(
            chain_joint([0.5, 0.5], [[1 - flip, flip], [flip, 1 - flip]], 3), losses, "model"
        )
        for flip in (0.45, 0.01)
    }
    assert (truths[0.45] <= bound).all()
    assert (truths[0.01][:2] > bound[:2] + 1).all()


@pytest.mark.parametrize("theorem", [markov_quilt_bound, tree_quilt_bound])
def test_it_fails_where_the_adversary_knows_a_value(theorem):
    step, start = [[0.45, 0.32, 0.23], [0.055, 0.933, 0.012], [0.3, 0.01, 0.69]], [0.3, 0.25, 0.45]
    losses, chain = np.array([0.1, 10.0, 0.1]), chain_of(3, step, start)
    bound = theorem(Loss.of(losses), chain if theorem is markov_quilt_bound else as_net(chain)).per_unit
    joint = chain_joint(start, step, 3)
    assert (worst_leakages(joint, losses, "model") <= bound + ROUNDING).all()
    assert (worst_leakages(joint, losses, "values")[[0, 2]] > bound[[0, 2]] + 1).all()


def test_a_quilt_for_each_pair_is_never_worse_than_one_for_all_and_at_times_better():
    rng, better = np.random.default_rng(8), 0
    for _ in range(40):
        chain = random_chain(rng, 5)
        losses = draw.losses(rng, chain.length)
        joint = chain_joint(chain.initial, chain.transition.low, chain.length)
        mine = markov_quilt_bound(Loss.of(losses), chain).per_unit
        for unit in range(chain.length):
            others = tuple(j for j in range(chain.length) if j != unit)
            possible = np.flatnonzero(joint.sum(axis=others) > 0)
            published = min(
                losses[list(inside)].sum()
                + max(
                    (influence(joint, unit, quilt, s, t) for s, t in permutations(possible, 2)), default=0.0
                )
                for quilt, inside in chain_quilts_of(chain.length)(unit)
            )
            assert mine[unit] <= published * (1 + 1e-9) + 1e-9
            better += mine[unit] < published - 1e-3
    assert better > 0


# Golden


@pytest.mark.parametrize(
    ("flip", "target", "scale"),
    [(0.10, 0.2, 251.37), (0.10, 1, 31.74), (0.25, 1, 9.34), (0.25, 5, 0.36), (0.40, 1, 3.57)],
)
def test_the_golden_table(flip, target, scale):
    chain, low, high = symmetric(flip, 100), 1e-6, 1e3
    began = process_time()
    markov_quilt_bound(Loss.uniform(1, 100), chain)
    assert process_time() - began < 1
    while high > low * (1 + 1e-7):
        middle = np.sqrt(low * high)
        if markov_quilt_bound(Loss.uniform(middle, 100), chain).worst <= target:
            low = middle
        else:
            high = middle
    assert 1 / low == pytest.approx(scale, abs=0.005)


# Limits


def test_it_grows_with_every_loss():
    rng = np.random.default_rng(9)
    for _ in range(60):
        drawn = (draw.chain if rng.random() < 0.5 else draw.tree)(rng)
        model = product_model(drawn)
        theorem = markov_quilt_bound if isinstance(model, MarkovChain) else tree_quilt_bound
        more = drawn.losses + rng.random(len(drawn.losses)) * (rng.random(len(drawn.losses)) < 0.5)
        before, after = (theorem(Loss.of(losses), model).per_unit for losses in (drawn.losses, more))
        assert (after >= before).all()


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 50.0])
def test_a_cap_on_distances_only_loosens(monkeypatch, epsilon):
    for seed in range(10):
        chain, again = (random_chain(np.random.default_rng(seed), 60) for _ in "ab")
        uneven = Loss.of(epsilon * np.random.default_rng(seed).uniform(0.5, 1, chain.length))
        whole = [
            markov_quilt_bound(loss, chain).per_unit for loss in (Loss.uniform(epsilon, chain.length), uneven)
        ]
        for name, value in (("FARTHEST", 5), ("MOST_WORK", 0), ("LEAST_REACH", 3), ("AT_ONCE", 40)):
            monkeypatch.setattr(chain_quilts, name, value)
        capped = [
            markov_quilt_bound(loss, again).per_unit for loss in (Loss.uniform(epsilon, chain.length), uneven)
        ]
        monkeypatch.undo()
        for loose, tight in zip(capped, whole, strict=True):
            assert (loose >= tight * (1 - 1e-12)).all()
            assert (loose <= epsilon * chain.length * (1 + 1e-9)).all()


def test_the_middle_of_a_long_chain_is_that_of_a_shorter_one():
    step = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.05, 0.05, 0.9]]
    for epsilon in (1e-9, 0.01, 1.0):
        short, long = (chain_of(n, step, [1.0, 0.0, 0.0]) for n in (400, 1_000_000))
        few, many = (markov_quilt_bound(Loss.uniform(epsilon, c.length), c).per_unit for c in (short, long))
        close = 1e-3 if epsilon < 1e-6 else 1e-8
        for some, expected in (
            (slice(150), few[:150]),
            (slice(-150, None), few[-150:]),
            (slice(150, -150), few[200]),
        ):
            assert np.abs(many[some] / expected - 1).max() < close


def test_a_million_steps_of_51_states_take_seconds_and_little_memory():
    rng = np.random.default_rng(11)
    mixing = rng.random((51, 51)) + 0.01
    walking = 0.9 * np.eye(51) + 0.05 * np.eye(51, k=1) + 0.05 * np.eye(51, k=-1)
    uneven = Loss.of(rng.uniform(0.1, 0.2, 1_000_000))
    began, held = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for step in (mixing, walking):
        chain = chain_of(1_000_000, step / step.sum(axis=1, keepdims=True), np.full(51, 1 / 51))
        even = markov_quilt_bound(Loss.uniform(0.2, 1_000_000), chain)
        assert (even.per_unit >= markov_quilt_bound(uneven, chain).per_unit * (1 - 1e-12)).all()
        assert even.worst < 500
    assert process_time() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 500_000


def test_the_laws_of_late_steps_lie_between_their_bounds():
    rng = np.random.default_rng(12)
    with localcontext() as digits:
        digits.prec = 60
        for _ in range(50):
            chain = random_chain(rng, 1)
            chain = chain_of(150, chain.transition.low, chain.initial)
            step = np.array([[Decimal(entry) for entry in row] for row in chain.transition.low])
            early = Marginals.of(chain, int(rng.integers(1, 60)))
            law = np.array([Decimal(entry) for entry in chain.initial])
            for time in range(chain.length):
                row, possible = min(time, len(early.low) - 1), law > 0
                logs = [chance.ln() for chance in law[possible]]
                assert (early.possible[row] >= possible).all()
                assert all(
                    Decimal(low) <= log for low, log in zip(early.low[row][possible], logs, strict=True)
                )
                assert all(
                    log <= Decimal(high) for high, log in zip(early.high[row][possible], logs, strict=True)
                )
                assert np.isneginf(early.low[row][~possible]).all()
                law = law @ step


def test_supports_hold_what_is_possible():
    turning = chain_of(100, np.roll(np.eye(5), 1, axis=1), [1, 0, 0, 0, 0])
    found = Supports.of(turning)
    assert found.settled == 16
    assert found.sets[-1].all()
    bound = markov_quilt_bound(Loss.uniform(1, 100), turning).per_unit
    assert bound[:16] == pytest.approx(np.ones(16))  # no unit has a secret
    assert bound.max() <= 100 * (1 + 1e-12)


def test_probabilities_too_small_for_floats_are_not_taken_for_zero():
    tiny = 1e-200
    chain = chain_of(5, [[1 - tiny, tiny, 0], [0, 1 - tiny, tiny], [tiny, 0, 1 - tiny]], [1.0, 0, 0])
    bound = markov_quilt_bound(Loss.uniform(1, 5), chain).per_unit
    assert bound == pytest.approx([1, 3, 4, 4, 4], abs=1.01)
    assert (bound[1:] >= 2).all()  # X_1 = X_2 = … but for chances that a float cannot hold


def test_it_says_where_it_does_not_apply():
    loss = Loss.uniform(1, 3)
    wide = Box(np.array([[0.4, 0.4], [0.4, 0.4]]), np.array([[0.6, 0.6], [0.6, 0.6]]))
    with pytest.raises(DoesNotApply, match="many members"):
        markov_quilt_bound(loss, MarkovChain(3, wide, np.array([0.5, 0.5])))
    with pytest.raises(DoesNotApply, match="initial"):
        markov_quilt_bound(loss, MarkovChain(3, Box.exact([[0.5, 0.5], [0.5, 0.5]])))
    with pytest.raises(DoesNotApply, match="states"):
        markov_quilt_bound(loss, chain_of(3, np.full((1001, 1001), 1 / 1001), np.full(1001, 1 / 1001)))
    with pytest.raises(DoesNotApply, match="Markov quilt"):
        tree_quilt_bound(loss, symmetric(0.1, 3))
    with pytest.raises(DoesNotApply):
        tree_quilt_bound(loss, Graph(3, np.array([[0, 1]]), np.array([0.5])))
    triangle = [Edge(pair, [[1, 2], [2, 1]]) for pair in combinations("abc", 2)]
    with pytest.raises(DoesNotApply, match="cycle"):
        tree_quilt_bound(loss, RandomField.of({"a": 2, "b": 2, "c": 2}, triangle))


def test_a_star_of_many_leaves_is_quick():
    leaves = 2_000
    flip = [[0.9, 0.1], [0.1, 0.9]]
    star = BayesNet.of(
        [Variable("hub", ("0", "1"), (), [[0.5, 0.5]])]
        + [Variable(str(j), ("0", "1"), ("hub",), flip) for j in range(leaves)]
    )
    began = process_time()
    bound = tree_quilt_bound(Loss.uniform(0.1, leaves + 1), star).per_unit
    assert process_time() - began < 10
    assert bound[1] == pytest.approx(0.1 + np.log(9), rel=1e-9)  # a leaf is cut off at the hub
    assert bound[0] == pytest.approx(0.1 * (leaves + 1), rel=1e-9)  # the hub has to pay for all leaves
