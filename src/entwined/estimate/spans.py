"""How far the truth may be from what was released: intervals that hold it with the stated confidence.

Counts and totals: the noise law itself, so the interval is as short as integers allow, and pointwise for the
cells of a table. Means and variances: every value that the noisy sums and count leave possible, see `ratios`.

A quantile is a choice, not a sum: without further releases nothing can be said about the distance in values.
What holds is that its rank is within so many rows of the one asked for: the chance of a score t below the
best is at most candidates · exp(−rate·t).

All of them are cut at what is public, which loses no truth (see `cut`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadNoise
from entwined.estimate.cut import Public, public_ends
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.grid import outward
from entwined.estimate.ratios import Bounds, Noisy, ratio_interval, variance_interval
from entwined.estimate.shares import share_interval
from entwined.mechanisms.asked import Asked
from entwined.noise import Additive, additive
from entwined.queries import Answer, Effective, Numbers, Query, Quotient, Scores
from entwined.queries.shapes import Number
from entwined.schema import Schema

CONFIDENCE: Final = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Around:
    """The truth lies within so much of the value, and between what is public; in a table, of each cell's value."""

    half_width: int | Fraction
    public: Public | None = None


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


def reach_of(where: Span, query: Query, schema: Schema) -> float | None:
    """Give half the length of an interval in the answer's own unit, before it is cut, or the ranks of a choice."""
    match where:
        case Around(half_width=reach):
            return float(reach)
        case Between(low=low, high=high):
            length = query.apart(schema, low, high)
            return None if length is None else length / 2
        case Ranks(within=ranks):
            return float(ranks)


def span(
    query: Query, schema: Schema, asked: Sequence[Asked], numbers: Numbers, rows: int | None = None
) -> Span:
    """Give the interval of the truth, from the draws of a query's statistics and their noise.

    There are at most `rows` rows: as many as the schema allows, unless the draws contradict it.
    """
    most = schema.rows_at_most if rows is None else rows
    return query.shape(schema, _Spans(query, schema, asked, numbers, most))


@dataclass(frozen=True, slots=True)
class _Spans:
    """What each shape of an answer leaves possible."""

    query: Query
    schema: Schema
    asked: Sequence[Asked]
    numbers: Numbers
    rows: int

    @property
    def _noises(self) -> list[Additive]:
        return [additive(one.noise) for one in self.asked]

    def _between(self, low: Answer, high: Answer) -> Between:
        return Between(*outward(self.query, self.schema, (low, high)))

    def lattice(self, step: int | Fraction) -> Span:
        """The noise law itself, in steps."""
        public = public_ends(self.asked[0].statistic.aggregate, self.schema, step, self.rows)
        return Around(self._noises[0].half_width(CONFIDENCE) * step, public)

    def rising(self, step: Fraction) -> Span:  # noqa: ARG002  (every shape is asked the same way)
        """The answers of both ends of the integer's interval."""
        total, reach = self.numbers[0][0], self._noises[0].half_width(CONFIDENCE)
        low, high = (self.query.answer(self.schema, [[end]]) for end in (total - reach, total + reach))
        return self._between(low, high)

    def ratio(self, quotient: Quotient[Number]) -> Span:
        """Every ratio that the noisy sum and count leave possible."""
        total, count = self._noisy()
        public = float(quotient.least), float(quotient.most)
        low, high = _or_all(lambda: ratio_interval(total, count, public, CONFIDENCE), public)
        return self._between(quotient.value(Fraction(low)), quotient.value(Fraction(high)))

    def variance(self, quotient: Quotient[Number]) -> Span:
        """Every variance that the noisy sums and count leave possible."""
        total, squares, count = self._noisy()
        public = float(quotient.least), float(quotient.most)
        largest = ((public[1] - public[0]) / 2) ** 2
        low, high = _or_all(
            lambda: variance_interval(total, squares, count, public, CONFIDENCE), (0.0, largest)
        )
        return self._between(quotient.value(Fraction(low)), quotient.value(Fraction(high)))

    def share(self) -> Span:
        """Every share that the two noisy counts leave possible."""
        inside, outside = self._noisy()
        low, high = _or_all(lambda: share_interval(inside, outside, CONFIDENCE), (0.0, 1.0))
        return self._between(Fraction(low), Fraction(high))

    def effective(self, effective: Effective) -> Span:
        """Every number of rows that the two sums leave possible, each surer than both have to be."""
        (numbers,), (noise,) = self.numbers, self._noises
        sure = (1 + CONFIDENCE) / 2
        places = (effective.weights, effective.squares)
        widths = [ErrorLaw.of([1] * len(some), [noise] * len(some)).half_width(sure) for some in places]
        (weights, squares), (far, wide) = effective.sums(numbers), map(Fraction, widths)
        low = effective.value(weights - far, squares + wide)
        return self._between(low, effective.value(weights + far, squares - wide))

    def choice(self, choice: Scores, candidates: int) -> Span:
        """So many ranks, by the law of the choice."""
        laws = (one.chooser for one in self.asked)
        below = max(law.shortfall(candidates, CONFIDENCE) for law in laws if law is not None)
        return Ranks(min(math.ceil(below / choice.of_a_rank), self.rows))

    def _noisy(self) -> list[Noisy]:
        return [
            Noisy(np.array(found, dtype=np.float64), ErrorLaw.of([1], [noise]))
            for noise, found in zip(self._noises, self.numbers, strict=True)
        ]


def _or_all(found: Callable[[], Bounds], public: tuple[float, float]) -> tuple[float, float]:
    """Give an interval, or where no law of such extreme noise can be worked out, all that can be."""
    try:
        low, high = found()
    except BadNoise:
        return public
    return float(low[0]), float(high[0])
