"""What the integers of an aggregate can be at all, whatever the rows: between which ends every true number lies."""

from dataclasses import dataclass
from typing import TypeAlias

from entwined.queries.aggregates import (
    Aggregate,
    DegreesOf,
    MovesOf,
    Single,
    TableOf,
    TotalsOf,
)
from entwined.queries.folds import FoldOf
from entwined.queries.graphs import BoundedDegreesOf
from entwined.queries.homes import HomesOf
from entwined.queries.terms import extremes_inside
from entwined.schema import Schema

End: TypeAlias = int | tuple[int, ...]
Extent: TypeAlias = tuple[End, End]
"""The least and the greatest, of every integer alike or of each by itself."""


def extent(aggregate: Aggregate, schema: Schema, rows: int) -> Extent:
    """Give what is public about the integers of an aggregate over at most so many rows, some of which are inside."""
    return aggregate.asked_of(_Extents(schema, rows))


@dataclass(frozen=True, slots=True)
class _Extents:
    """What each kind of aggregate can come to."""

    schema: Schema
    rows: int

    def single(self, one: Single) -> Extent:
        """Rows, or what each adds at least and at most."""
        return self._added(one)

    def table(self, one: TableOf) -> Extent:
        """All rows may be in one cell."""
        return self._added(one)

    def totals(self, one: TotalsOf) -> Extent:
        """All rows may be in one cell."""
        return self._added(one)

    def _added(self, one: Aggregate) -> Extent:
        least, most = (0, 1) if one.adds is None else extremes_inside(one.adds, one.where, self.schema)
        return self.rows * min(least, 0), self.rows * max(most, 0)

    def fold(self, one: FoldOf) -> Extent:
        """Every number has bounds of its own, and all of a row's perhaps one together."""
        far = one.largest
        lows = tuple(self.rows * min(max(least, -far), 0) for least in one.least)
        highs = tuple(self.rows * max(min(most, far), 0) for most in one.most)
        if one.placed:
            cells = [placed.number for placed in one.placed for _ in range(placed.cells)]
            return tuple(lows[at] for at in cells), tuple(highs[at] for at in cells)
        return lows * one.groups, highs * one.groups

    def degrees(self, one: DegreesOf) -> Extent:
        """Every row may name other ids in each of its columns."""
        return 0, self.rows * len(one.columns)

    def bounded(self, one: BoundedDegreesOf) -> Extent:  # noqa: ARG002  (whatever its bound)
        """Every row may name two ids that no other does."""
        return 0, 2 * self.rows

    def moves(self, one: MovesOf) -> Extent:  # noqa: ARG002  (whatever its columns)
        """Every row but the first of a series comes after one."""
        return 0, self.rows

    def homes(self, one: HomesOf) -> Extent:  # noqa: ARG002  (whatever its sides)
        """A household or a member is in one cell at most."""
        return 0, self.rows
