"""Sums over all walks, and inverses, with their rounding counted: what the Gaussian theorems compute with.

A bound is only as good as the floats it is made of, and covariances can be nearly singular. So no result of a
solver is taken on trust: each is multiplied back, and what is then missing, with the rounding of that
product, is added.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from entwined.errors import DoesNotApply
from entwined.numbers import ULP, FloatArray

MOST_UNITS = 5_000  # a dense inverse of more takes minutes and gigabytes
NEARLY_SINGULAR = (
    "The covariance is too close to singular for floating point. Leave out units that others determine."
)
MOST_MISSING = 0.01  # an inverse that misses the identity by more is not worth having


class WalkSums(NamedTuple):
    """Lower and upper bounds on I + f + f² + …, and for which matrices the series was proved to converge."""

    low: FloatArray
    high: FloatArray
    converged: NDArray[np.bool_]


def walk_sums(steps: FloatArray) -> WalkSums:
    """Sum the weights of all walks from each place to each, for one matrix of steps ≥ 0 or a stack of them.

    With Ĝ ≈ (I − f)⁻¹ and H = (I − f)Ĝ − I: the sum is Ĝ(I + H)⁻¹, so no entry of row i is further from Ĝ
    than max_k |Ĝ_ik| · η/(1 − η), η the largest column sum of |H|. And v = Ĝ1 has (I − f)v = 1 + H1: where
    that and v are positive the spectral radius of f is below 1, by Collatz and Wielandt, and the series
    converges.
    """
    rest = np.eye(steps.shape[-1]) - steps
    inverse = inverses(rest)
    missing = shortfall(rest, np.eye(steps.shape[-1]) + steps, inverse)
    eta = missing.sum(axis=-2).max(axis=-1)
    converged = (eta < MOST_MISSING) & (missing.sum(axis=-1).max(axis=-1) < MOST_MISSING)
    sizes = np.abs(inverse)
    converged &= (inverse.sum(axis=-1) > steps.shape[-1] * ULP * sizes.sum(axis=-1)).all(axis=-1)
    eta = np.where(converged, eta, 0.0) * (1 + (steps.shape[-1] + 8) * ULP)
    error = sizes.max(axis=-1, keepdims=True) * (eta / (1 - eta))[..., None, None]
    low, high = (inverse - error) * (1 - 2 * ULP), (inverse + error) * (1 + 2 * ULP)
    return WalkSums(np.maximum(low, 0.0), high, converged)


def inverses(matrices: FloatArray) -> FloatArray:
    """Invert a matrix or each of a stack; a singular one becomes the zero matrix, which no check passes."""
    try:
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        if matrices.ndim == 2:  # noqa: PLR2004  (a single matrix)
            return np.zeros_like(matrices)
        return np.stack([inverses(matrix) for matrix in matrices])


def shortfall(matrix: FloatArray, sizes: FloatArray, inverse: FloatArray) -> FloatArray:
    """Bound |matrix · inverse − I| entry by entry, rounding included, where `sizes` bounds |matrix|."""
    identity = np.eye(matrix.shape[-1])
    rounding = (matrix.shape[-1] + 3) * ULP
    rounded: FloatArray = rounding * (sizes @ np.abs(inverse) + identity)
    return np.abs(matrix @ inverse - identity) + rounded


class Inverse(NamedTuple):
    """An approximate inverse, and how far any entry of each row can be from the true one."""

    near: FloatArray
    error: FloatArray


def checked_inverse(matrix: FloatArray) -> Inverse:
    """Invert a symmetric matrix and bound the error of each row; refuse one too close to singular."""
    if len(matrix) > MOST_UNITS:
        raise DoesNotApply(
            f"A covariance of {len(matrix)} units is too large to invert; the most is {MOST_UNITS}."
        )
    near = inverses(matrix)
    missing = shortfall(matrix, np.abs(matrix), near)
    eta = float(missing.sum(axis=0).max()) * (1 + (len(matrix) + 8) * ULP)
    if not eta < MOST_MISSING:
        raise DoesNotApply(NEARLY_SINGULAR)
    return Inverse(near, np.abs(near).max(axis=1) * (eta / (1 - eta)))
