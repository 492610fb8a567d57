"""Ties at the door: named or not taken, their assumption said first, and refused beside laws that contradict it."""

import json

import numpy as np
import pytest

from entwined.dependence import BayesNet, Box, Edge, Graph, Groups, MarkovChain, RandomField, Ties, Variable
from entwined.errors import BadModel, Refused
from entwined.mechanisms.batch import plan_batch
from entwined.promise.declared import Declared
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.queries import Count, parse
from entwined.schema import Boolean, Categorical, Cells, Schema, Text

BIT = ("0", "1")
COLUMNS = (Boolean("a"), Boolean("b"), Boolean("c"))
CELLS = Schema(COLUMNS, unit=Cells(), rows=9).approve()
ROWS = Schema(
    (Text("who", compare="loose"), Categorical("place", ("x", "y")), Boolean("ill")), most_rows=9
).approve()
STAR = np.array([[0, 1], [0, 2]])
COIN = np.full((2, 2), 0.5)
FLIP = np.array([[0.95, 0.05], [0.05, 0.95]])
SAYS_NOTHING = {"missing_says_nothing": ("a", "b", "c")}


def net(*variables):
    return BayesNet.of([Variable(name, BIT, parents, table) for name, parents, table in variables])


XOR = net(
    ("a", (), COIN[:1]),
    ("b", (), COIN[:1]),
    ("c", ("a", "b"), [FLIP[0], FLIP[1], FLIP[1], FLIP[0]]),
)
CHAIN = net(("a", (), COIN[:1]), ("b", ("a",), FLIP), ("c", ("b",), FLIP))
PAIR = net(("a", (), COIN[:1]), ("b", ("a",), FLIP), ("c", (), COIN[:1]))


@pytest.mark.parametrize("joint", [XOR, CHAIN])
def test_a_joint_law_of_three_beside_ties_is_refused(joint):
    """In the exclusive or no two say anything about each other, so ties would promise what is not true."""
    ties = Declared(Ties(3, STAR, COIN), columns=("a", "b", "c"), **SAYS_NOTHING)
    law = Declared(joint, **SAYS_NOTHING)
    for declared in ([ties, law], [law, ties]):
        with pytest.raises(Refused, match=r"independent of each other .* 3 units depend on each other"):
            Promise.of(CELLS, declared)


def test_a_pair_beside_ties_is_refused_only_if_it_is_not_tied():
    law = Declared(PAIR, **SAYS_NOTHING)
    Promise.of(CELLS, [Declared(Ties(3, STAR, FLIP), columns=("a", "b", "c"), **SAYS_NOTHING), law])
    with pytest.raises(Refused, match="'a' and 'b' depend on each other, and they are not tied"):
        Promise.of(CELLS, [Declared(Ties(3, STAR, FLIP), columns=("c", "a", "b"), **SAYS_NOTHING), law])
    with pytest.raises(Refused, match="not tied"):
        field = RandomField.of({"b": 2, "c": 2}, [Edge(("b", "c"), FLIP.tolist())])
        two = {"missing_says_nothing": ("b", "c")}
        Promise.of(
            CELLS,
            [Declared(Ties(3, STAR, FLIP), columns=("a", "b", "c"), **SAYS_NOTHING), Declared(field, **two)],
        )


def test_over_rows_a_chain_contradicts_ties_and_groups_do_not():
    ties = Declared(Ties(9, STAR, coefficients=np.float64(0.3)), by="who")
    Promise.of(ROWS, [ties, Groups(3)])
    chain = MarkovChain(9, Box.exact(np.full((9, 9), 1 / 9) + np.eye(9) * 0.1 - 0.1 / 9))
    with pytest.raises(Refused, match="9 units depend on each other"):
        Promise.of(ROWS, [ties, Declared(chain, columns=("place", "ill"))])


def test_a_kernel_has_the_values_of_the_columns_it_is_about():
    three = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    promise = Promise.of(ROWS, [Declared(Ties(9, STAR, three), by="who", columns=("place",))])
    assert any("Given 'place', the other columns" in sentence for sentence in promise.trusted)
    assert promise.kept.most == 1
    for wrong in (
        {},
        {"columns": ("place", "ill")},
        {"missing_says_nothing": ("place",), "columns": ("place",)},
    ):
        with pytest.raises(BadModel, match="3 states, and the joint values"):
            Promise.of(ROWS, [Declared(Ties(9, STAR, three), by="who", **wrong)])
    back = np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])
    there = np.array([[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]])
    with pytest.raises(BadModel, match="2 values one way and 3 the other"):
        Promise.of(ROWS, [Declared(Ties(9, STAR, there, back), by="who", columns=("place",))])
    with pytest.raises(BadModel, match="names columns and has no values"):
        Promise.of(ROWS, [Declared(Ties(9, STAR, coefficients=np.float64(0.3)), columns=("place",))])


def test_a_published_model_names_its_file_by_the_last_name(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "ties.csv").write_text("source,target,coefficient\nann,bob,0.5\n")
    (tmp_path / "ties.json").write_text(json.dumps({"kind": "ties", "edges": "far/ties.csv"}))
    from entwined.dependence import read_model

    declared = Declared(read_model(tmp_path / "ties.json"))
    assert declared.model.document["edges"] == "ties.csv"
    assert declared.model.named(0) == "'ann'"
    assert declared.model.called(0) == "node 0"


def test_ties_under_a_delta_need_less_noise_than_messages_and_the_group():
    ring = np.array([[0, leaf] for leaf in range(1, 9)] + [[leaf, leaf % 8 + 1] for leaf in range(1, 9)])
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    asked = Count(where=parse("ill", ROWS))
    about = {"by": "who", "columns": ("ill",), "missing_says_nothing": ("ill",)}
    scales = {}
    for name, model in (
        ("ties", Ties(9, ring, flip)),
        ("messages", Graph(9, ring, np.full(len(ring), 2 * np.log(4)))),
        ("group", Groups(9)),
    ):
        declared = Declared(model, **(about if name == "ties" else {}))
        planned = plan_batch(Promise.of(ROWS, declared, measure=measure_of("1e-6")), asked, leakage=1)
        scales[name] = float(planned.statistics[0].law.scale)
        if name == "ties":
            (bound,) = planned.promise.bounds(planned.promise.base(planned.charged)).values()
            assert bound.theorem.name == "gaussian ties and anything known"
    assert scales["ties"] < scales["messages"] <= scales["group"]
