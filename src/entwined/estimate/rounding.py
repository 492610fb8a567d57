"""Integer tables that agree, from the top down: the total, tables of one column, of two, and so on.

A table of several columns keeps the sums of two smaller ones, without its first column and without its last.
So all tables agree on the total and on every single column, whatever the width of its cells, and on all runs
of neighbouring columns, in the order of their names, that they cut in the same way. All tables of one and two
columns of one width agree on everything they share. From three columns on integers that agree on every pair
need not exist.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np

from entwined.estimate.controlled import evened, line, rectangles
from entwined.estimate.layout import Cuts, Layout, Starts, cuts_of, starts_of
from entwined.estimate.sparse_counts import Shrinkage, Spread, fitted
from entwined.numbers import FloatArray, IntArray

Key: TypeAlias = tuple[tuple[str, Starts], ...]  # columns by name, with how each is cut
Loose: TypeAlias = tuple[int, int, tuple[str, ...]]  # two tables, and the columns they share


@dataclass(frozen=True, slots=True)
class Errors:
    """How far estimates may be off: for tables that were measured by their cells, for all others at most so much."""

    by_key: Mapping[Key, Spread]
    largest: float

    @classmethod
    def of(cls, layouts: Sequence[Layout], variances: Sequence[FloatArray]) -> "Errors":
        """Order the variances of estimates as the integers are."""
        by_key = {}
        for layout, after in zip(layouts, variances, strict=True):
            drawn = np.full(after.shape, layout.variance)
            by_key[_key(layout)] = Spread(*(table.transpose(_order(layout)) for table in (after, drawn)))
        return cls(by_key, max(layout.variance for layout in layouts))

    def of_cells(self, key: Key, shape: tuple[int, ...]) -> Spread:
        """Give what is known of the errors of a table."""
        spread = self.by_key.get(key)
        return spread or Spread(np.full(shape, self.largest), np.full(shape, self.largest))


@dataclass(frozen=True, slots=True)
class Rounding:
    """The integers of the tables of one batch, and of all smaller ones that they rest on; `errors` of counts alone."""

    errors: Errors | None
    cuts: dict[str, Cuts]
    above: dict[str, dict[int, float]]  # for every column the estimated rows at or above a code
    found: dict[Key, IntArray] = field(default_factory=dict)
    shrunk: dict[Key, Shrinkage] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        layouts: Sequence[Layout],
        estimates: Sequence[FloatArray],
        *,
        errors: Errors | None = None,
        most: int | None = None,
    ) -> "Rounding":
        """Start from estimates of all tables, of at most so many rows; with `errors` they are counts, none negative.

        The sum of counts is that of the estimates where it was released or is public. Where nobody is told it, it is
        the least sum of a table's positive estimates, so that none has to be shrunk for a sum that is not shown.
        """
        above: dict[str, dict[int, float]] = {}
        for layout, table in zip(layouts, estimates, strict=True):
            for place, axis in enumerate(layout.axes):
                others = tuple(other for other in range(table.ndim) if other != place)
                sums = np.cumsum(table.sum(axis=others)[::-1])[::-1]
                above.setdefault(axis.column, {}).update(zip(starts_of(axis), sums.tolist(), strict=True))
        start = cls(errors, cuts_of(layouts), above)
        total = round(float(estimates[0].sum()))
        if errors is not None:
            is_shown = any(not layout.axes for layout in layouts)
            least = (
                total if is_shown else round(min(float(np.maximum(table, 0).sum()) for table in estimates))
            )
            total = max(least if most is None else min(least, most), 0)
        start.found[()] = np.array(total)
        return start

    def table(self, layout: Layout, estimates: FloatArray) -> IntArray:
        """Round a table, its sides in the order they have."""
        order = _order(layout)
        return self._of(_key(layout), estimates.transpose(order)).transpose(np.argsort(order)).copy()

    def shrinkage(self, layout: Layout) -> Shrinkage | None:
        """Say how the counts of a table were shrunk, once it is rounded."""
        return self.shrunk.get(_key(layout))

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
            return self._line(column, cuts.fine, slice(None), total)
        sums = self._line(column, cuts.coarse, slice(None), total)
        edges = np.cumsum((0, *cuts.sizes)).tolist()
        blocks = zip(pairwise(edges), sums.tolist(), strict=True)
        return np.concatenate([self._line(column, cuts.fine, slice(*ends), all_) for ends, all_ in blocks])

    def _line(self, column: str, starts: Starts, some: slice, total: int) -> IntArray:
        """Give some cells of one column integers that add up to a total."""
        cells = self._cells(column, starts)[some]
        if self.errors is None:
            return line(evened(cells, np.array(float(total))), total)
        key: Key = ((column, starts),)
        spread = self.errors.of_cells(key, (len(starts),))
        fit = fitted(cells, Spread(spread.variances[some], spread.drawn[some]), total)
        self._keep(key, fit.shrinkage)
        return line(fit.counts, total)

    def _keep(self, key: Key, shrinkage: Shrinkage) -> None:
        """Remember the strongest shrinkage in a table."""
        before = self.shrunk.get(key)
        if before is None or shrinkage.strength > before.strength:
            self.shrunk[key] = shrinkage

    def _cells(self, column: str, starts: Starts) -> FloatArray:
        """Estimate the cells of one column, cut in any way that its tables know of."""
        above = [self.above[column][start] for start in starts]
        return np.array([here - next_ for here, next_ in pairwise([*above, 0.0])])

    def _joined(self, key: Key, estimates: FloatArray) -> IntArray:
        """Round a table so that it adds up to the tables without its first side and without its last."""
        last = self._of(key[1:], estimates.sum(axis=0))
        first = self._of(key[:-1], estimates.sum(axis=-1))
        near, weights = estimates, None
        if self.errors is not None:
            fit = fitted(
                estimates.reshape(-1), self.errors.of_cells(key, estimates.shape).flat, int(self.found[()])
            )
            self._keep(key, fit.shrinkage)
            near, weights = fit.counts, fit.weights
        tables = (estimates.shape[0], -1, estimates.shape[-1])
        stack = rectangles(
            near.reshape(tables).swapaxes(0, 1),
            first.reshape(tables[:2]).T,
            last.reshape(-1, tables[2]),
            None if weights is None else weights.reshape(tables).swapaxes(0, 1),
        )
        return stack.swapaxes(0, 1).reshape(estimates.shape)


def _order(layout: Layout) -> list[int]:
    """Give the sides of a table in the order of their columns' names."""
    return sorted(range(len(layout.axes)), key=lambda place: layout.axes[place].column)


def _key(layout: Layout) -> Key:
    return tuple((layout.axes[place].column, starts_of(layout.axes[place])) for place in _order(layout))


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
