"""How far the truth may be from what was released: intervals that hold it with the stated confidence.

Counts and totals: the noise law itself, so the interval is as short as integers allow, and pointwise for the
cells of a table. Means and variances: every value that the noisy sums and count leave possible, see `ratios`.

A quantile is a choice, not a sum: without further releases nothing can be said about the distance in values.
What holds is that its rank is within so many rows of the one asked for: the chance of a score t below the
best is at most candidates · exp(−rate·t).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadNoise
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.grid import outward
from entwined.estimate.ratios import Bounds, Noisy, ratio_interval, variance_interval
from entwined.mechanisms.asked import Asked, Chosen
from entwined.noise import Additive
from entwined.queries import Answer, GroupBy, Mean, Numbers, Query, Term, Total, Variance
from entwined.queries.sums import grid_of, grid_value, middle_term, total_term
from entwined.schema import Schema

CONFIDENCE: Final = Fraction(95, 100)

Ends: TypeAlias = tuple[Answer, Answer]


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
    ends: Ends
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
    below = Fraction(math.log(levels / float(1 - CONFIDENCE))) / one.law.rate
    return Ranks(math.ceil(below / (2 * one.query.at.denominator)))


def _mean_ends(query: Mean, schema: Schema, laws: Sequence[Additive], numbers: Numbers) -> Ends:
    total, count = _noisy(laws, numbers)
    term, public = _term(query, schema)
    column = schema.coded(query.column)
    found = _or_all(lambda: ratio_interval(total, count, public, CONFIDENCE), public)
    low, high = (grid_value(column, (Fraction(end) - term.offset) / term.factor) for end in found)
    return low, high


def _variance_ends(query: Variance, schema: Schema, laws: Sequence[Additive], numbers: Numbers) -> Ends:
    total, squares, count = _noisy(laws, numbers)
    term, public = _term(query, schema)
    unit = (grid_of(schema.coded(query.column))[1] / term.factor) ** 2
    largest = ((public[1] - public[0]) / 2) ** 2
    found = _or_all(lambda: variance_interval(total, squares, count, public, CONFIDENCE), (0.0, largest))
    low, high = (Fraction(end) * unit for end in found)
    return low, high


def _or_all(found: Callable[[], Bounds], public: tuple[float, float]) -> tuple[float, float]:
    """Give an interval, or where no law of such extreme noise can be worked out, all that can be."""
    try:
        low, high = found()
    except BadNoise:
        return public
    return float(low[0]), float(high[0])


def _noisy(laws: Sequence[Additive], numbers: Numbers) -> list[Noisy]:
    return [
        Noisy(np.array(found, dtype=np.float64), ErrorLaw.of([1], [law]))
        for law, found in zip(laws, numbers, strict=True)
    ]


def _term(query: Mean | Variance, schema: Schema) -> tuple[Term, tuple[float, float]]:
    """Give what a row adds to the sum, and the least and greatest that it can be."""
    inside = query.statistics(schema)[0].aggregate.where
    codes = inside.codes(query.column, schema.coded(query.column).size)
    term = middle_term(query.column, codes)
    return term, (float(term.value(codes[0][0])), float(term.value(codes[-1][1])))
