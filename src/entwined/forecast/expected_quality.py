"""The quality to expect of an answer before anything is spent, from public figures and stated assumptions.

What needs no assumption comes first: the smallest number that can be published with the planned noise, and what a table
of so many rows can hold at most. Counts are then judged as if all cells were equally frequent. Where that says nothing,
as of totals and means, the quality is unknown, and the smallest number that can be published stands beside it.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from entwined.errors import BadNoise
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.judged import ALL_ROWS, ARBITRARY, rank_error
from entwined.estimate.quality import (
    DEVIATIONS,
    MISS,
    PUBLISH,
    WITH_CARE,
    Level,
    TableSize,
    figure,
    level_of,
    relative_error,
    smallest,
)
from entwined.estimate.spans import CONFIDENCE
from entwined.forecast.forecast import Assumed, Forecast
from entwined.queries import Effective, Query, Quotient, Scores
from entwined.queries.extents import End, extent
from entwined.queries.shapes import Number
from entwined.queries.weighted import Weight
from entwined.schema import Schema

TYPICAL: Final = 0.5  # of the largest possible number, where nothing else is known
OF_THE_RANGE: Final = 0.15  # for a half-width, where zero is arbitrary
ASKED: Final = {"publish": "Within ± {}, as asked for.", "not": "Not within ± {}, as asked for."}
TOO_SMALL: Final = "Not even the largest possible number, {}, could be published in a table of {}."
ANY_VALUE: Final = "Any possible number can be published."
NOTHING: Final = "Its interval is as long as the whole range."


@dataclass(frozen=True, slots=True)
class ExpectedQuality:
    """The class and relative standard error to expect, why, and from which number on an answer is in each class.

    `needed` is by which factor noise has to shrink for the number that is expected to be published.
    """

    level: Level = "unknown"
    relative_error: float | None = None
    reason: str = ""
    publish_from: float | None = None
    with_care_from: float | None = None
    needed: float | None = None
    cell_rows: float | None = None
    cells: int = 1
    things: str = "Numbers"

    @property
    def thresholds(self) -> str:
        """Say which numbers can be published; nothing where that is unknown."""
        if self.publish_from is None or self.with_care_from is None:
            return ""
        return (
            f"{self.things} from {figure(self.publish_from)} on can be published, from "
            f"{figure(self.with_care_from)} with care."
        )


def expected_quality(
    query: Query, schema: Schema, size: TableSize, forecast: Forecast, wanted: Fraction | None = None
) -> ExpectedQuality:
    """Say what quality an answer will have; an accuracy that was asked for decides where nothing contradicts it."""
    try:
        found = query.shape(schema, _Expected(query, schema, size, forecast))
    except BadNoise:
        return ExpectedQuality()
    if wanted is None or forecast.reach is None or found.reason.startswith(TOO_SMALL[:12]):
        return found
    level: Level = "publish" if forecast.reach <= float(wanted) else "not"
    return replace(found, level=level, relative_error=None, reason=ASKED[level].format(figure(float(wanted))))


@dataclass(frozen=True, slots=True)
class _Expected:
    """What to expect of each shape of an answer."""

    query: Query
    schema: Schema
    size: TableSize
    forecast: Forecast

    def lattice(self, step: int | Fraction) -> ExpectedQuality:
        """Judge counts if all cells were equally frequent, and totals by what is possible."""
        law, unit = max(self.forecast.laws, key=lambda law: law.variance), float(step)
        error, reach = math.sqrt(law.variance) * unit, law.half_width(CONFIDENCE) * unit
        aggregate = self.query.statistics(self.schema)[0].aggregate
        found = self._thresholds(error, _sure_reach(law, aggregate.cells) * unit)
        counts = self.query.counts_rows and aggregate.adds is None
        found = replace(found, things="Counts" if counts else "Numbers")
        if counts:
            found = _whole(found)
        if self.size.rows is not None:
            ends = extent(aggregate, self.schema, self.size.rows)
            found = self._possible(found, 0.0, max(map(_farthest, ends)) * unit, error, reach)
        if counts:
            return self._frequent(found, error, reach, aggregate.cells)
        rows = Assumed(self.size.expected, consistent=False).inside(aggregate.where, self.schema)
        weights = None if aggregate.adds is None else aggregate.adds.times
        weight = 1.0 if weights is None else float(Weight.mean(weights.column, self.schema))
        return self._by_mean(found, None if rows is None else rows * weight)

    def _frequent(self, found: ExpectedQuality, error: float, reach: float, cells: int) -> ExpectedQuality:
        """Judge a cell of a table if all its possible cells were equally frequent."""
        assumed = Assumed(self.size.expected, consistent=False)
        inside = assumed.inside(self.query.statistics(self.schema)[0].aggregate.where, self.schema)
        if inside is None:
            return found
        expected = inside / cells
        if found.level != "not":
            ratio = relative_error(expected, error, expected - reach)
            cell = f"all {cells:,} cells were" if cells > 1 else "all values were"
            said = f"If {cell} equally frequent, {figure(expected)} rows{' each' if cells > 1 else ''}."
            found = replace(found, level=level_of(ratio), relative_error=_finite(ratio), reason=said)
        return replace(
            found, needed=expected / smallest(error, reach, "publish"), cell_rows=expected, cells=cells
        )

    def rising(self, step: Fraction) -> ExpectedQuality:  # noqa: ARG002  (every shape is asked the same way)
        """Judge a share if all values were equally common, and a mean by what is possible."""
        if self.query.is_share:
            return self.share()
        column = self.schema.coded(self.query.values[0])
        ends = [column.value(0), column.value(column.levels - 1)]
        return self._by_mean(self._between(*sorted(_number(end) for end in ends)), 1.0)

    def ratio(self, quotient: Quotient[Number]) -> ExpectedQuality:
        """Judge a mean by what is possible."""
        if self.query.scale(self.schema) == "interval":
            return self._between(0.0, float((quotient.most - quotient.least) * quotient.step))
        ends = [quotient.value(Fraction(end)) for end in (quotient.least, quotient.most)]
        return self._by_mean(self._between(*map(_number, ends)), 1.0)

    def _by_mean(self, found: ExpectedQuality, rows: float | None) -> ExpectedQuality:
        """Judge a mean, or the total of so many rows, by the declared mean of its column."""
        names = self.query.values
        declared = self.schema.coded(names[0]).declared_mean if len(names) == 1 else None
        if declared is None or rows is None or found.level != "unknown" or found.publish_from is None:
            return found
        number = abs(float(declared)) * rows
        error, reach = _error_of(found)
        ratio = relative_error(number, error, number - reach)
        said = f"If the mean of {names[0]} is {figure(float(declared))}, as declared."
        needed = number / found.publish_from
        return replace(
            found, level=level_of(ratio), relative_error=_finite(ratio), reason=said, needed=needed
        )

    def variance(self, quotient: Quotient[Number]) -> ExpectedQuality:
        """Judge a variance by the largest that the range allows."""
        return self._between(0.0, float((quotient.most - quotient.least) ** 2 * quotient.step) / 4)

    def share(self) -> ExpectedQuality:
        """Judge a share if all values were equally common."""
        reach = self.forecast.half_width
        statistics = self.query.statistics(self.schema)
        assumed = Assumed(self.size.expected, consistent=False)
        counts = [assumed.inside(one.aggregate.where, self.schema) for one in statistics]
        whole = sum(filter(None, counts)) if len(counts) > 1 else float(self.size.expected or 0)
        if reach is None or counts[0] is None or not whole:
            return ExpectedQuality()
        share = counts[0] / whole
        lesser, error = min(share, 1 - share), reach / DEVIATIONS
        ratio = relative_error(lesser, error, lesser - reach)
        found = replace(self._thresholds(error, reach), things="Shares")
        said = f"If all values were equally common, a share of {figure(share)}."
        needed = lesser / smallest(error, reach, "publish")
        return replace(
            found, level=level_of(ratio), relative_error=_finite(ratio), reason=said, needed=needed
        )

    def effective(self, effective: Effective) -> ExpectedQuality:  # noqa: ARG002
        """Nothing is known of how uneven weights are."""
        return ExpectedQuality()

    def choice(self, choice: Scores, candidates: int) -> ExpectedQuality:  # noqa: ARG002
        """Judge a quantile by the ranks that it may be off."""
        within, where = self.forecast.ranks_within, self.query.statistics(self.schema)[0].aggregate.where
        rows = Assumed(self.size.expected, consistent=False).inside(where, self.schema)
        if within is None or not rows:
            return ExpectedQuality()
        ratio = rank_error(choice, rows, within)
        error = within / DEVIATIONS / rows
        found = replace(self._thresholds(error, within / rows), things="Quantiles")
        needed = float(choice.tail) / smallest(error, within / rows, "publish")
        said = ALL_ROWS.format(f"{round(rows):,}")
        return replace(
            found, level=level_of(ratio), relative_error=_finite(ratio), reason=said, needed=needed
        )

    def _between(self, low: float, high: float) -> ExpectedQuality:
        """Judge one number between two ends by the half-width to expect."""
        reach = self.forecast.half_width
        if reach is None:
            return ExpectedQuality()
        error = reach / DEVIATIONS
        if self.query.scale(self.schema) == "interval":
            said, needed = ARBITRARY.format(self.query.unit), OF_THE_RANGE * (high - low) / reach
            if 2 * reach >= high - low:
                return ExpectedQuality("not", reason=NOTHING, needed=needed)
            return ExpectedQuality(reason=said, needed=needed)
        if self.query.scale(self.schema) == "share":
            high = TYPICAL
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return self._possible(self._thresholds(error, reach), nearest, max(abs(low), abs(high)), error, reach)

    def _thresholds(self, error: float, reach: float) -> ExpectedQuality:
        """Say from which number on an answer is in each class."""
        return ExpectedQuality(
            publish_from=smallest(error, reach, "publish"), with_care_from=smallest(error, reach, "with care")
        )

    def _possible(
        self, found: ExpectedQuality, nearest: float, farthest: float, error: float, reach: float
    ) -> ExpectedQuality:
        """Judge by what is possible at all: none or all of it may be fit to be published."""
        needed = TYPICAL * farthest / smallest(error, reach, "publish")
        found = replace(found, needed=needed)
        if smallest(error, reach, "with care") > farthest:
            said = TOO_SMALL.format(figure(farthest), self.size.words)
            return replace(found, level="not", reason=said)
        if nearest >= smallest(error, reach, "publish"):
            return replace(found, level="publish", reason=ANY_VALUE)
        return found


def _sure_reach(law: ErrorLaw, cells: int) -> float:
    """Give the half-width at which a number is in its class whatever the other cells are."""
    return law.half_width(1 - MISS / 2 ** math.ceil(math.log2(max(cells, 1))))


def _whole(found: ExpectedQuality) -> ExpectedQuality:
    ends = [None if end is None else math.ceil(end) for end in (found.publish_from, found.with_care_from)]
    return replace(found, publish_from=ends[0], with_care_from=ends[1])


def _error_of(found: ExpectedQuality) -> tuple[float, float]:
    """Give the standard error and the half-width that the smallest numbers of both classes follow from."""
    publish, care = found.publish_from or 0.0, found.with_care_from or 0.0
    error = (publish - care) / (1 / PUBLISH - 1 / WITH_CARE)
    return error, publish - error / PUBLISH


def _farthest(end: End) -> int:
    return max(map(abs, end)) if isinstance(end, tuple) else abs(end)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | Fraction) else 0.0


def _finite(ratio: float) -> float | None:
    return None if math.isinf(ratio) else ratio
