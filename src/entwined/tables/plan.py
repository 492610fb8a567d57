"""Many statistics in few statements: one over the rows for all counts by cell, one for all single numbers.

What is shared is asked once: a table whose columns are among those of another, under the same condition, is
added up from it. Sums and folds over columns of few codes are added up here, from counts; all other folds share
one scan of the rows.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.numbers import IntArray
from entwined.queries.aggregates import (
    Aggregate,
    Asking,
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
from entwined.queries.predicate import Predicate, codes_in
from entwined.queries.query import MOST_CELLS, TOO_LARGE
from entwined.queries.seats import Seats
from entwined.queries.statistic import NOT_SCALED
from entwined.queries.terms import moves_inside
from entwined.schema import Schema
from entwined.schema.column import alike
from entwined.tables.folding import check_fold, tabled

FEW_CELLS: Final = 2**16
FEW_BANDS: Final = 32
MANY_CELLS: Final = 2**20
SAFE_DECIMAL: Final = 10**37
MOST_AT_ONCE: Final = 32  # tables of households in one statement


@dataclass(frozen=True, slots=True)
class Found:
    """What was fetched of the rows, in the order of the plan."""

    singles: Sequence[int]
    tables: Mapping[TableOf, IntArray]
    totals: Sequence[IntArray]
    folds: Sequence[IntArray]
    degrees: Sequence[IntArray]
    moves: Sequence[IntArray]
    bounded: Sequence[IntArray]
    homes: Sequence[IntArray]

    def counts(self, table: TableOf) -> IntArray:
        """Give a table of counts, from itself or from a larger one."""
        if table in self.tables:
            return self.tables[table]
        larger = next(one for one in self.tables if _holds(one, table))
        return added_up(self.tables[larger], larger.axes, table.axes)


Maker: TypeAlias = Callable[[Found], IntArray]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fetch, and how the answers are made of it, in the order they were asked for."""

    singles: tuple[Single, ...]
    tables: tuple[TableOf, ...]
    """Tables of counts, each once."""
    totals: tuple[TotalsOf, ...]
    folds: tuple[FoldOf, ...]
    degrees: tuple[DegreesOf, ...]
    moves: tuple[MovesOf, ...]
    bounded: tuple[BoundedDegreesOf, ...]
    homes: tuple[tuple[HomesOf, ...], ...]
    makers: tuple[Maker, ...]

    def merged(self) -> tuple[TableOf, ...]:
        """Give the tables that an engine has to count: the others are sums of these."""
        return _merged(tuple(map(_by_code, self.tables)))


def plan(schema: Schema, aggregates: Iterable[Aggregate]) -> Plan:
    """Plan a batch, refusing before any row is read what cannot be answered exactly."""
    wanted = _Wanted(schema)
    makers = tuple(_checked(schema, aggregate).asked_of(wanted) for aggregate in aggregates)
    return Plan(
        tuple(wanted.singles),
        tuple(dict.fromkeys(wanted.tables)),
        tuple(wanted.sums),
        tuple(wanted.folds),
        tuple(wanted.named),
        tuple(wanted.moved),
        tuple(wanted.cut),
        wanted.batches,
        makers,
    )


