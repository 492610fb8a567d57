"""Counts, and tables of counts: a row is in exactly one cell or in none. Rows may be weighted."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import and_
from typing import ClassVar, Final, Self, TypeAlias

from entwined.errors import BadQuery
from entwined.queries.aggregates import CountOf, TableOf, TotalsOf
from entwined.queries.axes import Axis, Term
from entwined.queries.conditions import is_missing
from entwined.queries.plain import PlainSum
from entwined.queries.predicate import Predicate
from entwined.queries.query import Answer, Field, Numbers, Sampled, T, Titled
from entwined.queries.sensitivity import Sensitivity
from entwined.queries.shapes import Shapes
from entwined.queries.sides import (
    Side,
    axis_along,
    axis_of,
    bound_sides,
    column_of,
    document_of,
    for_each,
    side_from,
    sides_from,
    titled_side,
    words_of,
)
from entwined.queries.statistic import Statistic
from entwined.queries.terms import moves_alone, moves_inside
from entwined.queries.weighted import Weighable, Weight
from entwined.schema import Coded, Schema
from entwined.schema.raw import is_whole

COUNT: Final = Sensitivity(Fraction(1), Fraction(0))
TWO_CELLS: Final = Sensitivity(Fraction(1), Fraction(1, 2))
"""A row that moves between the cells of a table changes two of them by half each."""

CellValue: TypeAlias = object  # the value of a cell, or the pair of its first and last value


@dataclass(frozen=True)
class _Counts(Weighable):
    """Numbers of rows, or sums of their weights, which have to agree with each other."""

    agrees: ClassVar[bool] = True

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """Every integer is a number of rows, or of the weights' units."""
        return shapes.lattice(self.step(schema))

    @property
    def counts_rows(self) -> bool:
        """They do."""
        return True

    @property
    def unit(self) -> str:
        """Rows, or what they are weighted to."""
        return f"rows{self.weighted_by}"


@dataclass(frozen=True)
class Count(_Counts):
    """How many rows are inside, or the sum of their weights."""

    kind: ClassVar[str] = "count"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"count of rows{self.weighted_by}"

    def subject(self, titled: Titled) -> str:
        """Say what is counted."""
        return f"Number of rows{self.weighted_as(titled)}"

    @property
    def values(self) -> tuple[str, ...]:
        """No column is looked at but by the condition."""
        return ()

    @property
    def fields(self) -> dict[str, Field]:
        """Nothing but the condition and the weight."""
        return self.by_weight

    @property
    def sampled(self) -> Sampled:
        """Whether rows are inside."""
        return {"where": self.where, "weight": self.weight}

    @property
    def counts_all(self) -> bool:
        """Every row adds its weight or nothing."""
        return True

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        return (counted(self.inside, schema, self.weighing(schema)),)

    def plain(self, schema: Schema) -> PlainSum | None:  # noqa: ARG002  (every query is asked the same way)
        """The rows inside, if they are not weighted."""
        return None if self.weight is not None else PlainSum("", self.inside.text, reads=self.columns)

    def answer(self, schema: Schema, numbers: Numbers) -> int | Fraction:
        """Give the count itself."""
        return numbers[0][0] * self.step(schema)


@dataclass(frozen=True)
class _Table(_Counts):
    """Numbers of rows by cell."""

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        return (table_of(self.axes(schema), self.inside, schema, self.weighing(schema)),)

    def answer(self, schema: Schema, numbers: Numbers) -> Answer:
        """Give the counts, last column fastest."""
        return in_steps(numbers[0], self.step(schema))

    def labels(self, schema: Schema) -> Iterator[tuple[CellValue, ...]]:
        """Name the cells in their order."""
        return labels(self.axes(schema), schema)


