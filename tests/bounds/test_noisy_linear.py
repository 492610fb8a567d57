"""Weighted sums of Gaussian values with Gaussian noise: the exact laws of the answers, by other routes."""

from fractions import Fraction
from time import process_time

import numpy as np
import pytest

from entwined.bounds import NoisyLinear, bound, calibrate, certify, verify
from entwined.bounds.choose import named
from entwined.bounds.gaussian import (
    max_correlation_bound,
    noisy_linear_bound,
    noisy_linear_shift_bound,
    noisy_linear_shift_without_knowledge_bound,
    noisy_linear_without_knowledge_bound,
)
from entwined.bounds.profiles.gaussian import gaussian_epsilon
from entwined.dependence import Box
from entwined.dependence.gaussian import Correlations, Gaussian, MaxCorrelation
from entwined.errors import BadLoss, DoesNotApply, NoTheorem
from entwined.loss import Loss
from support.gaussian_laws import autoregression, box_of, drawn, equicorrelated, members
from support.linear_sticks import epsilon_of, summed_stick, worst_shift

DELTA = 1e-5
EXACT = {"any": noisy_linear_bound, "model": noisy_linear_without_knowledge_bound}
SHIFTS = {"any": noisy_linear_shift_bound, "model": noisy_linear_shift_without_knowledge_bound}
FAMILY = (
    np.array([[2, 0, 1, 1], [0, 2, 1, 1], [1, 1, 2, 1], [1, 1, 1, 2]]) * 24.5
)  # heights: parents, two children
TWO_FAMILIES = np.kron(np.eye(2), FAMILY[1:, 1:])
LAWS = {
    "a group": equicorrelated(6, 0.14),
    "opposed": equicorrelated(4, -0.3),
    "family": FAMILY,
    "families": TWO_FAMILIES,
    "steps": autoregression(6, 0.5),
    "swinging steps": autoregression(5, -0.8),
}


def release_of(rng, units, answers):
    """Weights of about the size that the noise allows, some of them 0."""
    weights = rng.standard_normal((answers, units)) * (rng.random((answers, units)) < 0.8)
    return weights, 10 ** rng.uniform(-0.5, 1.0, answers)


def truths(covariance, weights, deviations, distance, knowledge):
    return np.array(
        [
            epsilon_of(distance * worst_shift(covariance, weights, deviations, unit, knowledge), DELTA)
            for unit in range(len(covariance))
        ]
    )


def compared(covariance, weights, deviations, distance, close):
    release = NoisyLinear.of(weights, deviations, distance, DELTA)
    for knowledge, theorem in EXACT.items():
        truth = truths(covariance, weights, deviations, distance, knowledge)
        found = theorem(release, Gaussian(covariance)).per_unit
        assert (found >= truth * (1 - 1e-9)).all()
        assert found == pytest.approx(truth, rel=close, abs=1e-12)
        assert (SHIFTS[knowledge](release, Gaussian(covariance)).per_unit >= truth * (1 - 1e-9)).all()


@pytest.mark.parametrize("law", LAWS)
def test_groups_families_and_series_leak_what_their_exact_laws_say(law):
    rng, covariance = np.random.default_rng(31), LAWS[law]
    units = len(covariance)
    compared(covariance, np.ones((1, units)), np.array([7.0]), 3.0, close=1e-9)
    for answers in (1, 2, 3):
        compared(covariance, *release_of(rng, units, answers), rng.uniform(0.2, 3), close=1e-9)


def test_random_laws_of_up_to_six_units_leak_what_their_exact_laws_say():
    rng = np.random.default_rng(32)
    for kind, covariance, _ in drawn(10, seed=33, sizes=[2, 3, 4, 5, 6]):
        weights, deviations = release_of(rng, len(covariance), int(rng.integers(1, 4)))
        weights = weights / np.sqrt(np.diagonal(covariance))
        distance = float(np.sqrt(np.diagonal(covariance)).min())
        compared(covariance, weights, deviations, distance, close=1e-5 if kind == "nearly one" else 1e-8)


