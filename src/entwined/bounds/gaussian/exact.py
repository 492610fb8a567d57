"""Gaussian units with a known covariance: the exact leakage, by trying every set of known units."""

import numpy as np

from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.gaussian.knowledge import LawsAround, components, worst_of_known
from entwined.bounds.gaussian.series import NEARLY_SINGULAR
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import Gaussian
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss

MOST_TOGETHER = 16


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def gaussian_exact_bound(loss: Loss, model: Gaussian) -> Leakage:
    """Find the leakage exactly by trying every set of known units.

    Theorem. Let the units be Gaussian with precision matrix Q and the mechanism lose ε_j per unit of distance
    of unit j. Let U be the unknown units and K the known ones, and β = −Q_UU⁻¹ Q_Ui the regression of U on
    unit i given K. Then the leakage of unit i per unit of distance is the largest ε_i + Σ_{j∈U} ε_j |β_j|
    over all sets U of other units, and no smaller number holds for every such mechanism.

    Checked. The covariance is positive definite, and no more than 16 units are dependent on each other. What
    the residual of each linear system can mean, by a proved bound on its inverse, is added to the result.

    Trusted. The units are jointly Gaussian with this covariance, whatever their means are.

    Proof. Given x_i and x_K the law of x_U is Gaussian, its mean is β x_i plus a constant and its covariance
    does not depend on x_i. So the laws given x_i = a and x_i = b are shifts of each other by β (a − b): pair
    x_U with x_U + β (b − a). Under this pairing unit i moves by |a − b| and unit j by |β_j| |a − b|, so the
    chance of any output changes by a factor of at most exp((ε_i + Σ ε_j |β_j|) |a − b|), and so does its
    average. It is reached in the limit by the chance exp(min(0, Σ ± ε_j x_j − c)) of one output, signs those
    of β, for c → ∞.

    Source. Shift coupling as in metric privacy; Lange et al. (2025) for Gaussian Bayesian differential
    privacy.
    """
    matrix, scales = model.balanced
    losses = loss.per_unit * scales
    leakage = np.zeros(model.units)
    for group in components(matrix != 0):
        if group.size > MOST_TOGETHER:
            raise DoesNotApply(
                f"{group.size} units depend on each other; "
                f"every set of known units can be tried for up to {MOST_TOGETHER}."
            )
        law = LawsAround(matrix[np.ix_(group, group)], np.zeros((group.size, group.size)))
        leakage[group] = worst_of_known(losses[group], [law])
    if not np.isfinite(leakage).all():
        raise DoesNotApply(NEARLY_SINGULAR)
    return Leakage(leakage / scales)
