"""How exact the answers of a batch will be: worked out from the noise alone, before a row is read.

Counts and totals: the law of the noise itself, so the figures are exact. If answers are made to agree, theirs
is the law of the best estimates; putting these to whole numbers and negative counts to zero moves them a
little more. Means and variances are ratios: their error is taken to first order at values that are assumed
and stated. A quantile's error is in ranks: no noise law says how far apart values are.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadNoise
from entwined.estimate.collected_laws import Laws
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.quality import TableSize
from entwined.estimate.spans import CONFIDENCE, Between, Ranks, Span, span
from entwined.forecast.draft import Draft
from entwined.mechanisms.asked import Asked
from entwined.noise import Additive, Law, additive
from entwined.numbers import FloatArray
from entwined.queries import Effective, Predicate, Query, Quotient, Scores
from entwined.queries.shapes import Number
from entwined.queries.terms import grid_of
from entwined.queries.weighted import Weight
from entwined.schema import Schema
from entwined.schema.exact import number_text

BETAS: Final = (Fraction(1, 10), Fraction(1, 20), Fraction(1, 100))
PERIOD: Final = 64.0  # in deviations and steps: what is beyond half of it has no chance to speak of
TERMS: Final = 2048
AGREED: Final = "Counts are taken to be well above zero, and rounding to whole numbers is left out."
QUARTER: Final = "their values a quarter of the range off its middle."
AS_DECLARED: Final = "their mean as declared."
WEIGHED: Final = " {column} is taken to be {mean} on average: declare its mean in the schema if it is not."
DECLARED: Final = " {column} is {mean} on average, as declared."
UNEVEN: Final = "How uneven the weights are is not said, so this is not predicted."
UNSAID: Final = "How many rows there may be is not said, so this is not predicted: give expected_rows."


@dataclass(frozen=True, slots=True)
class Assumed:
    """What predictions rest on beside the noise: how many rows there are, and whether answers are to agree."""

    rows: int | None
    consistent: bool
    impossible: tuple[Predicate, ...] = ()

    @classmethod
    def of(
        cls, schema: Schema, rows: int | None, *, consistent: bool, impossible: tuple[Predicate, ...] = ()
    ) -> "Assumed":
        """Take the public number of rows, else the one expected, else the most that the schema allows."""
        return cls(TableSize.of(schema, rows).rows, consistent, impossible)

    def inside(self, where: Predicate, schema: Schema) -> float | None:
        """Give how many rows are inside a condition if all values are equally common."""
        return None if self.rows is None else self.rows * _share(where, schema)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of one answer, in its own unit; in a table, of one cell (of the worst, for widths).

    `exact` says that every figure follows from the noise alone; else `assumes` says from what else.
    """

    noise: tuple[Law, ...]
    unit: str
    scale: float | None = None
    mean_error: float | None = None
    deviation: float | None = None
    half_width: float | None = None
    accuracy: tuple[tuple[float, float], ...] = ()
    exact: bool = True
    assumes: str = ""
    ranks_within: int | None = None
    mean_ranks_off: float | None = None
    laws: tuple[ErrorLaw, ...] = field(default=(), repr=False)

    @property
    def reach(self) -> float | None:
        """What `within` is held against: the half-width, or the ranks of a choice."""
        return self.half_width if self.ranks_within is None else self.ranks_within

    @property
    def document(self) -> Document:
        """The forecast as JSON."""
        ranks = {"ranks_within": self.ranks_within, "mean_ranks_off": self.mean_ranks_off}
        return {
            "noise": [law.document for law in self.noise],
            "unit": self.unit,
            "scale": self.scale,
            "mean_error": self.mean_error,
            "deviation": self.deviation,
            "half_width": self.half_width,
            "accuracy": [{"alpha": alpha, "beta": beta} for alpha, beta in self.accuracy],
            "exact": self.exact,
            "assumes": self.assumes or None,
        } | (ranks if self.ranks_within is not None else {})


def forecasts(batch: Draft, assumed: Assumed) -> tuple[Forecast, ...]:
    """Predict the errors of every answer of a batch, in the order of its queries."""
    agreeing = batch.agreeing(assumed.impossible) if assumed.consistent else None
    if agreeing is not None:
        try:
            return tuple(_each(batch, agreeing, assumed, drawn=False))
        except BadNoise:  # noise so fine that no law of a sum can be worked out: answers stay as drawn then
            pass
    return tuple(_each(batch, batch.drawn(), assumed, drawn=True))


def _each(draft: Draft, laws: Mapping[int, Laws], assumed: Assumed, *, drawn: bool) -> Iterator[Forecast]:
    for place, query in enumerate(draft.queries):
        found = laws.get(draft.uses[place][0])
        asked = draft.asked(place)
        yield query.shape(draft.schema, _Forecasts(query, draft.schema, asked, assumed, found, drawn))


