"""What all tables together say of each column: the best linear estimate, and the nearest one that could be.

A table of several columns tells a column too, by sums of its cells: sums of m cells with noise of deviation σ are off
by √m σ. Noise of different tables is independent, so what agrees best with all these sums, each weighed by how sure it
is, has the least variance of all unbiased linear estimates from them (Gauss and Markov). Nothing here looks at rows.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from entwined.mechanisms.marginals.agreement import Counted
from entwined.mechanisms.marginals.descent import inner
from entwined.mechanisms.marginals.grain import fine, groups_in
from entwined.numbers import FloatArray, IntArray

MOST_STEPS: Final = 50
ENOUGH: Final = 1e-18  # of the square of what is asked for, when there is no sense in going on


class _Told(NamedTuple):
    """What one table says of a column: the group of every cell, the rows of each group, and their variance."""

    groups: IntArray
    rows: FloatArray
    variance: float


def columns_alone(counted: Sequence[Counted], sizes: Sequence[int], rows: float) -> tuple[FloatArray, ...]:
    """Say of every column what part of the rows each cell holds, from all tables that have it."""
    told = [[_told(one, at, sizes) for one in counted if at in one.scope] for at in range(len(sizes))]
    return tuple(nearest(_estimate(one, size), rows) / rows for one, size in zip(told, sizes, strict=True))


def _told(one: Counted, column: int, sizes: Sequence[int]) -> _Told:
    """Add a table up to one of its columns."""
    grain = one.grain or fine([sizes[at] for at in one.scope])
    shape, side = groups_in(grain), one.scope.index(column)
    others = tuple(at for at in range(len(shape)) if at != side)
    sums = np.asarray(one.counts, np.float64).reshape(shape).sum(axis=others)
    return _Told(np.array(grain[side]), sums, one.deviation**2 * (one.counts.size / shape[side]))


def _estimate(told: Sequence[_Told], cells: int) -> FloatArray:
    """Solve for the rows of cells that agree best with what is told, by conjugate gradients.

    Where nothing tells some cells apart, they come out even.
    """

    def weighed(rows: FloatArray) -> FloatArray:
        found = np.zeros(cells)
        for one in told:
            added = np.bincount(one.groups, weights=rows, minlength=len(one.rows))
            found += added[one.groups] / one.variance
        return found

    rows = np.zeros(cells)
    left = sum((one.rows[one.groups] / one.variance for one in told), np.zeros(cells))
    way, size = left, inner(left, left)
    enough = ENOUGH * size
    for _ in range(MOST_STEPS):
        if size <= enough:
            break
        bent = weighed(way)
        length = size / inner(way, bent)
        rows, left = rows + length * way, left - length * bent
        way, size = left + inner(left, left) / size * way, inner(left, left)
    return rows


def nearest(estimate: FloatArray, rows: float) -> FloatArray:
    """Give the counts nearest to an estimate of which none is below 0 and all together are so many rows.

    >>> nearest(np.array([6.0, 3.0, -1.0]), 10.0).tolist()
    [6.5, 3.5, 0.0]
    """
    falling = np.sort(estimate)[::-1]
    lower = (np.cumsum(falling) - rows) / np.arange(1, falling.size + 1)
    return np.asarray(np.maximum(estimate - lower[np.nonzero(falling > lower)[0][-1]], 0.0), np.float64)
