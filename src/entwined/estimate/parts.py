"""Counts as shares of a whole, with intervals: post-processing, so they cost nothing.

The cells of a table are shares of the rows in that table; a single count is one of all rows. Where the number of those
rows is public, it divides an interval as it divides a number. Where it is not, the whole is the table itself, or
another table or count of the same rows that was released and adds up to them with less noise. Which one that is follows
from the laws of the noise alone. The interval has every share that the drawn integers leave possible, see `shares`.

Where a column says which of its values mean "not asked" or "no answer", the cells of a table are shares of the rows
that were asked, or that answered, and those cells have no share. Every whole is named.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from operator import or_
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from entwined.errors import BadNoise
from entwined.estimate.agreement import Subject
from entwined.estimate.answers import Answered, Release
from entwined.estimate.bases import Bases
from entwined.estimate.error_law import ErrorLaw, Weighted
from entwined.estimate.ratios import Bounds, Noisy
from entwined.estimate.shares import FEW, part_interval, share_interval
from entwined.estimate.spans import CONFIDENCE
from entwined.noise import Additive, additive
from entwined.numbers import BoolArray, FloatArray
from entwined.queries import Query, everything
from entwined.queries.documents import as_written
from entwined.queries.occurring import never_missing
from entwined.queries.statistic import Statistic
from entwined.schema import Schema

FINENESS: Final = 1e6  # shares are given in millionths
QUARTER: Final = 0.25


class Shares(NamedTuple):
    """What part of a whole some numbers are, and between what the truth lies; no number where the whole is none."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


Dividing: TypeAlias = Callable[[slice], Shares]
"""Give the shares of some cells of a table; of a single number as of a table with one cell."""


@dataclass(frozen=True, eq=False, slots=True)
class Division:
    """The shares of an answer's numbers, and the rows that they are shares of, in words."""

    shares: Dividing
    base: str

    def __call__(self, cells: slice) -> Shares:
        """Give the shares of some cells."""
        return self.shares(cells)


@dataclass(frozen=True, slots=True)
class Whole:
    """A released answer whose numbers add up to all rows that it is about."""

    statistic: Statistic
    answer: Answered

    @property
    def noise(self) -> Additive:
        """The noise of each number."""
        return additive(self.answer.noise[0])

    @property
    def law(self) -> ErrorLaw:
        """The law of the error of the sum."""
        return ErrorLaw((Weighted(1.0, self.noise, len(self.answer.numbers[0])),))

    @property
    def values(self) -> tuple[Any, ...]:
        """The published numbers; of a single one as of a table with one cell."""
        value: Any = self.answer.value
        return value if isinstance(value, tuple) else (value,)

    @property
    def published(self) -> float:
        """The sum as it can be read from what was published."""
        return float(sum(self.values))

    def published_in(self, cells: BoolArray) -> float:
        """The sum of some cells."""
        return float(sum(itertools.compress(self.values, cells.tolist())))

    def is_as_good_as(self, other: "Whole") -> bool:
        """Whether a cell's share of a quarter has no longer an interval as a share of its own table than of another."""
        apart = (1 - QUARTER) ** 2 - QUARTER**2  # the cell's own noise is in the sum, too
        by_own = apart * self.noise.variance + QUARTER**2 * self.law.variance
        return by_own <= self.noise.variance + QUARTER**2 * other.law.variance

    @property
    def noisy(self) -> Noisy:
        """The sum as it was drawn."""
        return Noisy(np.array([sum(self.answer.numbers[0])], dtype=np.float64), self.law)


@dataclass(frozen=True, slots=True)
class Wholes:
    """What the counts of a release are shares of."""

    schema: Schema
    rows: int | None
    queries: Mapping[str, Query]
    best: Mapping[Subject, Whole]

    @classmethod
    def of(cls, release: Release, schema: Schema) -> "Wholes":
        """Find them; where rows of large groups are left out, how many are left is not public."""
        asked = release.certificate.get("mechanism", {}).get("asked", ())
        queries = {query.fingerprint: query for query in (as_written(one["query"]) for one in asked)}
        best: dict[Subject, Whole] = {}
        for answer in release.answers:
            query = queries.get(answer.asked)
            if query is None or not query.counts_rows:
                continue
            found = Whole(query.statistics(schema)[0], answer)
            subject = _subject(found.statistic, schema)
            if subject not in best or found.law.variance < best[subject].law.variance:
                best[subject] = found
        cut = any(model["declared"].get("by") for model in release.certificate.get("models", ()))
        is_wrong = any(warning.kind == "rows" for warning in release.warnings)
        return cls(schema, None if cut or is_wrong else schema.rows, queries, best)

    def dividing(self, answer: Answered) -> Division | None:
        """Say how the numbers of an answer become shares; not at all, where they are parts of nothing known."""
        query = self.queries.get(answer.asked)
        if query is None or not (query.counts_rows or query.is_share):
            return None
        bases = Bases(query, self.schema)
        if query.is_share:
            return Division(partial(_divided, _ends(answer), 1), bases.of_share(self.rows))
        own = Whole(query.statistics(self.schema)[0], answer)
        is_table = bool(query.axes(self.schema))
        inside = bases.cells
        if inside is not None:
            return Division(
                _worked_out_once(partial(_of_some, own, inside)), bases.of_some(own.published_in(inside))
            )
        subject = _subject(
            own.statistic if is_table else _everywhere(query).statistics(self.schema)[0], self.schema
        )
        if self.rows and subject == (everything(), None):
            return Division(partial(_divided, _ends(answer), self.rows), f"{self.rows:,} rows")
        best = self.best.get(subject)
        if best is None or (best.statistic == own.statistic and not is_table):
            return None
        whole = (own if is_table else best).published
        if is_table and own.is_as_good_as(best):
            return Division(_worked_out_once(partial(_of_table, own, own.published)), bases.of_all(whole))
        shares = _worked_out_once(partial(_of_another, own, whole, best.noisy))
        return Division(shares, bases.of_all(whole))


