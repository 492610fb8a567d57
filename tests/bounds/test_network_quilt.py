"""Quilts on networks and fields with cycles: every set of units, what lies around a unit, and never below the truth."""

from itertools import chain, combinations, permutations

import numpy as np
import pytest

from entwined.bounds import bound, network_quilts
from entwined.bounds.quilt import network_quilt_bound, tree_quilt_bound
from entwined.dependence import BayesNet, Box, Edge, MarkovChain, RandomField, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support import draw
from support.oracle import worst_leakages
from support.parameter_networks import random_network, true_influence
from support.product import product_model

SHAPES = [shape for shape in draw.SHAPES if shape not in {"chain", "tree"}]


def grid(side, strength, rng=None):
    """A square field of bits, each tied to its neighbours."""
    names = {f"{row}{column}": 2 for row in range(side) for column in range(side)}
    edges = []
    for row in range(side):
        for column in range(side):
            for other in ((row + 1, column), (row, column + 1)):
                if max(other) < side:
                    odds = strength if rng is None else strength * rng.uniform(0.2, 1)
                    table = [[np.exp(odds / 2), 1.0], [1.0, np.exp(odds / 2)]]
                    edges.append(Edge((f"{row}{column}", f"{other[0]}{other[1]}"), table))
    return RandomField.of(names, edges)


def by_hand(joint, losses, unit):
    """The worst pair of values, each with the best of all sets of the other units."""
    others = [j for j in range(joint.ndim) if j != unit]
    sets = list(chain.from_iterable(combinations(others, size) for size in range(len(others) + 1)))
    possible = np.flatnonzero(joint.sum(axis=tuple(others)) > 0)
    worst = losses[unit]
    for pair in permutations(possible.tolist(), 2):
        two = np.take(joint, pair, axis=unit)
        both = two / two.sum(
            axis=tuple(others), keepdims=True
        )  # both values alike likely: directions are split below
        costs = [losses.sum() - losses[list(shown)].sum() + one_way(both, unit, shown) for shown in sets]
        worst = max(worst, min(costs))
    return worst


def one_way(law, unit, shown):
    rest = tuple(j for j in range(law.ndim) if j != unit and j not in shown)
    p, q = np.moveaxis(law.sum(axis=rest, keepdims=True), unit, 0).reshape(2, -1)
    if (q[p > 0] == 0).any():
        return np.inf
    return float(np.log(p[p > 0] / q[p > 0]).max())


def test_all_sets_are_tried_and_none_is_below_the_truth():
    met = 0
    for drawn in draw.models(seed=31, count=60, shapes=SHAPES):
        model = product_model(drawn)
        try:
            found = network_quilt_bound(Loss(drawn.losses), model).per_unit
        except DoesNotApply:
            continue
        joint = drawn.joint()
        truth = worst_leakages(joint, drawn.losses, "model")
        assert (found >= truth * (1 - 1e-7) - 1e-9).all()
        if len(set(model.couplings.components.tolist())) == 1:
            unit = int(np.argmax(found))
            assert found[unit] == pytest.approx(
                min(by_hand(joint, drawn.losses, unit), drawn.losses.sum()), rel=1e-8
            )
            met += 1
    assert met > 15


def test_networks_with_two_parents_have_the_influence_of_their_joint_law():
    rng, met = np.random.default_rng(32), 0
    for _ in range(40):
        drawn = random_network(rng, 5)
        losses = draw.losses(rng, drawn.network.units)
        try:
            found = network_quilt_bound(Loss(losses), drawn.network).per_unit
        except DoesNotApply:
            continue
        met += 1
        for unit in range(drawn.network.units):
            others = tuple(j for j in range(drawn.network.units) if j != unit)
            assert found[unit] <= losses[unit] + true_influence(drawn.joint, unit, others) + 1e-9
            assert found[unit] >= losses[unit]
    assert met > 10


def test_around_a_unit_a_larger_field_is_cut_by_elimination(monkeypatch):
    field, rng = grid(3, 0.4, np.random.default_rng(33)), np.random.default_rng(34)
    loss = Loss.of(rng.uniform(0.1, 1, 9))
    every = network_quilt_bound(loss, field).per_unit
    monkeypatch.setattr(network_quilts, "ALL_SETS", 0)
    network_quilts.quilts_of_units.cache_clear()
    around = network_quilt_bound(loss, field).per_unit
    monkeypatch.setattr(network_quilts, "MOST_TOGETHER", 1)
    network_quilts.quilts_of_units.cache_clear()
    summed = network_quilt_bound(loss, field).per_unit
    network_quilts.quilts_of_units.cache_clear()
    assert summed == pytest.approx(around, rel=1e-10)
    assert (every <= around * (1 + 1e-12)).all()
    assert (every < around * 0.999).any()


def test_a_field_of_25_bits_needs_less_than_its_group():
    field = grid(5, 0.1)
    leakage = network_quilt_bound(Loss.uniform(1, 25), field)
    assert leakage.worst < 5  # of 25
    proved = bound(field, Loss.uniform(1, 25), "model")
    assert proved.leakage.worst <= leakage.worst


def test_chains_and_trees_are_left_to_their_own_theorems():
    chain_model = MarkovChain(5, Box.exact([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    tree = BayesNet.of(
        [
            Variable("a", ("0", "1"), (), [[0.5, 0.5]]),
            Variable("b", ("0", "1"), ("a",), [[0.9, 0.1], [0.2, 0.8]]),
        ]
    )
    for model, match in ((chain_model, "chain"), (tree, "tree")):
        with pytest.raises(DoesNotApply, match=match):
            network_quilt_bound(Loss.uniform(1, model.units), model)
    assert tree_quilt_bound(Loss.uniform(1, 2), tree).worst > 1
    with pytest.raises(DoesNotApply, match="64"):
        network_quilt_bound(Loss.uniform(1, 81), grid(9, 0.1))
    with pytest.raises(DoesNotApply, match="one law"):
        network_quilt_bound(
            Loss.uniform(1, 3),
            RandomField.of(
                {"a": 2, "b": 2, "c": 2},
                [
                    Edge(pair, [[[1.0, 2.0], 1.0], [1.0, 2.0]])
                    for pair in (("a", "b"), ("b", "c"), ("a", "c"))
                ],
            ),
        )
