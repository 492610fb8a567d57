"""IncomingLines that come in: each is a row, and a step ends with its line, or when a later step begins.

Each line is read by itself, so that no row has a say in how another one is read. A field that is not there is missing;
what is too much in a line is left out. A step that nobody mentions is there all the same, with no rows.
"""

import csv
import os
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from entwined.dependence import LearnedFrom
from entwined.errors import BadTable, HolderError, Refused
from entwined.mechanisms.streams.stream import Late
from entwined.queries import Aggregate
from entwined.schema import Coded, Schema, Text
from entwined.tables.fingerprint import RowSums
from entwined.tables.lots import lot, spelled_id
from entwined.tables.origin import Known
from entwined.tables.table import Table

CHUNK: Final = 1 << 16
LONGEST: Final = 1 << 20  # bytes of a line; what is behind them is too much
MOST_REMEMBERED: Final = 1 << 16
LATE: Final = (
    "A row of step {step:,} came in after that step was answered, and this stream refuses late rows. Nothing of it was "
    'used. Take it out, or begin a stream with late = "drop", which is charged.'
)
NO_HEADER: Final = "Nothing came in, not even a line with the names of the columns. Give a CSV with a header."
Fields: TypeAlias = tuple[str | None, ...]
Codes: TypeAlias = tuple[int, ...]
Whose: TypeAlias = int | str | None


class IncomingRow(NamedTuple):
    """The codes of a row, which series it is of, where there are some, and what else it names."""

    codes: Codes
    whose: Whose = None
    ids: tuple[str, ...] = ()


