"""Gaussian units with a known covariance: a bound that holds however strong the dependence is."""

import numpy as np

from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.gaussian.series import Inverse, checked_inverse
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import Gaussian
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def gaussian_variance_bound(loss: Loss, model: Gaussian) -> Leakage:
    """Bound what a unit says about the others by how much of its own variance is left.

    Theorem. Let the units be Gaussian with covariance Σ and precision matrix Q, and the mechanism lose ε_j
    per unit of distance of unit j. Let q_i be the largest Q_ii − Q_ij²/Q_jj over j ≠ i. Then the leakage of
    unit i per unit of distance is at most ε_i + √(q_i · Σ ε_j ε_k |Σ_jk|), the sum over all j and k other
    than i.

    Checked. The covariance is positive definite, and its inverse was multiplied back; what was missing is
    added.

    Trusted. The units are jointly Gaussian with this covariance, whatever their means are.

    Proof. As for the exact leakage, it is ε_i + Σ_{j∈U} ε_j |β_j| for some set U of unknown units and the
    regression β of U on unit i given the known ones. Let w_j be ε_j with the sign of β_j, and v the variance
    of x_i given x_K. The covariance of w·x_U with x_i given x_K is v w·β, so Cauchy and Schwarz give v (w·β)²
    ≤ Var(w·x_U | x_K) ≤ Var(w·x_U) ≤ Σ ε_j ε_k |Σ_jk|. If nothing is unknown the leakage is ε_i. If unit j is
    unknown, v is at least the variance of x_i given all the others but j, which is 1/(Q_ii − Q_ij²/Q_jj).

    Source. New here; Cauchy and Schwarz.
    """
    matrix, scales = model.balanced
    inverse = checked_inverse(matrix)
    losses = loss.per_unit * scales
    across = np.abs(matrix) @ losses
    total = float(losses @ across)
    others = total - 2 * losses * across + losses**2 * np.diagonal(matrix)
    others = (
        np.maximum(others, 0.0) + 4 * (model.units + 2) * ULP * total
    )  # what the subtraction can have lost
    moved = np.sqrt(largest_precisions(inverse) * others)
    return Leakage(round_up(losses + moved, model.units + 8) / scales)


def largest_precisions(inverse: Inverse) -> FloatArray:
    """Bound the precision of each unit when all others but the worst one are known; 0 for a lone unit."""
    own = np.diagonal(inverse.near) + inverse.error
    shared: FloatArray = np.maximum(np.abs(inverse.near) - inverse.error[:, None], 0.0) ** 2 / own
    np.fill_diagonal(shared, np.inf)
    most: FloatArray = np.maximum(own * (1 + 4 * ULP) - shared.min(axis=1) * (1 - 8 * ULP), 0.0)
    return most
