"""What each law of noise is charged: never less than the Gaussian that shows as much, and little more."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import ndtri

from entwined.bounds.profiles.curves import GaussianCurve, PureCurve
from entwined.bounds.profiles.gaussian import shift_of
from entwined.errors import BadNoise
from entwined.noise import DiscreteGaussian, ExponentialChoice
from entwined.noise.dominated import (
    BLUR,
    SMOOTHED,
    pure_of_rho,
    rho_of,
    rho_of_choice,
    rho_of_laplace,
    rho_of_pure,
    slip,
    variance_for,
)

EPSILONS = np.linspace(0.0, 8.0, 401)
LOST = 1e-13  # what sums of floats can be wrong by, and so the least δ that is compared


def moved_sums(variance, moves):
    """The law of Σ d_i z_i of discrete Gaussian noise, from its first place on: all that tells whether x moved."""
    law, first = np.ones(1), 0
    for move in moves:
        reach = math.ceil(12 * math.sqrt(variance)) + 1
        weights = np.zeros(2 * reach * move + 1)
        weights[::move] = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
        law, first = np.convolve(law, weights / weights.sum()), first - reach * move
    return law, first


def shown_by_integers(variance, moves):
    """E_γ of answers that move by these whole numbers, exactly, at all ε."""
    law, first = moved_sums(variance, moves)
    squared = sum(move**2 for move in moves)
    losses = (2 * (first + np.arange(law.size)) + squared) / (2 * variance)
    return np.array([law @ np.maximum(-np.expm1(epsilon - losses), 0.0) for epsilon in EPSILONS])


def above(truth, rho):
    """By how much the truth is above the Gaussian of ρ somewhere."""
    return float(np.max(truth - GaussianCurve(shift_of(rho)).at(np.expm1(EPSILONS))))


def sticks(one, other):
    return np.array([np.maximum(one - math.exp(epsilon) * other, 0.0).sum() for epsilon in EPSILONS])


def quantile(chance):
    return -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(chance))


# Whole numbers


@pytest.mark.parametrize("moves", [(1,), (2,), (1, 1), (1, 1, 1, 1), (1, 2, 3), (5,)])
@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 8), Fraction(1, 2), Fraction(3), Fraction(20)])
def test_discrete_noise_shows_no_more_than_the_gaussian_of_its_charge(moves, rho):
    squared = Fraction(sum(move**2 for move in moves))
    variance = variance_for(rho, squared)
    assert above(shown_by_integers(float(variance), moves), rho) <= LOST
    assert rho_of(variance, squared) == rho
    assert DiscreteGaussian(Fraction(math.sqrt(variance))).rho(squared) < rho  # so it is ρ-zCDP all the more


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 8), Fraction(1, 2), Fraction(3)])
def test_without_the_smoothing_it_would_show_more(rho):
    bare = variance_for(rho, Fraction(1)) - SMOOTHED
    assert above(shown_by_integers(float(bare), (1,)), rho) > 1e-6


def test_whole_numbers_are_made_of_continuous_noise_but_for_a_trace():
    with mpmath.workdps(50):
        assert farthest(mpmath.mpf(3), mpmath.mpf(5)) < BLUR
        assert 4 * mpmath.nsum(lambda k: mpmath.exp(-6 * mpmath.pi**2 * k**2), [1, 9]) * (1 + 1e-9) < BLUR
        assert farthest(mpmath.mpf(1) / 2, mpmath.mpf(5)) > 1e-9  # less smoothing leaves more than a trace


def farthest(smoothed, variance):
    """The largest log ratio of a discrete Gaussian and what is made of continuous noise, at a few places."""
    step, phases = mpmath.mpf(1) / 8, 8
    sums = [weight_sum(phase * step, smoothed) for phase in range(phases)]
    total, left = weight_sum(0, variance), variance - smoothed
    logs = []
    for place in range(4):  # the trapezoid rule is exact here but for e^(−1000)
        made = sum(
            mpmath.exp(-((k * step) ** 2) / (2 * left) - (place - k * step) ** 2 / (2 * smoothed))
            / sums[k % phases]
            for k in range(-320, 321)
        )
        made *= step / mpmath.sqrt(2 * mpmath.pi * left)
        logs.append(abs(mpmath.log(made * total) + mpmath.mpf(place**2) / (2 * variance)))
    return max(logs)


def weight_sum(centre, variance):
    return sum(mpmath.exp(-((k - mpmath.mpf(centre)) ** 2) / (2 * variance)) for k in range(-60, 62))


def test_a_small_factor_moves_quantiles_by_no_more_than_the_lemma_says():
    for chance in (1e-9, 0.01, 0.3, 0.5, 0.7, 0.999):
        for eta in (1e-6, 0.01, 0.5, 3.0):
            most = min(math.exp(eta) * chance, 1 - math.exp(-eta) * (1 - chance))
            moved = quantile(most) - quantile(chance)
            assert moved <= math.sqrt(math.pi / 2) * eta * (1 + 1e-9)
    small = quantile(0.5 * math.exp(1e-6)) - quantile(0.5)
    assert small == pytest.approx(math.sqrt(math.pi / 2) * 1e-6, rel=1e-5)  # and that much it can be


@pytest.mark.parametrize("variance", [Fraction(3), Fraction(1, 2), Fraction(2) ** 105])
def test_noise_that_is_too_narrow_or_too_wide_is_refused(variance):
    with pytest.raises(BadNoise, match="above 3 and up to"):
        rho_of(variance, Fraction(1))
    with pytest.raises(BadNoise, match="wider than"):
        variance_for(Fraction(1, 10**40), Fraction(1))


def test_a_slip_stays_far_below_any_delta_and_does_not_grow_without_end():
    assert slip(10**9) < Fraction(1, 10**15)
    assert slip(0) == 0
    with pytest.raises(BadNoise):
        slip(10**24)


# Pure losses


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 0.5, 0.999, 1.0, 3.0, 30.0, 500.0])
def test_a_pure_loss_costs_the_gaussian_with_its_odds(epsilon):
    with mpmath.workdps(400):
        exact = 2 * quantile(1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))) ** 2
        found = rho_of_pure(Fraction(epsilon))
        assert exact <= mpmath.mpf(found.numerator) / found.denominator <= exact * (1 + 1e-11)


@pytest.mark.parametrize("rho", [1e-12, 1e-4, 0.03, 0.5, 2.0, 2.1, 60.0, 2385.0, 2400.0, 1e5])
def test_a_charge_covers_a_pure_loss_and_hardly_more(rho):
    epsilon = pure_of_rho(Fraction(rho))
    assert rho_of_pure(epsilon) <= Fraction(rho)
    if rho < 2300:
        assert rho_of_pure(epsilon * (1 + Fraction(1, 10**10))) > Fraction(rho)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_a_pure_loss_shows_no_more_than_its_gaussian_and_touches_it(epsilon):
    rho, excess = rho_of_pure(Fraction(epsilon)), np.expm1(np.linspace(0, epsilon, 2001))
    gap = GaussianCurve(shift_of(rho)).at(excess) - PureCurve(epsilon).at(excess)
    assert gap.min() > -LOST
    less = GaussianCurve(shift_of(rho * Fraction(99, 100))).at(excess) - PureCurve(epsilon).at(excess)
    assert less.min() < 0
    assert rho_of_pure(Fraction(1000)) == 4000


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_a_choice_costs_half_its_loss(epsilon):
    pick, random = ExponentialChoice.for_loss(epsilon, Fraction(1)), np.random.default_rng(5)
    for size in (2, 2, 3, 8):
        before = random.integers(-3, 4, size)
        after = before + random.choice([-1, 1], size)
        one, other = (np.array(pick.probabilities(utilities.tolist())) for utilities in (before, after))
        assert above(sticks(one, other), rho_of_choice(Fraction(epsilon))) <= LOST
    one, other = (np.array(pick.probabilities(utilities)) for utilities in ([0, 1], [1, 0]))
    assert above(sticks(one, other), rho_of_choice(Fraction(epsilon)) * Fraction(99, 100)) > 0
    with pytest.raises(AssertionError):  # a truthful answer of the same loss needs more
        assert above(PureCurve(epsilon).at(np.expm1(EPSILONS)), rho_of_choice(Fraction(epsilon))) <= LOST


@pytest.mark.parametrize(("scale", "change"), [(1, 1), (1, 2), (4, 1), (10, 3), (10, 10), (40, 41), (2, 9)])
def test_laplace_noise_on_whole_numbers_costs_the_gaussian_that_touches_it(scale, change):
    places = np.arange(-60 * scale, 60 * scale + 1)
    one, other = (np.exp(-np.abs(places - centre) / scale) for centre in (0, change))
    truth = sticks(one / one.sum(), other / other.sum())
    rho = rho_of_laplace(Fraction(scale), change)
    assert above(truth, rho) <= LOST
    assert rho <= rho_of_pure(Fraction(change, scale)) * (1 + Fraction(1, 10**10))
    tails = {k: one[places >= k].sum() / one.sum() for k in range(-change - 9 * scale, change + 9 * scale)}
    shifts = [ndtri(tails[k - change]) - ndtri(tails[k]) for k in tails if k - change in tails]  # of {z ≥ k}
    assert float(rho) == pytest.approx(max(shifts) ** 2 / 2, rel=1e-9)


def test_a_number_that_does_not_move_costs_nothing_and_one_that_moves_far_its_pure_loss():
    assert rho_of_laplace(Fraction(1), 0) == 0
    assert rho_of_laplace(Fraction(1), 1000) == 4000
    with pytest.raises(BadNoise):
        rho_of_laplace(Fraction(1), -1)
