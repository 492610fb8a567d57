"""Numerical care: tiny and huge losses, Δ from 0 to ∞, near-deterministic kernels, radius just under 1."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entwined.bounds.choose import THEOREMS, bound
from entwined.bounds.contraction import contract, contract_one
from entwined.bounds.influence import influence_matrix_bound
from entwined.bounds.loopy import loopy_leakage
from entwined.bounds.messages import message_passing_bound
from entwined.dependence import BayesNet, Box, Couplings, Edge, Graph, MarkovChain, RandomField, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss

losses = st.floats(1e-9, 200)
strengths = st.one_of(st.floats(0, 200), st.just(math.inf), st.floats(0, 1e-6))
STEP = 1e-12  # monotone up to the rounding


@given(losses, strengths)
def test_contraction_is_right_to_the_last_digits_and_rounded_up(loss, log_odds):
    from mpmath import atanh, inf, mp, mpf, tanh

    mp.dps = 60
    gate = mpf(1) if log_odds == math.inf else tanh(mpf(log_odds) / 4)
    exact = 4 * atanh(tanh(mpf(loss) / 4) * gate) if loss < inf else log_odds
    for value in (contract_one(loss, log_odds), float(contract(np.array([loss]), np.array([log_odds]))[0])):
        assert value >= exact * (1 - mpf(10) ** -30) or value == min(loss, log_odds)
        assert value <= exact * (1 + mpf(10) ** -13) + mpf(10) ** -299
        assert value <= min(loss, log_odds)


def test_contraction_at_the_ends():
    assert contract_one(math.inf, 2.0) == contract_one(2.0, math.inf) == 2.0
    assert contract_one(math.inf, math.inf) == math.inf
    assert contract_one(0.0, 3.0) == contract_one(3.0, 0.0) == 0.0


graphs = st.integers(2, 6).flatmap(
    lambda units: st.tuples(
        st.just(units),
        st.lists(losses, min_size=units, max_size=units),
        st.lists(st.tuples(st.integers(0, units - 1), st.integers(0, units - 1), strengths), max_size=10),
    )
)


def simple(units, edges):
    pairs = {}
    for a, b, log_odds in edges:
        if a != b:
            pairs[min(a, b), max(a, b)] = max(log_odds, pairs.get((min(a, b), max(a, b)), 0.0))
    ends = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    return Graph(units, ends, np.array(list(pairs.values())))


@given(graphs, st.integers(0, 5), st.floats(1, 3), st.integers(0, 9))
def test_graph_bounds_are_monotone_finite_and_between_loss_and_group(case, unit, factor, edge):
    units, values, edges = case
    graph, loss = simple(units, edges), Loss.of(values)
    leakage = message_passing_bound(loss, graph).per_unit
    assert np.isfinite(leakage).all()
    assert (leakage >= loss.per_unit).all()
    assert (leakage <= graph.group_totals(loss) * (1 + STEP)).all()
    more = np.array(values)
    more[unit % units] *= factor
    assert (message_passing_bound(Loss(more), graph).per_unit >= leakage * (1 - STEP)).all()
    if edges:
        a, b, log_odds = edges[edge % len(edges)]
        stronger = simple(units, [*edges, (a, b, log_odds * factor)])
        assert (message_passing_bound(loss, stronger).per_unit >= leakage * (1 - STEP)).all()


@given(graphs)
def test_loops_and_sweeps_agree_on_forests(case):
    units, values, edges = case
    graph = simple(units, edges)
    if graph.couplings.acyclic:
        swept = message_passing_bound(Loss.of(values), graph).per_unit
        assert loopy_leakage(np.array(values), graph.couplings) == pytest.approx(swept, rel=1e-9)


kernels = st.integers(2, 3).flatmap(
    lambda states: st.lists(
        st.lists(
            st.sampled_from([0.0, 1e-300, 1e-12, 1e-3, 0.2, 1.0, 1 - 1e-12]), min_size=states, max_size=states
        ).filter(lambda row: sum(row) > 0.1),
        min_size=states,
        max_size=states,
    )
)


@given(kernels, st.integers(1, 4), losses, losses, st.floats(1, 2))
@example(
    [[0.2, 0.0], [0.2, 1e-12]], 4, 1.0, 33.0, 1.125
)  # an order of elimination may give more than the group
def test_every_theorem_on_near_deterministic_chains_is_a_number_and_monotone(
    rows, length, first, other, factor
):
    transition = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    chain = MarkovChain(length, Box.exact(transition), np.full(len(rows), 1 / len(rows)))
    small = np.full(length, other)
    small[0] = first
    for theorem in THEOREMS:
        try:
            low = theorem(Loss(small), chain).per_unit
            high = theorem(Loss(small * factor), chain).per_unit
        except DoesNotApply:
            continue
        assert not np.isnan(low).any(), theorem.name
        assert (high >= low * (1 - 1e-9)).all(), theorem.name
        assert (low >= small * (1 - STEP)).all(), theorem.name


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_influences_just_under_the_limit(gap):
    """A triangle of C = (1 − gap)/2 has radius 1 − gap: the solution is ε/gap, confirmed or refused, never wrong."""
    log_odds = 4 * math.atanh((1 - gap) / 2)
    triangle = Graph(3, np.array([[0, 1], [1, 2], [0, 2]]), log_odds)
    try:
        leakage = influence_matrix_bound(Loss.uniform(1, 3), triangle).worst
    except DoesNotApply:
        assert gap < 1e-6
    else:
        assert leakage == pytest.approx(1 / gap, rel=1e-2)
        assert leakage >= 1 / gap * (1 - 1e-6)


def test_influences_over_the_limit_are_refused():
    triangle = Graph(3, np.array([[0, 1], [1, 2], [0, 2]]), 4 * math.atanh(0.5001))
    with pytest.raises(DoesNotApply, match="spectral radius"):
        influence_matrix_bound(Loss.uniform(1, 3), triangle)


def test_a_zero_on_one_side_makes_the_log_odds_infinite():
    """TRUST 33: never dropped."""
    field = RandomField.of({"a": 2, "b": 2}, [Edge(("a", "b"), [[1.0, 0.0], [1.0, 0.25]])])
    assert field.couplings.log_odds.tolist() == [math.inf, math.inf]
    assert message_passing_bound(Loss.uniform(1, 2), field).worst == pytest.approx(2)


def test_a_value_that_never_occurs_is_no_secret():
    field = RandomField.of({"a": 3, "b": 2}, [Edge(("a", "b"), [[2.0, 1.0], [1.0, 2.0], [0.0, 0.0]])])
    assert field.couplings.log_odds == pytest.approx(2 * math.log(2))


def test_classes_take_their_worst_member():
    """TRUST 34: corners of the class, also at 0 and 1, never exceed the bound of the class; some corner comes close."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        centre = rng.dirichlet([1, 1, 1], 3)
        low, high = np.clip(centre - 0.1, 0, 1), np.clip(centre + 0.1, 0, 1)
        chain = MarkovChain(4, Box(low, high))
        whole = message_passing_bound(Loss.uniform(0.7, 4), chain).worst
        members = []
        for _ in range(200):
            member = rng.uniform(low, high)
            member = np.where(
                rng.random(member.shape) < 0.5, low, np.where(rng.random(member.shape) < 0.5, high, member)
            )
            sums = member.sum(axis=1, keepdims=True)
            if (sums == 0).any():
                continue
            member = np.clip(member / sums, low, high)
            if np.allclose(member.sum(axis=1), 1):
                members.append(
                    message_passing_bound(Loss.uniform(0.7, 4), MarkovChain(4, Box.exact(member))).worst
                )
        assert max(members, default=0) <= whole * (1 + STEP)


