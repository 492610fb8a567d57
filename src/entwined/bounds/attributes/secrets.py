"""Secrets about a whole column: which facts about it must not be told apart, and by how much."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadInput

Figure: TypeAlias = Literal["share", "count", "mean"]
Reading: TypeAlias = Literal["worst point", "averaged"]
Level: TypeAlias = Literal["table", "law"]
FIGURES: Final[tuple[Figure, ...]] = get_args(Figure)
READINGS: Final[tuple[Reading, ...]] = get_args(Reading)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
LEAST_DELTA: Final = Fraction(1, 10**9)
LARGEST_DELTA: Final = Fraction(1, 10)
LARGEST_EPSILON: Final = 20
MOST_ROWS: Final = 10**9
LARGEST_END: Final = 10**100  # whose square is still a float


@dataclass(frozen=True, slots=True)
class Span:
    """All numbers from one to another, the ends among them.

    >>> str(Span.of([0.25, "0.5"])), Span.of(3).is_point
    ('0.25 to 0.5', True)
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if max(abs(self.low), abs(self.high)) > LARGEST_END:
            raise BadInput("A span has an end beyond 1e100 in size. Give numbers below that.")
        if self.low > self.high:
            raise BadInput(
                f"A span from {float(self.low):g} down to {float(self.high):g}. Give the lower end first."
            )

    @classmethod
    def of(cls, given: object) -> Self:
        """Read a number, or its two ends."""
        if isinstance(given, cls):
            return given
        ends = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given, given]
        try:
            low, high = (end if isinstance(end, Fraction) else Fraction(str(end)) for end in ends)
        except (ValueError, ZeroDivisionError):
            raise BadInput(f"{given!r:.60} is no span. Give a number, or two as [0.25, 0.5].") from None
        return cls(low, high)

    @property
    def is_point(self) -> bool:
        """Whether it holds one number alone."""
        return self.low == self.high

    @property
    def furthest(self) -> Fraction:
        """The largest size of a number in it."""
        return max(abs(self.low), abs(self.high))

    def holds(self, number: Fraction) -> bool:
        """Whether a number is in it."""
        return self.low <= number <= self.high

    def furthest_from(self, other: "Span") -> Fraction:
        """The largest distance of a number in one from a number in the other."""
        return max(abs(self.high - other.low), abs(other.high - self.low))

    @property
    def document(self) -> list[str]:
        """The two ends."""
        return [fraction_text(self.low), fraction_text(self.high)]

    @classmethod
    def from_document(cls, given: Sequence[str]) -> Self:
        """Read the two ends."""
        low, high = map(fraction_from, given)
        return cls(low, high)

    def __str__(self) -> str:
        """Say it in digits."""
        return f"{float(self.low):g}" if self.is_point else f"{float(self.low):g} to {float(self.high):g}"


Apart: TypeAlias = tuple[Span, Span]


