"""Differences, ratios and shares of released counts, and bands for whole tables: post-processing with valid intervals.

Released counts are linear in independent noises of known laws, also after they were made to agree: so a difference has
an error of a known law too, and the counts' own errors may cancel or add up in it. A ratio r is kept if a − r · b is
within what its error allows (Fieller's argument, see `ratios`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from entwined.errors import BadQuery
from entwined.estimate.agreement import Released, grouped
from entwined.estimate.answers import AS_DRAWN, Release
from entwined.estimate.consistent_release import public_rows, released_numbers
from entwined.estimate.contradictions import rows_at_most
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.intervals import Interval, intervals
from entwined.estimate.ratios import kept_ratios
from entwined.estimate.reconciled import reconciliation
from entwined.mechanisms.batch import Batch
from entwined.noise import Additive
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray
from entwined.queries import Predicate, Query
from entwined.schema import Schema

Confidence: TypeAlias = str | float | Fraction
Number: TypeAlias = Query | tuple[Query, int]
"""A count that was asked for, or one cell of a table, by its place with the last column fastest."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two published numbers say about each other, and between which ends the truth lies; None is undefined."""

    value: Fraction | None
    low: Fraction
    high: Fraction


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """Estimates of the cells of one table: row by row, the weights of all noises in them."""

    published: tuple[Fraction, ...]
    estimates: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class Comparing:
    """The counts of one release, and how their errors hang together."""

    schema: Schema
    counts: dict[str, Measured]
    noises: tuple[Additive | None, ...]
    most: int
    independent: bool

    @classmethod
    def of(cls, planned: Batch, release: Release, impossible: Sequence[Predicate] = ()) -> "Comparing":
        """Take the counts of a release, made to agree or as they were drawn."""
        places, numbers = released_numbers(planned, release)
        counted = [place for place, one in enumerate(numbers) if one.subject[1] is None]
        given = [numbers[place] for place in counted]
        drawn = release.agreement == AS_DRAWN
        made = (
            _as_drawn(given)
            if drawn
            else _agreeing([*given, *public_rows(planned, release.warnings)], impossible) or _as_drawn(given)
        )
        found, noises = made
        by_use = {places[place]: one for place, one in zip(counted, found, strict=False)}
        counts = {}
        for query, uses in zip(planned.queries, planned.uses, strict=True):
            if len(uses) == 1 and uses[0] in by_use:
                value = release.of(query).value
                published = value if isinstance(value, tuple) else (value,)
                estimates, weights = by_use[uses[0]]
                counts[query.fingerprint] = Measured(tuple(map(Fraction, published)), estimates, weights)  # type: ignore[arg-type]  # they are counts
        return cls(
            planned.schema, counts, noises, rows_at_most(planned.schema, release.warnings), independent=drawn
        )

    def difference(self, one: Number, other: Number, confidence: Confidence = 0.95) -> Comparison:
        """Say by how much one count is above another."""
        (first, here), (second, there) = self._found(one), self._found(other)
        law = self._law(first.weights[here] - second.weights[there])
        estimate = np.array([first.estimates[here] - second.estimates[there]])
        low, high = intervals(estimate, law, confidence, counts=False)
        value = (
            first.published[here] - second.published[there] if law.shares else Fraction(round(estimate[0]))
        )
        ends = min(Fraction(int(low[0])), value), max(Fraction(int(high[0])), value)
        return Comparison(value, *(min(max(end, Fraction(-self.most)), Fraction(self.most)) for end in ends))

    def ratio(self, top: Number, bottom: Number, confidence: Confidence = 0.95) -> Comparison:
        """Say how many times as large one count is as another that is not zero."""
        return self._ratio(top, bottom, (0.0, float(self.most)), confidence)

    def share(self, part: Number, whole: Number, confidence: Confidence = 0.95) -> Comparison:
        """Say which share of a count, that is not zero, a part of it is."""
        return self._ratio(part, whole, (0.0, 1.0), confidence)

    def simultaneous(self, query: Query, confidence: Confidence = 0.95) -> Interval:
        """Give intervals that hold the true counts of all cells of a table at once."""
        found, _ = self._found((query, 0))
        cells = len(found.published)
        sure = of_each(cells, confidence, independent=self.independent)
        low, high = np.empty(cells, np.int64), np.empty(cells, np.int64)
        for cell in range(cells):
            law = self._law(found.weights[cell])
            ends = intervals(found.estimates[cell : cell + 1], law, sure, counts=True)
            low[cell], high[cell] = int(ends[0][0]), int(ends[1][0])
        return np.clip(low, 0, self.most), np.clip(high, 0, self.most)

    def _ratio(
        self, top: Number, bottom: Number, public: tuple[float, float], confidence: Confidence
    ) -> Comparison:
        (first, here), (second, there) = self._found(top), self._found(bottom)
        over, under = first.weights[here], second.weights[there]
        low, high = kept_ratios(
            np.array([first.estimates[here]]),
            np.array([second.estimates[there]]),
            lambda ratio: self._law(over - ratio * under),
            (self._law(over), self._law(under)),
            public,
            confidence,
        )
        divisor = second.published[there]
        possible = tuple(map(Fraction, public))
        value = min(max(first.published[here] / divisor, possible[0]), possible[1]) if divisor > 0 else None
        ends = Fraction(float(low[0])), Fraction(float(high[0]))
        return (
            Comparison(value, *ends)
            if value is None
            else Comparison(value, min(ends[0], value), max(ends[1], value))
        )

    def _found(self, number: Number) -> tuple[Measured, int]:
        given, cell = number if isinstance(number, tuple) else (number, 0)
        query = given.bound(self.schema)
        found = self.counts.get(query.fingerprint)
        if found is None:
            raise BadQuery(
                f"{query!s:.200} is no count of this release. Compare counts and cells of tables of counts."
            )
        if not 0 <= cell < len(found.published) or (number is given and len(found.published) > 1):
            raise BadQuery(
                f"{query!s:.200} has {len(found.published)} cells. Name one by its place, from 0 on."
            )
        return found, cell

    def _law(self, weights: FloatArray) -> ErrorLaw:
        """Give the law of noises with these weights, exact numbers left out."""
        noisy = [
            (weight, noise) for weight, noise in zip(weights.tolist(), self.noises, strict=True) if noise
        ]
        return ErrorLaw.of([round(weight, 12) for weight, _ in noisy], [noise for _, noise in noisy])


