"""Sums over all walks, and inverses, with their rounding counted: what the Gaussian theorems compute with.

A bound is only as good as the floats it is made of, and covariances can be nearly singular. So no result of a solver
is taken on trust: each is multiplied back, and what is then missing, with the rounding of that product, is added.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import ULP, FloatArray

MOST_MISSING = 0.01  # an inverse that misses the identity by more is not worth having


class WalkSums(NamedTuple):
    """Lower and upper bounds on I + f + f² + …, and for which matrices the series was proved to converge."""

    low: FloatArray
    high: FloatArray
    converged: NDArray[np.bool_]


def walk_sums(steps: FloatArray) -> WalkSums:
    """Sum the weights of all walks from each place to each, for one matrix of steps ≥ 0 or a stack of them.

    With Ĝ ≈ (I − f)⁻¹ and H = (I − f)Ĝ − I: the sum is Ĝ(I + H)⁻¹, so no entry of row i is further from Ĝ than
    max_k |Ĝ_ik| · η/(1 − η), η the largest column sum of |H|. And v = Ĝ1 has (I − f)v = 1 + H1: where that and v are
    positive the spectral radius of f is below 1, by Collatz and Wielandt, and the series converges.
    """
    size = steps.shape[-1]
    rest = np.eye(size) - steps
    inverse = inverses(rest)
    missing = np.abs(rest @ inverse - np.eye(size))
    missing += (size + 3) * ULP * ((np.eye(size) + steps) @ np.abs(inverse) + np.eye(size))
    eta = missing.sum(axis=-2).max(axis=-1)
    converged = (eta < MOST_MISSING) & (missing.sum(axis=-1).max(axis=-1) < MOST_MISSING)
    converged &= (inverse.sum(axis=-1) > 1 / 2).all(axis=-1)
    eta = np.where(converged, eta, 0.0)
    error = np.abs(inverse).max(axis=-1, keepdims=True) * (eta / (1 - eta))[..., None, None] * (1 + 8 * ULP)
    return WalkSums(np.maximum(inverse - error, 0.0), (inverse + error) * (1 + 2 * ULP), converged)


def inverses(matrices: FloatArray) -> FloatArray:
    """Invert a matrix or each of a stack; one that is singular becomes the zero matrix, which no check passes."""
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        if matrices.ndim == 2:  # noqa: PLR2004  (a single matrix)
            return np.zeros_like(matrices)
        return np.stack([inverses(matrix) for matrix in matrices])


class Inverse(NamedTuple):
    """An approximate inverse, and how far any entry of each row can be from the true one."""

    near: FloatArray
    error: FloatArray


def checked_inverse(matrix: FloatArray) -> Inverse | None:
    """Invert a symmetric matrix and bound the error of each row, or say that it is too close to singular."""
    size = len(matrix)
    near = inverses(matrix)
    missing = np.abs(matrix @ near - np.eye(size))
    missing += (size + 3) * ULP * (np.abs(matrix) @ np.abs(near) + np.eye(size))
    eta = float(missing.sum(axis=0).max())
    if not eta < MOST_MISSING:
        return None
    return Inverse(near, np.abs(near).max(axis=1) * (eta / (1 - eta)) * (1 + 8 * ULP))