@dataclass(frozen=True, slots=True)
class ColumnSecret:
    """A fact about one protected column: a share, count or mean of it lies here, or there.

    `apart` are pairs of sets; which of a pair the figure lies in must not be told. With the reading "worst point" that
    holds for every two points of the sets, with "averaged" for what an adversary expects inside each set under each law
    that is declared. At the level "table" the figure is that of the rows themselves; at the level "law" it is the
    parameter that they were drawn by. The column need not be in the table. `rows` is how many rows there are, which
    is public. A figure that is a share or a count is of the rows with this `value`.
    """

    column: str
    figure: Figure
    apart: tuple[Apart, ...]
    rows: int
    epsilon: Fraction
    delta: Fraction
    value: str = ""
    reading: Reading = "worst point"
    level: Level = "table"
    name: str = ""

    def __post_init__(self) -> None:
        _one_of("figure", self.figure, FIGURES)
        _one_of("reading", self.reading, READINGS)
        _one_of("level", self.level, LEVELS)
        if not self.column or (self.figure != "mean" and not self.value):
            raise BadInput(
                f"A secret about the {self.figure} of {self.column!r:.60}. Name its column, and for a share or a count "
                'the value that is counted: value = "female".'
            )
        if not self.apart:
            raise BadInput(
                f"The secret {self.title!r} names no sets to be confused. Give apart = [[0.25, 0.5], [0.5, 0.75]]."
            )
        if not 1 <= self.rows <= MOST_ROWS:
            raise BadInput(
                f"The secret {self.title!r} is about {self.rows} rows. Give rows = 1 to {MOST_ROWS:,}."
            )
        if not 0 < self.epsilon <= LARGEST_EPSILON or not LEAST_DELTA <= self.delta <= LARGEST_DELTA:
            raise BadInput(
                f"The secret {self.title!r} has ε = {float(self.epsilon):g} and δ = {float(self.delta):g}. Give an ε "
                f"above 0 and up to {LARGEST_EPSILON}, and a δ from {float(LEAST_DELTA):g} to {float(LARGEST_DELTA):g}."
            )
        self._require_possible()

    def _require_possible(self) -> None:
        """Refuse sets that the figure cannot lie in."""
        most = {"share": 1, "count": self.rows}.get(self.figure)
        for one in (span for pair in self.apart for span in pair):
            if most is not None and not (one.low >= 0 and one.high <= most):
                raise BadInput(
                    f"The secret {self.title!r}: the {self.figure} cannot be {one}. Give sets between 0 and {most}."
                )
        if self.reading == "averaged" and self.figure == "mean":
            raise BadInput(
                f"The secret {self.title!r}: how a mean lies inside a set is not worked out. Use the worst point."
            )

    @classmethod
    def of(  # noqa: PLR0913  (a secret is described by so many public choices)
        cls,
        column: str,
        apart: Sequence[Any],
        *,
        rows: int,
        epsilon: object,
        delta: object,
        value: str = "",
        figure: Figure = "share",
        reading: Reading = "worst point",
        level: Level = "table",
        name: str = "",
    ) -> Self:
        """Make a secret from numbers as people give them; `apart` is one pair of sets, or several."""
        ends = _exact("ε", epsilon), _exact("δ", delta)
        return cls(column, figure, pairs_of(apart), rows, *ends, value, reading, level, name)

    @property
    def title(self) -> str:
        """What it is called."""
        of = (
            f"{self.figure} of {self.value} in {self.column}"
            if self.value
            else f"{self.figure} of {self.column}"
        )
        return self.name or of

    @property
    def width(self) -> Fraction:
        """The largest distance of two points that must not be told apart: of shares and means as they are."""
        return max(one.furthest_from(other) for one, other in self.apart) / self.unit

    @property
    def unit(self) -> int:
        """What one figure is divided by to have a share or a mean."""
        return self.rows if self.figure == "count" else 1

    def counts(self, span: Span) -> range:
        """Which numbers of rows with the value lie in a set; refuse a mean, which is no count."""
        if self.figure == "mean":
            raise BadInput(f"The secret {self.title!r} is about a mean, which counts no rows.")
        scale = 1 if self.figure == "count" else self.rows
        found = range(math.ceil(span.low * scale), math.floor(span.high * scale) + 1)
        if not found:
            raise BadInput(
                f"The secret {self.title!r}: of {self.rows} rows no number makes a {self.figure} of {span}."
            )
        return found

    @property
    def covers_everything(self) -> bool:
        """Whether every two values of the figure are among the pairs."""
        most = {"share": 1, "count": self.rows}.get(self.figure)
        return most is not None and any(
            one == other == Span(Fraction(0), Fraction(most)) for one, other in self.apart
        )

    @property
    def words(self) -> str:
        """What an observer must not be able to tell."""
        of = (
            f"the {self.figure} of {self.value!r} in {self.column}"
            if self.value
            else f"the mean of {self.column}"
        )
        pairs = "; or ".join(self._either(*pair) for pair in self.apart)
        whose = "" if self.level == "table" else ", in the law that the rows were drawn by,"
        return f"whether {of}{whose} is {pairs}"

    def _either(self, one: Span, other: Span) -> str:
        """Say two sets, those that touch by where they do."""
        low, high = sorted((one, other), key=lambda span: (span.low, span.high))
        if low.high == high.low and not (low.is_point or high.is_point):
            ends = f"{self._told(low.low)} to {self._told(high.high)}"
            return f"under or over {self._told(low.high)} (somewhere from {ends})"
        return f"{self._said(one)} or {self._said(other)}"

    def _said(self, span: Span) -> str:
        return self._told(span.low) if span.is_point else f"{self._told(span.low)} to {self._told(span.high)}"

    def _told(self, number: Fraction) -> str:
        return f"{float(100 * number):g} %" if self.figure == "share" else f"{float(number):g}"

    @property
    def document(self) -> Document:
        """The secret as JSON."""
        return {
            "name": self.name,
            "column": self.column,
            "figure": self.figure,
            "value": self.value,
            "apart": [[one.document, other.document] for one, other in self.apart],
            "rows": self.rows,
            "epsilon": fraction_text(self.epsilon),
            "delta": fraction_text(self.delta),
            "reading": self.reading,
            "level": self.level,
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a secret as it was written."""
        apart = tuple((Span.from_document(one), Span.from_document(other)) for one, other in given["apart"])
        return cls(
            given["column"],
            given["figure"],
            apart,
            given["rows"],
            fraction_from(given["epsilon"]),
            fraction_from(given["delta"]),
            given["value"],
            given["reading"],
            given["level"],
            given["name"],
        )


def pairs_of(apart: Sequence[Any]) -> tuple[Apart, ...]:
    """Read one pair of sets, such as [[0.25, 0.5], [0.5, 0.75]] or [1, 2], or a list of pairs."""
    nested = _is_list(apart) and all(_is_list(one) and any(map(_is_list, one)) for one in apart)
    listed = list(apart) if nested else [apart]
    if not listed or any(not _is_list(pair) or len(pair) != 2 for pair in listed):  # noqa: PLR2004  (a pair)
        raise BadInput(
            f"apart = {apart!r:.80}. Give two sets to be confused: apart = [[0.25, 0.5], [0.5, 0.75]]."
        )
    return tuple((Span.of(one), Span.of(other)) for one, other in listed)


def _is_list(given: object) -> bool:
    return isinstance(given, list | tuple)


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise BadInput(f"A secret with the {what} {given!r:.60}. Use {', '.join(map(repr, known))}.")


def _exact(what: str, given: object) -> Fraction:
    try:
        return given if isinstance(given, Fraction) else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise BadInput(f"{what} = {given!r:.60} is no number. Give a decimal such as 0.5.") from None
