"""Bands: a public, coarser look at a column of numbers or times, such as ages in groups or days in months.

Bands are ranges of the column's codes that follow each other: every code is in exactly one of them, and missing in
none. So a band is a function of the code, whoever asks for bands reads the column and nothing else, and what falls
outside the column's bounds, or is missing, has the fate that the column declares.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.schema.column import LONGEST_NAME, Value
from entwined.schema.exact import exact_number, number_text
from entwined.schema.raw import is_text, is_whole, moment_of

MOST_BANDS: Final = 10_000
CodeRange: TypeAlias = tuple[int, int]  # both ends inside
Begin: TypeAlias = tuple[str, object]
"""Where a band begins, with its label; one without a label is named by its first and last value."""


class Comparable(Protocol):
    """What a condition compares with constants: a column, or bands of one."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def read(self) -> str:
        """The column that is read."""

    @property
    def size(self) -> int:
        """How many codes the column has, the one for missing included."""

    @property
    def levels(self) -> int:
        """How many values there are to compare with."""

    @property
    def has_order(self) -> bool:
        """Whether one value can be above another."""

    def position(self, constant: object) -> Fraction:
        """Say exactly where a constant lies among the values."""

    def codes(self, low: int, high: int) -> CodeRange:
        """Give the codes of the column that have values from one place to another."""


@dataclass(frozen=True, slots=True)
class Bands:
    """Ranges of a column's codes, by the first code of each, and their labels.

    `values` are what conditions compare bands with: numbers or times in their order, or nothing but the labels.
    `every` is the rule that the bands were made by, where they are even or periods of the calendar.
    """

    column: str
    size: int
    starts: tuple[int, ...]
    labels: tuple[str, ...]
    name: str = ""
    values: tuple[datetime, ...] | tuple[Fraction, ...] = field(default=(), compare=False, repr=False)
    every: str | int = field(default="", compare=False, repr=False)
    kind: ClassVar[str] = "bands"

    def __post_init__(self) -> None:
        many = f"{self.what.capitalize()} are {len(self.starts):,}"
        if not 1 <= len(self.starts) <= MOST_BANDS:
            raise BadQuery(f"{many}. Cut a column into 1 to {MOST_BANDS:,} bands.")
        rising = all(one < two for one, two in zip(self.starts, self.starts[1:], strict=False))
        if self.starts[0] != 0 or not rising or self.starts[-1] >= self.size - 1:
            raise BadQuery(f"{many} that do not follow each other from the first code on. Cut it in order.")
        if len(self.labels) != len(self.starts) or len(set(self.labels)) < len(self.labels):
            twice = Counter(self.labels).most_common(1)[0][0] if self.labels else ""
            raise BadQuery(
                f"{many}, and {twice!r} is the label of several. Give each band a label of its own."
            )

    @property
    def what(self) -> str:
        """What they are, in words."""
        return f"{self.name or 'bands'} of {self.column}"

    @property
    def read(self) -> str:
        """The column that is read."""
        return self.column

    @property
    def levels(self) -> int:
        """How many bands there are."""
        return len(self.starts)

    @property
    def has_order(self) -> bool:
        """Whether a band can be above another: labels of one's own say nothing of an order."""
        return bool(self.values)

    def codes(self, low: int, high: int) -> CodeRange:
        """Give the codes of some bands that follow each other."""
        after = self.starts[high + 1] if high + 1 < self.levels else self.size - 1
        return self.starts[low], after - 1

    def position(self, constant: object) -> Fraction:
        """Say which band a constant is the label or value of, or between which two it lies."""
        if is_text(constant) and constant in self.labels:
            return Fraction(self.labels.index(constant))
        times = bool(self.values) and isinstance(self.values[0], datetime)
        found: Any = moment_of(constant) if times else None if is_text(constant) else exact_number(constant)
        if not self.values or found is None:
            shown = ", ".join(f"'{label}'" for label in self.labels[:5]) + (", …" if self.levels > 5 else "")  # noqa: PLR2004  (enough to see)
            kind = ", or a time" if times else ", or a number" if self.values else ""
            raise BadQuery(
                f"{self.what.capitalize()} is compared with {constant!r}. Give a band: {shown}{kind}."
            )
        at = bisect_left(self.values, found)
        return Fraction(at) if at < self.levels and self.values[at] == found else at - Fraction(1, 2)

    @property
    def document(self) -> Document:
        """The bands as they stand in a question."""
        named = {"name": self.name} if self.name else {}
        cut = {"size": self.size, "starts": list(self.starts), "labels": list(self.labels)}
        return {"column": self.column, **named, **cut}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> "Bands":
        """Read bands back; refuse what no bands could have written."""
        match given:
            case {"column": str(column), "size": int(size), "starts": [*starts], "labels": [*labels]} if all(
                map(is_whole, (size, *starts))
            ) and all(map(is_text, (*labels, given.get("name", "")))):
                found = cls(column, size, tuple(starts), tuple(labels), given.get("name", ""))
                if found.document == given:
                    return found
        raise BadQuery(f"{given!r:.100} are no bands that entwined wrote.")


