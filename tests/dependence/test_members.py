"""Every discrete model has a law to draw from; conditional laws and draws are those of the whole joint law."""

from dataclasses import replace

import numpy as np
import pytest

from entwined.dependence import (
    BayesNet,
    Box,
    Edge,
    Forms,
    Gaussian,
    Graph,
    Groups,
    Independent,
    MarkovChain,
    ProductLaw,
    RandomField,
    Ties,
    UnitTable,
    Variable,
    near_copies,
)
from entwined.dependence.summing_out import adding_table, order_of, summed_out
from entwined.errors import BadInput, BadModel, DoesNotApply, Refused
from support.draw import models

RANDOM = list(models(31, 28))
DRAWS = 20_000


def law_of(drawn):
    return ProductLaw(drawn.sizes, tuple(UnitTable(scope, table) for scope, table in drawn.factors))


@pytest.mark.parametrize("drawn", RANDOM, ids=lambda drawn: drawn.shape)
def test_conditional_laws_are_those_of_the_joint_law(drawn):
    joint, law, rng = drawn.joint(), law_of(drawn), np.random.default_rng(5)
    cells = np.argwhere(joint > 0)
    for unit in range(joint.ndim):
        told = cells[rng.integers(len(cells))]
        known = {j: int(told[j]) for j in range(joint.ndim) if j != unit and rng.random() < 0.5}
        given = joint[
            tuple(slice(known[j], known[j] + 1) if j in known else slice(None) for j in range(joint.ndim))
        ]
        others = tuple(j for j in range(joint.ndim) if j != unit)
        truth = given.sum(axis=others) / given.sum()
        assert law.marginal(unit, known) == pytest.approx(truth, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("drawn", RANDOM[:7], ids=lambda drawn: drawn.shape)
def test_sums_have_the_law_that_enumeration_gives_them(drawn):
    joint, law = drawn.joint(), law_of(drawn)
    rng = np.random.default_rng(6)
    adds = [rng.integers(-2, 4, size) for size in law.sizes]
    terms = [*law.terms({}), *(adding_table((j,), numbers[None]) for j, numbers in enumerate(adds))]
    found = summed_out(terms, order_of([term.scope for term in terms], law.sizes, (0,)), law.sizes)
    totals = sum(np.ix_(*adds), start=np.zeros((), int))
    truth = np.zeros((law.sizes[0], found.sums.size))
    np.add.at(truth, (np.indices(joint.shape)[0], np.searchsorted(found.sums, totals)), joint)
    weights = found.weights[0] / found.weights.sum()
    assert weights == pytest.approx(truth, rel=1e-9, abs=1e-300)


def pair_shares(values, one, other):
    shares = np.zeros((2, 2))
    np.add.at(shares, (values[:, one], values[:, other]), 1 / len(values))
    return shares


@pytest.mark.parametrize("how", ["draw", "draw_by_rounds"])
def test_draws_have_the_law(how):
    """Each share of 20,000 draws is off by five deviations with a chance below 1e-6, and there are 12 of them."""
    law = near_copies(3, 2, 0.6).tilted({0: [0.3, 0.7]})
    more = {} if how == "draw" else {"rounds": 20}
    values = getattr(law, how)(DRAWS, np.random.default_rng(7), **more)
    for one, other in ((0, 1), (1, 2), (0, 2)):
        truth = law.joint([one, other], {})
        assert np.abs(pair_shares(values, one, other) - truth).max() < 5 * np.sqrt(0.25 / DRAWS)
    assert np.abs(pair_shares(values[:, [0, 0]], 0, 1)[0, 1]) == 0


def test_what_is_known_stays():
    law = near_copies(4, 3, 0.9)
    values = law.draw(500, np.random.default_rng(8), {2: 1})
    assert (values[:, 2] == 1).all()
    assert np.mean(values[:, 0] == 1) > 0.75
    assert (law.draw_by_rounds(5, np.random.default_rng(8), 2, {2: 1})[:, 2] == 1).all()


COIN = Variable("coin", ("head", "tail"), (), [[0.5, 0.5]])
SAME = Variable("same", ("head", "tail"), ("coin",), [[0.9, 0.1], [0.1, 0.9]])
NET = BayesNet.of([COIN, SAME])
MODELS = {
    "independent": Independent(3),
    "groups": Groups(4),
    "chain": MarkovChain(5, Box.exact([[0.9, 0.1], [0.2, 0.8]])),
    "chain from a start": MarkovChain(5, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([1.0, 0.0])),
    "class of chains": MarkovChain(
        3, Box(np.array([[0.8, 0.1], [0.1, 0.8]]), np.array([[0.9, 0.2], [0.2, 0.9]]))
    ),
    "network": NET,
    "field": RandomField.of({"a": 2, "b": 2}, [Edge(("a", "b"), [[2.0, 1.0], [1.0, 2.0]])]),
    "graph": Graph(3, np.array([[0, 1], [1, 2]]), np.array([1.2, np.inf])),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_discrete_model_can_be_drawn_from(name):
    model = MODELS[name]
    values = model.draw(30, np.random.default_rng(9))
    law = model.member()
    assert values.shape == (30, law.units)
    assert len(law.people) == model.units
    assert set(np.unique(values)) <= set(range(max(law.sizes)))
    assert model.draw(2).shape[0] == 2  # from the system's entropy


def test_members_are_in_their_class():
    graph = MODELS["graph"].member(3)
    table = graph.tables[0].table
    assert np.log(table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0])) == pytest.approx(1.2)
    assert graph.joint([1, 2], {})[0, 1] == 0
    chain = MODELS["chain"].member()
    assert chain.marginal(4) == pytest.approx([2 / 3, 1 / 3])
    assert MODELS["chain from a start"].member().marginal(0).tolist() == [1, 0]
    assert MODELS["class of chains"].member().marginal(1, {0: 0}) == pytest.approx([0.85, 0.15])


