"""Calibration inverts the bounds; allocation never breaks the target and never does worse than equal losses."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entwined.bounds import allocate, bound, calibrate
from entwined.bounds.allocate import cheapest, cost, tangent
from entwined.bounds.calibrate import invert
from entwined.bounds.choose import THEOREMS
from entwined.bounds.loopy import loopy_leakage
from entwined.dependence import (
    BayesNet,
    Box,
    Graph,
    Groups,
    Independent,
    MarkovChain,
    MaxCorrelation,
    Variable,
)
from entwined.errors import BadLoss, DoesNotApply, Unreachable
from entwined.loss import Loss
from support.chains import walk

FLIP = Box.exact([[0.9, 0.1], [0.1, 0.9]])
MODELS = [
    Independent(7),
    Groups(6),
    MarkovChain(50, FLIP, np.array([0.5, 0.5])),
    MaxCorrelation(8, 0.14),
    Graph(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]), 0.8),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.kind)
@pytest.mark.parametrize("target", [1e-6, 0.2, 1.0, 8.0])
@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_the_calibrated_loss_reaches_the_target_and_no_more(model, target, knowledge):
    found = calibrate(model, target, knowledge)
    assert found.leakage.worst <= target
    assert found.leakage.worst >= target * (1 - 1e-8)
    assert bound(model, found.exposure, knowledge).leakage.worst <= target
    more = found.exposure * (1 + 1e-6)
    assert bound(model, more, knowledge).leakage.worst > target * (1 - 1e-9)


def test_multiples_of_a_weight_vector():
    chain = MarkovChain(3, FLIP)
    found = calibrate(chain, 1.0, weights=Loss.of([1, 0, 2]))
    assert found.exposure.per_unit[1] == 0
    assert found.exposure.per_unit[2] == pytest.approx(2 * found.exposure.per_unit[0])
    assert 1 - 1e-8 <= found.leakage.worst <= 1


@given(st.floats(0.3, 1), st.floats(0.01, 100), st.floats(1e-6, 1e3))
def test_inversion_of_any_power(power, scale, ceiling):
    multiple = invert(lambda at: scale * at**power, ceiling)
    assert scale * multiple**power <= ceiling
    assert scale * multiple**power >= ceiling * (1 - 1e-8)


def test_what_no_loss_can_reach_is_said():
    with pytest.raises(Unreachable, match="vanishing"):
        invert(lambda at: 2.0 + at, 1.0)


@pytest.mark.parametrize("target", ["0", "-1", "nan", "inf", "1e-320", "1e308", "x", ""])
def test_extreme_targets_are_refused(target):
    """TRUST 11."""
    with pytest.raises(BadLoss):
        calibrate(Independent(3), target)


def random_net(rng, units):
    bits = ("0", "1")
    variables = [Variable("v0", bits, (), [[0.5, 0.5]])]
    for place in range(1, units):
        parents = rng.choice(place, min(place, int(rng.integers(1, 3))), replace=False)
        table = rng.dirichlet([6, 6], 2 ** len(parents)).tolist()
        variables.append(Variable(f"v{place}", bits, tuple(f"v{parent}" for parent in parents), table))
    return BayesNet.of(variables)


@pytest.mark.parametrize("units", [3, 12, 60])
def test_allocation_keeps_the_target_and_beats_equal_losses(units):
    rng = np.random.default_rng(units)
    net = random_net(rng, units)
    importance = Loss(np.exp(rng.normal(0, 1, units)))
    shared, equal = allocate(net, 1.0, importance), calibrate(net, 1.0)
    assert shared.leakage.worst <= 1
    assert cost(shared, importance) < cost(equal, importance) * 0.999
    assert bound(net, shared.exposure).leakage.worst <= 1


def test_allocation_without_dependence_gives_every_unit_the_whole_target():
    graph = Graph(3, np.zeros((0, 2), np.int64), np.zeros(0))
    assert allocate(graph, 1.0, Loss.of([1, 5, 100])).exposure.per_unit == pytest.approx([1, 1, 1])


def test_the_price_iteration_finds_the_optimum():
    """Against the closed form of one constraint, and a general solver for several."""
    from scipy.optimize import minimize

    importance = np.array([1.0, 8.0, 27.0])
    single = cheapest(importance, np.ones((3, 3)), np.ones(3))
    assert single == pytest.approx(np.array([1, 2, 3]) / 6, rel=1e-4)
    rng = np.random.default_rng(1)
    for _ in range(5):
        slopes = np.eye(5) + rng.uniform(0, 0.6, (5, 5))
        weights = rng.uniform(0.1, 5, 5)
        found = cheapest(weights, slopes, np.ones(5))
        other = minimize(
            lambda losses, weights=weights: np.sum(weights / losses**2),
            np.full(5, 0.2),
            constraints={"type": "ineq", "fun": lambda losses, slopes=slopes: 1 - slopes @ losses},
            bounds=[(1e-3, 2)] * 5,
            method="SLSQP",
        )
        assert (slopes @ found <= 1 + 1e-12).all()
        assert np.sum(weights / found**2) <= other.fun * (1 + 1e-3)


def test_the_price_iteration_finds_the_optimum_of_gaussian_noise():
    """One constraint: ρ goes by the roots of what matters; several: no random answer that is allowed is better."""
    importance = np.array([1.0, 4.0, 9.0])
    assert cheapest(importance, np.ones((1, 3)), np.ones(1), 1) == pytest.approx(
        np.array([1, 2, 3]) / 6, rel=1e-4
    )
    rng = np.random.default_rng(2)
    slopes, room = np.eye(5) + rng.uniform(0, 0.6, (5, 5)), rng.uniform(0.5, 2, 5)
    weights = rng.uniform(0.1, 5, 5)
    found = cheapest(weights, slopes, room, 1)
    assert (slopes @ found <= room * (1 + 1e-12)).all()
    for _ in range(2000):
        other = found * np.exp(rng.normal(0, rng.choice([0.01, 0.3]), 5))
        other /= (slopes @ other / room).max()
        assert np.sum(weights / other) >= np.sum(weights / found) * (1 - 1e-4)


def test_what_leaks_without_bound_is_stepped_back_from():
    """A bound may be infinite, where a grid ends before it."""
    tried = []

    def leakage(at):
        tried.append(at)
        return at**0.7 if at < 1e-4 else np.inf

    assert invert(leakage, 1e-4, 1e-3) == pytest.approx(1e-4 ** (1 / 0.7), rel=2e-3)
    assert len(tried) < 20


def test_the_tangent_lies_above_the_messages():
    rng = np.random.default_rng(4)
    net = random_net(rng, 15)
    losses = rng.uniform(0.01, 0.1, 15)
    slopes, rest = tangent(losses, net.couplings)
    assert slopes @ losses + rest == pytest.approx(loopy_leakage(losses, net.couplings), rel=1e-6)
    for _ in range(50):
        other = losses * np.exp(rng.normal(0, 1, 15))
        assert (loopy_leakage(other, net.couplings) <= (slopes @ other + rest) * (1 + 1e-6)).all()


def test_allocation_says_where_it_cannot_help():
    with pytest.raises(DoesNotApply, match="weights"):
        allocate(Groups(3), 1.0, Loss.of([1, 2, 3]))
    with pytest.raises(BadLoss, match="above zero"):
        allocate(MarkovChain(2, FLIP), 1.0, Loss.of([0, 1]))


def test_what_yields_to_another_theorem_says_no_less():
    chains = [walk(5, stay, 60) for stay in (0.3, 0.6, 0.95)]
    named = {theorem.name: theorem for theorem in THEOREMS}
    compared = 0
    for chain in chains:
        for epsilon in (0.01, 0.2, 2.0):
            said = {}
            for name, theorem in named.items():
                with suppress(DoesNotApply):
                    said[name] = theorem(Loss.uniform(epsilon, 60), chain).worst
            for name, worst in said.items():
                others = [said[one] for one in named[name].yields_to if one in said]
                assert all(worst >= other * (1 - 1e-9) for other in others), name
                compared += len(others)
    assert compared > 50