def of_each(cells: int, confidence: Confidence, *, independent: bool) -> Fraction:
    """Give the confidence of each cell that lets all of them hold at once with the confidence asked for.

    Cells with independent errors, as they are drawn, may each miss by 1 − c^(1/k) for the k of them to hold at once
    with confidence c. Errors that hang together, as after numbers were made to agree, may each miss by (1 − c) / k.
    """
    miss = 1 - probability(confidence, "Confidence")
    if not independent:
        return 1 - miss / cells
    return 1 - Fraction(-math.expm1(math.log1p(-float(miss)) / cells)) * (1 - Fraction(1, 10**9))


Found: TypeAlias = tuple[list[tuple[FloatArray, FloatArray]], tuple[Additive | None, ...]]


def _as_drawn(numbers: Sequence[Released]) -> Found:
    """Give every cell the weight 1 of its own noise."""
    cells = [one.table.values.size for one in numbers]
    noises = tuple(one.noise for one, size in zip(numbers, cells, strict=True) for _ in range(size))
    rows = np.split(np.eye(sum(cells)), np.cumsum(cells)[:-1]) if cells else []
    values = [one.table.values.reshape(-1).astype(float) for one in numbers]
    return list(zip(values, rows, strict=True)), noises


def _agreeing(numbers: Sequence[Released], impossible: Sequence[Predicate]) -> Found | None:
    """Give the weights of all noises in the estimates that agree; None where they are too many."""
    if len(grouped(numbers, impossible, always_by_atoms=True).by_atoms) < len(numbers):
        return None
    noises = tuple(one.noise for one in numbers)
    how = reconciliation(tuple(one.counting for one in numbers), noises, tuple(impossible))
    values = [one.table.values.reshape(1, -1).astype(float) for one in numbers]
    estimates = [found[0] for found in how.estimates(values)]
    return list(zip(estimates, how.weights(), strict=True)), tuple(noises[owner] for owner in how.owners)
