"""A cap on ties: above the truth of every law that keeps to it, reached by one, and passed by one that breaks it."""

import json
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from entwined.bounds import bound, certify, verify
from entwined.bounds.capped_messages import capped_messages_bound
from entwined.bounds.certificate import digest
from entwined.bounds.contraction import contract_one
from entwined.bounds.messages import message_passing_bound
from entwined.dependence import Graph, model_from
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.oracle import worst_leakages

COMPLETE = np.array(list(combinations(range(4), 2)))


def joint_of(size, ends, tables, own):
    """The law whose factors are these tables on these pairs, and a weight of each unit's own."""
    joint = np.ones((2,) * size)
    for cell in product(range(2), repeat=size):
        joint[cell] = np.prod([own[unit, value] for unit, value in enumerate(cell)])
        joint[cell] *= np.prod([table[cell[a], cell[b]] for (a, b), table in zip(ends, tables, strict=True)])
    return joint / joint.sum()


def within(rng, odds):
    """A table of two values whose log odds ratio has this size, and whose rows are weighted at random."""
    sign = rng.choice([-1, 1])
    table = np.exp(sign * odds / 4 * np.array([[1, -1], [-1, 1]]))
    return table * np.exp(rng.normal(0, 1, (2, 1))) * np.exp(rng.normal(0, 1, (1, 2)))


def kept_to(rng, ends, most):
    """Some of the edges, in a random order, as long as nobody has more than the cap."""
    held, chosen = np.zeros(ends.max() + 1, int), []
    for edge in rng.permutation(len(ends)):
        if (held[ends[edge]] < most).all() and rng.random() < 0.9:
            held[ends[edge]] += 1
            chosen.append(edge)
    return chosen


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_law_that_keeps_to_the_cap_leaks_more(most):
    rng = np.random.default_rng(most)
    for _ in range(12):
        odds, losses = rng.uniform(0.2, 5, len(COMPLETE)), 10 ** rng.uniform(-1, 0.4, 4)
        chosen = kept_to(rng, COMPLETE, most)
        joint = joint_of(
            4, COMPLETE[chosen], [within(rng, odds[edge]) for edge in chosen], rng.uniform(0.2, 1, (4, 2))
        )
        found = capped_messages_bound(Loss.of(losses), Graph(4, COMPLETE, odds, most_ties=most)).per_unit
        assert (found >= worst_leakages(joint, losses) * (1 - 1e-7)).all()


@pytest.mark.parametrize(("epsilon", "odds"), [(0.3, 1.0), (1.0, 4.0)])
def test_one_tie_of_many_leaks_as_much_as_is_said(epsilon, odds):
    """Among all pairs of four, one tie each: two that are tied so that the worst tilt is theirs reach the bound."""
    up, down = (1 / (1 + np.exp(-(side * odds - epsilon) / 2)) for side in (1, -1))
    pair = np.array([[1 - up, up], [1 - down, down]]) / 2
    joint = np.multiply.outer(pair, np.full((2, 2), 0.25))
    found = capped_messages_bound(Loss.uniform(epsilon, 4), Graph(4, COMPLETE, odds, most_ties=1)).per_unit
    assert found == pytest.approx(epsilon + contract_one(epsilon, odds), rel=1e-6)
    assert worst_leakages(joint, np.full(4, epsilon))[0] == pytest.approx(found[0], rel=1e-4)


