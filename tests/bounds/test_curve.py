"""The sensitivity curve: at each point never below the exact leakage of the stronger law, and where a cap breaks."""

import json
from dataclasses import replace

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, NoisySum, bound, curve
from entwined.bounds.calibrate import calibrate
from entwined.bounds.choose import named
from entwined.bounds.curve import Probe
from entwined.dependence import (
    BayesNet,
    Box,
    Correlations,
    Forms,
    Gaussian,
    Graph,
    Groups,
    Independent,
    MarkovChain,
    MaxCorrelation,
    RandomField,
    Variable,
)
from entwined.errors import BadInput, DoesNotApply
from entwined.loss import Leakage, Loss
from support import draw, oracle
from support.product import product_model

ROUNDING = 1e-7  # the oracle is right to 1e-8
STEP = Box.exact([[0.9, 0.1], [0.2, 0.8]])


def raised(drawn, power):
    """The same draw with every table that couples units to a power, laws summing to 1 again."""
    factors = []
    for scope, table in drawn.factors:
        stronger = table**power if len(scope) > 1 else table
        if isinstance(drawn, draw.Chain | draw.Net) and len(scope) > 1:
            stronger = stronger / stronger.sum(axis=-1, keepdims=True)
        factors.append((scope, stronger))
    return replace(drawn, factors=tuple(factors))


@pytest.mark.parametrize("shape", ["chain", "tree", "net", "cycle"])
def test_no_point_is_below_the_exact_leakage_of_the_stronger_law(shape):
    asked = 0
    for drawn in draw.models(seed=71, count=5, shapes=[shape]):
        model = product_model(drawn)
        for share in (0.25, 1.0):
            joint = raised(drawn, 1 + share).joint()
            for knowledge in ("values", "model"):
                truth = oracle.worst_leakages(joint, drawn.losses, knowledge).max()
                (point,) = curve(model, Loss(drawn.losses), knowledge, [share]).points
                assert point.leakage >= truth * (1 - ROUNDING) - 1e-9, (drawn, share, knowledge)
                asked += 1
    assert asked == 20


def test_a_graph_is_stronger_by_its_log_odds():
    ends = np.array([[0, 1], [1, 2], [2, 0]])
    graph, losses, share = Graph(3, ends, np.array([0.8, 1.2, 0.4])), np.array([0.5, 1.0, 0.7]), 0.5
    signs = np.array([-1.0, 1.0])
    weights = np.ones((2, 2, 2))
    for (a, b), odds in zip(ends.tolist(), graph.log_odds * (1 + share), strict=True):
        lying = [2 if j in (a, b) else 1 for j in range(3)]
        weights = weights * np.exp(np.multiply.outer(signs, signs) * odds / 4).reshape(lying)
    truth = oracle.worst_leakages(weights / weights.sum(), losses).max()
    (point,) = curve(graph, Loss(losses), shares=[share]).points
    assert truth * (1 - ROUNDING) <= point.leakage < truth * 1.5
    assert point.leakage > bound(graph, Loss(losses)).leakage.worst * 1.05


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_gaussian_laws_are_stronger_by_their_correlations(share):
    rng = np.random.default_rng(5)
    for _ in range(5):
        mixing = rng.normal(size=(4, 4))
        covariance = mixing @ mixing.T + 3 * np.eye(4)
        losses = rng.uniform(0.2, 1, 4)
        (point,) = curve(Gaussian(covariance), Loss(losses), shares=[share]).points
        stronger = np.where(np.eye(4, dtype=bool), covariance, covariance * (1 + share))
        if np.linalg.eigvalsh(stronger)[0] <= 1e-9:
            assert point.leakage == np.inf
        else:
            truth = max(oracle.gaussian_factor(stronger, losses, unit) for unit in range(4))
            assert truth * (1 - 1e-9) <= point.leakage < truth * 1.2
    intervals = Correlations(Box(np.array([[1.0, 0.1], [0.1, 1.0]]), np.array([[1.0, 0.3], [0.3, 1.0]])))
    for model in (
        intervals,
        MaxCorrelation(2, 0.3),
    ):  # of two units the worst law has the largest correlation
        (point,) = curve(model, Loss.uniform(1, 2), shares=[share]).points
        assert point.leakage == pytest.approx(1 + 0.3 * (1 + share), rel=1e-6)


