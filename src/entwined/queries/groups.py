"""Counts or totals for every declared combination of keys; no key is ever found in the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from entwined.errors import BadQuery
from entwined.queries.aggregates import Axis, TotalsOf
from entwined.queries.conditions import is_missing
from entwined.queries.counts import (
    CellValue,
    axis_of,
    checked_names,
    for_each,
    has_cells,
    labels,
    table_of,
    without_missing,
)
from entwined.queries.query import Answer, Field, Numbers, Query, T, Titled
from entwined.queries.sensitivity import Sensitivity
from entwined.queries.shapes import Shapes
from entwined.queries.statistic import Statistic
from entwined.queries.sums import moves, total_term
from entwined.schema import Schema


@dataclass(frozen=True)
class GroupBy(Query):
    """The number of rows inside for every combination of keys, or the total of a column."""

    keys: tuple[str, ...]
    total: str | None = None
    kind: ClassVar[str] = "group_by"
    agrees: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_names(self.keys, self.kind)
        if self.total in self.keys:
            raise BadQuery(
                f"A group_by totals {self.total!r}, which is one of its keys. Take another column."
            )

    @property
    def values(self) -> tuple[str, ...]:
        """The keys and the column that is totalled."""
        return self.keys if self.total is None else (*self.keys, self.total)

    @property
    def fields(self) -> dict[str, Field]:
        """The keys in their order, which is that of the cells, and the column that is totalled."""
        return {"keys": list(self.keys), "total": self.total}

    def axes(self, schema: Schema) -> tuple[Axis, ...]:
        """Give the sides of the table of groups."""
        return tuple(axis_of(schema.coded(name)) for name in self.keys)

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        axes = self.axes(schema)
        if self.total is None:
            return (table_of(axes, self.inside, schema),)
        column = schema.coded(self.total)
        term, _ = total_term(column)
        dropped = (axis.column for axis in axes if not axis.keeps_missing)
        inside = without_missing(dropped, self.inside & is_missing(column).false, schema)
        row = moves(term, inside.codes(self.total, column.size) or ((0, 0),))
        # a row that changes its group takes its value from one and brings one to another
        keys = tuple((axis.column, int(2 * row.one) if has_cells(axis, inside) else 0) for axis in axes)
        alone = (*keys, (self.total, int(row.both)))
        both = Fraction(max(moved for _, moved in alone))
        return (Statistic(TotalsOf(axes, term, inside), Sensitivity(row.one, both), alone),)

    def answer(self, schema: Schema, numbers: Numbers) -> Answer:
        """Give the counts or totals, last key fastest."""
        if self.total is None:
            return tuple(numbers[0])
        unit: Fraction = total_term(schema.coded(self.total))[1]
        return tuple(number * unit for number in numbers[0])

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """Every integer is a number of rows, or of the total's units."""
        return shapes.lattice(1 if self.total is None else total_term(schema.coded(self.total))[1])

    @property
    def unit(self) -> str:
        """Rows, or the column that is totalled."""
        return "rows" if self.total is None else self.total

    @property
    def measured(self) -> str:
        """Rows, or values of the column that is totalled."""
        return self.unit if self.total is None else f"of {self.total}"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{'count' if self.total is None else f'total of {self.total}'} by {' and '.join(self.keys)}"

    def subject(self, titled: Titled) -> str:
        """Say what is counted or totalled."""
        what = "Number of rows" if self.total is None else f"Total of {titled(self.total)}"
        return f"{what} {for_each(self.keys, titled)}"

    def labels(self, schema: Schema) -> Iterator[tuple[CellValue, ...]]:
        """Name the groups in their order."""
        return labels(self.axes(schema), schema)