def test_the_leap_never_lands_below_where_the_plain_iteration_ends():
    from entwined.bounds.loopy import Messages, settled_messages

    rng = np.random.default_rng(8)
    for _ in range(15):
        units = int(rng.integers(4, 40))
        ends = np.array([(a, b) for a in range(units) for b in range(a) if rng.random() < 0.3])
        if not len(ends):
            continue
        couplings = Couplings.pairs(units, ends, rng.uniform(0.01, 2, len(ends)))
        values = rng.uniform(0.01, 1, units)
        system, settled = settled_messages(values, couplings)
        plain = contract(couplings.component_totals(values)[couplings.unit], couplings.log_odds)
        system = Messages(values, couplings)
        for _ in range(3_000):
            plain = np.minimum(system.step(plain), plain)
        assert (settled >= plain * (1 - 1e-11)).all()
        assert settled == pytest.approx(plain, rel=1e-6)


# Losses and log odds up to 200, against many digits

DIGITS = 250
FAR = (0.3, 1.0, 5.0, 20.0, 40.0, 60.0, 100.0, 150.0, 200.0)


def net_of(initial, *tables):
    """A line of variables, each given the one before."""
    sizes = [len(initial), *(table.shape[1] for table in tables)]
    laws = [[list(initial)], *(table.tolist() for table in tables)]
    parents = [(), *((f"v{place}",) for place in range(len(tables)))]
    return BayesNet.of(
        [
            Variable(f"v{place}", tuple(map(str, range(size))), above, law)
            for place, (size, above, law) in enumerate(zip(sizes, parents, laws, strict=True))
        ]
    )


