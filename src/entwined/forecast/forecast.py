"""How exact the answers of a batch will be: worked out from the noise alone, before a row is read.

Counts and totals: the law of the noise itself, so the figures are exact. If answers are made to agree, theirs
is the law of the best estimates; putting these to whole numbers and negative counts to zero moves them a
little more. Means and variances are ratios: their error is taken to first order at values that are assumed
and stated. A quantile's error is in ranks: no noise law says how far apart values are.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from entwined.errors import BadNoise
from entwined.estimate.collected_laws import Laws
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.spans import CONFIDENCE, Between, Ranks, span
from entwined.forecast.draft import Draft
from entwined.mechanisms.asked import Added, Asked, Chosen
from entwined.numbers import FloatArray
from entwined.queries import GroupBy, Mean, Predicate, Query, SumOf, Total, Variance
from entwined.queries.sums import grid_of, total_term
from entwined.schema import Coded, Moment, Schema
from entwined.schema.grids import STEPS
from entwined.schema.schema import USUAL_ROWS

BETAS: Final = (Fraction(1, 10), Fraction(1, 20), Fraction(1, 100))
PERIOD: Final = 64.0  # in deviations and steps: what is beyond half of it has no chance to speak of
TERMS: Final = 8192
AGREED: Final = "Counts are taken to be well above zero, and rounding to whole numbers is left out."
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
        most = schema.most_rows if schema.most_rows < USUAL_ROWS else None
        known = next((found for found in (schema.rows, rows, most) if found is not None), None)
        return cls(known, consistent, impossible)

    def inside(self, where: Predicate, schema: Schema) -> float | None:
        """Give how many rows are inside a condition if all values are equally common."""
        return None if self.rows is None else self.rows * _share(where, schema)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of one answer, in its own unit; in a table, of one cell (of the worst, for widths).

    `exact` says that every figure follows from the noise alone; else `assumes` says from what else.
    """

    noise: tuple[str, ...]
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

    @property
    def reach(self) -> float | None:
        """What `within` is held against: the half-width, or the ranks of a choice."""
        return self.half_width if self.ranks_within is None else self.ranks_within

    @property
    def document(self) -> dict[str, Any]:
        """The forecast as JSON."""
        ranks = {"ranks_within": self.ranks_within, "mean_ranks_off": self.mean_ranks_off}
        return {
            "noise": list(self.noise),
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


def _each(batch: Draft, laws: Mapping[int, Laws], assumed: Assumed, *, drawn: bool) -> Iterator[Forecast]:
    for place, query in enumerate(batch.queries):
        asked = batch.asked(place)
        match query, asked:
            case Mean(count="noisy") | Variance(), _:
                yield _ratio(query, batch.schema, asked, assumed)
            case _, (Added() as one,):
                unit, words = _unit(query, batch.schema)
                law = laws[batch.uses[place][0]]
                exact = drawn or _is_drawn(law, one)
                yield replace(
                    _table(law, unit),
                    noise=(one.text,),
                    unit=words,
                    scale=float(one.law.scale) * unit,
                    exact=exact,
                    assumes="" if exact else AGREED,
                )
            case _, (Chosen() as one,):
                yield _choice(one, batch.schema, assumed)


def _is_drawn(laws: Laws, one: Added) -> bool:
    """Say whether sums stay as they are drawn, as they do where nothing else has to agree with them."""
    return isinstance(one.statistic.aggregate, SumOf) and laws[1] == (ErrorLaw.of([1], [one.law]),)


def _unit(query: Query, schema: Schema) -> tuple[float, str]:
    """Give what one step of the noise is worth in the answer, and what the answer counts."""
    match query:
        case Total(column=column) | GroupBy(total=str(column)):
            return float(total_term(schema.coded(column))[1]), f"of {column}"
        case Mean(column=column):  # by the public number of rows
            return _step(schema.coded(column)) / _factor(query, schema) / (schema.rows or 1), f"of {column}"
    return 1.0, "rows"


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
    )


