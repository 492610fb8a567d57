"""Gaussian units in weighted sums with Gaussian noise, by what moves alone: many units, classes of laws."""

import numpy as np

from entwined.bounds.gaussian.distances import EXACTLY_OR_NOT
from entwined.bounds.gaussian.linear import WITHIN_A_DISTANCE, epsilons
from entwined.bounds.gaussian.regression import gaussian_regression_bound
from entwined.bounds.gaussian.shifts import smallest_shifts
from entwined.bounds.noisy_linear import NoisyLinear
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import GaussianLaws
from entwined.loss import Leakage, Loss
from entwined.numbers import round_up


@theorem("any", secret=WITHIN_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def noisy_linear_shift_bound(release: NoisyLinear, model: GaussianLaws) -> Leakage:
    """Bound what noisy sums of Gaussian values show by how far the answers move, whatever is known.

    Theorem. Let the units be Gaussian, their law any of a class, and the release Y = AX + Gaussian noise. Let λ_j
    be the length of what unit j alone moves in Y when it moves by 1, in deviations of the noise, and let L_i bound
    λ_i + Σ_{j∈U} λ_j |β_j| for all laws of the class, all sets of known units and the regression β of the others on
    unit i, as the theorems of pure losses λ per unit of distance do. Then for two values of unit i at most d apart
    and any known values, what is shown is no more than by Gaussian noise whose centre moves by d L_i deviations.
    For a class whose deviations may be as small as one likes, one sum of weights ≥ 0, and an L_i that a law with β
    ≥ 0 reaches, it is reached.

    Checked. L is the smallest that one of the theorems of pure losses proves: gaussian exact, tree, walk and variance,
    max correlation, correlation intervals, weak correlation.

    Trusted. The units are jointly Gaussian, with a law of the class, whatever their means are. Values may be clipped to
    an interval: that moves no two of them apart.

    Proof. Given x_i and x_K, the laws of x_U for x_i = a and b are shifts of each other by β (a − b): pair x_U with
    x_U + β (b − a). Under this pairing, clipped or not, the answers move by at most d Σ λ_j |β_j| over i and U, in
    deviations of the noise. Both laws of Y are mixtures over the pairs, and mixtures are no further apart than the
    pairs. Where the deviations go to 0, x_U is all but known given x_i, and Y shows just that shift.

    Source. Shift coupling as in metric privacy, with Gaussian noise (Balle, Wang 2018); new here for classes of laws.
    """
    return epsilons(smallest_shifts(lengths(release), model), release)


@theorem("model", secret=WITHIN_A_DISTANCE)
def noisy_linear_shift_without_knowledge_bound(release: NoisyLinear, model: GaussianLaws) -> Leakage:
    """Bound what noisy sums of Gaussian values show to one who knows no values by how far the answers move.

    Theorem. Let the units be Gaussian with deviations σ and correlations of at most r̄_ij in size, and the release
    Y = AX + Gaussian noise. Let λ_j be the length of what unit j alone moves in Y when it moves by 1, in deviations
    of the noise. Then for two values of unit i at most d apart, to one who knows no values, no more is shown than
    by Gaussian noise whose centre moves by d (λ_i + Σ_j r̄_ij λ_j σ_j/σ_i) deviations.

    Checked. Nothing but the model itself: the deviations are positive and the correlations below 1.

    Trusted. The adversary knows no unit's value: one who does can learn more. The units are jointly Gaussian
    with these deviations and no larger correlations, whatever their means are. Values may be clipped to an interval.

    Proof. As for the theorem "noisy linear shift", with β_j = ρ_ij σ_j/σ_i.

    Source. Shift coupling as in metric privacy, with Gaussian noise (Balle, Wang 2018); new here for classes of laws.
    """
    return epsilons(gaussian_regression_bound(lengths(release), model).per_unit, release)


def lengths(release: NoisyLinear) -> Loss:
    """How far each unit alone moves the answers, in deviations of their noise, rounded up."""
    return Loss(round_up(np.sqrt(np.square(release.moved).sum(axis=0)), len(release.weights) + 8))
