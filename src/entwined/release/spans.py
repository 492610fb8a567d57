"""How far the truth may be from what was released: intervals that hold it with the stated confidence.

Counts and totals: the noise law itself, so the interval is as short as integers allow, and pointwise for the
cells of a table.

A mean is S/N, both noisy. If the true mean is m then S̃ − m·Ñ = Z₁ − m·Z₂, whose law is known for each m: the
interval is the set of all m for which the left side is not too large. It holds the truth with exactly the
stated confidence, but for the step from integers to reals (Fieller 1954).

A variance is (Q − S²/N)/N. To first order in the noise Q̃ − S̃²/Ñ − v·Ñ = Z₃ − 2m·Z₁ + (m² − v)·Z₂, and the
interval is again the set of all v that fit. Where the second order matters (few rows for so much noise), and
wherever the count itself may be near zero, wider intervals are given that hold all the same.

A quantile is a choice, not a sum: without further releases nothing can be said about the distance in values.
What holds is that its rank is within so many rows of the one asked for: the chance of a score t below the
best is at most candidates · exp(−rate·t).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from scipy.optimize import brentq

from entwined.noise import DiscreteLaplace
from entwined.queries import Answer, GroupBy, Mean, Numbers, Query, Term, Total, Variance
from entwined.queries.sums import grid_of, grid_value, middle_term, total_term
from entwined.release.grid import outward
from entwined.release.laplace_sums import half_width
from entwined.release.plan import Asked, Chosen
from entwined.schema import Schema

CONFIDENCE: Final = Fraction(95, 100)
SURE: Final = float(CONFIDENCE)
SURE_OF_EACH: Final = 1 - (1 - SURE) / 3  # of three numbers at once
SECOND_ORDER: Final = 0.01

Line: TypeAlias = Callable[[float], float]
Ends: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Around:
    """The truth lies within so much of the value; in a table, of each cell's value."""

    half_width: int | Fraction


@dataclass(frozen=True, slots=True)
class Between:
    """The truth lies between two values."""

    low: Answer
    high: Answer


@dataclass(frozen=True, slots=True)
class Ranks:
    """The value's rank is within so many rows of the one asked for."""

    within: int


Span: TypeAlias = Around | Between | Ranks


def span(query: Query, schema: Schema, asked: Sequence[Asked], numbers: Numbers) -> Span:
    """Say where the truth lies, from the released integers of a query's statistics and their noise."""
    for one in asked:
        if isinstance(one, Chosen):
            return _ranks(one, schema)
    laws = [one.law for one in asked if not isinstance(one, Chosen)]
    ends: tuple[Answer, Answer]
    match query:
        case Total(column=column) | GroupBy(total=str(column)):
            return Around(laws[0].half_width(CONFIDENCE) * total_term(schema.coded(column))[1])
        case Mean(count="public"):
            total, reach = numbers[0][0], laws[0].half_width(CONFIDENCE)
            ends = query.answer(schema, [[total - reach]]), query.answer(schema, [[total + reach]])
        case Mean():
            ends = _mean_ends(query, schema, laws, numbers)
        case Variance():
            ends = _variance_ends(query, schema, laws, numbers)
        case _:
            return Around(laws[0].half_width(CONFIDENCE))
    return Between(*outward(query, schema, ends))


def _ranks(one: Chosen, schema: Schema) -> Ranks:
    levels = schema.coded(one.query.column).levels
    below = Fraction(math.log(levels / (1 - SURE))) / one.law.rate
    return Ranks(math.ceil(below / (2 * one.query.at.denominator)))


def _mean_ends(
    query: Mean, schema: Schema, laws: Sequence[DiscreteLaplace], numbers: Numbers
) -> tuple[Answer, Answer]:
    """Collect all means m in the column's range for which |S̃ − m·Ñ| is not too large."""
    total, rows = (float(found[0]) for found in numbers)
    wide, narrow = (float(law.scale) for law in laws)
    term, ends = _term(query, schema)
    if rows > half_width([narrow], SURE):
        ends = _fitting(
            lambda mean: total - mean * rows, lambda mean: half_width([wide, abs(mean) * narrow], SURE), ends
        )
    column = schema.coded(query.column)
    low, high = (grid_value(column, (Fraction(end) - term.offset) / term.factor) for end in ends)
    return low, high


def _variance_ends(
    query: Variance, schema: Schema, laws: Sequence[DiscreteLaplace], numbers: Numbers
) -> tuple[Answer, Answer]:
    """Collect all variances v for which |Q̃ − S̃²/Ñ − v·Ñ| is not too large."""
    total, squares, rows = (float(found[0]) for found in numbers)
    line, curve, narrow = scales = [float(law.scale) for law in laws]
    term, ends = _term(query, schema)
    largest = ((ends[1] - ends[0]) / 2) ** 2
    mean = min(max(total / max(rows, 1.0), ends[0]), ends[1])

    def width(variance: float) -> float:
        return half_width([curve, 2 * abs(mean) * line, abs(mean**2 - variance) * narrow], SURE)

    bent = 2 * (line**2 + (mean * narrow) ** 2) / max(rows, 1.0)
    if rows <= half_width([narrow], SURE) or bent > SECOND_ORDER * width(0.0):
        low, high = _variance_box((total, squares, rows), scales)
    else:
        low, high = _fitting(lambda at: squares - total**2 / rows - at * rows, width, (0.0, largest))
    unit = (grid_of(schema.coded(query.column))[1] / term.factor) ** 2
    return Fraction(min(max(low, 0.0), largest)) * unit, Fraction(min(max(high, 0.0), largest)) * unit


def _variance_box(numbers: Sequence[float], scales: Sequence[float]) -> Ends:
    """Hold all three numbers at once and bound the variance over the box."""
    reaches = [half_width([scale], SURE_OF_EACH) for scale in scales]
    (low_total, high_total), (low_squares, high_squares), (low_rows, high_rows) = (
        (number - reach, number + reach) for number, reach in zip(numbers, reaches, strict=True)
    )
    low_rows, high_rows = max(low_rows, 1.0), max(high_rows, 1.0)
    farthest = max(abs(low_total), abs(high_total))
    nearest = 0.0 if low_total <= 0 <= high_total else min(abs(low_total), abs(high_total))
    return (
        low_squares / high_rows - (farthest / low_rows) ** 2,
        high_squares / low_rows - (nearest / high_rows) ** 2,
    )


def _fitting(residual: Line, width: Line, ends: Ends) -> Ends:
    """Find where a falling residual is within a width that grows more slowly than the residual falls."""
    return (
        _root(lambda at: residual(at) - width(at), ends),
        _root(lambda at: residual(at) + width(at), ends),
    )


def _root(falling: Line, ends: Ends) -> float:
    low, high = ends
    if low == high or falling(low) <= 0:
        return low
    return high if falling(high) >= 0 else float(brentq(falling, low, high))


def _term(query: Mean | Variance, schema: Schema) -> tuple[Term, Ends]:
    """Give what a row adds to the sum, and the least and greatest that it can be."""
    inside = query.statistics(schema)[0].aggregate.where
    codes = inside.codes(query.column, schema.coded(query.column).size)
    term = middle_term(query.column, codes)
    return term, (float(term.value(codes[0][0])), float(term.value(codes[-1][1])))
