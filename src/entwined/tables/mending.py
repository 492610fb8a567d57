"""CSV rows that are malformed have a fate of their own, and it is nobody else's: each stays one row.

Too few cells: the others are missing. Too many, a quote out of place or never closed, a row that is too long: all of
its cells are missing. A cell that is not UTF-8 is missing. Rows that are well formed are written as they are, so that
they read as they would without the malformed ones. A row of several lines is one only if all of its cells are there;
else its first line is a malformed row, and reading starts again at the second.
"""

import gzip
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from entwined.tables.limits import require_time

ROWS_AT_ONCE: Final = 4096
LONGEST_ROW: Final = 2_000_000  # bytes
PIECE: Final = 1 << 20
QUOTE: Final = b'"'
QUOTED: Final = re.compile(rb'"((?:[^"]++|"")*+)" *+')
OPENING: Final = re.compile(rb' *+(?=")')


class Lines(NamedTuple):
    """Lines behind an open quote, and whether the last of them closes it."""

    lines: list[bytes]
    closes: bool


@dataclass(frozen=True, slots=True)
class LineLayout:
    """How a CSV file is written: its columns, the delimiter between them, and what ends a line."""

    columns: int
    delimiter: bytes
    ending: bytes

    @property
    def last(self) -> bytes:
        """The sign at the end of every line."""
        return self.ending[-1:]

    @property
    def nothing(self) -> bytes:
        """A row without a value."""
        return self.delimiter * (self.columns - 1) or QUOTE * 2

    def rows(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
        """Give every row in a form that can be read, and whether it is malformed."""
        waiting: deque[bytes] = deque()
        source = iter(lines)
        while (line := _next(waiting, source)) is not None:
            if len(line) > LONGEST_ROW:
                yield self.nothing, True
            elif QUOTE in line:
                yield self._quoted(line, waiting, source)
            elif (bare := self._ended(line)) or self.columns == 1:
                yield self._row(bare, bare.split(self.delimiter))

    def _ended(self, record: bytes) -> bytes:
        return record if self.last == b"\r" else record.removesuffix(b"\r")

    def _quoted(self, first: bytes, waiting: deque[bytes], source: Iterator[bytes]) -> tuple[bytes, bool]:
        """Take further lines while a quote is open, and give them back if that leads nowhere."""
        taken: list[bytes] = []
        record = self._ended(first)
        cells = self._cells(record)
        while isinstance(cells, int):
            more = self._until_closed(waiting, source, LONGEST_ROW - len(record))
            taken += more.lines
            if not more.closes:
                cells = None
                break
            record = self._ended(self.last.join([first, *taken]))
            cells = self._cells(record)
        if taken and (cells is None or len(self._wanted(cells)) != self.columns):
            waiting.extendleft(reversed(taken))
            return self.nothing, True
        return self._row(record, cells)

    def _until_closed(self, waiting: deque[bytes], source: Iterator[bytes], room: int) -> "Lines":
        """Take lines up to one that closes a quote: all quotes before it stand in pairs."""
        taken: list[bytes] = []
        while (line := _next(waiting, source)) is not None:
            taken.append(line)
            room -= len(line) + 1
            if room < 0 or line.count(QUOTE) % 2:
                return Lines(taken, closes=room >= 0)
        return Lines(taken, closes=False)

    def _cells(self, record: bytes) -> list[bytes] | int | None:
        """Cut a row into its cells; None if a quote is out of place, where it opens if it is still open."""
        cells: list[bytes] = []
        at = 0
        while True:
            opening = OPENING.match(record, at)
            if opening:
                quoted = QUOTED.match(record, opening.end())
                if quoted is None:
                    return opening.end()
                cells.append(quoted[1].replace(QUOTE * 2, QUOTE))
                at = quoted.end()
                if not record.startswith(self.delimiter, at) and at < len(record):
                    return None
            else:
                end = record.find(self.delimiter, at)
                cells.append(record[at:] if end < 0 else record[at:end])
                at += len(cells[-1])
            if at >= len(record):
                return cells
            at += 1

    def _wanted(self, cells: list[bytes]) -> list[bytes]:
        """Leave out empty cells behind the last column, as some programs write them."""
        return cells if any(cells[self.columns :]) else cells[: self.columns]

    def _row(self, record: bytes, cells: list[bytes] | None) -> tuple[bytes, bool]:
        """Write a row as it is if it can be read, else by its cells."""
        wanted = [] if cells is None else self._wanted(cells)
        if cells is None or len(wanted) > self.columns:
            return self.nothing, True
        malformed = len(wanted) < self.columns or not all(map(_is_text, wanted))
        if not malformed and b"\n" not in record and b"\r" not in record:
            return record, False
        kept = [cell if _is_text(cell) else b"" for cell in wanted] + [b""] * (self.columns - len(wanted))
        row = self.delimiter.join(cell and QUOTE + cell.replace(QUOTE, QUOTE * 2) + QUOTE for cell in kept)
        return row or self.nothing, malformed


def _next(waiting: deque[bytes], source: Iterator[bytes]) -> bytes | None:
    return waiting.popleft() if waiting else next(source, None)


def _is_text(cell: bytes) -> bool:
    if cell.isascii():
        return True
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def lines_of(file: IO[bytes], last: bytes) -> Iterator[bytes]:
    """Cut a file into lines; of one that is too long no more is kept than shows it."""
    held = b""
    while piece := file.read(PIECE):
        head, *rest = piece.split(last)
        held += head[: max(LONGEST_ROW + 1 - len(held), 0)]
        for line in rest:
            yield held
            held = line
    if held:
        yield held


def mend(source: Path, layout: LineLayout, target: Path) -> int:
    """Write a file whose rows can all be read, and give the number of rows that were malformed."""
    opener = gzip.open if source.suffix == ".gz" else open
    draft = target.with_suffix(".part")
    wrong = 0
    with cast("IO[bytes]", opener(source, "rb")) as file, draft.open("wb") as written:
        lines = lines_of(file, layout.last)
        next(lines, None)
        written.write(layout.delimiter.join([b"c"] * layout.columns) + b"\n")
        for at, (row, malformed) in enumerate(layout.rows(lines)):
            if at % ROWS_AT_ONCE == 0:
                require_time()
            written.write(row + b"\n")
            wrong += malformed
    draft.replace(target)
    return wrong
