"""Δ of a factor: how far the log odds of one unit move when the others in the factor move.

For a factor φ and a unit i in it, Δ = max over values a, b of the range, over the other units u, of
log φ(a, u) − log φ(b, u). A zero on one side only makes it infinite (TRUST 33); a value that the factor rules
out altogether is no secret and is passed over, and so is a u that both sides rule out.
"""

from itertools import permutations

import numpy as np

from entwined.dependence.box import Box
from entwined.numbers import ULP, FloatArray

MOST_CELLS = 4_000_000  # compare values in slices of about this many numbers


def log_odds(table: Box, *, conditional: bool) -> FloatArray:
    """Δ of stacked factors, one row a factor and one column a unit; `conditional` tables sum to 1 along the
    last axis.
    """
    columns = [
        exact_axis(table.low, axis) if table.is_exact else widest_axis(table, axis, conditional=conditional)
        for axis in range(1, len(table.shape))
    ]
    return np.stack(columns, axis=1)


def exact_axis(table: FloatArray, axis: int) -> FloatArray:
    """Δ of the unit along `axis` where the table is known."""
    count, values = table.shape[0], table.shape[axis]
    rest = np.moveaxis(table, axis, 1).reshape(count, values, -1)
    step = max(1, MOST_CELLS // max(1, values * rest.shape[2]))
    widest = np.zeros(count)
    for start in range(0, count, step):
        part = slice(start, start + step)
        with np.errstate(divide="ignore"):
            logs = np.log(rest[part])
        slack = 4 * ULP * np.max(np.abs(logs), axis=(1, 2), where=np.isfinite(logs), initial=1.0)
        for value in range(values - 1):
            widest[part] = np.maximum(widest[part], spread(logs[:, value, None], logs[:, value + 1 :], slack))
    return widest


def spread(one: FloatArray, others: FloatArray, slack: FloatArray) -> FloatArray:
    """The largest range of log φ(a, ·) − log φ(b, ·), a the one value and b each of the others."""
    with np.errstate(invalid="ignore"):
        gap = one - others
        ruled_out = np.isnan(gap)
        highest = np.max(gap, axis=-1, where=~ruled_out, initial=-np.inf)
        lowest = np.min(gap, axis=-1, where=~ruled_out, initial=np.inf)
        width = highest - lowest
    impossible = np.isneginf(one).all(axis=-1) | np.isneginf(others).all(axis=-1)
    width = np.where(impossible | ruled_out.all(axis=-1), 0.0, width).max(axis=1)
    return np.where(width > 0, width + slack, 0.0)


def widest_axis(table: Box, axis: int, *, conditional: bool) -> FloatArray:
    """Δ of the unit along `axis` for the worst member of a class of tables."""
    count, values = table.shape[0], table.shape[axis]
    low, high = (np.moveaxis(end, axis, 1) for end in (table.low, table.high))
    with np.errstate(divide="ignore"):
        logs_low, logs_high = (np.log(end.reshape(count, values, -1)) for end in (low, high))
    rows = row_ratios(table) if conditional else None
    widest = np.zeros(count)
    for a, b in permutations(range(values), 2):
        if rows is not None and axis == len(table.shape) - 1:  # both cells of a ratio stand in one row
            onward, back = rows[..., a, b].reshape(count, -1), rows[..., b, a].reshape(count, -1)
        else:
            onward, back = ratio(logs_high[:, a], logs_low[:, b]), ratio(logs_high[:, b], logs_low[:, a])
            if rows is not None:
                widest = np.maximum(widest, within_rows(np.moveaxis(rows, axis, 1), a, b))
                onward, back = (one.reshape(count, -1, rows.shape[-1]).max(axis=-1) for one in (onward, back))
        widest = np.maximum(widest, in_two_places(onward, back))
    return np.where(widest > 0, widest * (1 + 8 * ULP) + 64 * ULP, 0.0)


def in_two_places(onward: FloatArray, back: FloatArray) -> FloatArray:
    """The largest onward[p] + back[q] over places p ≠ q along the last axis."""
    if back.shape[-1] == 1:
        return np.zeros(len(back))
    best = np.argmax(back, axis=-1)[:, None]
    taken = np.zeros(back.shape, dtype=bool)
    np.put_along_axis(taken, best, values=True, axis=-1)
    others = np.where(taken, -np.inf, onward).max(axis=-1), np.where(taken, -np.inf, back).max(axis=-1)
    here = np.take_along_axis(onward, best, axis=-1)[:, 0], np.take_along_axis(back, best, axis=-1)[:, 0]
    return np.maximum(add(others[0], here[1]), add(here[0], others[1]))


def within_rows(rows: FloatArray, a: int, b: int) -> FloatArray:
    """The largest that two cells of one row can do, under a and under b, while each row sums to 1."""
    count, values = rows.shape[0], rows.shape[-1]
    first, second = (rows[:, v].reshape(count, -1, values, values) for v in (a, b))
    inside = add(first, np.swapaxes(second, -1, -2))
    inside[..., np.arange(values), np.arange(values)] = 0.0
    return np.asarray(inside.max(axis=(1, 2, 3)))


def row_ratios(table: Box) -> FloatArray:
    """For each row, the largest log p(v) − log p(w) over the probabilities inside its intervals."""
    low, high = table.low, table.high
    rest_low = low.sum(-1)[..., None, None] - low[..., :, None] - low[..., None, :]
    rest_high = high.sum(-1)[..., None, None] - high[..., :, None] - high[..., None, :]
    slack = 4 * ULP * low.shape[-1]  # the sums are rounded; err towards the wider class
    below = np.maximum(low[..., None, :], 1.0 - rest_high - high[..., :, None] - slack)
    above = np.minimum(high[..., :, None], 1.0 - rest_low - below + slack)
    below, above = np.clip(below, 0.0, 1.0), np.clip(above, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return ratio(np.log(above), np.log(below))


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Subtract logs where 0/0 rules the cell out (−∞)."""
    with np.errstate(invalid="ignore"):
        gap = above - below
    return np.where(np.isnan(gap), -np.inf, gap)


def add(onward: FloatArray, back: FloatArray) -> FloatArray:
    """Add logs where a cell that is ruled out wins over one that is unbounded."""
    with np.errstate(invalid="ignore"):
        total = onward + back
    return np.where(np.isnan(total), -np.inf, total)
