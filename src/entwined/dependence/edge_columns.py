"""Which columns of an edge list are the two ends and the strength, and whether its first row is a header."""

import csv
import re
from dataclasses import dataclass
from typing import Final, Self

from entwined.dependence.contents import UTF8_MARK
from entwined.errors import BadModel

STRENGTH: Final = "log_odds"
LONGEST_ROW: Final = 65_536
PAIRS: Final = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("tail", "head"),
    ("left", "right"),
    ("parent", "child"),
    ("ego", "alter"),
)
FILLER: Final = re.compile(r"[^a-z]|node|vertex|person|user|unit|name|id")
NO_END: Final = re.compile(r"|#|id|index|row|weight|unnamed.*|.*edge.*|log_odds")
NUMBER: Final = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")
INTEGER: Final = re.compile(r"\s*-?[0-9]+\s*")
LINE_ENDS: Final = re.compile(rb"[\r\n]*")
BLANKS: Final = re.compile(rb"\s*")
LINE: Final = re.compile(rb"[^\r\n]*")
ADVICE: Final = "Call the two columns source and target."


@dataclass(frozen=True, slots=True)
class Columns:
    """How the rows read: where they start, what divides them, and which columns are what."""

    start: int
    delimiter: str
    count: int
    ends: tuple[int, int]
    strength: int | None
    clear: bool

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Look at the first row: it is a header unless its first two cells are integers."""
        at = LINE_ENDS.match(data, len(UTF8_MARK) if data.startswith(UTF8_MARK) else 0).end()  # type: ignore[union-attr]  # may be empty
        cells, delimiter, stop = first_row(data, at)
        if not all(INTEGER.fullmatch(cell) for cell in cells[:2]):
            return cls.headed(cells, delimiter, stop)
        if len(cells) > 2:  # noqa: PLR2004  (an edge has two ends)
            raise BadModel(f"The rows have {len(cells)} columns and no header to tell them apart. {ADVICE}")
        return cls(at, delimiter, 2, (0, 1), None, clear=True)

    @classmethod
    def headed(cls, cells: list[str], delimiter: str, start: int) -> Self:
        """Find the ends and the strength by their names."""
        names = [cell.strip().lower() for cell in cells]
        if names.count(STRENGTH) > 1:
            raise BadModel(f'The header has two columns "{STRENGTH}". Keep one.')
        strength = names.index(STRENGTH) if STRENGTH in names else None
        words = [FILLER.sub("", name) for name in names]
        for known in (names, words):
            for one, other in PAIRS:
                if known.count(one) == 1 and known.count(other) == 1:
                    ends = (known.index(one), known.index(other))
                    return cls(start, delimiter, len(cells), ends, strength, clear=True)
        for name in names[:2]:
            if NUMBER.fullmatch(name):
                raise BadModel(
                    f"The first row has the number {name:.40} but is no pair of integers. Add a header."
                )
            if NO_END.fullmatch(name):
                raise BadModel(f"The column {name!r:.40} of the header is no end of an edge. {ADVICE}")
        return cls(start, delimiter, len(cells), (0, 1), strength, clear=strength is not None)

    def empty(self, data: bytes) -> bool:
        """Whether no row follows the header."""
        blank = BLANKS.match(data, self.start)
        return blank is not None and blank.end() == len(data)

    def refuse_unclear(self) -> None:
        """Refuse names where the first row could be an edge: one lost edge can break every promise."""
        if not self.clear:
            raise BadModel(f"The ends are names, and the first row may be an edge or a header. {ADVICE}")


def first_row(data: bytes, start: int) -> tuple[list[str], str, int]:
    """Read the cells of the first row, what divides them, and where the row stops."""
    line = LINE.match(data, start, start + LONGEST_ROW)
    if line is None or line.end() - start >= LONGEST_ROW:
        raise BadModel(f"The first row has more than {LONGEST_ROW} bytes. Give one edge a row.")
    try:
        text = line.group().decode("utf-8")
        delimiter = "\t" if "\t" in text and "," not in text else ","
        cells = next(csv.reader([text], delimiter=delimiter), [])
    except (UnicodeDecodeError, csv.Error):
        raise BadModel("The first row is not UTF-8 text. Save the file as UTF-8 text.") from None
    if len(cells) < 2:  # noqa: PLR2004  (an edge has two ends)
        raise BadModel("The first row has one column. Separate the ends of an edge by a comma or a tab.")
    return cells, delimiter, line.end()