@dataclass(frozen=True, slots=True)
class _Wanted(Asking[Maker]):
    """What a batch wants fetched, each thing once, by its place."""

    schema: Schema
    singles: dict[Single, int] = field(default_factory=dict)
    tables: list[TableOf] = field(default_factory=list)
    sums: dict[TotalsOf, int] = field(default_factory=dict)
    folds: list[FoldOf] = field(default_factory=list)
    named: list[DegreesOf] = field(default_factory=list)
    moved: list[MovesOf] = field(default_factory=list)
    cut: list[BoundedDegreesOf] = field(default_factory=list)
    housed: dict[HomesOf, None] = field(default_factory=dict)

    def single(self, one: Single) -> Maker:
        """Fetch one number."""
        at = self.singles.setdefault(one, len(self.singles))
        return lambda found: whole([found.singles[at]])

    def table(self, one: TableOf) -> Maker:
        """Fetch a table of counts, or one that it can be added up from."""
        self.tables.append(one)
        return lambda found: found.counts(one)

    def totals(self, one: TotalsOf) -> Maker:
        """Count by the value too where there are few, else fetch sums."""
        levels = [self.schema.coded(name).levels for name in one.term.columns]
        read = set(one.term.columns) & {axis.column for axis in one.axes}
        if read or one.cells * math.prod(levels) > FEW_CELLS:
            at = self.sums.setdefault(one, len(self.sums))
            return lambda found: found.totals[at]
        added = (Axis(*pair, 1, keeps_missing=False) for pair in zip(one.term.columns, levels, strict=True))
        table = TableOf((*one.axes, *added), one.where)
        self.tables.append(table)
        values = _products(one.term, levels)
        return lambda found: _weighed(found.counts(table), values)

    def fold(self, one: FoldOf) -> Maker:
        """Count by codes where there are few, so that the function never meets a row, else scan the rows."""
        check_fold(one, self.schema)
        sizes = [self.schema.coded(name).size for name in one.columns]
        if math.prod(sizes) > FEW_CELLS:
            self.folds.append(one)
            at = len(self.folds) - 1
            return lambda found: found.folds[at]
        axes = tuple(Axis(name, size - 1) for name, size in zip(one.columns, sizes, strict=True))
        table = TableOf(axes, one.where)
        self.tables.append(table)
        return lambda found: whole(tabled(one, sizes, found.counts(table)))

    def degrees(self, one: DegreesOf) -> Maker:
        """Have the engine count how often each id is named, and then how many are named so often."""
        if len({alike(self.schema.grouping(name)) for name in one.columns}) > 1:
            raise BadQuery(
                f"The columns {', '.join(one.columns)} are declared in different ways, and one id might be two. "
                "Declare them alike."
            )
        self.named.append(one)
        at = len(self.named) - 1
        return lambda found: found.degrees[at]

    def moves(self, one: MovesOf) -> Maker:
        """Have the engine bring the steps of each series together."""
        self.schema.grouping(one.by)
        if (self.schema.coded(one.order).levels, self.schema.coded(one.state).size) != (
            one.steps,
            one.states,
        ):
            raise BadQuery(
                f"Steps {one.order!r} or states {one.state!r} differ in the question and the table's schema. Build it "
                "on this one."
            )
        self.moved.append(one)
        at = len(self.moved) - 1
        return lambda found: found.moves[at]

    def bounded(self, one: BoundedDegreesOf) -> Maker:
        """Have edges come in their fixed order, each once."""
        self.cut.append(one)
        at = len(self.cut) - 1
        return lambda found: found.bounded[at]

    def homes(self, one: HomesOf) -> Maker:
        """Have the engine bring the members of each household together."""
        seats, unit = one.table.seats, self.schema.unit
        if (seats.by, seats.most) != (unit.id_column, unit.most_rows) or not one.where.is_everything:
            raise BadQuery(
                f"Households by {seats.by!r} of at most {seats.most} are counted, and the schema protects other units. "
                "Build the question on this schema."
            )
        self.housed[one] = None
        return lambda found: found.homes[_place_in(self.batches, one)]

    @property
    def batches(self) -> tuple[tuple[HomesOf, ...], ...]:
        """The tables of households that one statement can ask for: of the same members, and not too many."""
        alike: dict[tuple[Seats, int], list[HomesOf]] = {}
        for one in self.housed:
            alike.setdefault((one.table.seats, one.table.member), []).append(one)
        return tuple(
            tuple(some[start : start + MOST_AT_ONCE])
            for some in alike.values()
            for start in range(0, len(some), MOST_AT_ONCE)
        )


def _place_in(batches: Sequence[Sequence[HomesOf]], one: HomesOf) -> int:
    return [each for batch in batches for each in batch].index(one)


def _by_code(table: TableOf) -> TableOf:
    """Count by code where an axis has so many bands that finding a row's band costs more than adding codes up."""
    fine = tuple(replace(axis, cuts=()) if len(axis.cuts) > FEW_BANDS else axis for axis in table.axes)
    finer = TableOf(fine, table.where)
    return finer if finer.cells <= MANY_CELLS else table


def _checked(schema: Schema, given: Aggregate) -> Aggregate:
    """Give an aggregate whose condition leaves out rows without a cell or value."""
    if schema.unit.shares_rows != given.of_units:
        raise BadQuery(
            f"The schema protects {schema.unit.kind}, and this is no answer about them. Ask for degrees of nodes where "
            "nodes are protected, and for nothing else there."
        )
    share = schema.unit.row_share
    if share is not None and not given.is_weighted_by(share.name):
        raise BadQuery(NOT_SCALED.format(unit=schema.unit.name))
    sides = given.sides
    for name, size in (*given.where.sizes.items(), *((axis.column, axis.levels + 1) for axis in sides)):
        if schema.coded(name).size != size:
            raise BadQuery(
                f"Column {name!r} differs in the question and the table's schema. Build it on this one."
            )
    if len(set(sides)) < len(sides):
        raise BadQuery("A table has the same side twice. Name each column once.")
    if given.cells > MOST_CELLS:
        raise QueryTooComplex(
            f"A table of {given.cells:,} cells; {MOST_CELLS:,} are the most. Take fewer columns."
        )
    where = reduce(and_, (_there(schema, name) for name in sorted(given.needed)), given.where)
    if given.adds is not None:
        _check_term(schema, given.adds, where)
    return given.inside(where)


