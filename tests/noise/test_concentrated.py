"""From ρ to (ε, δ): never below the exact figure of the discrete Gaussian, as tight as the best formula."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from entwined.noise import DiscreteGaussian, delta_at, epsilon_at, group_rho, largest_rho

RHOS = [Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 18), Fraction(1, 2), Fraction(5)]


def exact_delta(scale, apart, epsilon):
    """The hockey-stick divergence of the discrete Gaussian and its shift, summed."""
    points = np.arange(-int(60 * scale) - 60, int(60 * scale) + 60 + apart)
    here, there = (-((points - shift) ** 2) / (2 * scale**2) for shift in (0, apart))
    norm = np.logaddexp.reduce(here)
    gain = -np.expm1(np.minimum(epsilon + there - here, 0.0))
    return float((np.exp(here - norm) * gain).sum())


@pytest.mark.parametrize("scale", [0.7, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("apart", [1, 2, 5])
def test_delta_is_never_below_the_exact_one(scale, epsilon, apart):
    rho = group_rho(DiscreteGaussian(Fraction(scale)).rho(Fraction(1)), apart)
    assert rho == Fraction(apart**2) / (2 * Fraction(scale) ** 2)
    truth = exact_delta(scale, apart, epsilon)
    assert truth <= delta_at(rho, epsilon) <= 1
    if (
        apart > 1 and truth > 1e-300
    ):  # the mutant that adds ρ k times in place of k² times is caught somewhere below
        assert delta_at(rho / apart, epsilon) < delta_at(rho, epsilon)


def test_groups_charged_k_times_rho_would_be_caught():
    rho = DiscreteGaussian(Fraction(3)).rho(Fraction(1))
    assert delta_at(5 * rho, 1) < exact_delta(3.0, 5, 1.0) <= delta_at(group_rho(rho, 5), 1)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.01"])
def test_epsilon_is_tight(rho, delta):
    found = epsilon_at(rho, delta)
    miss = math.log(1 / float(delta))
    assert found <= float(rho) + 2 * math.sqrt(float(rho) * miss)  # Bun and Steinke's

    def formula(log_gap):
        gap = math.exp(log_gap)
        return (1 + gap) * float(rho) + math.log(gap / (1 + gap)) + (miss - math.log1p(gap)) / gap

    start = min(np.linspace(-20, 30, 501), key=formula)
    best = minimize_scalar(
        formula, bounds=(start - 0.2, start + 0.2), method="bounded", options={"xatol": 1e-9}
    ).fun
    assert max(best, 0.0) * (1 - 1e-13) <= found <= max(best, 0.0) * (1 + 1e-8) + 1e-10


@pytest.mark.parametrize("rho", RHOS)
def test_opendp_gives_the_same_epsilon(rho):
    from opendp.combinators import make_zCDP_to_approxDP
    from opendp.domains import atom_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    noise = DiscreteGaussian.for_rho(rho, Fraction(1))
    space = atom_domain(T="i64"), absolute_distance(T="f64")
    curve = make_zCDP_to_approxDP(make_gaussian(*space, scale=float(noise.scale))).map(1.0)
    assert epsilon_at(noise.rho(Fraction(1)), "1e-6") == pytest.approx(curve.epsilon(1e-6), rel=1e-6)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "4"])
def test_the_two_directions_agree(rho, epsilon):
    delta = delta_at(rho, epsilon)
    if 1e-290 < delta < 0.5:
        assert epsilon_at(rho, delta) == pytest.approx(float(epsilon), rel=1e-6)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "8"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.3"])
def test_the_largest_rho_meets_the_target_and_a_little_more_does_not(epsilon, delta):
    rho = largest_rho(epsilon, delta)
    assert epsilon_at(rho, delta) <= float(epsilon)
    assert epsilon_at(rho * Fraction(1001, 1000), delta) > float(epsilon)


def test_a_known_value():
    assert epsilon_at("0.5", "1e-5") == pytest.approx(4.7284, abs=1e-4)
