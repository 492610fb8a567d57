"""The statements of a plan, and the arrays made of what an engine gives back.

Tables of counts are one GROUP BY GROUPING SETS over the rows, one set a table. Its key is the number of the cell,
or −1 outside the condition, so that the engine keeps no more groups than the table has public cells. Where coding
is dear, the source keeps few different values and nothing but the one column matters, the key is the raw value: the
groups are coded afterwards.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np

from entwined.numbers import IntArray
from entwined.progress import report
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
from entwined.queries.predicate import Predicate
from entwined.tables.cells import along, grouped
from entwined.tables.conditions import holds
from entwined.tables.edge_bounding import degree_counts
from entwined.tables.engine import Fold, Reader
from entwined.tables.folding import Folding
from entwined.tables.holding import Scan
from entwined.tables.homes import households_in
from entwined.tables.lots import lot_of, quoted, whole_text
from entwined.tables.plan import Found, Plan, largest_term, whole
from entwined.tables.rows import CodedRows
from entwined.tables.steps import Steps, statement
from entwined.tables.tallying import CellTally, tallied

One = TypeVar("One", TableOf, TotalsOf)
Asked = TypeVar("Asked")

READING: Final = "reading rows"
SAFE_WHOLE: Final = 2**62
NARROW: Final = ((2**15, "SMALLINT"), (2**31, "INTEGER"))
MOST_SETS: Final = 64  # in one statement; Spark takes no more
MOST_SUMS: Final = 16  # every sum is made for every set


@dataclass(frozen=True)
class Statement:
    """Statements over the rows of one table."""

    rows: CodedRows

    def singles(self, wanted: Sequence[Single]) -> str:
        """Ask for single numbers: one row."""
        steps, last = self.rows.steps(self._columns(wanted))
        shared = self._shared(wanted)
        parts = [self._single(one, shared=shared is not None) for one in wanted]
        return statement(steps, f"SELECT {', '.join(parts)} FROM {last}{self._filter(shared)}")

    def _single(self, one: Single, *, shared: bool) -> str:
        what = "1" if one.adds is None else self._term(one.adds)
        inside = what if shared else f"CASE WHEN {self._holds(one.where)} THEN {what} END"
        return f"COUNT({inside})" if one.adds is None else self._sum(inside)

    def totals(self, wanted: Sequence[TotalsOf]) -> str:
        """Ask for sums by cell: keys, all but one empty, then sums."""
        steps, last = self.rows.steps(self._columns(wanted))
        keys = [f"{self._cell(one.axes, one.where)} AS k{at}" for at, one in enumerate(wanted)]
        terms = [
            f"CASE WHEN {self._holds(one.where)} THEN {self._term(one.term)} END AS t{at}"
            for at, one in enumerate(wanted)
        ]
        steps = [*steps, ("keyed", f"SELECT {', '.join([*keys, *terms])} FROM {last}")]
        sums = ", ".join(self._sum(f"t{at}") for at in range(len(wanted)))
        names = [f"k{at}" for at in range(len(wanted))]
        sets = ", ".join(f"({name})" for name in names)
        ask = f"SELECT {', '.join(names)}, {sums} FROM keyed GROUP BY GROUPING SETS ({sets})"
        return statement(steps, ask)

    def tables(self, wanted: Sequence[TableOf]) -> str:
        """Ask for tables of counts: the number of the table, the cell, the count."""
        late = {at: one.axes[0].column for at, one in enumerate(wanted) if self._is_late(one)}
        early = [one for at, one in enumerate(wanted) if at not in late]
        steps, last = self.rows.steps(self._columns(early), tuple(dict.fromkeys(late.values())))
        shared = None if late else self._shared(early)
        keys = [
            self.rows.raw(late[at]) if at in late else self._cell(one.axes, None if shared else one.where)
            for at, one in enumerate(wanted)
        ]
        listed = ", ".join(f"{key} AS k{at}" for at, key in enumerate(keys))
        steps = [*steps, ("keyed", f"SELECT {listed} FROM {last}{self._filter(shared)}")]
        steps = [*steps, ("counted", grouped([f"k{at}" for at in range(len(wanted))]))]
        if late:
            return self._coded_late(steps, wanted, late)
        cell = ", ".join(f"k{at}" for at in range(len(wanted)))
        return statement(steps, f"SELECT which, COALESCE({cell}, -1) AS cell, n FROM counted")

    def _coded_late(self, steps: Steps, wanted: Sequence[TableOf], late: Mapping[int, str]) -> str:
        """Code the groups of raw values, and add up those that share a code.

        Two tables may share a column: in a group all of their keys but one are empty.
        """
        early = tuple(f"k{at}" for at in range(len(wanted)) if at not in late)
        columns = tuple(dict.fromkeys(late.values()))
        keys = {name: [f"k{at}" for at, column in late.items() if column == name] for name in columns}
        renamed = [
            f"COALESCE({', '.join([*keys[name], 'NULL'])}) AS {self.rows.raw(name)}" for name in columns
        ]
        groups = f"SELECT {', '.join(['which', 'n', *early, *renamed])} FROM counted"
        coding = self.rows.coding("groups", columns, (), ("which", "n", *early))
        cells = [f"WHEN which = {at} THEN {self._cell(wanted[at].axes, wanted[at].where)}" for at in late]
        other = f"COALESCE({', '.join((*early, '-1'))})"
        celled = f"SELECT which, CASE {' '.join(cells)} ELSE {other} END AS cell, n FROM coded_groups"
        steps = [*steps, ("groups", groups), *coding, ("celled", celled)]
        return statement(
            steps, "SELECT which, cell, CAST(SUM(n) AS BIGINT) AS n FROM celled GROUP BY which, cell"
        )

    def _is_late(self, one: TableOf) -> bool:
        if len(one.axes) != 1:
            return False
        column = one.axes[0].column
        return self.rows.is_late(column) and set(one.where.columns) <= {column}

    def folds(self, wanted: tuple[FoldOf, ...]) -> tuple[str, Folding]:
        """Ask for the rows' codes, and for each fold whether a row is inside, if they differ about it."""
        steps, last = self.rows.steps(self._columns(wanted))
        shared = self._shared(wanted)
        names = self.rows.in_order(name for one in wanted for name in one.values)
        numbers = [self.rows.code(name) for name in names]
        if shared is None:
            numbers += [f"CASE WHEN {self._holds(one.where)} THEN 1 ELSE 0 END" for one in wanted]
        sizes = [self.rows.schema.coded(name).size for name in names]
        kinds = [*map(_narrow, sizes), *["SMALLINT"] * (len(numbers) - len(names))]
        listed = ", ".join(
            f"CAST({number} AS {kind}) AS n{at}"
            for at, (number, kind) in enumerate(zip(numbers, kinds, strict=True))
        )
        return statement(steps, f"SELECT {listed} FROM {last}{self._filter(shared)}"), Folding(
            wanted,
            tuple(tuple(map(names.index, one.columns)) for one in wanted),
            tuple(None if shared else len(names) + at for at in range(len(wanted))),
        )

    def degrees(self, one: DegreesOf) -> str:
        """Ask for ids by how often they are named: 0, the cell, the count.

        Ids are counted as they are written first, and then by what is compared of them, which is dear for texts.
        """
        ids, compared = self.rows.named(one.columns, "written")
        raw = tuple(name for name in one.columns if not self.rows.is_coded(name))
        coded = {name for name in one.columns if self.rows.is_coded(name)}.union(one.where.columns)
        steps, last = self.rows.steps(self.rows.in_order(coded), raw)
        kept = self._filter(one.where)
        ends = " UNION ALL ".join(f"SELECT {each} AS written FROM {last}{kept}" for each in ids)
        often = f"CASE WHEN SUM(times) < {one.most} THEN SUM(times) ELSE {one.most} END"
        steps = [
            *steps,
            ("ends", ends),
            ("spelled", "SELECT written, COUNT(*) AS times FROM ends GROUP BY written"),
            ("ids", f"SELECT {compared} AS who, times FROM spelled"),
            ("named", f"SELECT CAST({often} AS BIGINT) AS often, COUNT(who) AS told FROM ids GROUP BY who"),
        ]
        counted = (
            "SELECT 0 AS which, often - 1 AS cell, COUNT(*) AS n FROM named WHERE told > 0 GROUP BY often"
        )
        return statement(steps, counted)

    def moves(self, one: MovesOf) -> str:
        """Ask for moves: 0, the cell, the count. Steps of one row have a state, so each meets the next at most once."""
        ids, compared = self.rows.named((one.by,), "written")
        raw = () if self.rows.is_coded(one.by) else (one.by,)
        coded = {one.order, one.state, *one.where.columns}.union(() if raw else (one.by,))
        steps, last = self.rows.steps(self.rows.in_order(coded), raw)
        step, state = self.rows.code(one.order), self.rows.code(one.state)
        seen = f"SELECT {ids[0]} AS written, {step} AS step, {state} AS state FROM {last}{self._filter(one.where)}"
        there = f"who IS NOT NULL AND step < {one.steps}"
        steps = [
            *steps,
            ("seen", seen),
            ("told", f"SELECT {compared} AS who, step, state FROM seen"),
            (
                "course",
                f"SELECT who, step, MIN(state) AS state FROM told WHERE {there} GROUP BY who, step HAVING COUNT(*) = 1",
            ),
            ("later", "SELECT who AS whose, step - 1 AS before, state AS onto FROM course"),
            ("moves", "SELECT state, onto FROM course JOIN later ON who = whose AND step = before"),
        ]
        cell = f"state * {one.states} + onto"
        return statement(
            steps, f"SELECT 0 AS which, {cell} AS cell, COUNT(*) AS n FROM moves GROUP BY state, onto"
        )

    def edges(self, one: BoundedDegreesOf) -> str:
        """Ask for pairs of different ids, the smaller first, each pair once, in the order of their lots."""
        steps, last = self.rows.steps(self.rows.in_order(one.columns))
        a, b = map(self.rows.code, one.columns)
        levels = self.rows.schema.coded(one.columns[0]).levels
        ends = [f"CASE WHEN {a} < {b} THEN {first} ELSE {then} END" for first, then in ((a, b), (b, a))]
        named = f"{a} <> {b} AND {a} < {levels} AND {b} < {levels}"
        dialect = self.rows.engine.dialect
        parts = [quoted(self.rows.schema.sampling_key), whole_text("n0", dialect), whole_text("n1", dialect)]
        steps = [
            *steps,
            ("ends", f"SELECT {ends[0]} AS n0, {ends[1]} AS n1 FROM {last} WHERE {named}"),
            ("pairs", "SELECT DISTINCT n0, n1 FROM ends"),
            ("lots", f"SELECT n0, n1, {lot_of(parts, dialect)} AS lot FROM pairs"),
        ]
        return statement(steps, "SELECT n0, n1 FROM lots ORDER BY lot, n0, n1")

    def _columns(self, wanted: Sequence[Aggregate]) -> list[str]:
        return self.rows.in_order(name for one in wanted for name in one.reads)

    def _shared(self, wanted: Sequence[Aggregate]) -> Predicate | None:
        """Give the one condition of all, if there is one."""
        conditions = {one.where for one in wanted}
        return conditions.pop() if len(conditions) == 1 else None

    def _filter(self, shared: Predicate | None) -> str:
        return "" if shared is None or shared.is_everything else f" WHERE {self._holds(shared)}"

    def _holds(self, where: Predicate) -> str:
        return holds(where, {name: self.rows.code(name) for name in where.columns})

    def _cell(self, axes: Sequence[Axis], where: Predicate | None) -> str:
        """Number the cells, the last axis fastest; −1 outside the condition."""
        number = "0"
        for at, axis in enumerate(axes):
            cell = along(axis, self.rows.code(axis.column))
            number = f"({number}) * {axis.cells} + {cell}" if at else cell
        if where is None or where.is_everything:
            return number
        return f"CASE WHEN {self._holds(where)} THEN {number} ELSE -1 END"

    def _term(self, term: Term) -> str:
        largest = largest_term(term, self.rows.schema)
        kind = "BIGINT" if largest < SAFE_WHOLE else "DECIMAL(38, 0)"
        factors = [
            f"(CAST({self.rows.code(one.column)} AS {kind}) * {one.factor} + {one.offset})"
            for one in term.factors
            for _ in range(one.power)
        ]
        return " * ".join(factors) if factors else "1"

    def _sum(self, inside: str) -> str:
        """Add up without overflow, whatever the number of rows."""
        return (
            f"SUM(CAST({inside} AS DECIMAL(38, 0)))"
            if self.rows.engine.dialect == "pyspark"
            else f"SUM({inside})"
        )