def test_a_class_holds_the_stronger_law_of_every_member():
    rng = np.random.default_rng(8)
    low = np.array([[0.6, 0.1, 0.05], [0.1, 0.5, 0.2]])
    high = np.array([[0.8, 0.3, 0.2], [0.3, 0.7, 0.4]])
    box = Box(low, high).as_probabilities("laws").laws_raised(1.5)
    for _ in range(300):
        law = rng.uniform(low, high)
        law /= law.sum(axis=1, keepdims=True)
        if (law >= low).all() and (law <= high).all():
            member = law**1.5 / (law**1.5).sum(axis=1, keepdims=True)
            assert (box.low <= member * (1 + 1e-12)).all()
            assert (member <= box.high * (1 + 1e-12)).all()


def test_groups_grow_by_units_and_independent_ones_become_pairs():
    grown = curve(Groups(10), Loss.uniform("0.1", 10), shares=[0, 0.1, 0.25, 0.5])
    assert [point.leakage for point in grown.points] == pytest.approx([1.0, 1.1, 1.3, 1.5])
    uneven = curve(Groups(2), Loss.of([0.1, 0.4]), shares=[0, 0.5])
    assert [point.leakage for point in uneven.points] == pytest.approx([0.5, 0.9])  # a third like the worst
    alone = curve(Independent(5), Loss.uniform(1, 5), shares=[0, 0.1, 0.5], cap=2.001)
    assert [point.leakage for point in alone.points] == pytest.approx([1, 2, 2])
    assert 0.99 < alone.holds_up_to <= 1
    assert alone.strength == "the number of units that depend on each other (now 1)"
    squares = curve(Groups(2), ConcentratedLoss.uniform("0.01", 2, "1e-6"), shares=[0, 0.5])
    assert [point.theorem.name for point in squares.points] == ["concentrated group"] * 2
    assert squares.points[1].leakage > squares.points[0].leakage * 1.4


def test_answers_of_forms_depend_more():
    pair = [[0.9, 0.1], [0.3, 0.7]]

    def forms(table):
        answers = [Variable("q0", ("0", "1"), (), [[0.5, 0.5]]), Variable("q1", ("0", "1"), ("q0",), table)]
        return Forms.of(BayesNet.of(answers), "form", [["q0", "q1"], ["q0"]])

    laws = np.array(pair) ** 1.5
    by_hand = forms((laws / laws.sum(axis=1, keepdims=True)).tolist())
    loss = Loss.of([0.5, 1.0, 0.2])
    for knowledge in ("any", "model"):
        (point,) = curve(forms(pair), loss, knowledge, [0.5]).points
        assert point.leakage == pytest.approx(bound(by_hand, loss, knowledge).leakage.worst, rel=1e-9)


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_the_crossing_is_where_the_cap_breaks(knowledge):
    chain = MarkovChain(30, STEP, np.array([0.5, 0.5]))
    loss = calibrate(chain, 1.0, knowledge).exposure
    shown = curve(chain, loss, knowledge, cap=1.2)
    assert shown.points[0].leakage == pytest.approx(1, rel=1e-8)
    assert 0 < shown.holds_up_to < 0.5
    assert not shown.and_beyond
    assert bound(chain.stronger(shown.holds_up_to), loss, knowledge).leakage.worst <= 1.2
    assert bound(chain.stronger(shown.holds_up_to + 1e-3), loss, knowledge).leakage.worst > 1.2
    document = json.loads(json.dumps(shown.document, allow_nan=False))
    assert document["strength"] == "every log odds ratio"
    assert document["holds_up_to"] == shown.holds_up_to
    assert [point["share"] for point in document["points"]] == [0, 0.1, 0.25, 0.5]


