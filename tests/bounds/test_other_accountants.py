"""Profiles against dp-accounting, Google's library of privacy losses: never below its floor, hardly above its ceiling."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as theirs

from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import (
    DiscreteGaussianCurve,
    GaussianCurve,
    LaplaceCurve,
    PureCurve,
    epsilon_at_delta,
)
from entwined.bounds.profiles.gaussian import gaussian_epsilon, shift_of
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.noise import DiscreteGaussian
from entwined.noise.dominated import rho_of_laplace, rho_of_pure

STEP = 3e-4
DELTA = Fraction(1, 10**6)
EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)


def resolved(*, safe):
    """Their chords are for ceilings alone."""
    return {
        "value_discretization_interval": STEP,
        "pessimistic_estimate": safe,
        "use_connect_dots": safe,
    }


def gaussian(mu):
    return lambda safe: theirs.from_gaussian_mechanism(1 / mu, **resolved(safe=safe))


def laplace(epsilon):
    return lambda safe: theirs.from_laplace_mechanism(1 / epsilon, **resolved(safe=safe))


def truthful(epsilon):
    return lambda safe: theirs.from_randomized_response(
        2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=STEP, pessimistic_estimate=safe
    )


def discrete(scale):
    return lambda safe: theirs.from_discrete_gaussian_mechanism(scale, **resolved(safe=safe))


PARTS = {
    "Gaussian": (GaussianCurve(0.4), gaussian(0.4)),
    "Laplace": (LaplaceCurve(0.5), laplace(0.5)),
    "pure": (PureCurve(0.7), truthful(0.7)),
    "discrete Gaussian": (DiscreteGaussianCurve(DiscreteGaussian(Fraction(3)), 1), discrete(3.0)),
}


def composed(curves):
    """All parts together, on a grid that is long enough."""
    grid = Grid(1e-3, 12_000)
    whole = Composition.nothing(grid)
    for curve in curves:
        whole = whole.join(Composition.of(PrivacyProfile.of(curve, grid)))
    return whole.profile()


def together(parts, *, safe):
    whole = parts[0](safe)
    for part in parts[1:]:
        whole = whole.compose(part(safe))
    return whole


def agree(profile, parts):
    """Hold a curve or profile against their floor and their ceiling."""
    floor, ceiling = (together(parts, safe=safe) for safe in (False, True))
    ours = profile.at(np.expm1(np.array(EPSILONS)))
    low, high = (np.array(whole.get_delta_for_epsilon(EPSILONS)) for whole in (floor, ceiling))
    assert (ours >= low * (1 - 1e-9) - 1e-12).all()
    assert (ours <= high * (1 + 1e-3) + 1e-11).all()
    return ceiling.get_epsilon_for_delta(float(DELTA))


@pytest.mark.parametrize("name", PARTS)
def test_one_part_has_the_profile_that_they_give_it(name):
    curve, part = PARTS[name]
    assert epsilon_at_delta(curve, DELTA) == pytest.approx(agree(curve, [part]), abs=1e-3)


@pytest.mark.parametrize(
    "names",
    [["Gaussian"] * 5, ["Laplace"] * 5, ["pure"] * 4, ["discrete Gaussian"] * 6, [*PARTS], [*PARTS] * 2],
    ids=lambda names: f"{len(names)} of {len(set(names))}",
)
def test_parts_compose_as_they_do_there(names):
    whole = composed([PARTS[name][0] for name in names])
    assert whole.epsilon(DELTA) == pytest.approx(agree(whole, [PARTS[name][1] for name in names]), abs=1e-3)


def test_charges_of_mixed_noise_cover_what_they_find_for_it():
    parts = [gaussian(0.4), truthful(0.5), truthful(0.5), laplace(0.3)]
    rho = Fraction(8, 100) + 2 * rho_of_pure(Fraction(1, 2)) + rho_of_laplace(Fraction(1000), 300)
    floor = together(parts, safe=False)
    ours = GaussianCurve(shift_of(rho)).at(np.expm1(np.array(EPSILONS)))
    assert (ours >= np.array(floor.get_delta_for_epsilon(EPSILONS))).all()
    assert gaussian_epsilon(rho, DELTA) >= floor.get_epsilon_for_delta(float(DELTA))
    without = GaussianCurve(shift_of(rho - rho_of_pure(Fraction(1, 2)))).at(np.expm1(np.array(EPSILONS)))
    assert (without < np.array(floor.get_delta_for_epsilon(EPSILONS))).any()