def test_ties_have_a_law_around_each_unit():
    step = np.array([[0.9, 0.1], [0.3, 0.7]])
    ties = Ties(4, np.array([[0, 1], [2, 0]]), kernel=step)
    law = ties.around(0)
    assert law.marginal(0) == pytest.approx([0.75, 0.25])
    assert law.marginal(1, {0: 1}) == pytest.approx(step[1])
    assert law.marginal(2, {0: 0}) == pytest.approx(step[0])
    assert law.marginal(3, {0: 0, 1: 1}) == pytest.approx([0.75, 0.25])
    assert ties.around(1).marginal(2, {0: 1, 1: 0}) == pytest.approx(
        [0.75, 0.25]
    )  # friends of friends say nothing
    few = replace(ties, most_ties=1).around(0)  # which of the ties say something is left open: here the first
    assert few.marginal(1, {0: 1}) == pytest.approx(step[1])
    assert few.marginal(2, {0: 1}) == pytest.approx([0.75, 0.25])
    with pytest.raises(DoesNotApply, match="around"):
        ties.member()
    with pytest.raises(DoesNotApply, match="kernel"):
        Ties(2, np.array([[0, 1]]), coefficients=np.array([0.4])).around(0)


def test_the_independent_law_keeps_every_marginal_and_nothing_else():
    law = near_copies(3, 2, 0.9).tilted({1: [0.2, 0.8]})
    alone = law.independent
    assert alone.marginal(0) == pytest.approx(law.marginal(0))
    assert alone.marginal(0, {1: 0}) == pytest.approx(law.marginal(0))
    assert abs(law.marginal(0, {1: 0})[0] - law.marginal(0)[0]) > 0.3


def test_repeated_populations_are_independent():
    law = near_copies(2, 2, 0.9).repeated(3)
    assert law.hidden == (2, 5, 8)
    assert law.marginal(0, {3: 0}) == pytest.approx([0.5, 0.5])
    assert law.marginal(3, {4: 0})[0] > 0.9


def test_what_cannot_be_is_refused_in_words():
    every = [UnitTable((one, other), np.ones((9, 9))) for one in range(12) for other in range(one)]
    with pytest.raises(Refused, match="depend on each other so that"):
        ProductLaw((9,) * 12, tuple(every)).marginal(0)
    with pytest.raises(DoesNotApply, match="finitely many values"):
        Gaussian.of(np.eye(2)).member()
    with pytest.raises(DoesNotApply, match="answers"):
        Forms.of(NET, "form", [["coin", "same"]]).member()
    with pytest.raises(BadInput, match="never happens"):
        MODELS["chain from a start"].member().marginal(1, {0: 1})
    with pytest.raises(BadInput, match="never happens"):
        ProductLaw((2, 2, 2), (UnitTable((0, 1), np.eye(2)), UnitTable((1, 2), 1 - np.eye(2)))).marginal(
            1, {0: 0, 2: 0}
        )
    with pytest.raises(BadModel, match="one axis a unit"):
        ProductLaw((2, 2), (UnitTable((0, 1), np.eye(3)),))
    with pytest.raises(BadInput, match="rounds"):
        near_copies(2, 2, 0.5).draw_by_rounds(1, np.random.default_rng(1), 0)
    with pytest.raises(BadInput, match="chance below 1"):
        near_copies(2, 2, 1.0)
