"""Gaussian laws of those who belong together, as people state them: one correlation, steps of a series, kinship.

They are ordinary covariances afterwards; a model file may name them instead of writing all numbers out.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from entwined.dependence.box import Box
from entwined.dependence.gaussian import Gaussian
from entwined.dependence.model import Source, checked_units
from entwined.errors import BadModel

MOST_MEMBERS: Final = 5_000  # a table of their correlations has the square of it


def equal_correlation(size: int, correlation: float, source: Source = "declared") -> Gaussian:
    """Members any two of whom have the same correlation: siblings, a class, a household.

    >>> equal_correlation(3, 0.5).strengths[0].round(6).tolist()
    [0.0, 0.5, 0.5]
    """
    members = _members(size)
    table = np.full((members, members), float(correlation))
    np.fill_diagonal(table, 1.0)
    return Gaussian(table, source)


def autoregression(size: int, correlation: float, source: Source = "declared") -> Gaussian:
    """Steps of one series, each of which has this correlation with the next: AR(1).

    >>> autoregression(3, 0.5).strengths[0].round(6).tolist()
    [0.0, 0.5, 0.25]
    """
    steps = np.arange(_members(size))
    return Gaussian(float(correlation) ** np.abs(steps[:, None] - steps), source)


def kinship(
    coefficients: Sequence[Sequence[float]] | Any,
    heritability: float,
    shared: float = 0.0,
    source: Source = "declared",
) -> Gaussian:
    """Relatives: correlation 2φ·h² + c², φ the kinship coefficient, h² the heritability, c² what a home adds.

    φ is 1/2 with oneself and between identical twins, 1/4 between siblings and between parent and child, 0 between
    those who are not related.

    >>> twins_and_sister = [[0.5, 0.5, 0.25], [0.5, 0.5, 0.25], [0.25, 0.25, 0.5]]
    >>> kinship(twins_and_sister, heritability=0.8, shared=0.1).strengths[0].round(6).tolist()
    [0.0, 0.9, 0.5]
    """
    table = Box.read(coefficients, 2)
    if not table.is_exact or table.low.ndim != 2 or table.low.shape[0] != table.low.shape[1]:  # noqa: PLR2004
        raise BadModel("A kinship table is not square, or has an interval. Give one number for each pair.")
    if not (np.diagonal(table.low) == 0.5).all() or table.low.min() < 0 or table.low.max() > 0.5:  # noqa: PLR2004
        raise BadModel("A kinship coefficient is outside 0 … 1/2, or not 1/2 with oneself. Check the table.")
    if not (heritability >= 0 and shared >= 0 and heritability + shared <= 1):
        raise BadModel(
            f"Heritability {heritability:g} and a shared part of {shared:g}. Give numbers ≥ 0 of at most 1 together."
        )
    correlations = 2 * table.low * float(heritability) + float(shared)
    np.fill_diagonal(correlations, 1.0)
    return Gaussian(correlations, source)


def _members(size: int) -> int:
    if checked_units(size) > MOST_MEMBERS:
        raise BadModel(
            f"A group of {size:,} members. Give at most {MOST_MEMBERS:,}, or bound all correlations."
        )
    return size