def _subject(statistic: Statistic, schema: Schema) -> Subject:
    """Give the rows that a statistic is about, those that cannot be included, and what each adds."""
    where = statistic.aggregate.where
    return reduce(or_, never_missing(schema, where.columns), where), statistic.aggregate.adds


def _everywhere(query: Query) -> Query:
    return replace(query, where=everything())


def _ends(answer: Answered) -> tuple[Any, Any, Any]:
    low, high = answer.interval or (answer.value, answer.value)
    one = not isinstance(answer.value, tuple)
    return ((answer.value,), (low,), (high,)) if one else (answer.value, low, high)


def _divided(ends: tuple[Any, Any, Any], whole: int, cells: slice) -> Shares:
    """Divide numbers and their intervals by a public whole."""
    return _rounded(*(np.array(one[cells], dtype=np.float64) / whole for one in ends))


def _worked_out_once(find: Callable[[], Shares]) -> Dividing:
    """Give the shares of some cells of those that are worked out when the first are asked for."""
    whole = cache(find)
    return lambda cells: Shares(*(one[cells] for one in whole()))


def _of_table(own: Whole, whole: float) -> Shares:
    """Divide by the sum of all cells of the table, as published and as drawn."""
    (numbers,) = own.answer.numbers
    if len(numbers) == 1:
        return _rounded(*[np.ones(1)] * 3)
    inside = np.array(numbers, dtype=np.float64)
    one, others = ErrorLaw.of([1], [own.noise]), ErrorLaw((Weighted(1.0, own.noise, len(numbers) - 1),))
    rest = Noisy(sum(numbers) - inside, others)
    ends = _or_any(lambda: share_interval(Noisy(inside, one), rest, CONFIDENCE, FEW))
    return _beside(own.values, whole, ends)


def _of_some(own: Whole, inside: BoolArray) -> Shares:
    """Divide some cells of a table by their sum; the others have no share."""
    drawn = np.array(own.answer.numbers[0], dtype=np.float64)[inside]
    values = np.array([float(value) for value in own.values])[inside]
    one, others = ErrorLaw.of([1], [own.noise]), ErrorLaw((Weighted(1.0, own.noise, len(drawn) - 1),))
    if len(drawn) == 1:
        some = _rounded(*[np.ones(1)] * 3)
    else:
        rest = Noisy(drawn.sum() - drawn, others)
        ends = _or_any(lambda: share_interval(Noisy(drawn, one), rest, CONFIDENCE, FEW))
        some = _beside(values, float(values.sum()), ends)
    whole = np.full((3, len(inside)), np.nan)
    whole[:, inside] = some
    return Shares(*whole)


def _of_another(own: Whole, whole: float, total: Noisy) -> Shares:
    """Divide by a sum that was released with noise of its own; the cells of a table still add up to all of it."""
    part = Noisy(np.array(own.answer.numbers[0], dtype=np.float64), ErrorLaw.of([1], [own.noise]))
    return _beside(own.values, whole, _or_any(lambda: part_interval(part, total, CONFIDENCE)))


def _or_any(found: Callable[[], Bounds]) -> Bounds:
    """Give intervals, or where no law of such extreme noise can be worked out, all that can be."""
    try:
        return found()
    except BadNoise:
        return np.array(0.0), np.array(1.0)


def _beside(given: Any, whole: float, ends: Bounds) -> Shares:
    """Divide published numbers, and widen intervals to hold what they stand beside."""
    value = np.array(given, dtype=np.float64)
    share = np.clip(value / whole, 0, 1) if whole > 0 else np.full(len(value), np.nan)
    return _rounded(share, np.fmin(ends[0], share), np.fmax(ends[1], share))


def _rounded(value: FloatArray, low: FloatArray, high: FloatArray) -> Shares:
    """Write shares in millionths, intervals rounded outward."""
    ends = np.rint(value * FINENESS), np.floor(low * FINENESS), np.ceil(high * FINENESS)
    return Shares(*(np.clip(one, 0, FINENESS) / FINENESS for one in ends))