def _narrow(size: int) -> str:
    """Name the smallest type that every engine has for so many codes."""
    return next((name for most, name in NARROW if size <= most), "BIGINT")


@dataclass(frozen=True)
class Prepared:
    """A plan with its statements; making them reads no rows."""

    plan: Plan
    singles: tuple[str, ...]
    tallies: tuple[tuple[Scan, CellTally], ...]
    tables: tuple[tuple[str, tuple[TableOf, ...]], ...]
    totals: tuple[tuple[str, tuple[TotalsOf, ...]], ...]
    folds: tuple[tuple[str, Folding], ...]
    own: tuple[tuple[str, tuple[DegreesOf | MovesOf | HomesOf, ...]], ...]
    edges: tuple[tuple[str, Fold], ...]

    def answers(self, reader: Reader) -> list[IntArray]:
        """Read the rows, once a statement."""
        singles: list[int] = []
        tables: dict[TableOf, IntArray] = {}
        totals: list[IntArray] = []
        folds: list[IntArray] = []
        for ask in self.singles:
            singles += [int(number or 0) for row in reader.rows(ask) for number in row]
        for scan, tally in self._said(self.tallies, len(self.singles)):
            tables |= zip(tally.tables, tally.split(reader.tallied(scan, tally.over)), strict=True)
        for ask, wanted in self._said(self.tables, len(self.singles) + len(self.tallies)):
            tables |= zip(wanted, _counts(reader.counts(ask), wanted), strict=True)
        for ask, asked in self._said(
            self.totals, self.scans - sum(map(len, (self.totals, self.folds, self.own)))
        ):
            totals += _sums(reader.rows(ask), asked)
        for ask, folding in self._said(self.folds, self.scans - len(self.folds) - len(self.own)):
            folds += map(whole, folding.split(reader.folded(ask, folding.over)))
        own = [
            counts
            for ask, alone in self._said(self.own, self.scans - len(self.own))
            for counts in _counts(reader.counts(ask), alone)
        ]
        cut = [whole(reader.in_turn(ask, fold)) for ask, fold in self.edges]
        named, moved = len(self.plan.degrees), len(self.plan.moves)
        report(READING, self.scans, self.scans)
        seen = own[:named], own[named:][:moved]
        found = Found(singles, tables, totals, folds, *seen, cut, own[named + moved :])
        return [make(found) for make in self.plan.makers]

    @property
    def scans(self) -> int:
        """How often the rows are read."""
        return sum(map(len, (self.singles, self.tallies, self.tables, self.totals, self.folds, self.own)))

    def _said(self, statements: Iterable[Asked], done: int) -> Iterator[Asked]:
        """Report each statement when its turn comes."""
        for at, one in enumerate(statements, done):
            report(READING, at, self.scans)
            yield one