@pytest.mark.parametrize("answers", [1, 2])
def test_a_sum_over_outputs_has_the_chance_that_the_bound_allows(answers):
    """No closed form: the densities of the answers, summed, at the ε that was found and a little below it."""
    rng, delta = np.random.default_rng(34), 1e-3
    weights, deviations = release_of(rng, 4, answers)
    for known in ((), (0,), (0, 3)):
        found = noisy_linear_bound(NoisyLinear.of(weights, deviations, 1.5, delta), Gaussian(FAMILY)).per_unit
        free = noisy_linear_without_knowledge_bound(
            NoisyLinear.of(weights, deviations, 1.5, delta), Gaussian(FAMILY)
        ).per_unit
        secret = (2, known, 1.5)
        assert summed_stick(FAMILY, weights, deviations, secret, found[2]) <= delta * (1 + 1e-3)
        if not known:
            at = summed_stick(FAMILY, weights, deviations, secret, free[2])
            assert at == pytest.approx(delta, rel=0.02)


def test_many_units_that_can_be_swapped_are_as_one_closed_form():
    """One that can, one that cannot because its weight differs: the sets are gone through either way."""
    for units, rho in ((9, 0.14), (9, 0.8), (40, 0.3)):
        model, ones = Gaussian(equicorrelated(units, rho)), np.ones((1, units))
        closed = noisy_linear_bound(NoisyLinear.of(ones, [2.0], 1.0, DELTA), model).worst
        ones[0, 0] += 1e-13
        tried = noisy_linear_bound(NoisyLinear.of(ones, [2.0], 1.0, DELTA), model).worst
        assert closed == pytest.approx(tried, rel=1e-9)


def test_what_is_unknown_is_noise_and_knowledge_takes_it_away():
    total = NoisyLinear.total(6, deviation=2.0, distance=1.0, delta=DELTA)
    model = Gaussian(LAWS["a group"] * 16)
    free, told = (theorem(total, model).worst for theorem in (EXACT["model"], EXACT["any"]))
    shown = noisy_linear_shift_bound(total, model).worst
    assert 0.1 < free < 0.5 * told
    assert told < shown == pytest.approx(epsilon_of(1.7 / 2, DELTA), rel=1e-9)


def test_a_family_member_leaks_no_more_for_other_families_and_many_take_no_time():
    many = Gaussian(np.kron(np.eye(300), FAMILY))
    start = process_time()
    found = noisy_linear_bound(NoisyLinear.total(1200, 60.0, 5.0, DELTA), many).per_unit
    assert process_time() - start < 5
    alone = noisy_linear_bound(NoisyLinear.total(4, 60.0, 5.0, DELTA), Gaussian(FAMILY)).per_unit
    assert found == pytest.approx(np.tile(alone, 300), rel=1e-12)
    free = noisy_linear_without_knowledge_bound(NoisyLinear.total(1200, 60.0, 5.0, DELTA), many).worst
    assert free < 0.5 * found.max()


# Classes of laws


def test_a_class_leaks_no_less_than_its_members():
    rng = np.random.default_rng(35)
    for kind in ("either sign", "around a law"):
        low, high = box_of(rng, 4, kind)
        weights, deviations = release_of(rng, 4, 2)
        release = NoisyLinear.of(weights, deviations, 1.0, DELTA)
        model = Correlations(Box(low, high), np.ones(4))
        for knowledge, theorem in SHIFTS.items():
            try:
                found = theorem(release, model).per_unit
            except DoesNotApply:
                continue
            for table in members(rng, low, high, 4):
                truth = truths(table, weights, deviations, 1.0, knowledge)
                assert (found >= truth * (1 - 1e-9)).all()