def _ratio(query: Mean | Variance, schema: Schema, asked: tuple[Asked, ...], assumed: Assumed) -> Forecast:
    """Predict the error of a mean or variance to first order, for values a quarter of their range off its
    middle, with a deviation of a quarter of it.
    """
    noise = tuple(one.text for one in asked)
    words = f"of {query.column}" if isinstance(query, Mean) else f"of {query.column} squared"
    where = query.statistics(schema)[0].aggregate.where
    inside = assumed.inside(where, schema)
    if inside is None:
        return Forecast(noise, words, exact=False, assumes=UNSAID)
    rows = max(round(inside), 1)
    low, high = _ends(query, schema)
    quarter = (high - low) / 4
    middle = (low + high) / 2 + quarter
    laws = [one.law for one in asked if isinstance(one, Added)]
    if isinstance(query, Mean):
        numbers, weights = [middle, 1.0], [1.0, middle]
        unit = _step(schema.coded(query.column)) / _factor(query, schema)
    else:
        squares = middle**2 + quarter**2
        numbers, weights = [middle, squares, 1.0], [2 * middle, 1.0, 2 * middle**2 - squares]
        unit = (_step(schema.coded(query.column)) / _factor(query, schema)) ** 2
    law = ErrorLaw.of([weight / rows * unit for weight in weights], laws)
    where_truth_is = span(query, schema, asked, [[round(number * rows)] for number in numbers])
    largest = (high - low) * unit if isinstance(query, Mean) else ((high - low) / 2) ** 2 * unit
    return Forecast(
        noise,
        words,
        None,
        min(mean_size(law), largest),
        min(math.sqrt(law.variance), largest),
        _half(where_truth_is, schema.coded(query.column)),
        tuple((min(law.half_width(1 - beta), largest), float(beta)) for beta in BETAS),
        exact=False,
        assumes=f"{rows:,} rows are taken to be inside, their values a quarter of the range off its middle.",
    )


def _half(where: object, column: Coded) -> float | None:
    """Give half the length of an interval, times in steps of their column."""
    match where:
        case Between(low=datetime() as low, high=datetime() as high) if isinstance(column, Moment):
            return (high - low) / STEPS[column.step] / 2
        case Between(low=int() | Fraction() as low, high=int() | Fraction() as high):
            return float(high - low) / 2
    return None


def _ends(query: Mean | Variance, schema: Schema) -> tuple[float, float]:
    """Give the least and the greatest that a row adds to the sum."""
    asked = query.statistics(schema)[0].aggregate
    codes = asked.where.codes(query.column, schema.coded(query.column).size)
    term = asked.term  # type: ignore[union-attr]  # a mean's first statistic is a sum
    return float(term.value(codes[0][0])), float(term.value(codes[-1][1]))


def _factor(query: Mean | Variance, schema: Schema) -> int:
    return int(query.statistics(schema)[0].aggregate.term.factor)  # type: ignore[union-attr]  # a sum too


def _step(column: Coded) -> float:
    return float(grid_of(column, moments=True)[1])


def _choice(one: Chosen, schema: Schema, assumed: Assumed) -> Forecast:
    """Predict how many ranks a choice is off, on average if all values inside are equally common."""
    ranks = span(one.query, schema, [one], [])
    within = ranks.within if isinstance(ranks, Ranks) else None
    where = one.statistic.aggregate.where
    inside = assumed.inside(where, schema)
    found = Forecast((one.text,), "ranks", exact=False, ranks_within=within)
    if inside is None:
        return replace(found, assumes=UNSAID)
    column = schema.coded(one.query.column)
    counts = np.zeros(column.size)
    for low, high in where.codes(column.name, column.size):
        counts[low : high + 1] = 1.0
    counts = counts[: column.levels] * (inside / counts.sum())
    said = f"{round(inside):,} rows are taken to be inside, all values equally common; the 95 % holds always."
    return replace(found, mean_ranks_off=_ranks_off(one, counts), assumes=said)


def _ranks_off(one: Chosen, counts: FloatArray) -> float:
    share = float(one.query.at)
    at_most = np.cumsum(counts)
    wanted = share * (at_most[-1] - 1) + 0.5
    far = np.maximum(np.maximum(at_most - counts - wanted, wanted - at_most), 0.0)
    rate = float(one.law.rate) * 2 * one.query.at.denominator
    chances = np.exp(-rate * (far - far.min()))
    return float(chances @ far / chances.sum())


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
