"""What a weighted answer says about the population that the rows were drawn from: noise and the error of the sample.

An answer as it is released is about the rows: its interval is that of the noise. The people whom the rows stand for are
known less well. For a true number r of theirs, what was released less r is noise plus an error of the sample, whose
variance a `Sampling` query tells (see `sampling`): r is kept if it is within what both allow together. Of ratios every
r is tried in turn, as in `ratios`. Samples are taken to be large enough for their error to be normal.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NoReturn, TypeAlias

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.estimate.answers import Answered, Release
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.grid import outward
from entwined.estimate.ratios import SET_ASIDE, Bounds, kept, ratio_nodes, surer
from entwined.estimate.sampling import SampleError
from entwined.estimate.shares import PIECES
from entwined.noise import additive
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray
from entwined.queries import Effective, Query, Quotient, Sampling, Scores
from entwined.queries.documents import as_written
from entwined.queries.extents import extent
from entwined.queries.shapes import Number
from entwined.schema import Schema

Ends: TypeAlias = tuple[Fraction, Fraction]
USUAL: Final = Fraction(95, 100)
ONE_NUMBER: Final = "What {kind} says about a population. Ask for a weighted count, total, mean or share."


@dataclass(frozen=True, slots=True)
class Estimated:
    """A released number, and where the truth lies: of the `sample`, by the noise alone, and of the `population`.

    `effective` is how many rows of equal weight would tell as much, `design_effect` how much larger uneven weights make
    a variance (Kish); both from released numbers.
    """

    asked: str
    value: Fraction
    sample: Ends
    population: Ends
    confidence: Fraction
    effective: float
    design_effect: float


def population(release: Release, query: Query, *, confidence: str | float | Fraction = USUAL) -> Estimated:
    """Say what a released weighted count, total, mean or share tells about the population."""
    if release.schema is None:
        raise BadQuery("Nothing says under which schema this was released. Take release.under(schema).")
    asked = query.bound(release.schema)
    answer, sure = release.of(asked), probability(confidence, "Confidence")
    sampling, released = _behind(asked, release)
    error = SampleError.of(released.numbers[0], additive(released.noise[0]))
    given = asked, release.schema, answer, sampling, sure
    sample, people = (
        asked.shape(release.schema, _Kept(*given, error, largest))
        for largest in (0, sampling.largest_weight(release.schema))
    )
    value = answer.value
    if not isinstance(value, int | Fraction):
        raise BadQuery(ONE_NUMBER.format(kind=query.kind))
    found = Fraction(value)
    return Estimated(
        asked.words,
        found,
        _around(found, sample),
        _around(found, people),
        sure,
        error.effective,
        error.design_effect,
    )


def populations(release: Release) -> dict[str, Estimated]:
    """Say it of every answer whose sampling error was released too, by the question's canonical text."""
    if not any(_samplings(release)):
        return {}
    asked = (as_written(one["query"]) for one in release.certificate["mechanism"]["asked"])
    return populations_among(release, asked)


def populations_among(release: Release, queries: Iterable[Query]) -> dict[str, Estimated]:
    """Say it of those of these questions whose sampling error was released too."""
    if not any(_samplings(release)):
        return {}
    return {query.fingerprint: population(release, query) for query in queries if _is_sampled(query, release)}


def _is_sampled(query: Query, release: Release) -> bool:
    try:
        _behind(query, release)
    except BadQuery:
        return False
    return True


def _around(value: Fraction, ends: Ends) -> Ends:
    """Widen an interval to hold the number that it stands beside."""
    return min(ends[0], value), max(ends[1], value)


def _behind(query: Query, release: Release) -> tuple[Sampling, Answered]:
    """Find what was released about a query's sampling error."""
    for answer, design in _samplings(release):
        found = Sampling.behind(query, design["strata"], even=design["even"])
        if found.fingerprint == answer.asked:
            return found, answer
    raise BadQuery(
        f"{query.words}: nothing was released about its sampling error. Ask Sampling.behind(query, strata=…) in the "
        "same release."
    )


def _samplings(release: Release) -> Iterator[tuple[Answered, Document]]:
    for answer in release.answers:
        asked = json.loads(answer.asked)
        if asked["query"] == Sampling.kind:
            yield answer, asked