def prepared(rows: CodedRows, plan: Plan) -> Prepared:
    """Write the statements of a plan."""
    asked = Statement(rows)
    tally = tallied(rows, plan.tables)
    by_engine = plan.merged() if tally is None else ()
    return Prepared(
        plan,
        (asked.singles(plan.singles),) if plan.singles else (),
        () if tally is None else (tally,),
        tuple((asked.tables(batch), batch) for batch in _batches(by_engine, MOST_SETS)),
        tuple((asked.totals(batch), batch) for batch in _batches(plan.totals, MOST_SUMS)),
        (asked.folds(plan.folds),) if plan.folds else (),
        (
            *((asked.degrees(one), (one,)) for one in plan.degrees),
            *((asked.moves(one), (one,)) for one in plan.moves),
            *((households_in(rows, [one.table for one in batch]), batch) for batch in plan.homes),
        ),
        tuple(
            (asked.edges(one), degree_counts(one, rows.schema.coded(one.columns[0]).levels))
            for one in plan.bounded
        ),
    )


def _batches(wanted: tuple[One, ...], most: int) -> Iterator[tuple[One, ...]]:
    for start in range(0, len(wanted), most):
        yield wanted[start : start + most]


def _counts(found: IntArray, wanted: Sequence[TableOf | DegreesOf | MovesOf | HomesOf]) -> list[IntArray]:
    """Lay (table, cell, count) rows out as whole tables; what was not found is 0, what is outside is left out."""
    inside = found[found[:, 1] >= 0]
    cells = []
    for at, one in enumerate(wanted):
        mine = inside[inside[:, 0] == at]
        table = np.zeros(one.cells, dtype=np.int64)
        table[mine[:, 1]] = mine[:, 2]
        cells.append(table)
    return cells


def _sums(found: Sequence[tuple[Any, ...]], wanted: Sequence[TotalsOf]) -> list[IntArray]:
    cells = [[0] * one.cells for one in wanted]
    for row in found:
        at = next(at for at in range(len(wanted)) if row[at] is not None)
        if row[at] >= 0:
            cells[at][row[at]] = int(row[len(wanted) + at] or 0)
    return [whole(numbers) for numbers in cells]
