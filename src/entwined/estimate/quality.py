"""How reliable released numbers are, by the relative standard error of each: the one rule of plans and releases.

A number is to be published if its standard error is at most 16.5 % of it, published with care up to 33.3 %, and not
published alone above: the rule of Statistics Canada. Three things differ from a survey's coefficient of variation:

- The error is held against the end of the interval nearest to zero, not against the number. A number is labelled by
  itself, and of two that are equally large in truth the one with the luckier noise would get the better label.
- Among the many cells of a table a few noises are large. The interval is widened until it is right for 95 % of the
  cells that stand out, on average (false coverage rate: Benjamini, Yekutieli 2005).
- A share is held against itself or its complement, whichever is less: who publishes one publishes the other (the rule
  of the National Survey on Drug Use and Health).

Only public figures and published numbers go in, so labels tell nothing about any row.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Self, TypeAlias, get_args

import numpy as np

from entwined.canonical import Document
from entwined.estimate.error_law import ErrorLaw
from entwined.numbers import FloatArray, IntArray
from entwined.schema import Schema
from entwined.schema.schema import USUAL_ROWS

Level: TypeAlias = Literal["publish", "with care", "not", "unknown"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
PUBLISH: Final = 0.165
WITH_CARE: Final = 0.333
MISS: Final = Fraction(1, 20)
DEVIATIONS: Final = 1.959964  # half the length of a 95 % interval of a normal error
DIGITS: Final = 3
CLAIMS: Final = {"publish": "can be published", "with care": "with care", "not": "not", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Quality:
    """The relative standard error of every number of an answer; infinite where its interval holds zero.

    Without `relative_errors` they are unknown, and `reason` says why.
    """

    relative_errors: tuple[float, ...] | None = None
    reason: str = ""

    def level(self, place: int) -> Level:
        """Give the class of one number."""
        return "unknown" if self.relative_errors is None else level_of(self.relative_errors[place])

    def levels(self, size: int) -> list[Level]:
        """Give the classes of all numbers."""
        return [self.level(place) for place in range(size)]

    def relative_error(self, place: int) -> float | None:
        """Give one relative standard error; none where it is unknown or has no bound."""
        error = None if self.relative_errors is None else self.relative_errors[place]
        return None if error is None or math.isinf(error) else error

    def document(self, size: int, *, single: bool) -> Document:
        """The classes and relative standard errors as JSON: one of each if the answer is a single number."""
        levels = self.levels(size)
        errors = [self.relative_error(place) for place in range(size)]
        document: Document = {
            "quality": levels[0] if single else levels,
            "relative_error": errors[0] if single else errors,
        }
        return document | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read them as they were written."""
        levels, errors = document["quality"], document["relative_error"]
        if not isinstance(levels, list):
            levels, errors = [levels], [errors]
        reason = str(document.get("reason", ""))
        if "unknown" in levels:
            return cls(None, reason)
        return cls(tuple(math.inf if error is None else float(error) for error in errors), reason)

    def at_least(self, other: "Quality") -> "Quality":
        """Take the larger of two relative errors of each number, where both are known."""
        if self.relative_errors is None or other.relative_errors is None:
            return self
        pairs = zip(self.relative_errors, other.relative_errors, strict=True)
        return Quality(tuple(map(max, pairs)), other.reason or self.reason)


UNKNOWN: Final = Quality()


def level_of(relative_error: float | None) -> Level:
    """Class a relative standard error."""
    if relative_error is None:
        return "unknown"
    return "publish" if relative_error <= PUBLISH else "with care" if relative_error <= WITH_CARE else "not"


def tallied(levels: Iterable[Level]) -> dict[Level, int]:
    """Count how many numbers are in each class."""
    found = list(levels)
    return {level: found.count(level) for level in LEVELS}