@dataclass(frozen=True)
class Marginal(_Table):
    """How many rows are inside for every combination of values of some columns."""

    of: tuple[Side, ...]
    kind: ClassVar[str] = "marginal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", sides_from(self.of, self.kind))
        super().__post_init__()

    def bound(self, schema: Schema) -> Self:
        """Give the question with every condition and every name of bands as what it means under this schema."""
        return replace(super().bound(schema), of=bound_sides(self.of, schema, self.kind))

    @property
    def values(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(map(column_of, self.of))

    @property
    def fields(self) -> dict[str, Field]:
        """The columns or bands in their order: it is the order of the cells."""
        return {"of": list(map(document_of, self.of)), **self.by_weight}

    def axes(self, schema: Schema) -> tuple[Axis, ...]:
        """Give the sides of the table."""
        return tuple(axis_along(side, schema) for side in self.of)

    @property
    def words(self) -> str:
        """What is asked."""
        return f"count by {' and '.join(map(words_of, self.of))}{self.weighted_by}"

    def subject(self, titled: Titled) -> str:
        """Say what is counted."""
        return f"Number of rows {for_each(self.of, titled)}{self.weighted_as(titled)}"


@dataclass(frozen=True)
class Histogram(_Table):
    """How many rows are inside for every value of a column, for its bands, or in about `bins` ranges of equal width."""

    column: Side
    bins: int | None = None
    kind: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", side_from(self.column))
        super().__post_init__()
        if self.bins is not None and (not is_whole(self.bins) or self.bins < 1):
            raise BadQuery(f"A histogram with {self.bins!r} bins. Give a number from 1, or leave it out.")
        if self.bins is not None and not isinstance(self.column, str):
            raise BadQuery(f"A histogram of {words_of(self.column)} in {self.bins} bins. Leave bins out.")

    def bound(self, schema: Schema) -> Self:
        """Give the question with its condition and a name of bands as what it means under this schema."""
        (column,) = bound_sides((self.column,), schema, self.kind)
        return replace(super().bound(schema), column=column)

    @property
    def values(self) -> tuple[str, ...]:
        """The one column."""
        return (column_of(self.column),)

    @property
    def fields(self) -> dict[str, Field]:
        """The column or its bands, and the number of bins."""
        return {"column": document_of(self.column), "bins": self.bins, **self.by_weight}

    def axes(self, schema: Schema) -> tuple[Axis, ...]:
        """Give the one side of the table."""
        if self.bins is None or not isinstance(self.column, str):
            return (axis_along(self.column, schema),)
        column = schema.coded(self.column)
        return (axis_of(column, -(-column.levels // self.bins)),)

    @property
    def words(self) -> str:
        """What is asked."""
        bins = f" in {self.bins} bins" if self.bins else ""
        return f"{self.kind} of {words_of(self.column)}{bins}{self.weighted_by}"

    def subject(self, titled: Titled) -> str:
        """Say what is counted."""
        each = "value" if self.bins is None else "range"
        return (
            f"Number of rows for each {each} of {titled_side(self.column, titled)}{self.weighted_as(titled)}"
        )


def counted(where: Predicate, schema: Schema, weight: Weight | None) -> Statistic:
    """Count the rows inside, or add up their weights."""
    return Statistic(CountOf(where), COUNT) if weight is None else weight.of_rows(where, schema)


def in_steps(numbers: Sequence[int], step: int | Fraction) -> tuple[int, ...] | tuple[Fraction, ...]:
    """Give released integers in their own unit."""
    return tuple(number * step for number in numbers)  # type: ignore[return-value]  # all of one kind


def table_of(
    axes: tuple[Axis, ...], where: Predicate, schema: Schema, weight: Weight | None = None
) -> Statistic:
    """Count rows by cell: a row that enters adds 1 to a cell, one that moves also takes 1 from another."""
    inside = without_missing((axis.column for axis in axes if not axis.keeps_missing), where, schema)
    if weight is not None:
        return weighted_totals_of(axes, weight.term, weight.there(inside, schema), schema)
    alone = tuple((axis.column, 2 if has_cells(axis, inside) else 0) for axis in axes)
    both = max(moved for _, moved in alone)
    change = Sensitivity(Fraction(1), Fraction(both))
    return Statistic(TableOf(axes, inside), change, alone, concentration=TWO_CELLS)


def totals_of(axes: tuple[Axis, ...], term: Term, where: Predicate, schema: Schema) -> Statistic:
    """Add up a term by cell: a row that changes its cell takes what it adds from one and brings it to another."""
    row = moves_inside(term, where, schema)
    keys = tuple((axis.column, int(2 * row.one) if has_cells(axis, where) else 0) for axis in axes)
    both = max(row.both, *(Fraction(moved) for _, moved in keys))
    alone = (*keys, *moves_alone(term, where, schema))
    return Statistic(TotalsOf(axes, term, where), Sensitivity(row.one, both), alone)


def weighted_totals_of(axes: tuple[Axis, ...], term: Term, where: Predicate, schema: Schema) -> Statistic:
    """Add up a weighted term by cell; what moves between two cells is split over both of them.

    With unit cells a change of the weight alone stays in its cell, and is not split.
    """
    found = totals_of(axes, term, where, schema)
    secret = schema.unit.by_column and not all(schema.coded(name).public for name in term.columns)
    both = found.row.both
    if secret or not both:
        return found
    moved = 2 * found.row.one**2 if any(has_cells(axis, where) for axis in axes) else Fraction(0)
    squared = max(moved, moves_inside(term, where, schema).both ** 2)
    return replace(found, concentration=Sensitivity(Fraction(1), squared / both**2))


def has_cells(axis: Axis, inside: Predicate) -> bool:
    """Say whether rows inside can be in more than one cell along an axis."""
    ranges = inside.codes(axis.column, axis.levels + 1)
    return bool(ranges) and axis.cell(ranges[0][0]) != axis.cell(ranges[-1][1])


def without_missing(names: Iterator[str], where: Predicate, schema: Schema) -> Predicate:
    """Leave rows out whose value in one of these columns is missing."""
    return reduce(and_, (is_missing(schema.coded(name)).false for name in names), where)


def labels(axes: tuple[Axis, ...], schema: Schema) -> Iterator[tuple[CellValue, ...]]:
    """Name the cells of a table in their order; one of several values by its label, or its first and last one."""
    return itertools.product(*([*_sides(axis, schema.coded(axis.column))] for axis in axes))


def _sides(axis: Axis, column: Coded) -> Iterator[CellValue]:
    if axis.labels:
        yield from axis.labels
    else:
        for low in axis.starts:
            high = min(low + axis.width, axis.levels) - 1
            yield column.value(low) if axis.width == 1 else (column.value(low), column.value(high))
    if axis.keeps_missing:
        yield None
