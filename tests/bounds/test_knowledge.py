"""What the adversary may know of other units: nothing, values, or anything that depends on one value alone."""

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.bounds.choose import THEOREMS
from entwined.bounds.elimination import elimination_bound
from entwined.bounds.gaussian import gaussian_exact_bound
from entwined.bounds.group import group_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.tilted import tilted_transport_bound
from entwined.bounds.transport import transport_bound
from entwined.dependence import BayesNet, Box, Forms, Gaussian, MarkovChain, Variable
from entwined.errors import BadInput, DoesNotApply
from entwined.loss import Loss
from entwined.survey.sharing import OnTree
from support import draw, oracle
from support.product import product_model

ROUNDING = 1e-7  # the oracle is right to 1e-8
KNOWLEDGE = ("any", "values", "model")


def below(theorems, models, seed, tilts):
    """Count, for each theorem, the models that it answers and those where a tilt of single units leaks more."""
    rng = np.random.default_rng(seed)
    counts = {theorem.name: [0, 0] for theorem in theorems}
    for drawn in models:
        model, joint = product_model(drawn), drawn.joint()
        truth = oracle.tilted_leakages(joint, drawn.losses, draw.tilts(rng, drawn.sizes, tilts))
        for theorem in theorems:
            try:
                leakage = theorem(Loss(drawn.losses), model).per_unit
            except DoesNotApply:
                continue
            counts[theorem.name][0] += 1
            counts[theorem.name][1] += bool((leakage < truth * (1 - ROUNDING) - 1e-9).any())
    return counts


@pytest.mark.parametrize(
    ("seed", "count"),
    [(30, 210), *(pytest.param(seed, 700, marks=pytest.mark.slow) for seed in range(31, 36))],
)
def test_whatever_is_known_of_single_units_no_theorem_for_any_knowledge_is_below_the_truth(seed, count):
    theorems = [theorem for theorem in THEOREMS if theorem.knowledge == "any"]
    counts = below(theorems, draw.models(seed, count), seed, tilts=2)
    assert {name for name, (_, wrong) in counts.items() if wrong} == set()
    asked = {name for name, (answered, _) in counts.items() if answered > 5}
    assert asked == {
        "message passing", "pair messages", "group", "self avoiding walks", "influence matrix", "markov closed form",
    }  # fmt: skip


def test_theorems_for_known_values_are_below_what_a_reading_of_a_value_tells():
    """So they are not for every knowledge: each is caught on chains and trees."""
    models = draw.models(40, 30, shapes=["chain", "tree"])
    counts = below([elimination_bound, tilted_transport_bound, transport_bound], models, 40, tilts=3)
    assert all(wrong > 2 for _, wrong in counts.values()), counts


def rare_answers():
    """Two answers; whether the second is one of the rare ones says nothing of the first, which of them says much."""
    law = np.array([[0.98, 0.019, 0.001], [0.98, 0.001, 0.019]])
    net = BayesNet.of(
        [
            Variable("habit", ("no", "yes"), (), [[0.5, 0.5]]),
            Variable("drug", ("none", "first", "second"), ("habit",), law.tolist()),
        ]
    )
    return net, law / 2


def test_knowing_that_an_answer_is_not_the_usual_one_is_no_known_value():
    net, joint = rare_answers()
    loss, not_usual = Loss.uniform(1, 2), {1: [0.0, 1.0, 1.0]}
    truth = oracle.tilted_leakages(joint, [1, 1], [not_usual])[0]
    assert truth == pytest.approx(1.8855, abs=5e-5)
    for theorem in (tilted_transport_bound, elimination_bound):
        assert theorem(loss, net).per_unit[0] == pytest.approx(1.0304, abs=5e-5)
    found = {knowledge: bound(net, loss, knowledge) for knowledge in KNOWLEDGE}
    assert found["any"].leakage.per_unit[0] >= truth
    assert found["values"].leakage.per_unit[0] < 1.04
    said = {one.theorem.name: one for one in found["any"].alternatives}
    for name in ("tilted transport", "elimination"):
        assert said[name].leakage is None
        assert "ask with knowledge 'values'" in said[name].why_not