@dataclass(frozen=True, slots=True)
class _Forecasts:
    """What to expect of each shape of an answer; `agreed` is the law of its first statistic's errors in the end."""

    query: Query
    schema: Schema
    asked: tuple[Asked, ...]
    assumed: Assumed
    agreed: Laws | None
    drawn: bool

    @property
    def _named(self) -> Forecast:
        return Forecast(tuple(one.law for one in self.asked), self.query.measured)

    @property
    def _noises(self) -> list[Additive]:
        return [additive(one.noise) for one in self.asked]

    def _rows(self, *statistics: Asked) -> float | None:
        """Give how many rows these count together if all values are equally common."""
        found = [self.assumed.inside(one.statistic.aggregate.where, self.schema) for one in statistics]
        known = [rows for rows in found if rows is not None]
        return sum(known) if len(known) == len(found) else None

    @property
    def _each(self) -> float:
        """What a row adds to the last statistic on average: 1, or what rows weigh on average as far as is public."""
        term = self.asked[-1].statistic.aggregate.adds
        if term is None:
            return 1.0
        low, step = grid_of(self.schema.coded(term.column))
        return float(term.factor * (Weight.mean(term.column, self.schema) - low) / step + term.offset)

    def lattice(self, step: int | Fraction) -> Forecast:
        """Predict the errors of single numbers or the cells of a table by the law of their noise."""
        law = self._as_drawn if self.agreed is None else self.agreed
        aggregate = self.asked[0].statistic.aggregate
        sums = aggregate.adds is not None and not aggregate.sides
        exact = (
            self.drawn or self.agreed is None or (sums and law[1] == self._as_drawn[1])
        )  # nothing has to agree with such a sum
        return self._by_law(law, float(step), "" if exact else AGREED)

    def rising(self, step: Fraction) -> Forecast:
        """Predict the error of an answer that rises with one number as drawn, its limits left out."""
        return self._by_law(self._as_drawn, float(step), "")

    @property
    def _as_drawn(self) -> Laws:
        cells = np.zeros(self.asked[0].statistic.aggregate.cells, np.int64)
        return cells, (ErrorLaw.of([1], self._noises[:1]),)

    def _by_law(self, law: Laws, unit: float, assumes: str) -> Forecast:
        return replace(
            _table(law, unit),
            noise=self._named.noise,
            unit=self.query.measured,
            scale=float(self._noises[0].scale) * unit,
            exact=not assumes,
            assumes=assumes,
        )

    def ratio(self, quotient: Quotient[Number]) -> Forecast:
        """Predict the error of a sum over a count."""
        declared = self.schema.coded(self.query.values[0]).declared_mean
        zero = quotient.value(Fraction(0))
        middle, said = _off_middle(quotient), QUARTER
        if declared is not None and isinstance(zero, Fraction):
            middle, said = float((declared - zero) / quotient.step), AS_DECLARED
        largest = float((quotient.most - quotient.least) * quotient.step)
        return self._first_order([middle, 1.0], [1.0, middle], float(quotient.step), largest, said)

    def variance(self, quotient: Quotient[Number]) -> Forecast:
        """Predict the error of a variance of values with a deviation of a quarter of their range."""
        middle, quarter = _off_middle(quotient), (quotient.most - quotient.least) / 4
        squares = middle**2 + quarter**2
        largest = ((quotient.most - quotient.least) / 2) ** 2 * float(quotient.step)
        weights = [2 * middle, 1.0, 2 * middle**2 - squares]
        return self._first_order([middle, squares, 1.0], weights, float(quotient.step), largest)

    def share(self) -> Forecast:
        """Predict the error of a share of rows if all values are equally common."""
        rows, inside = self._rows(*self.asked), self._rows(self.asked[0])
        if rows is None or inside is None:
            return replace(self._named, exact=False, assumes=UNSAID)
        share = inside / rows if rows else 0.5
        said = "all values equally common."
        return self._at([share, 1 - share], [1 - share, share], 1.0, 1.0, max(round(rows), 1), said)

    def effective(self, effective: Effective) -> Forecast:  # noqa: ARG002  (every shape is asked the same way)
        """Predict nothing: how uneven weights are is not public."""
        return replace(self._named, exact=False, assumes=UNEVEN)

    def _first_order(
        self,
        numbers: Sequence[float],
        weights: Sequence[float],
        unit: float,
        largest: float,
        said: str = QUARTER,
    ) -> Forecast:
        rows = self._rows(self.asked[-1])
        if rows is None:
            return replace(self._named, exact=False, assumes=UNSAID)
        return self._at(numbers, weights, unit, largest, max(round(rows), 1), said)

    def _at(
        self,
        numbers: Sequence[float],
        weights: Sequence[float],
        unit: float,
        largest: float,
        rows: int,
        said: str,
    ) -> Forecast:
        """Predict an error to first order: the numbers of one row, and how the answer moves with each."""
        counted = rows * self._each
        law = ErrorLaw.of([weight / counted * unit for weight in weights], self._noises)
        where = span(self.query, self.schema, self.asked, [[round(number * counted)] for number in numbers])
        return replace(
            self._named,
            mean_error=min(mean_size(law), largest),
            deviation=min(math.sqrt(law.variance), largest),
            half_width=self._half(where),
            accuracy=tuple((min(law.half_width(1 - beta), largest), float(beta)) for beta in BETAS),
            exact=False,
            assumes=f"{rows:,} rows are taken to be inside, {said}{self._weighed}",
        )

    @property
    def _weighed(self) -> str:
        """Say what rows are taken to weigh."""
        term = self.asked[-1].statistic.aggregate.adds
        if term is None:
            return ""
        mean = number_text(Weight.mean(term.column, self.schema))
        is_declared = self.schema.coded(term.column).declared_mean is not None
        return (DECLARED if is_declared else WEIGHED).format(column=term.column, mean=mean)

    def _half(self, where: Span) -> float | None:
        """Give half the length of an interval."""
        length = self.query.apart(self.schema, where.low, where.high) if isinstance(where, Between) else None
        return None if length is None else length / 2

    def choice(self, choice: Scores, candidates: int) -> Forecast:
        """Predict how many ranks a choice is off, on average if all values inside are equally common."""
        one = self.asked[0]
        ranks = span(self.query, self.schema, self.asked, [])
        within = ranks.within if isinstance(ranks, Ranks) else None
        found = replace(self._named, exact=False, ranks_within=within)
        where, inside = one.statistic.aggregate.where, self._rows(one)
        if inside is None or one.chooser is None:
            return replace(found, assumes=UNSAID)
        column = self.schema.coded(self.query.values[0])
        counts = np.zeros(column.size)
        for low, high in where.codes(column.name, column.size):
            counts[low : high + 1] = 1.0
        counts = counts[:candidates] * (inside / counts.sum())
        off = one.chooser.expected(choice.ranks_off(counts) * choice.of_a_rank) / choice.of_a_rank
        said = f"{round(inside):,} rows are taken to be inside, all values equally common; the 95 % holds always."
        return replace(found, mean_ranks_off=off, assumes=said)


