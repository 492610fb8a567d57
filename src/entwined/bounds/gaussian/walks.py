"""Gaussian units in any number: regressions as sums over walks in the graph of the precision matrix."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.gaussian.series import NEARLY_SINGULAR, checked_inverse, walk_sums
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import Gaussian
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def gaussian_walk_bound(loss: Loss, model: Gaussian) -> Leakage:
    """Sum the losses over all walks from a unit that never come back to it.

    Theorem. Let the units be Gaussian with precision matrix Q, let the mechanism lose ε_j per unit of
    distance of unit j, and let C_ij = |Q_ij|/Q_jj, C_ii = 0, be the influence of i on j. If the spectral
    radius of C is below 1 and G = (I − C)⁻¹, the leakage of unit i per unit of distance is at most (Gε)_i /
    G_ii. That is exact where signs of units can be flipped until no entry of Q off the diagonal is positive:
    on trees, for equal positive correlations, for positive autoregressions.

    Checked. The covariance is positive definite; its inverse and G were multiplied back and what was missing
    is added; the spectral radius is below 1 because some v > 0 was found with Cv < v.

    Trusted. The units are jointly Gaussian with this covariance, whatever their means are.

    Proof. As for the exact leakage, it is ε_i + Σ_{j∈U} ε_j |β_j| for a set U of unknown units, β = −Q_UU⁻¹
    Q_Ui. Write Q = D (I − W) with D diagonal, so W_jk = −Q_jk/Q_jj, and |W| is the transpose of C. Then β =
    (I − W_UU)⁻¹ W_Ui = Σ_n W_UUⁿ W_Ui, which converges because the radius of |W_UU| is at most that of C. So
    |β_j| is at most the sum of |W| over all walks from i to j that stay in U after i, and the leakage at most
    the sum, over all walks from i that never return, of their weight times ε at their end. A walk from i
    splits in one way into walks from i to i and one that never returns, so that sum is (Gε)_i / G_ii. Where W
    ≥ 0 nothing is lost: β is the sum over the walks, and is largest when all others are unknown.

    Source. New here as a leakage bound; walk sums of Gaussian models are from Malioutov, Johnson, Willsky
    (2006).
    """
    walks, scales = influence(model), model.balanced.scales
    losses = loss.per_unit * scales
    leakage = np.maximum(walks.sums @ losses / walks.returns, losses)
    return Leakage(round_up(leakage, model.units + 8) / scales)


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def gaussian_influence_bound(loss: Loss, model: Gaussian) -> Leakage:
    """Sum the losses over all walks from a unit, returning ones too: linear in the losses, for planning.

    Theorem. Let the units be Gaussian with precision matrix Q, let the mechanism lose ε_j per unit of
    distance of unit j, and let C_ij = |Q_ij|/Q_jj, C_ii = 0, be the influence of i on j. If the spectral
    radius of C is below 1, the leakage of unit i per unit of distance is at most ((I − C)⁻¹ ε)_i.

    Checked. The covariance is positive definite; its inverse and (I − C)⁻¹ were multiplied back and what was
    missing is added; the spectral radius is below 1 because some v > 0 was found with Cv < v.

    Trusted. The units are jointly Gaussian with this covariance, whatever their means are.

    Proof. The theorem "gaussian walk" bounds the leakage by the sum over all walks from i that never return
    to i of their weight times ε at their end. The sum over all walks from i is no smaller, and is ((I − C)⁻¹
    ε)_i.

    Source. Influence matrices after Dobrushin; the Gaussian form with per-unit losses is new here.
    """
    scales = model.balanced.scales
    return Leakage(round_up(influence(model).sums @ (loss.per_unit * scales), model.units + 8) / scales)


class Influence(NamedTuple):
    """Bounds on G = Σ Cⁿ for units in balanced scales: from above, and its diagonal from below."""

    sums: FloatArray
    returns: FloatArray


@lru_cache(maxsize=1)  # both theorems need it, calibration asks for it again and again, and it takes seconds
def influence(model: Gaussian) -> Influence:
    """Sum all walks of the influence matrix C, or refuse."""
    inverse = checked_inverse(model.balanced.matrix)
    own = np.diagonal(inverse.near) - inverse.error
    if not (own > 0).all():
        raise DoesNotApply(NEARLY_SINGULAR)
    steps = (np.abs(inverse.near) + inverse.error[:, None]) / own * (1 + 4 * ULP)
    np.fill_diagonal(steps, 0.0)
    walks = walk_sums(steps)
    if not walks.converged:
        raise DoesNotApply("The units influence each other too strongly: the spectral radius is not below 1.")
    return Influence(walks.high, np.maximum(np.diagonal(walks.low), 1.0))
