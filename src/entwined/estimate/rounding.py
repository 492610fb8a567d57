"""Integer tables that agree, from the top down: the total, tables of one column, of two, and so on.

A table of several columns keeps the sums of two smaller ones, without its first column and without its last.
So all tables agree on the total and on every single column, whatever the width of its cells, and on all runs
of neighbouring columns, in the order of their names, that they cut in the same way. All tables of one and two
columns of one width agree on everything they share. From three columns on integers that agree on every pair
need not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np

from entwined.estimate.controlled import line, rectangles
from entwined.estimate.layout import Cuts, Layout, Starts, cuts_of, starts_of
from entwined.numbers import FloatArray, IntArray

Key: TypeAlias = tuple[tuple[str, Starts], ...]  # columns by name, with how each is cut
Loose: TypeAlias = tuple[int, int, tuple[str, ...]]  # two tables, and the columns they share


@dataclass(frozen=True, slots=True)
class Rounding:
    """The integers found so far for the tables of one batch, and for all smaller ones that they rest on."""

    counts: bool
    cuts: dict[str, Cuts]
    above: dict[str, dict[int, float]]  # for every column the estimated rows at or above a code
    found: dict[Key, IntArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        layouts: Sequence[Layout],
        estimates: Sequence[FloatArray],
        *,
        counts: bool,
        most: int | None = None,
    ) -> "Rounding":
        """Start from estimates of all tables, of at most so many rows."""
        above: dict[str, dict[int, float]] = {}
        for layout, table in zip(layouts, estimates, strict=True):
            for place, axis in enumerate(layout.axes):
                others = tuple(other for other in range(table.ndim) if other != place)
                sums = np.cumsum(table.sum(axis=others)[::-1])[::-1]
                above.setdefault(axis.column, {}).update(zip(starts_of(axis), sums.tolist(), strict=True))
        start = cls(counts, cuts_of(layouts), above)
        total = round(float(estimates[0].sum()))
        possible = total if most is None else min(total, most)
        start.found[()] = np.array(max(possible, 0) if counts else total)
        return start

    def table(self, layout: Layout, estimates: FloatArray) -> IntArray:
        """Round a table, its sides in the order they have."""
        order = sorted(range(len(layout.axes)), key=lambda place: layout.axes[place].column)
        key = tuple((layout.axes[place].column, starts_of(layout.axes[place])) for place in order)
        return self._of(key, estimates.transpose(order)).transpose(np.argsort(order)).copy()

    def _of(self, key: Key, estimates: FloatArray) -> IntArray:
        if key not in self.found:
            self.found[key] = self._column(*key[0]) if len(key) == 1 else self._joined(key, estimates)
        return self.found[key]

    def _column(self, column: str, starts: Starts) -> IntArray:
        """Round a table of one column: blocks of its coarser cuts first, then the finest cells inside."""
        cuts = self.cuts[column]
        if starts != cuts.fine:
            cells = self._of(((column, cuts.fine),), np.empty(0))
            return np.add.reduceat(cells, np.searchsorted(cuts.fine, starts))
        total = int(self.found[()])
        if len(cuts.coarse) in (1, len(cuts.fine)):
            return line(self._cells(column, cuts.fine), total, counts=self.counts)
        sums = line(self._cells(column, cuts.coarse), total, counts=self.counts)
        blocks = np.split(self._cells(column, cuts.fine), np.cumsum(cuts.sizes)[:-1])
        return np.concatenate(
            [line(block, int(all_), counts=self.counts) for block, all_ in zip(blocks, sums, strict=True)]
        )

    def _cells(self, column: str, starts: Starts) -> FloatArray:
        """Estimate the cells of one column, cut in any way that its tables know of."""
        above = [self.above[column][start] for start in starts]
        return np.array([here - next_ for here, next_ in pairwise([*above, 0.0])])

    def _joined(self, key: Key, estimates: FloatArray) -> IntArray:
        """Round a table so that it adds up to the tables without its first side and without its last."""
        last = self._of(key[1:], estimates.sum(axis=0))
        first = self._of(key[:-1], estimates.sum(axis=-1))
        tables = (estimates.shape[0], -1, estimates.shape[-1])
        stack = rectangles(
            estimates.reshape(tables).swapaxes(0, 1),
            first.reshape(tables[:2]).T,
            last.reshape(-1, tables[2]),
            counts=self.counts,
        )
        return stack.swapaxes(0, 1).reshape(estimates.shape)


def loose(layouts: Sequence[Layout]) -> list[Loose]:
    """Name the pairs of tables, and the columns they share, whose integers need not agree."""
    keys = [sorted((axis.column, starts_of(axis)) for axis in layout.axes) for layout in layouts]
    pairs = combinations(enumerate(keys), 2)
    return [
        (one, other, shared)
        for (one, first), (other, second) in pairs
        if len(shared := _shared(first, second)) > 1 and not _kept(first, second, shared)
    ]


def _shared(first: Sequence[tuple[str, Starts]], second: Sequence[tuple[str, Starts]]) -> tuple[str, ...]:
    names = {column for column, _ in second}
    return tuple(column for column, _ in first if column in names)


def _kept(
    first: Sequence[tuple[str, Starts]], second: Sequence[tuple[str, Starts]], shared: tuple[str, ...]
) -> bool:
    """Say whether the shared columns are neighbours in both tables and cut in the same way."""
    runs = []
    for key in (first, second):
        places = [place for place, (column, _) in enumerate(key) if column in shared]
        if places[-1] - places[0] >= len(shared):
            return False
        runs.append([key[place] for place in places])
    return runs[0] == runs[1]
