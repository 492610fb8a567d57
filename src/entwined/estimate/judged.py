"""The quality of every released answer: its relative standard errors by noise and, where released, by sampling.

Each shape of an answer has a standard error to first order at the released numbers, with counts in denominators at the
lower ends of their intervals. What it is held against follows from the answer's scale: the number itself, a share or
its complement, or the released spread where the zero of a column is arbitrary. A quantile is held against its ranks.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from entwined.errors import BadNoise
from entwined.estimate.answers import Answered, Release
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.population import Estimated, populations_among
from entwined.estimate.quality import DEVIATIONS, Quality, TableSize, figure, relative_error, relative_errors
from entwined.estimate.spans import CONFIDENCE, Ranks
from entwined.noise import Additive, additive
from entwined.queries import Effective, Query, Quotient, Scores
from entwined.queries.shapes import Number
from entwined.queries.statistic import Statistic
from entwined.schema import Schema

TOO_EXTREME: Final = "The law of such extreme noise cannot be worked out."
ARBITRARY: Final = "The zero of {} is arbitrary: judge by the interval, or ask for the variance too."
BY_SPREAD: Final = (
    "Held against the released standard deviation, at least {}, since the zero of {} is arbitrary."
)
NO_ROWS: Final = "The number of rows inside is not public. Ask for their count too."
ALL_ROWS: Final = "All {} rows are taken to have a value."


def judged(release: Release, queries: Iterable[Query], schema: Schema, size: TableSize) -> Release:
    """Give every answer its quality; the release holds the answers as they were drawn."""
    by_text = {query.fingerprint: query for query in queries}
    context = Context(schema, size, tuple((by_text[answer.asked], answer) for answer in release.answers))
    answers = tuple(
        replace(answer, quality=context.quality(query, answer)) for query, answer in context.answers
    )
    return with_sampling(replace(release, answers=answers), by_text, schema)


def with_sampling(release: Release, queries: Mapping[str, Query], schema: Schema) -> Release:
    """Take the error of the sample into the quality of every answer whose sampling error was released."""
    people = populations_among(release.under(schema), queries.values())
    if not people:
        return release
    whole = {
        asked: _of_people(estimated, queries[asked], schema).at_least(release.of(queries[asked]).quality)
        for asked, estimated in people.items()
    }
    answers = (replace(answer, quality=whole.get(answer.asked, answer.quality)) for answer in release.answers)
    return replace(release, answers=tuple(answers))


def _of_people(people: Estimated, query: Query, schema: Schema) -> Quality:
    ends = tuple(map(float, people.population))
    error = _longer_side(float(people.value), ends) / DEVIATIONS
    return Quality((_by_scale(query, schema, float(people.value), ends, error),))


@dataclass(frozen=True, slots=True)
class Context:
    """All answers of a release with their questions: one may tell what another has to be held against."""

    schema: Schema
    size: TableSize
    answers: tuple[tuple[Query, Answered], ...]

    def quality(self, query: Query, answer: Answered) -> Quality:
        """Judge one answer."""
        try:
            return query.shape(self.schema, _Qualities(query, answer, self))
        except BadNoise:
            return Quality(None, TOO_EXTREME)

    def spread(self, query: Query) -> float | None:
        """Give the least standard deviation that a released variance of the same rows and column allows."""
        for other, answer in self.answers:
            if other.kind == "variance" and other.values == query.values and other.inside == query.inside:
                low: Any = (answer.interval or (0, 0))[0]
                return math.sqrt(max(float(low), 0.0))
        return None

    def rows_inside(self, statistic: Statistic) -> float | None:
        """Give the least number of rows inside that a released count of the same rows allows."""
        for other, answer in self.answers:
            (counted, *_) = other.statistics(self.schema)
            same = counted.aggregate.where == statistic.aggregate.where
            if same and other.counts_rows and counted.aggregate.adds is None and not counted.filling:
                (numbers,) = answer.numbers
                law = ErrorLaw.of([1] * len(numbers), [additive(answer.noise[0])] * len(numbers))
                return max(sum(numbers) - law.half_width(CONFIDENCE), 0.0)
        return None


@dataclass(frozen=True, slots=True)
class _Qualities:
    """The quality of each shape of an answer."""

    query: Query
    answer: Answered
    context: Context

    @property
    def _noises(self) -> list[Additive]:
        return [additive(noise) for noise in self.answer.noise]

    @property
    def _variances(self) -> list[float]:
        return [float(noise.variance) for noise in self._noises]

    @property
    def _numbers(self) -> list[int]:
        return [numbers[0] for numbers in self.answer.numbers]

    def lattice(self, step: int | Fraction) -> Quality:  # noqa: ARG002  (a relative error has no unit)
        """Judge every number by the law of its noise."""
        numbers = np.array(self.answer.numbers[0], dtype=np.float64)
        law = ErrorLaw.of([1], self._noises[:1])
        return Quality(relative_errors(numbers, np.zeros(len(numbers), np.int64), [law]))

    def rising(self, step: Fraction) -> Quality:
        """Judge a number by the noise of the one that it rises with."""
        return self._single(math.sqrt(self._variances[0]) * float(step))

    def ratio(self, quotient: Quotient[Number]) -> Quality:
        """Judge a sum over a count."""
        (total, count), (of_sum, of_count) = self._numbers, self._variances
        ratio = min(max(total / max(count, 1), quotient.least), quotient.most)
        return self._single(
            _divided(math.sqrt(of_sum + ratio**2 * of_count), self._at_least(-1)) * float(quotient.step)
        )

    def variance(self, quotient: Quotient[Number]) -> Quality:
        """Judge squares over a count, less a squared mean."""
        (line, square, count), (of_line, of_square, of_count) = self._numbers, self._variances
        mean, squares = line / max(count, 1), square / max(count, 1)
        variance = of_square + 4 * mean**2 * of_line + (2 * mean**2 - squares) ** 2 * of_count
        return self._single(_divided(math.sqrt(variance), self._at_least(-1)) * float(quotient.step))

    def share(self) -> Quality:
        """Judge one count over itself and another."""
        (inside, outside), (of_inside, of_outside) = self._numbers, self._variances
        share = min(max(inside / max(inside + outside, 1), 0.0), 1.0)
        error = math.sqrt((1 - share) ** 2 * of_inside + share**2 * of_outside)
        return self._single(_divided(error, self._at_least(0, 1)))

    def effective(self, effective: Effective) -> Quality:
        """Judge a squared sum over another sum."""
        (numbers,), variance = self.answer.numbers, self._variances[0]
        weights, squares = effective.sums(numbers)
        if weights <= 0 or squares <= 0:
            return Quality((math.inf,))
        parts = 4 * len(effective.weights) / weights**2 + len(effective.squares) / squares**2
        return self._single(float(Fraction(str(self.answer.value))) * math.sqrt(variance * parts))

    def choice(self, choice: Scores, candidates: int) -> Quality:  # noqa: ARG002  (every shape is asked the same way)
        """Judge a choice by the ranks that it may be off, of those on the lesser side of it."""
        (statistic,) = self.query.statistics(self.context.schema)
        rows, reason = self.context.rows_inside(statistic), ""
        expected = self.context.size.expected
        if rows is None and expected is not None and self.query.inside.is_everything:
            rows, reason = float(expected), ALL_ROWS.format(f"{expected:,}")
        if rows is None or not isinstance(self.answer.span, Ranks):
            return Quality(None, NO_ROWS)
        return Quality((rank_error(choice, rows, self.answer.span.within),), reason)

    def _at_least(self, *places: int) -> float:
        """Give the lower end of the interval of a sum of released counts."""
        chosen = [self._numbers[place] for place in places]
        law = ErrorLaw.of([1] * len(places), [self._noises[place] for place in places])
        return sum(chosen) - law.half_width(CONFIDENCE)

    def _single(self, error: float) -> Quality:
        """Judge one number, by its interval too where that is longer than its standard error says."""
        value: Any = self.answer.value
        ends: Any = self.answer.interval
        schema, column = self.context.schema, self.query.unit
        if self.query.scale(schema) == "interval":
            spread = self.context.spread(self.query)
            if not spread:
                return Quality(None, ARBITRARY.format(column))
            return Quality(
                (relative_error(math.inf, error, spread),), BY_SPREAD.format(figure(spread), column)
            )
        low, high = float(ends[0]), float(ends[1])
        error = max(error, _longer_side(float(value), (low, high)) / DEVIATIONS)
        return Quality((_by_scale(self.query, schema, float(value), (low, high), error),))


def rank_error(choice: Scores, rows: float, within: float) -> float:
    """Give the relative standard error of the share of rows on the lesser side of a quantile."""
    tail = float(choice.tail) * rows
    return relative_error(tail, within / DEVIATIONS, tail - within)


def _by_scale(query: Query, schema: Schema, value: float, ends: Sequence[float], error: float) -> float:
    """Hold an error against a number, or against a share or its complement, whichever is less."""
    low, high = ends
    if query.scale(schema) == "share":
        return relative_error(min(value, 1 - value), error, min(low, 1 - high))
    return relative_error(value, error, max(low, -high))


def _longer_side(value: float, ends: Sequence[float]) -> float:
    return max(value - ends[0], ends[1] - value)


def _divided(error: float, count: float) -> float:
    return error / count if count > 0 else math.inf
