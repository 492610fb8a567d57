"""Which columns of an edge list are the two ends and the strength, and whether its first row is a header."""

import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Self

from entwined.dependence.contents import UTF8_MARK
from entwined.errors import BadModel

LOG_ODDS: Final = ("log_odds",)
COEFFICIENTS: Final = ("coefficient", "coefficient_back")
TWO_WAYS: Final = "log_odds_back"
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
NO_END: Final = re.compile(r"|#|id|index|row|weight|unnamed.*|.*edge.*|log_odds|coefficient(_back)?")
NUMBER: Final = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")
INTEGER: Final = re.compile(r"\s*-?[0-9]+\s*")
LINE_ENDS: Final = re.compile(rb"[\r\n]*")
BLANKS: Final = re.compile(rb"\s*")
LINE: Final = re.compile(rb"[^\r\n]*")
ADVICE: Final = "Call the two columns source and target."


@dataclass(frozen=True, slots=True)
class Columns:
    """How the rows read: where they start, what divides them, and which columns are what.

    `strengths` are the columns of the strengths that are there, by their names.
    """

    start: int
    delimiter: str
    count: int
    ends: tuple[int, int]
    strengths: dict[str, int]
    clear: bool

    @classmethod
    def of(cls, data: bytes, wanted: Sequence[str] = LOG_ODDS) -> Self:
        """Look at the first row: it is a header unless its first two cells are integers."""
        at = LINE_ENDS.match(data, len(UTF8_MARK) if data.startswith(UTF8_MARK) else 0).end()  # type: ignore[union-attr]  # may be empty
        cells, delimiter, stop = first_row(data, at)
        if not all(INTEGER.fullmatch(cell) for cell in cells[:2]):
            return cls.headed(cells, delimiter, stop, wanted)
        if len(cells) > 2:  # noqa: PLR2004  (an edge has two ends)
            raise BadModel(f"The rows have {len(cells)} columns and no header to tell them apart. {ADVICE}")
        return cls(at, delimiter, 2, (0, 1), {}, clear=True)

    @classmethod
    def headed(cls, cells: list[str], delimiter: str, start: int, wanted: Sequence[str]) -> Self:
        """Find the ends and the strengths by their names."""
        names = [cell.strip().lower() for cell in cells]
        twice = next((name for name in wanted if names.count(name) > 1), None)
        if twice is not None:
            raise BadModel(f'The header has two columns "{twice}". Keep one.')
        strengths = {name: names.index(name) for name in wanted if name in names}
        refuse_directions(names, strengths, wanted)
        words = [FILLER.sub("", name) for name in names]
        for known in (names, words):
            for one, other in PAIRS:
                if known.count(one) == 1 and known.count(other) == 1:
                    ends = (known.index(one), known.index(other))
                    return cls(start, delimiter, len(cells), ends, strengths, clear=True)
        for name in names[:2]:
            if NUMBER.fullmatch(name):
                raise BadModel(
                    f"The first row has the number {name:.40} but is no pair of integers. Add a header."
                )
            if NO_END.fullmatch(name):
                raise BadModel(f"The column {name!r:.40} of the header is no end of an edge. {ADVICE}")
        return cls(start, delimiter, len(cells), (0, 1), strengths, clear=bool(strengths))

    def empty(self, data: bytes) -> bool:
        """Whether no row follows the header."""
        blank = BLANKS.match(data, self.start)
        return blank is not None and blank.end() == len(data)

    def refuse_unclear(self) -> None:
        """Refuse names where the first row could be an edge: one lost edge can break every promise."""
        if not self.clear:
            raise BadModel(f"The ends are names, and the first row may be an edge or a header. {ADVICE}")


def refuse_directions(names: Sequence[str], strengths: Collection[str], wanted: Sequence[str]) -> None:
    """Refuse a strength that has a direction where there is none, and the way back without the way there."""
    if TWO_WAYS in names and wanted == LOG_ODDS:
        raise BadModel(
            f'The column "{TWO_WAYS}" gives an edge a second strength, and a log odds ratio is the same from either '
            'end. Give the larger one alone, or declare a model of kind "ties", whose coefficients have directions.'
        )
    if COEFFICIENTS[1] in strengths and COEFFICIENTS[0] not in strengths:
        raise BadModel(
            f'The header has "{COEFFICIENTS[1]}" and no "{COEFFICIENTS[0]}". Give both, or the latter.'
        )


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