def far_table(rng, rows, columns):
    """Chances from 1 down to e^-200, each row with one large chance."""
    table = np.exp(-rng.choice([1.0, 30.0, 100.0, 200.0]) * rng.random((rows, columns)))
    return table / table.sum(axis=1, keepdims=True)


def as_digits(model):
    """The factors of a line as they are held, with many digits; rows need not sum to one exactly."""
    from mpmath import mp, mpf

    mp.dps = DIGITS
    tables = {}
    for block in model.blocks:
        for scope, table in zip(block.scope.tolist(), block.table.low, strict=True):
            tables[tuple(scope)] = np.vectorize(lambda one: mpf(float(one)), otypes=[object])(table)
    return tables


def reached(model, losses, *, blind=False):
    """A leakage of each unit that some mechanism reaches: each unknown unit is told apart in two sets, values known
    (or none, if the adversary is blind). For two units it is the largest there is.
    """
    from mpmath import exp, log, mpf

    tables, sizes = as_digits(model), [len(values) for values in model.values]
    grown = [exp(mpf(loss)) for loss in losses]
    units, found = range(len(sizes)), []
    for unit in units:
        best, others = mpf(0), [j for j in units if j != unit]
        fewest = len(others) if blind else 0
        for unknown in (set(u) for n in range(fewest, len(others) + 1) for u in combinations(others, n)):
            options = [
                [
                    [grown[j] if inside else mpf(1) for inside in sides]
                    for sides in product((0, 1), repeat=sizes[j])
                ]
                if j in unknown
                else [[mpf(v == w) for v in range(sizes[j])] for w in range(sizes[j])]
                for j in others
            ]
            for weights in product(*options):
                flags = [[mpf(int(one > 0)) for one in each] for each in weights]
                told, there = (
                    along(tables, sizes, unit, dict(zip(others, each, strict=True)))
                    for each in (weights, flags)
                )
                means = [t / s for t, s in zip(told, there, strict=True) if s > 0]
                if len(means) > 1:
                    best = max(best, log(max(means) / min(means)))
        found.append(mpf(losses[unit]) + best)
    return found


def along(tables, sizes, unit, weights):
    """Sum the law of a line over all units but one, each weighed."""
    from mpmath import mpf

    last = len(sizes) - 1
    weigh = [np.array(weights.get(j, [mpf(1)] * sizes[j]), dtype=object) for j in range(last + 1)]
    forth = tables[0,] * weigh[0]
    for j in range(unit):
        forth = (forth @ tables[j, j + 1]) * weigh[j + 1]
    back = np.array([mpf(1)] * sizes[last], dtype=object)
    for j in range(last, unit, -1):
        back = tables[j - 1, j] @ (back * weigh[j])
    return (forth * back).tolist()


def answers(losses, model):
    for theorem in THEOREMS:
        try:
            yield theorem.name, theorem.knowledge, theorem(Loss.of(losses), model).per_unit
        except DoesNotApply:
            continue