def test_whoever_has_more_ties_that_tell_than_was_declared_leaks_more():
    """The trusted part broken: three strong ties where one was promised."""
    star = np.array([[0, 1], [0, 2], [0, 3]])
    agree = np.exp(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    joint = joint_of(4, star, [agree] * 3, np.ones((4, 2)))
    losses = np.full(4, 0.5)
    truth = worst_leakages(joint, losses)[0]
    model = Graph(4, star, 4.0, most_ties=1)
    assert capped_messages_bound(Loss.of(losses), model).per_unit[0] < truth * 0.8
    assert capped_messages_bound(Loss.of(losses), Graph(4, star, 4.0, most_ties=3)).per_unit[0] >= truth


def test_a_cap_that_nobody_passes_changes_nothing_and_a_tighter_one_lowers():
    rng = np.random.default_rng(5)
    ends = np.array([pair for pair in combinations(range(12), 2) if rng.random() < 0.4])
    odds, losses = rng.uniform(0, 2, len(ends)), Loss.of(rng.uniform(0, 1, 12))
    every = message_passing_bound(losses, Graph(12, ends, odds)).per_unit
    leaked = [
        capped_messages_bound(losses, Graph(12, ends, odds, most_ties=most)).per_unit for most in range(1, 13)
    ]
    assert leaked[-1] == pytest.approx(every, rel=1e-6)
    assert all((few <= more * (1 + 1e-9)).all() for few, more in pairwise(leaked))


def test_it_is_what_regular_trees_climb_to():
    """Everybody may have three ties of many: no more than in a tree where everybody has three, however large."""
    epsilon, odds, depth = 0.2, 0.8, 9
    ends, layer, size = [], [0], 1
    for _ in range(depth):
        below = []
        for node in layer:
            for _ in range(3 if node == 0 else 2):
                ends.append((node, size))
                below.append(size)
                size += 1
        layer = below
    tree = message_passing_bound(Loss.uniform(epsilon, size), Graph(size, np.array(ends), odds)).per_unit[0]
    people = 24
    every = Graph(people, np.array(list(combinations(range(people), 2))), odds, most_ties=3)
    found = capped_messages_bound(Loss.uniform(epsilon, people), every).worst
    assert tree <= found <= tree * 1.01


def test_strong_ties_in_a_large_network_no_longer_count_all_of_it():
    """Eq. 26's log odds on a ring with chords: the group without a cap, little more than a pair with one."""
    people = 801
    ends = np.array([(at, (at + step) % people) for at in range(people) for step in (1, 2, 5, 9)])
    loss = Loss.uniform(0.1, people)
    free, capped = (bound(Graph(people, ends, 4.976, most_ties=most), loss) for most in (None, 2))
    assert free.leakage.worst > 35
    assert capped.theorem is capped_messages_bound
    assert capped.leakage.worst < 1.5


def test_a_graph_without_a_cap_is_left_to_messages():
    with pytest.raises(DoesNotApply, match="most_ties"):
        capped_messages_bound(Loss.uniform(1, 4), Graph(4, COMPLETE, 1.0))


def test_its_certificate_is_verified_and_one_with_a_tighter_cap_is_not(tmp_path):
    document = {"kind": "graph", "edges": [[0, 1, 2.0], [1, 2, 1.0], [0, 2, 1.5]], "most_ties": 2, "units": 3}
    model = model_from(document, tmp_path)
    assert model_from(model.document, tmp_path).most_ties == model.document["most_ties"] == 2
    written = json.loads(
        json.dumps(certify(bound(replace(model, most_ties=1), Loss.uniform("0.5", 3))).document)
    )
    assert written["theorem"]["name"] == "capped messages"
    assert verify(written).valid
    written["inputs"]["model"]["most_ties"] = 2
    written["digest"] = digest({key: value for key, value in written.items() if key != "digest"})
    assert "does not follow" in verify(written).why


def test_a_member_keeps_to_the_cap_by_the_strongest_ties():
    model = Graph(4, COMPLETE, np.array([1.0, 5, 2, 3, 4, 6]), most_ties=1)
    drawn = model.member().draw(4000, np.random.default_rng(2))
    tied = [(a, b) for a, b in COMPLETE.tolist() if abs(np.corrcoef(drawn[:, a], drawn[:, b])[0, 1]) > 0.1]
    assert tied == [(0, 1), (2, 3)]


def test_a_cap_is_offered_where_it_would_help_and_its_figure_is_that_of_the_cap():
    ring = np.array([(at, (at + step) % 40) for at in range(40) for step in (1, 2)])
    model, loss = Graph(40, ring, 4.976), Loss.uniform("0.1", 40)
    (hint,) = [one for one in bound(model, loss).hints() if "most_ties = 2" in one.knowing]
    assert hint.leakage == pytest.approx(bound(replace(model, most_ties=2), loss).leakage.worst)