def test_each_level_of_knowledge_covers_those_below():
    levels = {theorem.knowledge for theorem in THEOREMS}
    assert levels == set(KNOWLEDGE)
    for theorem in THEOREMS:
        covered = [theorem.covers(knowledge) for knowledge in KNOWLEDGE]
        assert covered == [place >= KNOWLEDGE.index(theorem.knowledge) for place in range(3)]
        with pytest.raises(BadInput, match="'everything' is unknown"):
            theorem.covers("everything")
    chain = MarkovChain(4, Box.exact([[0.9, 0.1], [0.3, 0.7]]), np.array([0.5, 0.5]))
    worst = [bound(chain, Loss.uniform(1, 4), knowledge).leakage.worst for knowledge in KNOWLEDGE]
    assert worst == sorted(worst, reverse=True)
    assert len(set(worst)) == 3


def test_what_is_known_of_two_units_together_is_not_covered():
    """The broken trust. x1 and x2 are nearly equal, x3 is independent of both, and whether x2 = x3 is known."""
    same = 1 - 1e-9
    pair = np.array([[same, 1 - same], [1 - same, same]]) / 2
    joint = np.einsum("ab,c->abc", pair, [0.5, 0.5])
    bits, fair = ("0", "1"), [[0.5, 0.5]]
    three = [
        Variable("x1", bits, (), fair),
        Variable("x2", bits, ("x1",), (2 * pair).tolist()),
        Variable("x3", bits, (), fair),
    ]
    net = BayesNet.of(three)
    claimed = [
        theorem(Loss.uniform(1, 3), net).per_unit[0] for theorem in (message_passing_bound, group_bound)
    ]
    assert claimed == pytest.approx([2.0, 2.0])
    equal = joint * np.eye(2)[None]
    assert oracle.worst_leakage(equal, [1, 1, 1], 0, "model") == pytest.approx(3.0, abs=1e-6)
    told = Variable("equal", bits, ("x2", "x3"), [[0, 1], [1, 0], [1, 0], [0, 1]])  # now a unit of the model
    assert message_passing_bound(Loss.of([1, 1, 1, 0]), BayesNet.of([*three, told])).per_unit[0] >= 3 - 1e-6


def test_to_know_the_size_of_a_gaussian_value_without_its_sign_is_not_covered():
    """The broken trust: the law of the other unit is no longer shifted but reshaped, here to two far points."""
    loss, correlation, size = Loss.of([0.0, 1.0]), 0.1, 30.0
    claimed = gaussian_exact_bound(loss, Gaussian.of([[1.0, correlation], [correlation, 1.0]])).per_unit[0]
    assert claimed == pytest.approx(correlation)
    slope = correlation / (
        1 - correlation**2
    )  # of the log odds of the sign, per unit of the secret and of the size
    low, high = -0.5, 0.5
    chances = [1 / (1 + np.exp(-2 * slope * size * secret)) for secret in (low, high)]
    growth = np.expm1(2 * size)  # the mechanism exp(x) on the two points, which are 2 · size apart
    truth = np.log((1 + growth * chances[1]) / (1 + growth * chances[0]))
    assert truth > 2.9 > 20 * claimed * (high - low)


def test_forms_and_shared_losses_rest_on_message_passing():
    """Where a reading of an answer may be known, their bound is above what it tells."""
    net, joint = rare_answers()
    truth = oracle.tilted_leakages(joint, [1, 1], [{1: [0.0, 1.0, 1.0]}])[0]
    terms = OnTree(net, "any")
    assert terms.leakage(np.ones(2)).per_unit[0] >= truth
    assert OnTree(net, "values").leakage(np.ones(2)).per_unit[0] >= truth  # never less than is asked for
    assert terms.pressure(np.ones(2), 1.0).slopes[0].sum() == pytest.approx(
        terms.leakage(np.ones(2)).per_unit[0]
    )
    for public in (True, False):
        sheets = Forms.of(net, "form", [["habit", "drug"], ["habit"]], public=public)
        assert bound(sheets, Loss.uniform(1, 3), "any").leakage.per_unit[0] >= truth