def test_pairs_with_losses_and_log_odds_up_to_200_are_never_below_many_digits():
    """Two units: what is reached is the truth for every theorem, and the sharpest ones meet it."""
    rng, met = np.random.default_rng(91), set()
    for _ in range(90):
        rows, columns = (int(size) for size in rng.integers(2, 4, 2))
        model = net_of(far_table(rng, 1, rows)[0], far_table(rng, rows, columns))
        losses = rng.choice(FAR, 2)
        truth = reached(model, losses)
        for name, _, leakage in answers(losses, model):
            met.add(name)
            excess = [float(value / exact) for value, exact in zip(map(float, leakage), truth, strict=True)]
            assert min(excess) >= 1 - 1e-14, (name, losses, leakage, truth)
            if name in {"transport", "tilted transport", "elimination", "pairwise"}:
                assert max(excess) < 1 + 1e-9, (name, losses, leakage, truth)
    assert {
        "message passing",
        "transport",
        "tilted transport",
        "elimination",
        "tree quilt",
        "pairwise",
    } <= met


@pytest.mark.parametrize(
    "seed", [92, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(93, 113))]
)
def test_lines_of_three_with_losses_and_log_odds_up_to_200_are_never_below_what_is_reached(seed):
    rng, met = np.random.default_rng(seed), set()
    for _ in range(20):
        step, first, losses = far_table(rng, 2, 2), far_table(rng, 1, 2)[0], rng.choice(FAR, 3)
        chain, net = MarkovChain(3, Box.exact(step), first), net_of(first, step, step)
        wider = net_of(first, step, far_table(rng, 2, 3))
        for digits, models in ((net, (chain, net)), (wider, (wider,))):
            truths = {blind: reached(digits, losses, blind=blind) for blind in (False, True)}
            for model in models:
                for name, knowledge, leakage in answers(losses, model):
                    met.add(name)
                    pairs = zip(map(float, leakage), truths[knowledge == "model"], strict=True)
                    assert all(float(value / exact) >= 1 - 1e-14 for value, exact in pairs), (
                        name,
                        model,
                        losses,
                    )
    assert {"markov quilt", "tree quilt", "tilted transport", "elimination", "message passing"} <= met


@pytest.mark.parametrize("loss", [20.0, 40.0, 60.0, 100.0, 200.0])
def test_elimination_tells_rare_values_apart_by_their_ratio_however_large(loss):
    """Two values, 1e22 and 1e28 times likelier given one secret than given the other: the second tells more."""
    law = np.array([[0.5, 0.5, 1e-20], [5e-23, 5e-29, 1.0]])
    model = net_of([0.5, 0.5], law)
    found = {name: leakage for name, _, leakage in answers([loss, loss], model)}
    truth = float(reached(model, [loss, loss])[0])
    for name in ("elimination", "elimination without knowledge", "transport", "tilted transport"):
        assert found[name][0] == pytest.approx(truth, rel=1e-9)
        assert found[name][0] >= truth * (1 - 1e-14)


@pytest.mark.parametrize("log_odds", [30, 60, *np.arange(69.0, 70.0, 0.05), 72, 100, 200])
def test_a_pair_of_any_log_odds_has_a_bound(log_odds):
    """The influence of a pair is 1 to the last digit from about 69.2 on: then it says nothing, and others do."""
    root = math.exp(-log_odds / 2)
    for model in (
        Graph(2, np.array([[0, 1]]), log_odds),
        RandomField.of({"a": 2, "b": 2}, [Edge(("a", "b"), [[1.0, root], [root, 1.0]])]),
    ):
        for loss in (0.1, 1.0, 60.0, 200.0):
            found = bound(model, Loss.uniform(loss, 2)).leakage.worst
            assert found == pytest.approx(loss + contract_one(loss, log_odds), rel=1e-9)


def test_a_law_that_floats_cannot_hold_is_refused_by_elimination():
    from entwined.bounds.elimination import elimination_bound

    rare = [[1.0, 1e-200], [1e-200, 1.0]]
    with pytest.raises(DoesNotApply, match="too small for a float"):
        elimination_bound(Loss.uniform(1, 3), MarkovChain(3, Box.exact(rare), np.array([0.5, 0.5])))
    large = [Edge(("a", "b"), [[1e200, 1.0], [1.0, 1e200]]), Edge(("b", "c"), [[1e200, 1.0], [1.0, 1e200]])]
    with pytest.raises(DoesNotApply, match="too small for a float"):
        elimination_bound(Loss.uniform(1, 3), RandomField.of({"a": 2, "b": 2, "c": 2}, large))