@dataclass(frozen=True, slots=True)
class _Kept:
    """What each shape of an answer leaves possible, weights up to `largest` being drawn; at 0 only noise is there."""

    query: Query
    schema: Schema
    answer: Answered
    sampling: Sampling
    confidence: Fraction
    error: SampleError
    largest: int

    @property
    def _laws(self) -> list[ErrorLaw]:
        return [ErrorLaw.of([1], [additive(noise)]) for noise in self.answer.noise]

    @property
    def _numbers(self) -> FloatArray:
        return np.array([found[0] for found in self.answer.numbers], dtype=np.float64)

    def _sampled(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Give the variances of sums to which a row adds from low to high for each unit of its weight."""
        if not self.largest:
            return np.zeros(len(low))
        return self.error.variance(self.largest * low, self.largest * high, self.confidence)

    def lattice(self, step: int | Fraction) -> Ends:
        """The noise, and the error of the sum over the sample."""
        low, high = (np.array([float(end)]) for end in self.query.ends(self.schema))
        known = self.query.counts_all and self.sampling.even and self.error.is_of_all
        if (
            self.largest and known
        ):  # what all rows weigh together is known by design, and no part of the error
            middle = self.error.middle(low, high)
            low, high = low - middle, high - middle
        law = ErrorLaw(self._laws[0].shares, float(self._sampled(low, high)[0]))
        total, reach = self.answer.numbers[0][0], math.ceil(law.half_width(self.confidence))
        return self._possible(total - reach) * Fraction(step), self._possible(total + reach) * Fraction(step)

    def _possible(self, end: int) -> int:
        """Cut an end at what is public: how much all rows add, or of people that none adds less than nothing."""
        (statistic,) = self.query.statistics(self.schema)
        least, most = extent(statistic.aggregate, self.schema, self.schema.rows_at_most)
        if not isinstance(least, int) or not isinstance(most, int):
            return self._refused()
        if not self.largest:
            return min(max(end, least), most)
        return max(end, 0) if least == 0 else min(end, 0) if most == 0 else end

    def ratio(self, quotient: Quotient[Number]) -> Ends:
        """Every ratio r for which Σw(t − r), with its noise, is within what both errors allow."""
        top, bottom = (law.variance for law in self._laws)
        public = float(quotient.least), float(quotient.most)
        nodes = ratio_nodes(public, math.sqrt(top), math.sqrt(bottom))
        sampled = self._sampled(public[0] - nodes, public[1] - nodes)
        widths = self._widths(nodes, np.ones(len(nodes)), sampled)
        sums, weights = self._numbers[:1], self._numbers[1:]
        return self._between(kept((sums, sums), weights, nodes, widths), quotient)

    def share(self) -> Ends:
        """Every share r for which (1 − r)Σw inside − rΣw outside is within what both errors allow."""
        nodes = np.linspace(0.0, 1.0, PIECES + 1)
        widths = self._widths(nodes, 1 - nodes, self._sampled(-nodes, 1 - nodes))
        inside, outside = self._numbers[:1], self._numbers[1:]
        found = kept((inside, inside), inside + outside, nodes, widths)
        return self._between(found, Quotient(0, 1, Fraction(1), Fraction))

    def _widths(self, nodes: FloatArray, firsts: FloatArray, sampled: FloatArray) -> FloatArray:
        """Give half widths of the errors of first · one number − r · the other, r at each node.

        Where Chebyshev's bound rules a node and its neighbours out, that bound stands for the half width.
        """
        sure = surer(self.confidence, SET_ASIDE)
        one, other = self._laws
        spread = firsts**2 * one.variance + nodes**2 * other.variance + sampled
        widths = np.sqrt(spread / float(1 - sure))
        off = firsts * self._numbers[0] - nodes * self._numbers[1]
        turned = np.append(np.diff(np.sign(off)) != 0, False)  # the last node has none after it
        near = np.flatnonzero((np.abs(off) <= widths) | turned).tolist()
        for at in range(max(near[0] - 1, 0), min(near[-1] + 2, len(nodes))) if near else ():
            noise = one * float(firsts[at]) + other * float(nodes[at])
            widths[at] = ErrorLaw(noise.shares, float(sampled[at])).half_width(sure)
        return widths

    def _between(self, found: Bounds, quotient: Quotient[Number]) -> Ends:
        ends = (quotient.value(Fraction(float(end[0]))) for end in found)
        low, high = outward(self.query, self.schema, (next(ends), next(ends)))
        if not isinstance(low, Fraction) or not isinstance(high, Fraction):
            return self._refused()
        return low, high

    def rising(self, step: Fraction) -> Ends:  # noqa: ARG002  (every shape is asked the same way)
        """An answer by a public number is not weighted."""
        return self._refused()

    def variance(self, quotient: Quotient[Number]) -> Ends:  # noqa: ARG002
        """A variance is not weighted."""
        return self._refused()

    def effective(self, effective: Effective) -> Ends:  # noqa: ARG002
        """An effective number of rows is about the sample."""
        return self._refused()

    def choice(self, choice: Scores, candidates: int) -> Ends:  # noqa: ARG002
        """A choice is not weighted."""
        return self._refused()

    def _refused(self) -> NoReturn:
        raise BadQuery(ONE_NUMBER.format(kind=self.query.kind))
