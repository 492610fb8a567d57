"""Many statistics in few statements: one over the rows for all counts by cell, one for all single numbers.

What is shared is asked once: a table whose columns are among those of another, under the same condition, is
added up from it. Sums over columns of few codes are added up here, from counts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.numbers import IntArray
from entwined.queries.aggregates import Aggregate, Axis, CountOf, SumOf, TableOf, Term, TotalsOf
from entwined.queries.predicate import Predicate, codes_in
from entwined.queries.query import MOST_CELLS, TOO_LARGE
from entwined.queries.sums import moves
from entwined.schema import Schema

FEW_CELLS: Final = 2**16
SAFE_DECIMAL: Final = 10**37

Single: TypeAlias = CountOf | SumOf
Tables: TypeAlias = Sequence[IntArray]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fetch, and how the answers are made of it, in the order they were asked for."""

    singles: tuple[Single, ...]
    tables: tuple[TableOf, ...]
    totals: tuple[TotalsOf, ...]
    makers: tuple[Callable[[Sequence[int], Tables, Tables], IntArray], ...]

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """All conditions."""
        return tuple(part.where for part in (*self.singles, *self.tables, *self.totals))


def plan(schema: Schema, aggregates: Iterable[Aggregate]) -> Plan:
    """Plan a batch, refusing before any row is read what cannot be answered exactly."""
    asked = [_checked(schema, aggregate) for aggregate in aggregates]
    singles = tuple(dict.fromkeys(one for one in asked if isinstance(one, CountOf | SumOf)))
    totals = tuple(
        dict.fromkeys(one for one in asked if isinstance(one, TotalsOf) and not _is_small(one, schema))
    )
    wanted = [
        _as_table(one, schema) for one in asked if isinstance(one, TableOf | TotalsOf) and one not in totals
    ]
    tables = _merged(wanted)
    makers = tuple(_maker(one, schema, singles, tables, totals) for one in asked)
    return Plan(singles, tables, totals, makers)


def _checked(schema: Schema, given: Aggregate) -> Aggregate:
    """Give an aggregate whose condition leaves out rows without a cell or value."""
    axes = given.axes if isinstance(given, TableOf | TotalsOf) else ()
    for name, size in (*given.where.sizes.items(), *((axis.column, axis.levels + 1) for axis in axes)):
        if schema.coded(name).size != size:
            raise BadQuery(
                f"Column {name!r} differs in the question and the table's schema. Build it on this one."
            )
    if len(set(axes)) < len(axes):
        raise BadQuery("A table has the same side twice. Name each column once.")
    if given.cells > MOST_CELLS:
        raise QueryTooComplex(
            f"A table of {given.cells:,} cells; {MOST_CELLS:,} are the most. Take fewer columns."
        )
    needed = {axis.column for axis in axes if not axis.keeps_missing}
    if isinstance(given, SumOf | TotalsOf):
        needed.add(given.term.column)
    where = reduce(and_, (_there(schema, name) for name in sorted(needed)), given.where)
    match given:
        case CountOf():
            return CountOf(where)
        case TableOf():
            return TableOf(given.axes, where)
        case SumOf():
            _check_term(schema, given.term, where)
            return SumOf(given.term, where)
    _check_term(schema, given.term, where)
    return TotalsOf(given.axes, given.term, where)


def _there(schema: Schema, name: str) -> Predicate:
    column = schema.coded(name)
    return codes_in(name, column.size, ((0, column.levels - 1),))


def _check_term(schema: Schema, term: Term, where: Predicate) -> None:
    column = schema.coded(term.column)
    if largest_term(term, schema) >= SAFE_DECIMAL:
        raise QueryTooComplex(f"A sum over {term.column!r} needs more than 37 digits. Take a coarser step.")
    codes = where.codes(term.column, column.size)
    if codes and int(moves(term, codes).one) * schema.most_rows >= TOO_LARGE:
        raise QueryTooComplex(
            f"A sum over {term.column!r} could pass 2^63 in {schema.most_rows:,} rows. Declare a smaller most_rows, "
            "narrower bounds or a coarser step."
        )


def largest_term(term: Term, schema: Schema) -> int:
    """Bound what any row, inside or not, could add to a sum."""
    return int((abs(term.factor) * schema.coded(term.column).size + abs(term.offset)) ** term.power)


def _is_small(one: TotalsOf, schema: Schema) -> bool:
    inside = one.term.column in {axis.column for axis in one.axes}
    return not inside and one.cells * schema.coded(one.term.column).levels <= FEW_CELLS


def _as_table(one: TableOf | TotalsOf, schema: Schema) -> TableOf:
    """Count by the value too where a sum is asked for."""
    if isinstance(one, TableOf):
        return one
    return TableOf((*one.axes, _value_axis(one.term, schema)), one.where)


def _value_axis(term: Term, schema: Schema) -> Axis:
    return Axis(term.column, schema.coded(term.column).levels, 1, keeps_missing=False)


def _merged(wanted: Sequence[TableOf]) -> tuple[TableOf, ...]:
    """Leave out tables that can be added up from another one."""
    kept: list[TableOf] = []
    for table in sorted(dict.fromkeys(wanted), key=lambda table: -len(table.axes)):
        if not any(_holds(other, table) for other in kept):
            kept.append(table)
    return tuple(kept)


def _holds(larger: TableOf, table: TableOf) -> bool:
    return larger.where == table.where and set(table.axes) <= set(larger.axes)


def _maker(
    one: Aggregate,
    schema: Schema,
    singles: Sequence[Single],
    tables: Sequence[TableOf],
    totals: Sequence[TotalsOf],
) -> Callable[[Sequence[int], Tables, Tables], IntArray]:
    if isinstance(one, CountOf | SumOf):
        number = singles.index(one)
        return lambda found, _tables, _totals: whole([found[number]])
    if isinstance(one, TotalsOf) and one in totals:
        place = totals.index(one)
        return lambda _found, _tables, sums: sums[place]
    table = _as_table(one, schema)
    at = next(at for at, larger in enumerate(tables) if _holds(larger, table))
    larger = tables[at].axes
    if isinstance(one, TableOf):
        return lambda _found, counts, _totals: added_up(counts[at], larger, table.axes)
    values = [one.term.value(code) for code in range(table.axes[-1].levels)]
    return lambda _found, counts, _totals: _weighed(added_up(counts[at], larger, table.axes), values)


def added_up(counts: IntArray, given: tuple[Axis, ...], wanted: tuple[Axis, ...]) -> IntArray:
    """Give the cells of the wanted axes, in their order, from a table that has them and perhaps more."""
    shaped = counts.reshape([axis.cells for axis in given])
    extra = tuple(at for at, axis in enumerate(given) if axis not in wanted)
    left = [axis for axis in given if axis in wanted]
    summed = shaped.sum(axis=extra) if extra else shaped
    return np.ascontiguousarray(summed.transpose([left.index(axis) for axis in wanted])).reshape(-1)


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