class IncomingLines:
    """The lines of a file or pipe as they come in, the header first."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._rest, self._lines = descriptor, b"", deque[bytes]()
        self.ended = False
        self.header = tuple(_fields(next(self._first())))

    def waiting(self) -> Iterator[list[str]]:
        """Give the fields of the lines that are there; wait for one if none is."""
        while not self._lines and not self.ended:
            self._more()
        while self._lines:
            yield _fields(self._lines.popleft())

    def _first(self) -> Iterator[bytes]:
        while not self._lines and not self.ended:
            self._more()
        if not self._lines:
            raise BadTable(NO_HEADER)
        yield self._lines.popleft()

    def _more(self) -> None:
        chunk = os.read(self._descriptor, CHUNK)
        *whole, rest = (self._rest + chunk).split(b"\n")
        self._rest = rest[:LONGEST]
        self._lines.extend(line[:LONGEST] for line in whole)
        if not chunk:
            self.ended = True
            if self._rest:
                self._lines.append(self._rest)


def _fields(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace").removesuffix("\r").removeprefix("\ufeff")
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text]), [])
    except csv.Error:  # a cell that is too long for it: the row has no field that can be read
        return []


class StepsIn:
    """Rows by step: the aggregate that is asked for is that of the next step, and then of the one after it."""

    def __init__(  # noqa: PLR0913
        self,
        schema: Schema,
        name: str,
        lines: IncomingLines,
        *,
        step: str | None,
        late: Late,
        again: bool = True,
        ends: bool = True,
        series: str | None = None,
        file: Table | None = None,
    ) -> None:
        """`again`: lines of steps that were answered come in again. `ends`: the last step ends with the input.

        With `series` one row a step counts of those that share a value of that column. `file` is the table that a file
        is so far, where the rows come from one.
        """
        self._schema, self._name, self._lines, self._step, self._late = schema, name, lines, step, late
        self._columns = [one for one in schema.columns if isinstance(one, Coded)]
        self._names = [one.name for one in self._columns]
        missing = [one for one in (*self._names, *([series] if series else [])) if one not in lines.header]
        if missing:
            raise BadTable(
                f"No column {missing[0]!r} comes in. Give a header with every column of the schema."
            )
        self._places = [lines.header.index(one.name) for one in self._columns]
        self._answered, self._skip, self._repeats, self._too_late = 0, 0, again, 0
        self._again, self._resumed = True, False
        self._place_of_step = self._names.index(step) if step is not None else 0
        self._ends, self._series, self._file = ends, series, file
        self._sums = RowSums.under(schema)
        self._ids = [
            (lines.header.index(one.name), one)
            for one in schema.columns
            if isinstance(one, Text) and one.compare and one.name != series and one.name in lines.header
        ]
        self._open: list[IncomingRow] = []
        self._done = deque[list[IncomingRow]]()
        self._coded: dict[Fields, Codes] = {}
        self._values: dict[Codes, int] = {}

    @property
    def schema(self) -> Schema:
        """What is public about it."""
        return self._schema

    @property
    def identity(self) -> str:
        """A stream is known by its name: what comes in later is the same stream."""
        return f"stream {self._name}"

    @property
    def known(self) -> Known:
        """What the rows are known by before they are read: the place and bytes of their file; a pipe has none."""
        return Known() if self._file is None else self._file.known

    @property
    def folder(self) -> Path | None:
        """The folder of the file that is followed."""
        return None if self._file is None else self._file.folder

    def fingerprint(self) -> LearnedFrom | None:
        """Read the fingerprint of the rows that the file holds."""
        return None if self._file is None else self._file.fingerprint()

    @property
    def rows_so_far(self) -> LearnedFrom | None:
        """The fingerprint of the rows that came in, where all of them did since the first step."""
        return self._sums.fingerprint if self._repeats or not self._resumed else None

    def holds(self, public: LearnedFrom) -> bool:
        """Say whether the file's rows are those of a table that is called public; of a pipe nobody can tell."""
        return self._file is not None and self._file.holds(public)

    def keeping(self, column: str, most: int, first: str | None = None) -> "StepsIn":  # noqa: ARG002
        """Keep one row a step of those that share a value in a column: as it was opened, or not at all."""
        if first is None or (column, first) != (self._series, self._step):
            raise Refused(
                f"Rows that share a value of {column!r} come in over all steps, and none can be taken back. Declare a "
                "series by that column, ordered by the step."
            )
        return self

    def check(self, aggregates: Sequence[Aggregate]) -> None:
        """Refuse what is not one sum a row."""
        if any(one.cells != 1 or one.sides for one in aggregates):
            raise Refused("A stream adds up one number a step. Ask for a count or a total.")

    def behind(self, steps: int) -> None:
        """Go on behind the steps that were answered."""
        self._answered, self._skip, self._resumed = steps, steps if self._repeats else 0, steps > 0

    def ready(self, most: int) -> int:
        """Wait for a step to end, and say how many have; 0 where no more comes."""
        while not self._done and most > 0 and not (self._lines.ended and not self._open):
            for fields in self._lines.waiting():
                self._take(fields)
                if self._too_late:
                    break
            if self._too_late:
                break
            if self._lines.ended:
                if self._ends and self._open and self._step is not None:
                    self._done.append(self._open)
                self._open = []
                break
        if self._too_late and not self._done and most > 0:
            raise HolderError(LATE.format(step=self._too_late))
        return min(len(self._done), most)

    def answer(self, aggregates: Sequence[Aggregate]) -> list[list[int]]:
        """Add up the next steps, one an aggregate."""
        found = [[self._sum(one, self._done.popleft())] for one in aggregates]
        self._answered += len(found)
        return found

    def _take(self, fields: list[str]) -> None:
        codes = self._codes(fields)
        self._sums.add(dict(zip(self._names, codes, strict=True)))
        if self._step is None:
            if self._skip:
                self._skip -= 1
            else:
                self._done.append([IncomingRow(codes)])
            return
        at = self._place_of_step
        if codes[at] != self._columns[at].missing_code:  # a row of no step is in none
            self._place(IncomingRow(codes, self._whose(fields), self._named(fields)), codes[at] + 1)

    def _named(self, fields: list[str]) -> tuple[str, ...]:
        """Spell the ids that are part of what a row holds, where one row of a series is picked."""
        if self._series is None:
            return ()
        return tuple(
            spelled_id(column.form((fields[at] if at < len(fields) else "") or None) or "")
            for at, column in self._ids
        )

    def _whose(self, fields: list[str]) -> Whose:
        """Say which series a row is of."""
        if self._series is None:
            return None
        at = self._lines.header.index(self._series)
        raw = fields[at] if at < len(fields) and fields[at] else None
        column = self._schema.grouping(self._series)
        if isinstance(column, Text):
            return column.form(raw)
        coded = self._schema.coded(self._series)
        code = coded.encode(raw)
        return None if code == coded.missing_code else code

    def _place(self, row: IncomingRow, step: int) -> None:
        """Put a row into the open step, end steps before it, or let it have the fate of late rows."""
        current = self._answered + len(self._done) + 1
        if step < current:
            if not self._again and self._late == "refuse":
                self._too_late = step
            return
        self._again = False
        for _ in range(step - current):
            self._done.append(self._open)
            self._open = []
        self._open.append(row)

    def _codes(self, fields: list[str]) -> Codes:
        read: Fields = tuple(fields[at] if at < len(fields) and fields[at] else None for at in self._places)
        if read not in self._coded:
            if len(self._coded) >= MOST_REMEMBERED:
                self._coded.clear()
            self._coded[read] = tuple(
                column.encode(raw) for column, raw in zip(self._columns, read, strict=True)
            )
        return self._coded[read]

    def _sum(self, aggregate: Aggregate, rows: list[IncomingRow]) -> int:
        return sum(self._value(aggregate, row.codes) for row in self._kept(rows))

    def _kept(self, rows: list[IncomingRow]) -> Sequence[IncomingRow]:
        """Of a series one row a step, by lot, as `tables.picking` has it; a row of no series is left out."""
        if self._series is None:
            return rows
        named = sorted((one for one in rows if one.whose is not None), key=lambda one: (one.codes, one.ids))
        often = Counter[IncomingRow]()
        picked: dict[Whose, tuple[int, IncomingRow]] = {}
        for row in named:
            often[row] += 1
            parts = (*map(str, row.codes), *row.ids, str(often[row]))
            drawn = lot([self._schema.sampling_key, spelled_id(row.whose), *parts])
            if row.whose not in picked or drawn < picked[row.whose][0]:
                picked[row.whose] = drawn, row
        return [row for _, row in picked.values()]

    def _value(self, aggregate: Aggregate, codes: Codes) -> int:
        """What a row adds: nothing outside the condition, else 1 or its term."""
        if codes not in self._values:
            if len(self._values) >= MOST_REMEMBERED:
                self._values.clear()
            by_name: Mapping[str, int] = dict(zip(self._names, codes, strict=True))
            factors = aggregate.adds.factors if aggregate.adds is not None else ()
            inside = aggregate.where.holds(by_name)
            self._values[codes] = prod(one.value(by_name[one.column]) for one in factors) if inside else 0
        return self._values[codes]
