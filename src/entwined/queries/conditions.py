"""Conditions with SQL's three outcomes: true, false and, where something is missing, unknown.

A comparison with a missing value is unknown; NOT swaps true and false and leaves unknown alone; a row is
counted where the condition is true. Values are those of the public grid: after clamping to 99, `age = 99`
is "99 or more".
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final

from entwined.errors import BadQuery
from entwined.queries.diagram import Range
from entwined.queries.predicate import Predicate, codes_in
from entwined.schema import Comparable
from entwined.schema.raw import moment_of

DATE_LENGTH: Final = len("2020-01-31")
SIGNS: Final = ("=", "<>", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Condition:
    """Where a condition is true and where it is false; elsewhere it is unknown."""

    true: Predicate
    false: Predicate

    def __and__(self, other: "Condition") -> "Condition":
        """Be true where both are, false where either is."""
        return Condition(self.true & other.true, self.false | other.false)

    def __or__(self, other: "Condition") -> "Condition":
        """Be true where either is, false where both are."""
        return Condition(self.true | other.true, self.false & other.false)

    def __invert__(self) -> "Condition":
        """Be true where it was false, and the other way round."""
        return Condition(self.false, self.true)


def compare(column: Comparable, sign: str, constant: object) -> Condition:
    """Compare the values of a column with a constant, exactly on the public grid.

    >>> from entwined.schema import Integer
    >>> compare(Integer("age", 0, 120), ">", "20.5").true.text
    '"age" in 21..120 of 122'
    """
    if sign not in SIGNS:
        raise BadQuery(f"Column {column.name!r} is compared by {sign!r}. Use one of {' '.join(SIGNS)}.")
    if sign not in ("=", "<>", "!=") and not column.has_order:
        raise BadQuery(f"Column {column.name!r} is {column.kind}: it has no order. Use = <> IN or IS NULL.")
    at = column.position(constant)
    last = column.levels - 1
    match sign:
        case "<":
            return _known(column, [(0, math.ceil(at) - 1)])
        case "<=":
            return _known(column, [(0, math.floor(at))])
        case ">":
            return _known(column, [(math.floor(at) + 1, last)])
        case ">=":
            return _known(column, [(math.ceil(at), last)])
        case "=":
            return _known(column, _exactly(at))
    return ~_known(column, _exactly(at))


def among(column: Comparable, constants: Iterable[object]) -> Condition:
    """Say that a column's value is one of these."""
    places = {code for constant in constants for code, _ in _exactly(column.position(constant))}
    return _known(column, [(code, code) for code in sorted(places)])


def between(column: Comparable, low: object, high: object) -> Condition:
    """Say that a column's value lies between two constants, both included."""
    return compare(column, ">=", low) & compare(column, "<=", high)


def time_constant(kind: str, text: str) -> datetime | None:
    """Read DATE '2020-01-31' or TIMESTAMP '2020-01-31 12:00:00'; None for what is neither."""
    is_day = len(text) == DATE_LENGTH
    return moment_of(text) if kind == "TIMESTAMP" or (kind == "DATE" and is_day) else None


def is_missing(column: Comparable) -> Condition:
    """Say that a column's value is missing; this is never unknown."""
    missing = codes_in(column.read, column.size, ((column.size - 1, column.size - 1),))
    return Condition(missing, ~missing)


def _exactly(at: Fraction) -> list[Range]:
    return [(int(at), int(at))] if at.denominator == 1 else []


def _known(column: Comparable, ranges: list[Range]) -> Condition:
    """Be true in these sorted ranges of values, false in the others, unknown where the code is missing."""
    last = column.levels - 1
    joined: list[Range] = []
    for first, final in ((max(low, 0), min(high, last)) for low, high in ranges):
        if first > final:
            continue
        low, high = column.codes(first, final)
        if joined and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    true = codes_in(column.read, column.size, tuple(joined))
    return Condition(true, codes_in(column.read, column.size, ((0, column.size - 2),)) - true)