def tally_words(counts: Mapping[Level, int], things: str = "numbers") -> str:
    """Say how many numbers are in each class.

    >>> tally_words({"publish": 9, "with care": 2, "not": 4, "unknown": 0})
    '9 of 15 numbers can be published, 2 with care, 4 not'
    """
    total = sum(counts.values())
    first = f"{counts['publish']:,} of {total:,} {things} can be published"
    more = [f"{counts[level]:,} {CLAIMS[level]}" for level in LEVELS[1:] if counts[level]]
    return ", ".join([first, *more])


def quality_counts(levels: Sequence[Level]) -> str:
    """Say briefly how many numbers are in each class.

    >>> quality_counts(["publish", "not", "not"])
    'publish: 1, not: 2'
    """
    return ", ".join(f"{level}: {count:,}" for level, count in tallied(levels).items() if count)


def relative_errors(values: FloatArray, kinds: IntArray, laws: Sequence[ErrorLaw]) -> tuple[float, ...]:
    """Bound the relative standard errors of the numbers of one answer, which have errors of these laws.

    With R of m numbers better than "not", intervals of confidence 1 − 5 % · R/m hold for 95 % of these R on average,
    whatever the true numbers are; R/m is rounded down to a power of 1/2.
    """
    errors = np.sqrt([law.variance for law in laws])[kinds]
    bounds = np.full(len(values), math.inf)
    for halvings in range(math.ceil(math.log2(max(len(values), 1))) + 1):
        widths = np.array([law.half_width(1 - MISS / 2**halvings) for law in laws])[kinds]
        bounds = _bounded(errors, np.abs(values) - widths)
        if np.count_nonzero(bounds <= WITH_CARE) * 2**halvings >= len(values):
            break
    return tuple(map(rounded_up, bounds.tolist()))


def _bounded(errors: FloatArray, least: FloatArray) -> FloatArray:
    """Divide errors by the least that numbers can be; a number without error has none."""
    ratios = np.divide(errors, least, out=np.full(len(errors), math.inf), where=least > 0)
    return np.where(errors == 0, 0.0, ratios)


def relative_error(value: float, error: float, least: float) -> float:
    """Bound the relative standard error of one number that is at least so far from zero by its interval."""
    if not math.isfinite(error):
        return math.inf
    nearest = min(least, abs(value) - DEVIATIONS * error)
    return rounded_up(error / nearest) if nearest > 0 else math.inf


def smallest(error: float, half_width: float, level: Level) -> float:
    """Give the smallest number in a class, by its standard error and the half-width of its interval.

    >>> round(smallest(10.0, 19.6, "publish")), round(smallest(10.0, 19.6, "with care"))
    (80, 50)
    """
    return error / (PUBLISH if level == "publish" else WITH_CARE) + half_width


def rounded_up(number: float) -> float:
    """Round a relative error up to three digits.

    >>> rounded_up(0.16491), rounded_up(0.0)
    (0.165, 0.0)
    """
    if number == 0 or not math.isfinite(number):
        return number
    places = DIGITS - 1 - math.floor(math.log10(number))
    return math.ceil(Fraction(number) * Fraction(10) ** places) / 10.0**places


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many rows a table has as far as is public: exactly, about, at most, or unknown."""

    rows: int | None
    words: str
    is_limit: bool = False

    @classmethod
    def of(cls, schema: Schema, expected: int | None = None) -> "TableSize":
        """Take the public number of rows, else the one expected, else the most that the schema allows."""
        if schema.rows is not None:
            return cls(schema.rows, f"{schema.rows:,} rows")
        if expected is not None:
            return cls(expected, f"about {expected:,} rows")
        if schema.most_rows < USUAL_ROWS:
            return cls(schema.most_rows, f"at most {schema.most_rows:,} rows", is_limit=True)
        return cls(None, "an unknown number of rows")

    @property
    def expected(self) -> int | None:
        """How many rows there are, exactly or about; none where only a limit is public."""
        return None if self.is_limit else self.rows


def figure(value: float) -> str:
    """Write a figure of a sentence."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004  (where three digits end)