def test_only_the_largest_correlation_known_is_reached_by_units_that_hardly_spread():
    """Equal deviations may be as small as one likes: the others' spread is no noise to count on."""
    total = NoisyLinear.total(5, 3.0, 1.0, DELTA)
    found = noisy_linear_shift_bound(total, MaxCorrelation(5, 0.2)).worst
    tiny = noisy_linear_bound(total, Gaussian(equicorrelated(5, 0.2) * 1e-8)).worst
    assert found * (1 - 1e-6) < tiny <= found
    factor = max_correlation_bound(Loss.uniform(1, 5), MaxCorrelation(5, 0.2)).worst
    assert factor == pytest.approx(1.8)
    assert found == pytest.approx(epsilon_of(1.8 / 3, DELTA), rel=1e-9)


def test_a_class_without_a_bound_is_refused_unless_no_values_are_known():
    total, model = NoisyLinear.total(8, 3.0, 1.0, DELTA), MaxCorrelation(8, 0.5)
    with pytest.raises(NoTheorem, match="nearly singular"):
        bound(model, total)
    assert bound(model, total, "model").leakage.worst == pytest.approx(epsilon_of(4.5 / 3, DELTA), rel=1e-9)


# The one list


@pytest.mark.parametrize("knowledge", ["any", "values", "model"])
def test_it_is_bound_certified_verified_and_calibrated_like_any_release(knowledge):
    total = NoisyLinear.mean(4, deviation=8.0, distance=5.0, delta=DELTA)
    proved = bound(Gaussian(FAMILY), total, knowledge)
    name = "noisy linear without knowledge" if knowledge == "model" else "noisy linear"
    assert proved.theorem is named(name)
    assert "at most 5 apart" in proved.guarantee
    assert "but for a chance of 1e-05" in proved.guarantee
    document = certify(proved).document
    assert verify(document).valid
    document["inputs"]["loss"] = {**document["inputs"]["loss"], "distance": 4.0}
    assert not verify(document).valid
    found = calibrate(Gaussian(FAMILY), 1.0, knowledge, total)
    assert 1 - 1e-6 < found.leakage.worst <= 1
    more = noisy_linear_bound(NoisyLinear.mean(4, 8.0, 10.0, DELTA), Gaussian(FAMILY)).worst
    assert more > 1.9 * noisy_linear_bound(total, Gaussian(FAMILY)).worst


def test_many_steps_are_bounded_by_what_moves():
    steps = Gaussian(autoregression(60, 0.5))
    proved = bound(steps, NoisyLinear.total(60, 20.0, 1.0, DELTA))
    assert proved.theorem is named("noisy linear shift")
    assert proved.leakage.worst == pytest.approx(epsilon_of(3 / 20, DELTA), rel=1e-6)
    assert (
        bound(steps, NoisyLinear.total(60, 20.0, 1.0, DELTA), "model").leakage.worst
        < 0.9 * proved.leakage.worst
    )


def test_a_unit_alone_is_analytic_gaussian_noise():
    found = noisy_linear_bound(NoisyLinear.total(1, 4.0, 2.0, "1e-6"), Gaussian.of([[9.0]])).worst
    assert found == pytest.approx(gaussian_epsilon(Fraction(1, 8), Fraction(1, 10**6)), rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "deviations", "distance", "says"),
    [
        ([[1.0], [1.0, 2.0]], [1.0, 1.0], 1.0, "one weight a unit"),
        ([[1.0]], [1.0, 2.0], 1.0, "one deviation"),
        ([], [], 1.0, "one weight a unit"),
        ([[float("nan")]], [1.0], 1.0, "weight"),
        ([[1.0]], [0.0], 1.0, "positive"),
        ([[1.0]], [1.0], float("inf"), "positive"),
    ],
)
def test_what_is_no_release_is_refused(weights, deviations, distance, says):
    with pytest.raises(BadLoss, match=says):
        NoisyLinear.of(weights, deviations, distance, DELTA)


def test_noise_too_small_to_tell_from_rounding_is_refused_and_not_guessed():
    with pytest.raises(DoesNotApply, match="Add more noise"):
        noisy_linear_bound(NoisyLinear.total(4, 1e-9, 1.0, DELTA), Gaussian(FAMILY))
    with pytest.raises(BadLoss, match="4 units, not 6"):
        NoisyLinear.total(4, 1.0, 1.0, DELTA).widened(6)
