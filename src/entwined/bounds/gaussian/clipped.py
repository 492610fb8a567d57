"""Gaussian values of a group, clipped and added up with noise of either kind: what leaks over the declared bounds."""

from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.clipped_values import ClippedValues
from entwined.bounds.gaussian.distances import EXACTLY_OR_NOT
from entwined.bounds.gaussian.regression import gaussian_regression_bound
from entwined.bounds.gaussian.shifts import smallest_shifts
from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.theorem import Secret, theorem
from entwined.dependence.gaussian import GaussianLaws
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, float_above, round_up

INSIDE_BOUNDS: Final = Secret(
    between="any two values, both inside the stated bounds, of any one unit",
    trusted="Secrets are pairs of values inside the bounds: of two values one of which lies outside, or both, nothing "
    "is promised, because the others of the group follow the value as it is, not as it is clipped.",
)
THE_REST: Final = (
    "Given its value, what else a unit holds, whether it is there and whether its value is missing say nothing about "
    "the values of others; which of them are missing says nothing about any value."
)


@theorem("any", secret=INSIDE_BOUNDS, trusted=f"{EXACTLY_OR_NOT} {THE_REST}")
def clipped_values_bound(release: ClippedValues, model: GaussianLaws) -> Leakage:
    """Bound what clipped Gaussian values leak between two values of a unit inside the bounds.

    Theorem. Let the values of a group of m units be Gaussian, their law any of a class, and let groups be independent
    of each other. Values are clipped to bounds that are M apart and rounded, which takes two of them at most s further
    apart. Let the loss of a release fall in two parts: ε for a value that moves by M, in proportion to how far the
    clipped and rounded value moves and with nothing else of a unit but whether it has one, and ε' for any change of a
    unit. Let L_i bound 1 + Σ_{j∈U} |β_j| for all laws of the class, all sets of known units and the regression β of
    the others on unit i, and k = min(m, L_i + (m − 1) s/M). Then for two values of unit i inside the bounds, and any
    known values, the leakage is at most k ε + m ε'. With Gaussian noise of losses ρ and ρ' no more is shown than by
    Gaussian noise whose centre moves by √(2 (k² ρ + m² ρ')) deviations. It is never taken for less than the loss of
    any change of one unit alone. For a class whose deviations may be as small as one likes it is reached by a sum
    without rounding, where a law with 0 ≤ β ≤ 1 reaches L_i.

    Checked. L is the smallest that one of the theorems of pure losses proves for losses of 1: gaussian exact, tree,
    walk and variance, max correlation, correlation intervals, weak correlation; where none applies k is m.

    Trusted. The values of a group are jointly Gaussian before they are clipped and rounded, with a law of the class,
    whatever their means are, and no group has more than m units.

    Proof. Let a and b be two values of unit i, at most M apart. Given x_K the laws of x_U for x_i = a and b are shifts
    of each other by β (a − b): pair x_U with x_U + β (b − a), the same values missing in both, whatever else the units
    hold. Clipping takes no two values apart, so under this pairing unit i moves by at most M and unit j of U by at
    most |β_j| M + s, none by more than M: all together by k M. Along such a pair the first part of the release loses
    at most k ε, and the second ε' for each unit, so the chance of any output changes by a factor of at most exp(k ε +
    m ε'), and so does its average over all pairs. Other groups have the same law on both sides. With Gaussian noise
    the centres of all answers move by a vector: in those of the first part by at most k √(2ρ) deviations, in the
    others by m √(2ρ'). Mixtures over pairs are no further apart than the pairs. A cap on that length holds for every
    pair of tables, so answers may be chosen as one goes.

    Source. Shift coupling as in metric privacy; Lange et al. (2025) for clipped values; new here with rounding, with
    other statistics beside, and with Gaussian noise.
    """
    return _leakage(release, _factors(model))


@theorem("model", secret=INSIDE_BOUNDS, trusted=THE_REST)
def clipped_values_without_knowledge_bound(release: ClippedValues, model: GaussianLaws) -> Leakage:
    """Bound what clipped Gaussian values leak to one who knows no values.

    Theorem. As the theorem "clipped values", for an adversary who knows no values, with
    L_i = 1 + Σ_j r̄_ij σ_j/σ_i, where σ are the deviations of the values and r̄ their largest correlations in size.

    Checked. Nothing but the model itself: the deviations are positive and the correlations below 1.

    Trusted. The adversary knows no unit's value: one who does can learn more. The values of a group are jointly
    Gaussian before they are clipped and rounded, with these deviations and no larger correlations, whatever their means
    are, and no group has more than m units.

    Proof. That of the theorem "clipped values", with nothing known: β_j = ρ_ij σ_j/σ_i.

    Source. Shift coupling as in metric privacy; new here with rounding, other statistics beside, and Gaussian noise.
    """
    return _leakage(release, _regressed(model))


@lru_cache(maxsize=32)
def _factors(model: GaussianLaws) -> FloatArray | None:
    """1 + Σ |β_j| at most, whatever is known; nothing where no theorem bounds it. Worked out once for a model."""
    try:
        return smallest_shifts(Loss.uniform(1, model.units), model)
    except DoesNotApply:
        return None


@lru_cache(maxsize=32)
def _regressed(model: GaussianLaws) -> FloatArray | None:
    """1 + Σ |β_j| where nothing is known."""
    try:
        return gaussian_regression_bound(Loss.uniform(1, model.units), model).per_unit
    except DoesNotApply:
        return None


def _leakage(release: ClippedValues, factors: FloatArray | None) -> Leakage:
    units = release.units
    apart = (units - 1) * float_above(release.rounding / release.length)
    lengths = np.full(units, float(units))
    if factors is not None:
        lengths = np.minimum(round_up(factors + apart), units)
    own, moved, besides = (float_above(loss) for loss in (release.own, release.moved, release.besides))
    if not release.delta:
        return Leakage(np.maximum(round_up(lengths * moved + units * besides, 8), own))
    alone, along, rest = (
        shift_of(rho) if rho else 0.0 for rho in (release.own, release.moved, release.besides)
    )
    together = np.maximum(round_up(np.hypot(lengths * along, units * rest), 8), alone)
    shifts, place = np.unique(together, return_inverse=True)
    found = [
        epsilon_at_delta(GaussianCurve(shift), release.delta) if shift else 0.0 for shift in shifts.tolist()
    ]
    return Leakage(np.array(found)[place])
