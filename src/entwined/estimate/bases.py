"""The rows that shares are shares of: all of them, those that were asked, or those that answered; in words."""

from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np

from entwined.numbers import BoolArray
from entwined.queries import Axis, Query
from entwined.queries.spoken import condition, titled
from entwined.schema import Schema

LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Bases:
    """What the counts of one question are shares of."""

    query: Query
    schema: Schema

    @property
    def answered(self) -> bool:
        """Whether a column of the table tells who gave no answer, so that shares are of those who did."""
        return any(self.schema.coded(axis.column).no_answer for axis in self.query.axes(self.schema))

    @property
    def cells(self) -> BoolArray | None:
        """Mark the cells of rows that were asked, or that answered; None where no column tells them apart."""
        axes = self.query.axes(self.schema)
        marks = [self._inside(axis) for axis in axes]
        if not axes or all(mark.all() for mark in marks):
            return None
        found = np.array(reduce(np.logical_and.outer, marks)).reshape(-1)
        return found if found.any() else None

    def _inside(self, axis: Axis) -> BoolArray:
        column = self.schema.coded(axis.column)
        left_out = column.unanswered_codes if self.answered else column.not_asked_codes
        marks = np.zeros(axis.cells, dtype=bool)
        for code in range(column.size):
            cell = axis.cell(code)
            if cell is not None and code not in left_out:
                marks[cell] = True
        return marks

    def of_some(self, rows: float) -> str:
        """Name the rows that were asked, or that answered."""
        names = [axis.column for axis in self.query.axes(self.schema)]
        told = [name for name in names if self._tells(name)]
        what = "answered" if self.answered else "were asked"
        return f"{self._about(rows)} that {what} {' and '.join(titled(name, self.schema) for name in told)}"

    def _tells(self, name: str) -> bool:
        column = self.schema.coded(name)
        return bool(column.unanswered_codes if self.answered else column.not_asked_codes)

    def of_all(self, rows: float) -> str:
        """Name the rows of a table, without those whose value is missing where they are in no cell."""
        dropped = [axis.column for axis in self.query.axes(self.schema) if self._drops(axis)]
        values = f" with a value of {' and '.join(titled(name, self.schema) for name in dropped)}"
        return self._about(rows) + (values if dropped else "")

    def _drops(self, axis: Axis) -> bool:
        return not axis.keeps_missing and self.schema.coded(axis.column).missing != "never"

    def of_share(self, rows: int | None) -> str:
        """Name the rows that a share is asked of."""
        text = self.query.base.text
        if text == "all":
            return "all rows" if rows is None else f"{rows:,} rows"
        return f"rows with {condition(text, self.schema):.{LONGEST}}"

    def _about(self, rows: float) -> str:
        """Name so many rows, of which a table may be a part."""
        weighted = self.query.unit.removeprefix("rows")
        where = self.query.inside
        inside = (
            ""
            if where.is_everything or not self.query.axes(self.schema)
            else condition(where.text, self.schema)
        )
        return f"about {max(round(rows), 0):,} rows{weighted}" + (
            f" with {inside:.{LONGEST}}" if inside else ""
        )
