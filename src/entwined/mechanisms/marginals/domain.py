"""Columns in cells: what a synthetic table is described by, cut from the schema and the holder's word alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, Self, TypeAlias

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.parents import FINE
from entwined.queries import Axis, Sensitivity, Statistic, TableOf, everything
from entwined.queries.counts import table_of
from entwined.queries.predicate import Predicate
from entwined.schema import Coded, Ordered, Schema
from entwined.schema.bands import bands_of
from entwined.schema.raw import is_whole

USUAL_BINS: Final = 20
MOST_COLUMNS: Final = 1000
MOST_CELLS: Final = 10_000  # of one column

Scope: TypeAlias = tuple[int, ...]
"""Columns of a domain by their places, in rising order."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The columns of a synthetic table, each with its cells; missing is the last cell of every one."""

    axes: tuple[Axis, ...]
    ordered: tuple[bool, ...]
    """Whether the cells of each column have an order."""
    rows: int | None = None
    """How many rows there are, where that is public."""

    def __post_init__(self) -> None:
        names = [axis.column for axis in self.axes]
        if not names:
            raise BadQuery(
                "No column of the synthetic table has values that can be counted: texts and ids are made up. Declare "
                "another type for one of them, and name it if you name columns."
            )
        if len(names) > MOST_COLUMNS or len(set(names)) < len(names):
            raise BadQuery(
                f"A synthetic table of {len(names)} columns. Name 1 to {MOST_COLUMNS:,}, each once."
            )
        for axis in self.axes:
            if axis.cells > MOST_CELLS:
                raise BadQuery(
                    f"Column {axis.column!r} has {axis.cells:,} cells; the most is {MOST_CELLS:,}. Leave it out, or "
                    "give it bins."
                )

    @classmethod
    def of(
        cls,
        schema: Schema,
        columns: Sequence[str] | None = None,
        bins: Mapping[str, Any] | None = None,
        cut_at: Sequence[Predicate] = (),
    ) -> Self:
        """Cut columns of a schema: all that have codes, unless some are named.

        `bins` says of a column how many ranges it has, the name of declared bands, or where bands begin. Else bands
        that the schema declares are taken, and of numbers and times without any about 20 ranges. Cells are cut
        further where a condition of `cut_at` begins or ends.
        """
        taken = _codes_of(schema) if columns is None else tuple(schema.coded(name) for name in columns)
        if bins is not None and not isinstance(bins, Mapping):
            raise BadQuery(
                f"bins = {bins!r:.60}. Give pairs of a column and its number of ranges: {{age = 5}}."
            )
        given = dict(bins or {})
        unknown = sorted(given.keys() - {column.name for column in taken})
        if unknown:
            raise BadQuery(f"bins has {unknown[0]!r:.60}, which is no column of the table. Leave it out.")
        cut = tuple(_cut(column, given.get(column.name), cut_at) for column in taken)
        return cls(cut, tuple(isinstance(column, Ordered) for column in taken), schema.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, by name."""
        return tuple(axis.column for axis in self.axes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has, missing included."""
        return tuple(axis.cells for axis in self.axes)

    def cells(self, scope: Scope) -> int:
        """How many cells a table of some columns has."""
        return math.prod(self.axes[at].cells for at in scope)

    def table(self, scope: Scope) -> TableOf:
        """What an engine is asked for."""
        return TableOf(tuple(self.axes[at] for at in scope), everything())

    def counted(self, scope: Scope, schema: Schema) -> Statistic:
        """A table of some columns, and how far a row moves it."""
        return table_of(self.table(scope).axes, everything(), schema)

    def whole(self, schema: Schema) -> Statistic:
        """The table of all columns, of which every other one is sums: none moves further when a unit changes."""
        return self.counted(tuple(range(len(self.axes))), schema)

    def distances(self, tables: int) -> Statistic:
        """How far so many tables are from public ones in L1: each moves by no more than its table does.

        A row that enters or leaves moves each by 1 at most, one that changes by 2, and not all on one number.
        """
        row = Sensitivity(Fraction(tables), Fraction(2 * tables))
        alone = tuple((name, 2 * tables) for name in self.names)
        even = Fraction(1, tables)
        aggregate = self.table(tuple(range(len(self.axes))))
        return Statistic(aggregate, row, alone, agrees=False, concentration=Sensitivity(even, even))

    def apartness(self) -> Statistic:
        """How far a table is from independent, as `parents.apartness` says; that module says how far it moves."""
        one, both = 4 * FINE + 1, 6 * FINE + 1
        alone = tuple((name, one) for name in self.names)
        aggregate = self.table(tuple(range(len(self.axes))))
        return Statistic(aggregate, Sensitivity(Fraction(one), Fraction(both)), alone, agrees=False)

    @property
    def document(self) -> list[Document]:
        """The columns with their cells."""
        return [_written(axis) for axis in self.axes]

    @classmethod
    def from_document(cls, document: Sequence[Mapping[str, Any]], schema: Schema) -> Self:
        """Read columns back; refuse cells that do not follow each other."""
        ordered = tuple(isinstance(schema.coded(one["column"]), Ordered) for one in document)
        return cls(tuple(_read(one, schema) for one in document), ordered, schema.rows)


def _codes_of(schema: Schema) -> tuple[Coded, ...]:
    person = schema.unit.id_column
    return tuple(one for one in schema.columns if isinstance(one, Coded) and one.name != person)


def _cut(column: Coded, rule: object, cut_at: Sequence[Predicate]) -> Axis:
    starts = _starts(column, rule)
    for condition in cut_at:
        if column.name in condition.columns:
            ends = [end for box in condition.boxes for end in box.get(column.name, ())]
            starts |= {code for low, high in ends for code in (low, high + 1) if 0 < code < column.levels}
    return _axis(column, tuple(sorted(starts)))


def _starts(column: Coded, rule: object) -> set[int]:
    """Where the cells of a column begin."""
    if not isinstance(column, Ordered):
        if rule is not None:
            raise BadQuery(f"bins of {column.name!r}: its values have no order. Leave it out.")
        return set(range(min(column.levels, MOST_CELLS + 1)))
    if rule is None:
        rule = column.bands[0].name if column.bands else USUAL_BINS
    if is_whole(rule) and isinstance(rule, int):
        if not 1 <= rule < MOST_CELLS:
            raise BadQuery(f"bins of {column.name!r}: {rule!r}. Give 1 to {MOST_CELLS - 1:,}.")
        return set(range(0, column.levels, -(-column.levels // rule)))
    named = {one.name: one for one in column.bands}
    return set((named[rule] if isinstance(rule, str) and rule in named else bands_of(column, rule)).starts)


def _axis(column: Coded, starts: tuple[int, ...]) -> Axis:
    width = starts[1] if len(starts) > 1 else column.levels
    if starts == tuple(range(0, column.levels, width)):
        return Axis(column.name, column.levels, width)
    return Axis(column.name, column.levels, cuts=starts)


def _written(axis: Axis) -> Document:
    return {"column": axis.column, **({"cuts": list(axis.cuts)} if axis.cuts else {"width": axis.width})}


def _read(given: Mapping[str, Any], schema: Schema) -> Axis:
    column = schema.coded(given["column"])
    width, cuts = given.get("width", 1), tuple(given.get("cuts", (0,)))
    rising = all(one < two for one, two in pairwise(cuts))
    if not (is_whole(width) and 1 <= width <= column.levels and all(map(is_whole, cuts)) and cuts[0] == 0):
        raise BadQuery(
            f"The cells of {column.name!r} are none that entwined wrote. Describe the table again."
        )
    if not rising or cuts[-1] >= column.levels:
        raise BadQuery(f"The cells of {column.name!r} do not follow each other. Describe the table again.")
    axis = Axis(column.name, column.levels, width, cuts=tuple(given.get("cuts", ())))
    if _written(axis) != dict(given) or _axis(column, tuple(axis.starts)) != axis:
        raise BadQuery(
            f"The cells of {column.name!r} are none that entwined wrote. Describe the table again."
        )
    return axis
