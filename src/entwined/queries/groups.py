"""Counts or totals for every declared combination of keys, perhaps weighted; no key is ever found in the rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from entwined.errors import BadQuery
from entwined.queries.axes import Axis
from entwined.queries.conditions import is_missing
from entwined.queries.counts import (
    CellValue,
    in_steps,
    labels,
    table_of,
    totals_of,
    weighted_totals_of,
    without_missing,
)
from entwined.queries.query import Answer, Field, Numbers, T, Titled
from entwined.queries.shapes import Shapes
from entwined.queries.sides import (
    Side,
    axis_along,
    bound_sides,
    column_of,
    document_of,
    for_each,
    sides_from,
    words_of,
)
from entwined.queries.statistic import Statistic
from entwined.queries.terms import total_term
from entwined.queries.weighted import Weighable
from entwined.schema import Schema


@dataclass(frozen=True)
class GroupBy(Weighable):
    """The number of rows inside for every combination of keys, or the total of a column, perhaps weighted."""

    keys: tuple[Side, ...]
    total: str | None = None
    kind: ClassVar[str] = "group_by"
    agrees: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", sides_from(self.keys, self.kind))
        super().__post_init__()
        if self.total in [column_of(key) for key in self.keys]:
            raise BadQuery(
                f"A group_by totals {self.total!r}, which is one of its keys. Take another column."
            )

    def bound(self, schema: Schema) -> Self:
        """Give the question with every condition and every name of bands as what it means under this schema."""
        return replace(super().bound(schema), keys=bound_sides(self.keys, schema, self.kind))

    @property
    def values(self) -> tuple[str, ...]:
        """The columns of the keys and the one that is totalled."""
        columns = tuple(map(column_of, self.keys))
        return columns if self.total is None else (*columns, self.total)

    @property
    def fields(self) -> dict[str, Field]:
        """The keys in their order, which is that of the cells, and the column that is totalled."""
        return {"keys": list(map(document_of, self.keys)), "total": self.total, **self.by_weight}

    def axes(self, schema: Schema) -> tuple[Axis, ...]:
        """Give the sides of the table of groups."""
        return tuple(axis_along(side, schema) for side in self.keys)

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        axes, weight = self.axes(schema), self.weighing(schema)
        if self.total is None:
            return (table_of(axes, self.inside, schema, weight),)
        column = schema.coded(self.total)
        term, _ = total_term(column)
        dropped = (axis.column for axis in axes if not axis.keeps_missing)
        inside = without_missing(dropped, self.inside & is_missing(column).false, schema)
        if weight is None:
            return (totals_of(axes, term, inside, schema),)
        return (weighted_totals_of(axes, weight.times(term), weight.there(inside, schema), schema),)

    def step(self, schema: Schema) -> int | Fraction:
        """Give what one released integer stands for, in rows or in the column that is totalled."""
        unit = 1 if self.total is None else total_term(schema.coded(self.total))[1]
        return unit * super().step(schema)

    def answer(self, schema: Schema, numbers: Numbers) -> Answer:
        """Give the counts or totals, last key fastest."""
        return in_steps(numbers[0], self.step(schema))

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """Every integer is a number of rows, or of the total's units."""
        return shapes.lattice(self.step(schema))

    @property
    def counts_rows(self) -> bool:
        """Whether nothing is totalled."""
        return self.total is None

    @property
    def unit(self) -> str:
        """Rows, or the column that is totalled."""
        return f"{'rows' if self.total is None else self.total}{self.weighted_by}"

    @property
    def measured(self) -> str:
        """Rows, or values of the column that is totalled."""
        return self.unit if self.total is None else f"of {self.unit}"

    @property
    def words(self) -> str:
        """What is asked."""
        what = "count" if self.total is None else f"total of {self.total}"
        return f"{what} by {' and '.join(map(words_of, self.keys))}{self.weighted_by}"

    def subject(self, titled: Titled) -> str:
        """Say what is counted or totalled."""
        what = "Number of rows" if self.total is None else f"Total of {titled(self.total)}"
        return f"{what} {for_each(self.keys, titled)}{self.weighted_as(titled)}"

    def labels(self, schema: Schema) -> Iterator[tuple[CellValue, ...]]:
        """Name the groups in their order."""
        return labels(self.axes(schema), schema)
