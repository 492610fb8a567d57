"""Coefficients of a linear regression as answers that leave together."""

from collections.abc import Sequence

import numpy as np

from entwined.bounds.attributes.least_trace import Case
from entwined.errors import BadModel


def coefficient_case(design: Sequence[Sequence[float]], slope: float, sd: float, width: float) -> Case:
    """How far the secret mean of a column moves least-squares coefficients, and how they vary by themselves.

    Theorem. Let the regressors X be public, with ones as their first column, and let rows be jointly normal: y is
    linear in X and in the protected z, with this `slope` in z and a rest of deviation `sd`. Between two means of z
    that are `width` apart, the mean of the coefficients (XᵀX)⁻¹Xᵀy moves by slope · width in the intercept alone,
    and given either their covariance is the same and at least sd²(XᵀX)⁻¹, in the order of matrices. Noise for that
    keeps the secret.

    Proof. Given X, z is linear in X with independent normal errors, so given its mean too it is that mean times ones
    and something whose law does not depend on the mean. Ones are the first column of X, so the mean goes into the first
    coefficient. What varies beside the rest of y is normal, independent of it and the same for both means: it
    is further noise. ∎

    >>> shift, own = coefficient_case([[1, 0], [1, 1], [1, 2]], -12, 15, 0.5)
    >>> shift.tolist(), own.round(2).tolist()
    ([-6.0, 0.0], [[187.5, -112.5], [-112.5, 112.5]])
    """
    matrix = np.array(design, float)
    if matrix.ndim != 2 or not (matrix[:, 0] == 1).all() or np.linalg.matrix_rank(matrix) < matrix.shape[1]:  # noqa: PLR2004
        raise BadModel("A design is a matrix of full rank whose first column is ones. Mend it.")
    shift = np.zeros(matrix.shape[1])
    shift[0] = slope * width
    return shift, sd**2 * np.linalg.inv(matrix.T @ matrix)
