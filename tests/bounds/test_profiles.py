"""Profiles: exact curves, chords above them, and the three operations against what is known of them."""

import math
from fractions import Fraction
from functools import reduce
from itertools import permutations

import mpmath
import numpy as np
import pytest

from entwined.bounds.contraction import contract_one
from entwined.bounds.frontier import Frontier
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import (
    ConcentratedCurve,
    DiscreteGaussianCurve,
    GaussianCurve,
    LaplaceCurve,
    PureCurve,
    epsilon_at_delta,
)
from entwined.bounds.profiles.gaussian import gaussian_epsilon, largest_gaussian_rho
from entwined.bounds.profiles.profile import Grid, PrivacyProfile, both_sides
from entwined.bounds.profiles.sway import Carried, RowsSway, TiltSway
from entwined.bounds.profiles.tails import TailLaw
from entwined.errors import BadInput, BadLoss, DoesNotApply
from entwined.noise import DiscreteGaussian
from entwined.noise.concentrated import delta_at

EPSILONS = np.array([0.0, 1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
NOISY = DiscreteGaussian(Fraction(3))


def exact_gaussian(mu, epsilon):
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def sums(law_p, law_q, epsilons):
    return np.array([np.maximum(law_p - np.exp(e) * law_q, 0).sum() for e in epsilons])


# Curves


@pytest.mark.parametrize("mu", [1e-4, 0.03, 0.4, 1.0, 3.0, 20.0])
def test_gaussian_noise_has_the_profile_of_balle_and_wang(mu):
    shown = GaussianCurve(mu).at(np.expm1(EPSILONS))
    for delta, epsilon in zip(shown.tolist(), EPSILONS.tolist(), strict=True):
        truth = exact_gaussian(mu, epsilon)
        assert (
            truth <= delta <= truth * (1 + 1e-7) + 1e-13 * float(mpmath.ncdf(mu / 2 - epsilon / mu)) + 1e-299
        )


@pytest.mark.parametrize(("rho", "delta"), [("1/1000", "1e-9"), ("1/2", "1e-6"), ("12", "1/100")])
def test_the_epsilon_of_a_gaussian_charge_is_exact_and_its_inverse_stays_within(rho, delta):
    charge, miss = Fraction(rho), Fraction(delta)
    epsilon = gaussian_epsilon(charge, miss)
    mu = mpmath.sqrt(2 * mpmath.mpf(charge.numerator) / charge.denominator)
    assert exact_gaussian(mu, epsilon) <= miss <= exact_gaussian(mu, epsilon * (1 - 1e-9))
    back = largest_gaussian_rho(Fraction(epsilon), miss)
    assert charge * (1 - Fraction(1, 10**8)) < back
    assert gaussian_epsilon(back, miss) <= epsilon


def test_laplace_noise_has_its_profile_and_stays_under_pure_loss():
    outputs = np.arange(-40_000, 40_001) / 1000
    one, other = (np.exp(-np.abs(outputs - centre)) for centre in (0.0, 1.0))
    truth = sums(one / one.sum(), other / other.sum(), [0.0, 0.3, 0.9, 1.1])
    shown = LaplaceCurve(1.0).at(np.expm1([0.0, 0.3, 0.9, 1.1]))
    assert shown == pytest.approx(truth, abs=2e-6)
    assert shown[-1] == 0.0
    points = np.expm1(np.linspace(0, 2, 50))
    assert (LaplaceCurve(1.0).at(points) <= PureCurve(1.0).at(points)).all()


def test_pure_loss_is_a_truthful_answer_with_those_odds():
    truth = np.array([math.e, 1.0]) / (math.e + 1)
    points = np.linspace(0, 1.5, 40)
    shown, exact = PureCurve(1.0).at(np.expm1(points)), sums(truth, truth[::-1], points)
    assert (shown >= exact).all()
    assert shown == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize(("scale", "shift"), [("0.4", 1), (1, 1), (3, 1), (3, 4), (20, 3)])
def test_discrete_gaussian_noise_is_summed(scale, shift):
    noise = DiscreteGaussian(Fraction(scale))
    outputs = np.arange(-900, 901)
    laws = [np.exp(-0.5 * ((outputs - centre) / float(scale)) ** 2) for centre in range(shift + 1)]
    epsilons = np.linspace(0, 4, 37)
    truth = np.max([sums(laws[0] / laws[0].sum(), law / law.sum(), epsilons) for law in laws[1:]], axis=0)
    shown = DiscreteGaussianCurve(noise, shift).at(np.expm1(epsilons))
    assert (shown >= truth * (1 - 1e-12)).all()
    assert shown == pytest.approx(truth, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0, 10.0])
def test_discrete_gaussian_noise_is_not_quite_gaussian(scale):
    """Between its steps it shows more than continuous noise of its scale does, and less than one of variance − 1/8."""
    points = np.expm1(np.linspace(0, 3, 400))
    for shift in (1, 2, 5):
        discrete = DiscreteGaussianCurve(DiscreteGaussian(Fraction(scale)), shift).at(points)
        narrower = GaussianCurve(shift / math.sqrt(scale**2 - 1 / 8)).at(points)
        assert (discrete <= narrower * (1 + 1e-9) + 1e-12).all()
        assert shift > 1 or (discrete > GaussianCurve(shift / scale).at(points) * 1.0001).any()


@pytest.mark.parametrize("rho", [0.001, 0.1, 2.0])
def test_a_concentrated_loss_has_the_profile_of_its_best_order(rho):
    epsilons = np.array([rho, 2 * rho + 0.1, 4 * rho + 0.5, 8 * rho + 1])
    shown = ConcentratedCurve(rho).at(np.expm1(epsilons))
    least = [min(delta_at(rho, epsilon), math.sqrt(rho / 2)) for epsilon in epsilons.tolist()]
    assert shown == pytest.approx(least, rel=0.02)
    assert (shown >= GaussianCurve(math.sqrt(2 * rho)).at(np.expm1(epsilons))).all()


def test_bad_curves_and_grids_are_refused():
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(BadLoss):
            GaussianCurve(wrong)
    with pytest.raises(BadLoss):
        DiscreteGaussianCurve(NOISY, 0)
    with pytest.raises(DoesNotApply):
        DiscreteGaussianCurve(DiscreteGaussian(Fraction(10**6)), 1)
    with pytest.raises(BadInput):
        Grid(1.0, 400)


# Carried to a neighbour


@pytest.mark.parametrize("loss", [1e-3, 0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("odds", [1e-2, 0.5, 2.0, 6.0, math.inf])
def test_of_a_pure_loss_it_is_the_contraction(loss, odds):
    found = epsilon_at_delta(Carried(PureCurve(loss), TiltSway(odds)), 0)
    assert found == pytest.approx(contract_one(loss, odds), rel=1e-9)


def test_of_a_pure_loss_it_is_the_exact_transport():
    rng = np.random.default_rng(61)
    for _ in range(60):
        kernel = rng.dirichlet(np.full(rng.integers(2, 6), 0.6), size=rng.integers(2, 5))
        frontier = Frontier.of(kernel)
        for loss in (0.05, 0.7, 4.0):
            found = epsilon_at_delta(Carried(PureCurve(loss), RowsSway(frontier)), 0)
            assert found == pytest.approx(frontier(loss), rel=1e-9)


def test_the_sway_of_rows_is_their_largest_hockey_stick():
    rng = np.random.default_rng(62)
    for _ in range(60):
        kernel = rng.dirichlet(np.full(rng.integers(2, 7), 0.6), size=rng.integers(2, 6))
        excess = np.append(0.0, np.expm1(rng.uniform(0, 6, 30)))
        truth = np.max([[sums(a, b, np.log1p(excess)) for b in kernel] for a in kernel], axis=(0, 1))
        shown = RowsSway(Frontier.of(kernel)).at(excess)
        assert (shown >= truth).all()
        assert shown == pytest.approx(truth, rel=1e-9, abs=1e-13)


def test_the_sway_of_a_tilt_is_the_largest_of_all_tilts():
    odds, gammas = 1.7, np.exp(np.linspace(0, 1.69, 12))
    shown = TiltSway(odds).at(gammas - 1)
    best = np.zeros(gammas.size)
    for share in np.linspace(1e-4, 1 - 1e-4, 4001):
        q = np.array([share, 1 - share])
        p = q * np.array([math.exp(odds), 1.0])
        best = np.maximum(best, sums(p / p.sum(), q, np.log(gammas)))
    assert (shown >= best).all()
    assert shown == pytest.approx(best, rel=1e-5, abs=1e-7)


def test_golden_gaussian_profile_a_neighbour_further():
    found = Carried(GaussianCurve(1.0), TiltSway(2 * math.log(3))).at(np.expm1([0.0, 0.5]))
    assert found.round(5).tolist() == [0.19146, 0.04565]


# Profiles on a grid


GRID = Grid.up_to(9.0, 1500)


def held(curve):
    return PrivacyProfile.of(curve, GRID)


def test_chords_are_never_below_the_curve():
    excess = np.expm1(np.random.default_rng(63).uniform(0, 9, 2000))
    for curve in (GaussianCurve(0.8), LaplaceCurve(1.3), PureCurve(2.0), DiscreteGaussianCurve(NOISY, 2)):
        chords, exact = held(curve).at(excess), curve.at(excess)
        assert (chords >= exact * (1 - 1e-13)).all()
        through = held(curve).through(TiltSway(1.0)).at(excess)
        assert (through >= Carried(curve, TiltSway(1.0)).at(excess) * (1 - 1e-12)).all()


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0])
def test_epsilon_is_rounded_up(mu, delta):
    found = held(GaussianCurve(mu)).epsilon(delta)
    assert exact_gaussian(mu, found) <= delta
    assert found == pytest.approx(epsilon_at_delta(GaussianCurve(mu), delta), abs=2e-3, rel=1e-3)
    exact = epsilon_at_delta(GaussianCurve(mu), delta)
    assert exact_gaussian(mu, exact) <= delta
    assert exact == 0 or exact_gaussian(mu, exact * (1 - 1e-9)) > delta


def test_epsilon_of_what_shows_too_much_is_infinite():
    assert held(GaussianCurve(9.0)).epsilon(1e-6) == math.inf
    assert held(GaussianCurve(0.0)).epsilon(1e-6) == 0.0
    assert held(GaussianCurve(1e-9)).epsilon(1e-6) == 0.0


def together(*curves):
    whole = Composition.nothing(GRID)
    for curve in curves:
        whole = whole.join(Composition.of(held(curve)))
    return whole.profile()


def test_gaussian_parts_compose_to_gaussian_noise():
    for shifts in ((0.6, 0.8), (0.1,) * 60, (1e-3, 1.2), (0.3,) * 5):
        exact = GaussianCurve(math.sqrt(sum(mu**2 for mu in shifts))).at(GRID.excess)
        found = together(*map(GaussianCurve, shifts)).deltas
        assert (found >= exact * (1 - 1e-12)).all()
        seen = exact > 1e-7
        assert found[seen] == pytest.approx(exact[seen], rel=2e-2)


def test_pure_and_laplace_parts_compose_as_their_laws_do():
    """Truthful answers: the product of two-point laws; Laplace noise: a fine table of outputs in two dimensions."""
    odds = [1.0, 0.5, 0.25, 2.0]
    one, other = np.ones(1), np.ones(1)
    for epsilon in odds:
        p = np.array([math.exp(epsilon), 1.0]) / (math.exp(epsilon) + 1)
        one, other = np.outer(one, p).ravel(), np.outer(other, p[::-1]).ravel()
    epsilons = np.linspace(0, 3.7, 60)
    exact, found = sums(one, other, epsilons), together(*map(PureCurve, odds)).at(np.expm1(epsilons))
    assert (found >= exact * (1 - 1e-12)).all()
    assert found == pytest.approx(exact, abs=1e-4)
    places = (np.arange(-6000, 6000) + 0.5) / 300
    masses = [
        np.diff(np.where(e < 0, np.exp(e) / 2, 1 - np.exp(-e) / 2))
        for e in (np.append(places, places[-1] + 1 / 300) - c - 0.5 / 300 for c in (0.0, 0.8))
    ]
    losses = np.clip(np.abs(places - 0.8) - np.abs(places), -0.8, 0.8)
    values, first = np.unique(losses.round(6), return_inverse=True)
    law = np.bincount(first, weights=masses[0])
    pair = np.add.outer(values, values).ravel()
    weight = np.multiply.outer(law, law).ravel()
    exact = np.array([(weight * np.maximum(-np.expm1(e - pair), 0)).sum() for e in (0.0, 0.4, 1.0, 1.5)])
    found = together(LaplaceCurve(0.8), LaplaceCurve(0.8)).at(np.expm1([0.0, 0.4, 1.0, 1.5]))
    assert found == pytest.approx(exact, rel=1e-2)


def test_discrete_parts_compose_as_two_cells_of_a_histogram_do():
    outputs = np.arange(-60, 61)
    laws = [np.exp(-0.5 * ((outputs - centre) / 3) ** 2) for centre in (0, 1)]
    laws = [law / law.sum() for law in laws]
    epsilons = np.linspace(0, 2.5, 40)
    exact = sums(np.outer(laws[0], laws[1]).ravel(), np.outer(laws[1], laws[0]).ravel(), epsilons)
    found = together(*[DiscreteGaussianCurve(NOISY, 1)] * 2).at(np.expm1(epsilons))
    assert (found >= exact * (1 - 1e-10)).all()
    assert found[exact > 1e-7] == pytest.approx(exact[exact > 1e-7], rel=2e-2)


def test_changes_one_after_another_add_their_shifts():
    for one, other in ((0.4, 0.6), (0.05, 0.9), (0.5, 0.5)):
        found = held(GaussianCurve(one)).beside(held(GaussianCurve(other)))
        exact = GaussianCurve(one + other).at(GRID.excess)
        assert (found.deltas >= exact * (1 - 1e-12)).all()
        seen = exact > 1e-9
        assert found.deltas[seen] == pytest.approx(exact[seen], rel=5e-3)


@pytest.mark.parametrize("reach", [0.5, 3.0, 20.0])
def test_the_best_place_between_two_changes_is_found_nearly_as_if_all_were_tried(reach):
    grid = Grid.up_to(reach, 200)
    curves = [
        GaussianCurve(0.4),
        GaussianCurve(0.05),
        LaplaceCurve(0.3),
        PureCurve(1.5),
        ConcentratedCurve(0.2),
    ]
    growth = np.exp(np.arange(-200, 201) * grid.step)
    for one, other in permutations(
        [PrivacyProfile.of(curve, grid).through(TiltSway(3.0)) for curve in curves], 2
    ):
        there, back = both_sides(one), both_sides(other)
        tried = [
            min(there[i + 200] + growth[i + 200] * back[k - i + 200] for i in range(k - 200, 201))
            for k in range(201)
        ]
        found = one.beside(other).deltas
        assert (found >= np.minimum(tried, 1.0) * (1 - 1e-14)).all()
        assert found == pytest.approx(np.minimum(tried, 1.0), rel=0.06, abs=1e-12)


def test_curves_read_at_once_are_each_of_them():
    curves = [GaussianCurve(0.3), LaplaceCurve(0.7), GaussianCurve(0.0), GaussianCurve(4.0), PureCurve(1.0)]
    found = PrivacyProfile.of_each(curves, GRID).deltas
    assert (found == [PrivacyProfile.of(curve, GRID).deltas for curve in curves]).all()


def test_nothing_changes_nothing():
    some, none = held(GaussianCurve(0.7)), held(GaussianCurve(0.0))
    assert some.beside(none).deltas == pytest.approx(some.deltas, rel=1e-12)
    assert Composition.of(none).is_nothing
    assert Composition.nothing(GRID).profile().epsilon(1e-9) == 0
    whole = Composition.of(some).join(Composition.of(none)).profile()
    assert (whole.deltas >= some.deltas).all()
    assert whole.deltas == pytest.approx(some.deltas, rel=1e-9, abs=1e-10)


def test_what_leaves_the_window_is_counted_as_seen():
    """Sixty parts on a grid far too short for them: all that wraps around stands at infinity, none is lost."""
    short = Grid.up_to(1.0, 256)
    part = Composition.of(PrivacyProfile.of(GaussianCurve(0.5), short))
    whole = part
    for _ in range(59):
        whole = whole.join(part)
    assert (whole.profile().deltas >= GaussianCurve(0.5 * math.sqrt(60)).at(short.excess)).all()


def test_what_is_cut_off_at_the_end_of_the_grid_is_counted_as_seen():
    short = Grid.up_to(0.6, 256)
    parts = [Composition.of(PrivacyProfile.of(GaussianCurve(mu), short)) for mu in (0.3, 0.4)]
    found = parts[0].join(parts[1]).profile().deltas
    assert (found >= GaussianCurve(0.5).at(short.excess) * (1 - 1e-12)).all()


def test_what_shows_everything_hides_nothing():
    """All of its mass is at infinity: it must not be taken for no part at all."""
    everything = Composition.of(held(GaussianCurve(1414.0)))
    for whole in (
        everything,
        everything.join(Composition.of(held(GaussianCurve(0.1)))),
        everything.join(everything),
    ):
        assert (whole.profile().deltas == 1).all()


def test_a_stack_of_profiles_is_each_of_them():
    """What is passed on together is what each would be alone, one that shows nothing among them."""
    curves = [GaussianCurve(0.3), GaussianCurve(0.0), GaussianCurve(2.0), LaplaceCurve(0.7)]
    sways = [TiltSway(1.5), TiltSway(0.2), TiltSway(math.inf), TiltSway(3.0)]
    alone = [PrivacyProfile.of(curve, GRID) for curve in curves]
    stack = Composition.of(PrivacyProfile.stacked(alone))
    twice = stack.join(stack).profile()
    passed = twice.through_each(sways)
    for place, (profile, sway) in enumerate(zip(alone, sways, strict=True)):
        one = Composition.of(profile)
        whole = one.join(one).profile()
        assert twice.deltas[place] == pytest.approx(whole.deltas, rel=1e-9, abs=1e-15)
        assert passed.deltas[place] == pytest.approx(whole.through(sway).deltas, rel=1e-9, abs=1e-15)
        assert passed.split()[place].epsilon(1e-6) == passed.epsilons(1e-6)[place]
    assert twice.epsilons(1e-6)[1] == 0.0


@pytest.mark.parametrize("parts", [1, 4, 9])
def test_far_tails_of_a_composition_keep_their_digits_and_are_never_too_small(parts):
    """Gaussian noise composes to Gaussian noise, far below what a transform can tell from nothing."""
    grid = Grid.up_to(12.0, 160)
    one = TailLaw.of(PrivacyProfile.of(GaussianCurve(0.25), grid))
    whole = reduce(TailLaw.join, [one] * parts).profile()
    exact = GaussianCurve(0.25 * math.sqrt(parts)).at(grid.excess)
    assert (whole.deltas >= exact * (1 - 1e-9)).all()
    assert whole.deltas[grid.size // 2] < 1e-13
    near = exact > 1e-12
    assert (whole.deltas[near] <= 2.5 * exact[near]).all()


def test_what_leaves_the_grid_of_a_far_tail_is_counted_as_seen():
    grid = Grid.up_to(1.0, 160)
    one = TailLaw.of(PrivacyProfile.of(GaussianCurve(0.5), grid))
    whole = one.join(one).profile()
    assert (whole.deltas >= GaussianCurve(0.5 * math.sqrt(2)).at(grid.excess)).all()
    nothing = TailLaw.of(PrivacyProfile(grid, np.zeros(161)))
    for both in (nothing.join(one), one.join(nothing)):
        assert (both.profile().deltas >= one.profile().deltas).all()
    assert nothing.profile().deltas.max() < 1e-14
