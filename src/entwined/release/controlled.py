"""Integers that keep given sums: the nearest numbers that are not negative, then controlled rounding."""

from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from entwined.errors import QueryTooComplex
from entwined.numbers import FloatArray, IntArray

ROUNDS: Final = 200  # of fitting rows and columns in turn; what is left then is repaired exactly
CLOSE: Final = 1e-3  # how near the sums of columns must be before that
PREFERENCES: Final = (0.45, 0.35, 0.25, 0.15, 0.05, 0.0)  # fractions nearer to an integer than this go there


def line(estimates: FloatArray, total: int, *, counts: bool) -> IntArray:
    """Give the integers nearest to some estimates that add up to a total; counts are not negative."""
    near = estimates + _shift(estimates, np.float64(total), counts=counts)
    near = np.maximum(near, 0) if counts else near
    low = np.floor(near).astype(np.int64)
    left = total - int(low.sum())
    order = np.argsort(low - near, kind="stable")  # the largest remainder first
    low += left // low.size
    low[order[: left % low.size]] += 1
    return low


def rectangles(estimates: FloatArray, rows: IntArray, columns: IntArray, *, counts: bool) -> IntArray:
    """Give integers near some estimates, a stack of tables, with the sums of rows and columns given for each."""
    near = _nearest(estimates, rows, columns) if counts else _even(estimates, rows, columns)
    for preference in PREFERENCES:
        found = _rounded(near, rows, columns, preference)
        if found is not None:
            return found
    raise QueryTooComplex(
        f"Tables of {estimates.size} cells with numbers up to {np.abs(estimates).max():.3g} are too large to be "
        "rounded to given sums. Release them without making them consistent, or count in a coarser unit."
    )


def _shift(estimates: FloatArray, totals: FloatArray, *, counts: bool) -> FloatArray:
    """Find what to add along the last axis so that what is above zero, or everything, adds up to the totals."""
    if not counts:
        return np.asarray((totals - estimates.sum(axis=-1)) / estimates.shape[-1])
    falling = -np.sort(-estimates, axis=-1)
    shifts = (np.expand_dims(totals, -1) - np.cumsum(falling, axis=-1)) / np.arange(1, falling.shape[-1] + 1)
    kept = np.maximum((falling + shifts > 0).sum(axis=-1), 1)  # a total of zero keeps none, at any of these
    return np.take_along_axis(shifts, np.expand_dims(kept - 1, -1), axis=-1)[..., 0]