def test_a_few_theorems_are_quicker_and_never_lower():
    chain, loss = MarkovChain(30, STEP, np.array([0.5, 0.5])), Loss.uniform("0.1", 30)
    best = curve(chain, loss, "model", cap=1.0)
    group = curve(chain, loss, "model", cap=4.0, theorems=[named("group")])
    assert {point.theorem.name for point in group.points} == {"group"}
    assert all(few.leakage >= all_.leakage for few, all_ in zip(group.points, best.points, strict=True))
    assert group.and_beyond


def test_a_cap_that_never_breaks_and_one_that_is_broken_already():
    chain, loss = MarkovChain(3, STEP), Loss.uniform(1, 3)
    whatever = curve(chain, loss, cap=3.001)  # the three losses together: no dependence does more
    assert (whatever.holds_up_to, whatever.and_beyond) == (4.0, True)
    broken = curve(chain, loss, cap=1.0)
    assert (broken.holds_up_to, broken.and_beyond) == (None, False)
    assert "cap" not in curve(chain, loss).document


def test_where_there_is_no_stronger_law_nothing_is_claimed():
    pair = Gaussian.of([[1.0, 0.8], [0.8, 1.0]])
    shown = curve(pair, Loss.uniform(1, 2), cap=100.0)
    assert [point.leakage for point in shown.points][2:] == [np.inf] * 2
    assert "why_not" in shown.points[3].document
    assert 0.2 < shown.holds_up_to < 0.25  # 0.8 × 1.25 = 1
    json.dumps(shown.document, allow_nan=False)
    with pytest.raises(BadInput, match="share"):
        curve(pair, Loss.uniform(1, 2), shares=[-0.1])
    with pytest.raises(DoesNotApply):
        product_model(next(iter(draw.models(3, 1, shapes=["triples"])))).stronger(0.5)


class Says:
    """A theorem that says of each unit a multiple of what all losses add up to."""

    def __init__(self, times):
        self.times = times

    def covers(self, knowledge):
        return knowledge == "any"

    def __call__(self, loss, model):
        return Leakage(self.times * named("group")(loss, model).per_unit)


@pytest.mark.parametrize(("times", "why"), [(np.inf, "so strong a dependence."), (np.nan, "smaller losses.")])
def test_infinity_is_said_in_words(times, why):
    shown = Probe(Groups(2).stronger, Loss.uniform(1, 2), "any", (Says(times),)).curve("s", [0.1], 1.0)
    assert (shown.holds_up_to, shown.and_beyond) == (None, False)
    (point,) = json.loads(json.dumps(shown.document, allow_nan=False))["points"]
    assert point.keys() == {"share", "why_not"}
    assert point["why_not"].endswith(why)


def test_of_theorems_that_prove_the_same_the_first_is_named():
    """A certificate of this machine is derived again on another, whose last digits differ."""
    theorems = (named("group"), Says(1 - 1e-13))
    for shown, first in ((theorems, theorems[0]), (theorems[::-1], theorems[1])):
        (point,) = Probe(Groups(2).stronger, Loss.uniform(1, 2), "any", shown).curve("s", [0.5], None).points
        assert point.theorem is first


def test_one_noisy_count_has_a_curve_too():
    chain = MarkovChain(20, STEP, np.array([0.5, 0.5]))
    shown = curve(chain, NoisySum.of([0, 1], 8.0, 20), "model", cap=1.0)
    values = [point.leakage for point in shown.points]
    assert values == sorted(values)
    assert {point.theorem.name for point in shown.points} == {"exact scalar accountant"}


def test_potentials_of_any_size_are_raised():
    field = RandomField.of({"a": 2, "b": 2}, [(("a", "b"), [[1e300, 1e200], [1e200, 1e300]])])
    assert field.stronger(1.0).couplings.log_odds == pytest.approx(2 * field.couplings.log_odds)
