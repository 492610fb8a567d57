"""Integers that have given sums: the nearest numbers, where wanted not negative, then controlled rounding."""

from typing import Final

import numpy as np

from entwined.errors import QueryTooComplex
from entwined.estimate.sparse_counts import shift
from entwined.numbers import FloatArray, IntArray

ROUNDS: Final = 200  # of fitting rows and columns in turn; what is left then is repaired exactly
CLOSE: Final = 1e-3  # how near the sums of columns must be before that
DIGITS: Final = 9  # beyond them a fraction is the rounding of floats, which must not decide anything
PREFERENCES: Final = (0.45, 0.35, 0.25, 0.15, 0.05, 0.0)  # fractions nearer to an integer than this go there


def line(numbers: FloatArray, total: int) -> IntArray:
    """Round numbers that add up to a total, the largest remainders upward."""
    near = np.round(numbers, DIGITS)
    low = np.floor(near).astype(np.int64)
    left = total - int(low.sum())
    order = np.argsort(low - near, kind="stable")  # the largest remainder first
    low += left // low.size
    low[order[: left % low.size]] += 1
    return low


def rectangles(
    estimates: FloatArray, rows: IntArray, columns: IntArray, weights: FloatArray | None = None
) -> IntArray:
    """Give integers near the estimates of a stack of tables, with given sums of their rows and columns.

    With weights, by which the estimates give way to these sums, no number is negative.
    """
    near = _even(estimates, rows, columns) if weights is None else _nearest(estimates, rows, columns, weights)
    near = np.round(near, DIGITS)
    for preference in PREFERENCES:
        found = _rounded(near, rows, columns, preference)
        if found is not None:
            return found
    raise QueryTooComplex(
        f"Tables of {estimates.size} cells with numbers up to {np.abs(estimates).max():.3g} are too "
        "large to be rounded to given sums. Release them as they are, or count in a coarser unit."
    )


def evened(estimates: FloatArray, totals: FloatArray) -> FloatArray:
    """Add the same to all numbers along the last axis, so that they add up to the totals."""
    return np.asarray(estimates + ((totals - estimates.sum(axis=-1)) / estimates.shape[-1])[..., None])


def _even(estimates: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """Give the nearest numbers with these sums: the same is added along a row, and along a column."""
    near = evened(estimates, rows.astype(float))
    return evened(near.swapaxes(-1, -2), columns.astype(float)).swapaxes(-1, -2)


def _nearest(estimates: FloatArray, rows: IntArray, columns: IntArray, weights: FloatArray) -> FloatArray:
    """Give the nearest numbers ≥ 0 with these sums, distances being divided by the weights.

    They are the part above zero of estimate + weight · (something for the row + something for the column); each of
    the two is fitted in turn, given the other.
    """
    wanted_rows, wanted_columns = rows.astype(float), columns.astype(float)
    by_column = np.zeros(columns.shape)
    for _ in range(ROUNDS):
        by_row = shift(estimates + weights * by_column[..., None, :], wanted_rows, weights)
        near = np.maximum(estimates + weights * (by_row[..., None] + by_column[..., None, :]), 0)
        if np.abs(near.sum(axis=-2) - wanted_columns).max() < CLOSE:
            break
        turned = (estimates + weights * by_row[..., None]).swapaxes(-1, -2)
        by_column = shift(turned, wanted_columns, weights.swapaxes(-1, -2))
    return _repaired(near, wanted_rows, wanted_columns)


def _repaired(near: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Shrink what is too much, then spread what is missing: the sums are met, and nothing is below zero."""
    near = near * np.minimum(1, _ratio(rows, near.sum(axis=-1)))[..., None]
    near = near * np.minimum(1, _ratio(columns, near.sum(axis=-2)))[..., None, :]
    short_rows = np.maximum(rows - near.sum(axis=-1), 0)
    short_columns = np.maximum(columns - near.sum(axis=-2), 0)
    shares = _ratio(short_columns, short_rows.sum(axis=-1)[..., None])
    return near + np.where(
        short_rows.sum(axis=-1)[..., None, None] > 0, short_rows[..., None] * shares[..., None, :], 0
    )


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.asarray(np.divide(top, bottom, out=np.ones(np.shape(top)), where=bottom > 0))


def _rounded(near: FloatArray, rows: IntArray, columns: IntArray, preference: float) -> IntArray | None:
    """Round every number down or up so that the sums are met; None if fractions that near must go elsewhere.

    Numbers with whole sums always allow it at preference 0: their fractions are a flow from rows to columns
    that fills them, and where a flow fills them a whole one does.
    """
    low = np.floor(near)
    fractions = near - low
    up = fractions > 1 - preference
    found = (low + up).astype(np.int64)
    free = np.argwhere((fractions >= preference) & ~up)
    short_rows, short_columns = rows - found.sum(axis=-1), columns - found.sum(axis=-2)
    if short_rows.min() < 0 or short_columns.min() < 0:
        return None
    chosen = _flow(free, short_rows, short_columns)
    if chosen is None:
        return None
    found[chosen] += 1
    return found


def _flow(cells: IntArray, rows: IntArray, columns: IntArray) -> tuple[IntArray, ...] | None:
    """Choose cells of a stack of tables, each at most once, so many in each row and each column."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    wanted = int(rows.sum())
    first_column = 1 + rows.size
    sink = first_column + columns.size
    tops = 1 + np.ravel_multi_index((cells[:, 0], cells[:, 1]), rows.shape)
    bottoms = first_column + np.ravel_multi_index((cells[:, 0], cells[:, 2]), columns.shape)
    tails = np.concatenate([np.zeros(rows.size, dtype=np.int64), tops, np.arange(first_column, sink)])
    heads = np.concatenate([np.arange(1, first_column), bottoms, np.full(columns.size, sink)])
    sizes = np.concatenate([rows.ravel(), np.ones(len(cells), dtype=np.int64), columns.ravel()])
    graph = csr_array((sizes.astype(np.int32), (tails, heads)), shape=(sink + 1, sink + 1))
    filled = maximum_flow(graph, 0, sink)
    if filled.flow_value != wanted:
        return None
    flow = filled.flow.tocoo()
    used = (flow.data > 0) & (flow.row > 0) & (flow.col < sink)
    stack, row = np.unravel_index(flow.row[used] - 1, rows.shape)
    _, column = np.unravel_index(flow.col[used] - first_column, columns.shape)
    return stack, row, column
