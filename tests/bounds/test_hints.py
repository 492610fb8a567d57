"""What further knowledge would lower a bound: found, figured right, and never promised where it helps nothing."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import entwined as ew
from entwined.bounds import ConcentratedLoss
from entwined.bounds.hints import MOST_UNITS, WORTH
from entwined.dependence import Box, Edge, Forms, Gaussian, Graph, Independent, RandomField, Variable
from entwined.dependence.markov_chain import stationary

NEVER_TWICE = [[0.5, 0.5], [1.0, 0.0]]  # the second state is always left at once
FIELD = RandomField.of(
    {"a": 2, "b": 2, "c": 2},
    [Edge(("a", "b"), [[9, 1], [1, 9]]), Edge(("b", "c"), [[2, 1], [1, 2]])],
)
NET = ew.BayesNet.of(
    [
        Variable("smokes", ("n", "y"), (), [[0.7, 0.3]]),
        Variable("coughs", ("n", "y"), ("smokes",), [[0.95, 0.05], [0.3, 0.7]]),
        Variable("reads", ("n", "y"), ("smokes",), [[0.5, 0.5], [0.4, 0.6]]),
    ]
)
EVERY = {
    "never twice": ew.MarkovChain(40, Box.exact(NEVER_TWICE)),
    "two states": ew.MarkovChain(40, Box.exact([[0.9, 0.1], [0.2, 0.8]])),
    "a class": ew.MarkovChain(
        12, Box(np.array([[0.6, 0.1], [0.1, 0.6]]), np.array([[0.9, 0.4], [0.4, 0.9]]))
    ),
    "absorbed": ew.MarkovChain(12, Box.exact([[0.9, 0.1], [0.0, 1.0]])),
    "groups": ew.Groups(4),
    "field": FIELD,
    "net": NET,
    "graph": Graph(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]), np.array([0.5, 2.0, 0.5, 0.5])),
    "forms": Forms.of(NET, "form", [["smokes", "coughs"], ["smokes", "reads"]]),
    "gaussian": Gaussian.of([[1.0, 0.4], [0.4, 1.0]]),
    "independent": Independent(4),
}


def test_a_start_law_that_was_left_out_is_missed_where_it_is_worth_most():
    chain = ew.MarkovChain(526, Box.exact(NEVER_TWICE))
    proved = ew.bound(chain, ew.Loss.uniform(1, units=526), "model")
    assert proved.leakage.worst == pytest.approx(526)
    (hint,) = proved.hints()
    assert (hint.about, round(hint.leakage, 2)) == ("start", 3.81)
    assert hint.model.initial == pytest.approx([2 / 3, 1 / 3])
    assert str(hint) == (
        "Knowing the law of the first step (`initial`; here the stationary one), the leakage would be 3.811 instead "
        "of 526."
    )
    known = ew.bound(
        ew.MarkovChain(526, Box.exact(NEVER_TWICE), hint.model.initial), proved.exposure, "model"
    )
    assert known.leakage.worst == hint.leakage
    assert known.hints() == ()


def test_what_helps_only_together_is_said_together():
    """Against who may know any value the start says nothing; without it, neither does knowing no values."""
    chain = ew.MarkovChain(526, Box.exact(NEVER_TWICE))
    (hint,) = ew.bound(chain, ew.Loss.uniform(1, units=526)).hints()
    assert (hint.knowledge, round(hint.leakage, 2)) == ("model", 3.81)
    assert "`initial`" in hint.knowing
    assert "knowledge 'model'" in hint.knowing


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("name", EVERY)
def test_every_hint_is_what_the_bound_gives_when_it_is_followed(name, knowledge):
    model = EVERY[name]
    proved = ew.bound(model, ew.Loss.uniform("0.5", units=model.units), knowledge)
    for hint in proved.hints():
        followed = ew.bound(hint.model, hint.exposure, hint.knowledge)
        assert followed.leakage.worst == hint.leakage < proved.leakage.worst * (1 - WORTH)
        assert hint.now == proved.leakage.worst
        assert hint.document["leakage"] == hint.leakage


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.floats(0.02, 0.98), min_size=2, max_size=2),
    st.integers(2, 6),
    st.floats(0.05, 3),
    st.sampled_from(["any", "model"]),
)
def test_random_chains_are_helped_as_their_hints_say(stay, length, loss, knowledge):
    transition = [[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]
    proved = ew.bound(
        ew.MarkovChain(length, Box.exact(transition)), ew.Loss.uniform(loss, units=length), knowledge
    )
    for hint in proved.hints():
        assert ew.bound(hint.model, hint.exposure, hint.knowledge).leakage.worst == hint.leakage
    allowed = ew.calibrate(proved.model, 1, knowledge)
    for hint in allowed.hints():
        larger = hint.exposure * (hint.times * (1 - 1e-6))
        assert hint.times >= 1
        assert ew.bound(hint.model, larger, hint.knowledge).leakage.worst <= allowed.leakage.worst


def test_nothing_is_said_where_nothing_helps():
    assert ew.bound(Independent(5), ew.Loss.uniform(1, units=5)).hints() == ()
    assert ew.bound(ew.Groups(1), ew.Loss.uniform(1, units=5)).hints() == ()
    assert ew.calibrate(ew.Groups(1), 1).hints() == ()


def test_the_edge_that_the_bound_hangs_on_is_named():
    hints = ew.bound(FIELD, ew.Loss.uniform("0.5", units=3)).hints()
    edge = next(hint for hint in hints if hint.about == "edge")
    assert "between 'a' and 'b', now 4.39, were at most 2.2 ('b' leaks most)" in edge.knowing
    weaker = RandomField.of(
        {"a": 2, "b": 2, "c": 2},
        [Edge(("a", "b"), [[3, 1], [1, 3]]), Edge(("b", "c"), [[2, 1], [1, 2]])],
    )
    assert ew.bound(weaker, edge.exposure).leakage.worst == pytest.approx(edge.leakage, rel=1e-9)
    net = ew.bound(NET, ew.Loss.uniform("0.5", units=3)).hints()
    assert any("in the table of 'coughs' given 'smokes'" in hint.knowing for hint in net)
    graph = ew.bound(EVERY["graph"], ew.Loss.uniform("0.5", units=4)).hints()
    assert any("between node 1 and node 2, now 2, were at most 1" in hint.knowing for hint in graph)


def test_parts_that_read_one_unit_alone_and_a_delta_are_worth_what_they_are():
    hints = ew.bound(ew.Groups(50), ew.Loss.uniform("0.1", units=50)).hints()
    (noise,) = [hint for hint in hints if hint.about == "noise"]
    alone = ConcentratedLoss.uniform("0.005", units=50, delta="1e-6", separable=True)
    assert ew.bound(ew.Groups(50), alone).leakage.worst == pytest.approx(noise.leakage, rel=1e-9)
    told = ew.bound(ew.Groups(5), ConcentratedLoss.uniform("0.1", units=5, delta="1e-6")).hints()
    assert {hint.about for hint in told} == {"noise", "group size"}


def test_a_law_that_leaves_states_for_good_is_no_example():
    assert stationary(np.array([[0.9, 0.1], [0.0, 1.0]])) is None
    assert stationary(np.eye(2)) is None
    (hint,) = [
        one
        for one in ew.bound(EVERY["absorbed"], ew.Loss.uniform(1, units=12), "model").hints()
        if one.about == "start"
    ] or [None]
    assert hint is None or hint.model.initial.tolist() == [0.5, 0.5]


def test_hints_cost_no_more_than_a_few_bounds_and_none_where_a_bound_takes_long():
    many = ew.MarkovChain(MOST_UNITS + 1, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    assert ew.bound(many, ew.Loss.uniform(1, units=many.length), "model").hints() == ()
    few = ew.MarkovChain(MOST_UNITS, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    proved = ew.bound(few, ew.Loss.uniform(1, units=few.length), "model")
    began = time.process_time()
    assert proved.hints()
    assert time.process_time() - began < 2
