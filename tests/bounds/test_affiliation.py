"""Positively affiliated units: the exact leakage, equal to the oracle, and never above what other theorems say."""

import math

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.bounds.affiliation import affiliation_bound
from entwined.bounds.transport import transport_bound
from entwined.dependence import BayesNet, Box, Edge, MarkovChain, RandomField, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.oracle import worst_leakages


def field(rng, units, *, flips=False, chance=0.6):
    """A random field whose pairs lean together, or after flips some apart, with its joint law multiplied out."""
    names = [f"u{unit}" for unit in range(units)]
    signs = rng.choice([-1, 1], units) if flips else np.ones(units)
    joint, edges = np.ones((2,) * units), []
    for one in range(units):
        for other in range(one + 1, units):
            if rng.random() < chance or other == one + 1:
                strength = rng.uniform(0.05, 0.7) * signs[one] * signs[other]
                tilt = rng.uniform(0.3, 1.5, (2, 2))
                tilt[1, 1] = tilt[0, 1] * tilt[1, 0] / tilt[0, 0]  # weights of single units alone
                table = np.exp(strength * np.array([[1, -1], [-1, 1]])) * tilt
                shape = [2 if axis in (one, other) else 1 for axis in range(units)]
                joint = joint * table.reshape(shape)
                edges.append(Edge((names[one], names[other]), table.tolist()))
    return RandomField.of(dict.fromkeys(names, 2), edges), joint / joint.sum()


@pytest.mark.parametrize("flips", [False, True])
def test_it_is_what_the_oracle_finds(flips):
    rng = np.random.default_rng(17 + flips)
    tighter = 0
    for turn in range(12):
        units = int(rng.integers(2, 5))
        model, joint = field(rng, units, flips=flips)
        losses = rng.uniform(0, 2, units) if turn % 2 else np.full(units, rng.uniform(0.1, 2))
        found = affiliation_bound(Loss.of(losses), model).per_unit
        truth = worst_leakages(joint, losses, "model")
        assert (found >= truth - 1e-9).all()
        assert found == pytest.approx(truth, abs=1e-6)
        tighter += bound(model, Loss.of(losses), "model").theorem.name == "affiliation"
    assert tighter >= 3  # where units depend around cycles


@pytest.mark.parametrize(
    "step", [[[0.8, 0.2], [0.3, 0.7]], [[0.2, 0.8], [0.7, 0.3]], [[0.9, 0.1], [0.1, 0.9]]]
)
def test_chains_are_exact_and_transport_says_no_less(step):
    chain, loss = MarkovChain(4, Box.exact(step), np.array([0.4, 0.6])), Loss.uniform(0.7, units=4)
    joint = np.einsum("a,ab,bc,cd->abcd", [0.4, 0.6], step, step, step)
    found = affiliation_bound(loss, chain).per_unit
    assert found == pytest.approx(worst_leakages(joint, np.full(4, 0.7), "model"), abs=1e-6)
    assert (found <= transport_bound(loss, chain).per_unit * (1 + 1e-9)).all()


def test_units_that_lean_apart_around_a_cycle_are_refused():
    with pytest.raises(DoesNotApply, match="not affiliated"):
        affiliation_bound(Loss.uniform(1, 3), RandomField.of({"a": 2, "b": 2, "c": 2}, frustrated()))
    likely = [
        [0.9, 0.1],
        [0.6, 0.4],
        [0.5, 0.5],
        [0.1, 0.9],
    ]  # a common effect sets its causes against each other
    causes = [Variable(name, ("0", "1"), (), [[0.5, 0.5]]) for name in "ab"]
    with pytest.raises(DoesNotApply, match="not affiliated"):
        affiliation_bound(
            Loss.uniform(1, 3), BayesNet.of([*causes, Variable("c", ("0", "1"), ("a", "b"), likely)])
        )


def frustrated():
    """Three pairs of which an odd number lean apart."""
    apart, together = [[1.0, 2.0], [2.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]
    return [Edge(("a", "b"), apart), Edge(("b", "c"), together), Edge(("a", "c"), together)]


def test_a_law_that_leans_otherwise_shows_more():
    """If the pairs that are trusted to be the whole law are not, the oracle is above the bound."""
    model, joint = field(np.random.default_rng(3), 3)
    tied = joint.copy()
    tied[0, 0, 0], tied[1, 1, 1] = 4 * tied[0, 0, 0], 4 * tied[1, 1, 1]
    found = affiliation_bound(Loss.uniform(1, 3), model).per_unit
    assert (worst_leakages(tied / tied.sum(), np.ones(3), "model") > found + 0.1).any()


def test_twelve_units_that_all_depend_on_each_other():
    """Where elimination is out of reach the other theorems say far more."""
    names = [f"u{unit}" for unit in range(12)]
    table = np.exp(0.1 * np.array([[1, -1], [-1, 1]])).tolist()
    edges = [Edge((one, other), table) for at, one in enumerate(names) for other in names[at + 1 :]]
    model, loss = RandomField.of(dict.fromkeys(names, 2), edges), Loss.uniform(0.2, units=12)
    best = bound(model, loss, "model")
    least = min(one.leakage.worst for one in best.alternatives if one.leakage is not None)
    assert best.theorem.name == "affiliation"
    assert best.leakage.worst == pytest.approx(exchangeable(12, 0.1, 0.2), rel=1e-9)
    assert best.leakage.worst < 0.6 * least


def exchangeable(units, strength, loss):
    """The same by counting how many of the others are 1, written out on its own."""
    odds = []
    for tilt in (0.0, loss):
        sums = []
        for own in (0, 1):
            total = 0.0
            for others in range(units):
                ones = others + own
                agree = (
                    ones * (ones - 1) / 2 + (units - ones) * (units - ones - 1) / 2 - ones * (units - ones)
                )
                total += math.comb(units - 1, others) * math.exp(strength * agree + tilt * ones)
            sums.append(total)
        odds.append(math.log(sums[1] / sums[0]))
    return odds[1] - odds[0]


def test_more_values_and_too_many_units_are_refused():
    with pytest.raises(DoesNotApply, match="more than two values"):
        affiliation_bound(
            Loss.uniform(1, 2), MarkovChain(2, Box.exact(np.full((3, 3), 1 / 3)), np.full(3, 1 / 3))
        )
    with pytest.raises(DoesNotApply, match="too large"):
        affiliation_bound(
            Loss.uniform(1, 20), MarkovChain(20, Box.exact([[0.8, 0.2], [0.3, 0.7]]), np.array([0.6, 0.4]))
        )
