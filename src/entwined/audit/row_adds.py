"""What single rows add to the integers that an engine is asked for: no engine is asked, the rows are made up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from entwined.errors import DoesNotApply
from entwined.numbers import IntArray
from entwined.queries.aggregates import (
    Aggregate,
    DegreesOf,
    MovesOf,
    Single,
    TableOf,
    TotalsOf,
)
from entwined.queries.axes import Axis, Term
from entwined.queries.folds import FoldOf
from entwined.queries.graphs import BoundedDegreesOf
from entwined.queries.homes import HomesOf

Codes: TypeAlias = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RowAdds:
    """Rows, each by its codes; an aggregate is told what every one of them adds: rows × integers."""

    rows: Sequence[Codes]

    def to(self, aggregate: Aggregate) -> IntArray:
        """Give what each row adds."""
        inside = np.array([aggregate.where.holds(row) for row in self.rows], dtype=np.int64)
        return np.asarray(aggregate.asked_of(self) * inside[:, None])

    def single(self, one: Single) -> IntArray:
        """One, or what the term says."""
        return np.array([[_term(one.adds, row)] for row in self.rows], dtype=np.int64)

    def table(self, one: TableOf) -> IntArray:
        """One in the row's cell."""
        return self._by_cell(one.axes, one.cells, None)

    def totals(self, one: TotalsOf) -> IntArray:
        """What the term says in the row's cell."""
        return self._by_cell(one.axes, one.cells, one.term)

    def degrees(self, one: DegreesOf) -> IntArray:
        """Refuse: how often an id is named is counted over all rows."""
        raise DoesNotApply(
            f"How often the ids in {one.columns} are named is no sum over rows. Attack a count or a total."
        )

    def bounded(self, one: BoundedDegreesOf) -> IntArray:
        """Refuse: which edges are kept hangs on all rows."""
        raise DoesNotApply(
            f"How many edges the ids in {one.columns} have is no sum over rows. Attack a count or a total."
        )

    def moves(self, one: MovesOf) -> IntArray:
        """Refuse: a move is between two rows."""
        raise DoesNotApply(
            f"How often {one.state!r} goes from a value to another is no sum over rows. Attack a count or a total."
        )

    def homes(self, one: HomesOf) -> IntArray:
        """Refuse: what a household says is read from several rows."""
        raise DoesNotApply(
            f"A table of households by {one.table.seats.by!r} is no sum over rows. Attack a count or a total."
        )

    def fold(self, one: FoldOf) -> IntArray:
        """What the function says, within its bounds."""
        return one.vectors(
            np.array([[row[name] for name in one.columns] for row in self.rows], dtype=np.int64)
        )

    def _by_cell(self, axes: Sequence[Axis], cells: int, term: Term | None) -> IntArray:
        found = np.zeros((len(self.rows), cells), np.int64)
        for at, row in enumerate(self.rows):
            place = 0
            for axis in axes:
                cell = axis.cell(row[axis.column])
                if cell is None:
                    break
                place = place * axis.cells + cell
            else:
                found[at, place] = _term(term, row)
        return found


def _term(term: Term | None, row: Codes) -> int:
    """Give what a row adds to a sum; one if rows are counted."""
    return 1 if term is None else prod(factor.value(row[factor.column]) for factor in term.factors)