def _off_middle(quotient: Quotient[Number]) -> float:
    """Give what a row adds on average if that is a quarter of the range off its middle."""
    return (quotient.least + quotient.most) / 2 + (quotient.most - quotient.least) / 4


def _table(laws: Laws, unit: float) -> Forecast:
    """Average what is expected over the cells, and take the widest of the widths."""
    kinds, found = laws
    cells = np.bincount(kinds, minlength=len(found)) / len(kinds)
    errors = np.array([mean_size(law) for law in found])
    variances = np.array([law.variance for law in found])
    return Forecast(
        noise=(),
        unit="",
        mean_error=float(cells @ errors) * unit,
        deviation=math.sqrt(float(cells @ variances)) * unit,
        half_width=max(law.half_width(CONFIDENCE) for law in found) * unit,
        accuracy=tuple(
            (max(law.half_width(1 - beta) for law in found) * unit, float(beta)) for beta in BETAS
        ),
        laws=found,
    )


def _share(where: Predicate, schema: Schema) -> float:
    """Give the part of all value combinations that is inside, missing values left out."""
    levels: Mapping[str, int] = {name: schema.coded(name).levels for name in where.columns}
    return math.fsum(
        math.prod(
            sum(max(min(high + 1, levels[name]) - low, 0) for low, high in ranges) / levels[name]
            for name, ranges in box.items()
        )
        for box in where.boxes
    )


@lru_cache(maxsize=8192)
def mean_size(law: ErrorLaw) -> float:
    """Give the mean of |error|.

    On a circle so wide that errors do not go round it, |x| is P/4 − 2P/π² · Σ cos(2πkx/P)/k² over odd k, so
    its mean takes the characteristic function at these places only. What terms beyond the last add is
    estimated by those before it.
    """
    if law.variance == 0:
        return 0.0
    period = PERIOD * (math.sqrt(law.variance) + max(share.weight for share in law.shares))
    odd: FloatArray = np.arange(1, 2 * TERMS, 2, dtype=np.float64)
    missing = 1 - law.transform(2 * math.pi * odd / period)
    beyond = float(missing[TERMS // 2 :].mean()) / (4 * TERMS)
    return 2 * period / math.pi**2 * (float((missing / odd**2).sum()) + beyond)