class Cuttable(Protocol):
    """What bands have to know of a column."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def levels(self) -> int:
        """How many codes stand for values."""

    def position(self, constant: object) -> Fraction:
        """Say exactly where a constant lies among the codes."""

    def value(self, code: int) -> Value:
        """Give the value that a code stands for."""

    def spoken(self, code: int) -> str:
        """Write the value that a code stands for."""

    def periods(self, every: str | int) -> "Periods":
        """Give where even bands, or periods of the calendar, begin."""


class Periods(Protocol):
    """Where the bands of a rule begin, in values, and how each is called; no label names it by its ends."""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Go through them in order."""


def bands_of(column: Cuttable, rule: object, name: str = "") -> Bands:
    """Cut a column by a rule as schema files write it: every so much, at these values, or by labels.

    >>> from entwined.schema import Integer
    >>> bands_of(Integer("age", 0, 99), [18, 65]).labels
    ('0 to 17', '18 to 64', '65 to 99')
    """
    width = exact_number(rule)
    if width is not None:
        return _every(column, int(width) if width.denominator == 1 else number_text(width), name)
    if isinstance(rule, str):
        return _every(column, rule, name)
    begins: list[Begin]
    match rule:
        case Mapping():
            begins = [(label, begin) for label, begin in rule.items()]
        case list() | tuple():
            begins = [("", begin) for begin in rule]
            if begins and column.position(begins[0][1]) > 0:
                begins = [("", column.value(0)), *begins]
        case _:
            raise BadQuery(
                f"Bands of {column.name} by {rule!r:.60}. Give a width, a list of values or a table."
            )
    if not 1 <= len(begins) <= MOST_BANDS:
        raise BadQuery(f"Bands of {column.name}: {len(begins):,} of them. Give 1 to {MOST_BANDS:,}.")
    return cut(column, begins, name)


def cut(column: Cuttable, begins: Sequence[Begin], name: str = "") -> Bands:
    """Cut a column where bands begin; refuse what leaves a value in no band, or a band without a value."""
    starts: list[int] = []
    for label, begin in begins:
        at = max(math.ceil(column.position(begin)), 0)
        said = f"The band {label or str(begin)!r} of {column.name} begins at {begin}"
        if not starts and at > 0:
            raise BadQuery(f"{said}, and lower values are in no band. Begin the first at {column.spoken(0)}.")
        if starts and at <= starts[-1]:
            raise BadQuery(
                f"{said}, not above where the one before begins. Write bands from low to high, none empty."
            )
        if at >= column.levels:
            raise BadQuery(f"{said}, above every value of the column. Leave it out.")
        starts.append(at)
    labels = [label or ends for (label, _), ends in zip(begins, _ends(column, starts), strict=True)]
    return Bands(column.name, column.levels + 1, tuple(starts), checked_labels(labels, column.name), name)


def _every(column: Cuttable, every: str | int, name: str) -> Bands:
    begins = list(column.periods(every))
    starts = [max(math.ceil(column.position(value)), 0) for _, value in begins]
    labels = [label or ends for (label, _), ends in zip(begins, _ends(column, starts), strict=True)]
    values = tuple(value for _, value in begins)
    return Bands(column.name, column.levels + 1, tuple(starts), tuple(labels), name, values, every)


def _ends(column: Cuttable, starts: Sequence[int]) -> Iterator[str]:
    """Name bands by their first and last value."""
    for first, after in zip(starts, (*starts[1:], column.levels), strict=True):
        low, high = column.spoken(first), column.spoken(max(after - 1, first))
        yield low if low == high else f"{low} to {high}"


def checked_labels(labels: Sequence[object], column: str) -> tuple[str, ...]:
    """Refuse labels that are no texts that people can read."""
    for label in labels:
        if not isinstance(label, str) or not 1 <= len(label) <= LONGEST_NAME or not label.isprintable():
            raise BadQuery(f"A band of {column} has the label {label!r:.60}. Give a text on one line.")
    return tuple(map(str, labels))