def _there(schema: Schema, name: str) -> Predicate:
    column = schema.coded(name)
    return codes_in(name, column.size, ((0, column.levels - 1),))


def _check_term(schema: Schema, term: Term, where: Predicate) -> None:
    if largest_term(term, schema) >= SAFE_DECIMAL:
        raise QueryTooComplex(f"A sum over {term.column!r} needs more than 37 digits. Take a coarser step.")
    if not where.is_empty and int(moves_inside(term, where, schema).one) * schema.most_rows >= TOO_LARGE:
        raise QueryTooComplex(
            f"A sum over {term.column!r} could pass 2^63 in {schema.most_rows:,} rows. Declare a smaller most_rows, "
            "narrower bounds or a coarser step."
        )


def largest_term(term: Term, schema: Schema) -> int:
    """Bound what any row, inside or not, could add to a sum."""
    sizes = ((abs(one.factor) * schema.coded(one.column).size + abs(one.offset)) for one in term.factors)
    return math.prod(size**one.power for size, one in zip(sizes, term.factors, strict=True))


def _products(term: Term, levels: Sequence[int]) -> list[int]:
    """Give what a row adds for every combination of codes, the last column fastest."""
    products = [1]
    for one, size in zip(term.factors, levels, strict=True):
        products = [product * one.value(code) for product in products for code in range(size)]
    return products


def _merged(wanted: Sequence[TableOf]) -> tuple[TableOf, ...]:
    """Leave out tables that can be added up from another one."""
    kept: list[TableOf] = []
    for table in sorted(dict.fromkeys(wanted), key=lambda table: (-len(table.axes), -table.cells)):
        if not any(_holds(other, table) for other in kept):
            kept.append(table)
    return tuple(kept)


def _holds(larger: TableOf, table: TableOf) -> bool:
    return larger.where == table.where and _places(larger.axes, table.axes) is not None


def _places(given: tuple[Axis, ...], wanted: tuple[Axis, ...]) -> tuple[int, ...] | None:
    """Find for each wanted axis one whose cells add up to its cells, all of them different; None if there are none."""
    places = [_place(given, axis) for axis in wanted]
    found = tuple(place for place in places if place is not None)
    return found if len(set(found)) == len(wanted) else None


def _place(given: tuple[Axis, ...], wanted: Axis) -> int | None:
    if wanted in given:
        return given.index(wanted)
    return next((place for place, axis in enumerate(given) if axis.is_finer(wanted)), None)


def added_up(counts: IntArray, given: tuple[Axis, ...], wanted: tuple[Axis, ...]) -> IntArray:
    """Give the cells of the wanted axes, in their order, from a table that has them, finer or not, and perhaps more."""
    shaped = counts.reshape([axis.cells for axis in given])
    places = _places(given, wanted) or ()
    extra = tuple(at for at in range(len(given)) if at not in places)
    summed = shaped.sum(axis=extra) if extra else shaped
    left = [at for at in range(len(given)) if at in places]
    turned = summed.transpose([left.index(at) for at in places])
    for side, (at, axis) in enumerate(zip(places, wanted, strict=True)):
        if given[at] != axis:
            turned = np.add.reduceat(turned, given[at].joined(axis), axis=side)
    return np.ascontiguousarray(turned).reshape(-1)


def _weighed(counts: IntArray, values: Sequence[int]) -> IntArray:
    rows = counts.reshape(-1, len(values)).tolist()
    return whole([_dot(row, values) for row in rows])


def _dot(counts: Sequence[int], values: Sequence[int]) -> int:
    return sum(count * value for count, value in zip(counts, values, strict=True))


def whole(numbers: Sequence[int]) -> IntArray:
    """Hold numbers as 64-bit integers. One beyond them, in a table of more than `most_rows` rows, is clamped.

    Clamping moves no two answers further apart, and it never fails.
    """
    return np.array([min(max(number, -TOO_LARGE), TOO_LARGE - 1) for number in numbers], dtype=np.int64)
