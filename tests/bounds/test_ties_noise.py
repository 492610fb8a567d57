"""Ties under a δ: exact hockey sticks of the middle of a star are never above the bound, and come near to it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds.choose import bound
from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.gaussian_noise import gaussian_group_bound, gaussian_messages_bound
from entwined.bounds.separable import separable_messages_bound
from entwined.bounds.ties_noise import (
    gaussian_ties_and_anything_known_bound,
    gaussian_ties_bound,
    separable_ties_and_anything_known_bound,
    separable_ties_bound,
)
from entwined.dependence import Ties
from entwined.errors import DoesNotApply
from support.hockey_sticks import cell_chances, mechanism_sticks, released, sum_sticks

DELTAS = ("0.1", "0.02")
KERNEL = np.array([[0.8, 0.2], [0.3, 0.7]])


def star(leaves, kernel, **more):
    """Unit 0 in the middle; the same kernel over every tie, both ways by one joint law."""
    start = np.array([kernel[1, 0], kernel[0, 1]]) / (kernel[1, 0] + kernel[0, 1])
    joint = start
    for _ in range(leaves):
        joint = joint[..., None] * kernel.reshape(2, *[1] * (joint.ndim - 1), 2)
    ends = np.array([(0, leaf) for leaf in range(1, leaves + 1)])
    return Ties(leaves + 1, ends, kernel=kernel, **more), joint


def losses(shifts, delta, **facts):
    return ConcentratedLoss.of([Fraction(shift**2 / 2) for shift in shifts], delta, **facts)


def middle(sticks):
    return [seen for unit, seen in sticks if unit == 0]


def tilted(joint, rng):
    """Know something of each leaf: a weight of its value."""
    for axis in range(1, joint.ndim):
        weight = rng.uniform(0.02, 1, 2)
        joint = joint * weight.reshape([2 if at == axis else 1 for at in range(joint.ndim)])
    return joint / joint.sum()


@pytest.mark.parametrize("leaves", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_sum_shows_no_more_of_the_middle(leaves, seed):
    rng = np.random.default_rng([13, leaves, seed])
    kernel = rng.dirichlet([2.0, 2.0], 2)
    model, joint = star(leaves, kernel)
    shifts = rng.uniform(0.3, 1.5, leaves + 1)
    for delta in DELTAS:
        known = gaussian_ties_bound(losses(shifts, delta, gaussian=True), model).per_unit[0]
        anything = gaussian_ties_and_anything_known_bound(
            losses(shifts, delta, gaussian=True), model
        ).per_unit[0]
        assert known <= anything * (1 + 1e-9)
        gammas = np.exp([known, anything])
        for seen in middle(sum_sticks(joint, shifts, 1.0, gammas)):
            assert seen[0] <= float(delta)
        for _ in range(4):
            for seen in middle(sum_sticks(tilted(joint, rng), shifts, 1.0, gammas)):
                assert seen[1] <= float(delta)


@pytest.mark.parametrize("leaves", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_parts_of_single_units_show_no_more_of_the_middle_and_nearly_as_much(leaves, seed):
    rng = np.random.default_rng([17, leaves, seed])
    kernel = rng.dirichlet([2.0, 2.0], 2)
    model, joint = star(leaves, kernel)
    shifts = rng.uniform(0.5, 1.5, leaves + 1)
    edges = np.concatenate([[-np.inf], np.linspace(-3.0, 4.5, 13 if leaves == 3 else 25), [np.inf]])
    parts = [((unit,), cell_chances(edges - np.array([[0.0], [shift]]))) for unit, shift in enumerate(shifts)]
    likelihood = released(joint.shape, parts)
    for delta in DELTAS:
        box = losses(shifts, delta, gaussian=True, separable=True)
        known = separable_ties_bound(box, model).per_unit[0]
        anything = separable_ties_and_anything_known_bound(box, model).per_unit[0]
        gammas = np.exp([known, anything])
        seen = np.array(middle(mechanism_sticks(joint, likelihood, gammas)))
        assert seen[:, 0].max() <= float(delta)
        assert seen[:, 0].max() > 0.5 * float(delta)  # near to the truth
        for _ in range(2):
            assert np.array(middle(mechanism_sticks(tilted(joint, rng), likelihood, gammas)))[
                :, 1
            ].max() <= float(delta)


def test_a_star_is_what_messages_say_of_its_middle():
    model, _ = star(3, KERNEL)
    box = losses([1.0] * 4, "1e-6", gaussian=True, separable=True)
    assert separable_ties_and_anything_known_bound(box, model).per_unit[0] == pytest.approx(
        separable_messages_bound(box, model).per_unit[0], rel=1e-3
    )
    noisy = losses([0.2] * 4, "1e-6", gaussian=True)
    own = gaussian_ties_and_anything_known_bound(noisy, model).per_unit
    assert own[0] == pytest.approx(gaussian_messages_bound(noisy, model).per_unit[0], rel=1e-2)
    assert own[1] < gaussian_messages_bound(noisy, model).per_unit[1]  # no friends of friends


def test_without_the_assumption_it_is_wrong():
    """Fair bits, the third nearly the exclusive or of the others: no pair says anything, and all three do."""
    model, joint = star(2, np.full((2, 2), 0.5))
    for values in np.ndindex(joint.shape):
        joint[values] = 0.25 * (0.95 if sum(values) % 2 == 0 else 0.05)
    found = gaussian_ties_bound(losses([0.1, 3.0, 3.0], "0.05", gaussian=True), model).per_unit[0]
    seen = middle(sum_sticks(joint, np.array([0.1, 3.0, 3.0]), 1.0, np.exp([found]), "model"))
    assert max(each[0] for each in seen) > 0.3


def test_few_of_many_ties_and_units_alike():
    ends = np.array([(0, leaf) for leaf in range(1, 41)])
    noisy = ConcentratedLoss.uniform("0.001", 41, "1e-6", gaussian=True)
    every = gaussian_ties_bound(noisy, Ties(41, ends, kernel=KERNEL)).per_unit
    few = gaussian_ties_bound(noisy, Ties(41, ends, kernel=KERNEL, most_ties=5)).per_unit
    small = gaussian_ties_bound(
        ConcentratedLoss.uniform("0.001", 6, "1e-6", gaussian=True), Ties(6, ends[:5], kernel=KERNEL)
    ).per_unit
    assert few[0] == pytest.approx(small[0], rel=0.02)
    assert few[0] < every[0] < gaussian_group_bound(noisy, Ties(41, ends, kernel=KERNEL)).per_unit[0]
    assert every[1] == pytest.approx(every[40])
    found = bound(Ties(41, ends, kernel=KERNEL), noisy, "model")
    assert found.theorem is gaussian_ties_bound
    assert math.isfinite(found.leakage.worst)


def test_coefficients_say_nothing_of_a_delta():
    model = Ties(3, np.array([(0, 1), (0, 2)]), coefficients=np.array([0.3, 0.3]))
    noisy = ConcentratedLoss.uniform("0.001", 3, "1e-6", gaussian=True, separable=True)
    for theorem in (gaussian_ties_bound, gaussian_ties_and_anything_known_bound, separable_ties_bound):
        with pytest.raises(DoesNotApply, match="Give a kernel"):
            theorem(noisy, model)
