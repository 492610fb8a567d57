"""The quality of the answers of a plan, and what would help those that could not be published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from entwined.canonical import Document
from entwined.estimate.quality import Level, TableSize, figure, tallied, tally_words
from entwined.forecast.expected_quality import ExpectedQuality, expected_quality
from entwined.forecast.forecast import Forecast
from entwined.forecast.remedies import Case, Remedy, noise_times, remedies
from entwined.forecast.rivals import Rival, other_noise, rivals
from entwined.mechanisms.batch import Batch
from entwined.queries import Query


@dataclass(frozen=True, slots=True)
class Prospect:
    """One answer: its expected quality, what would help, and its half-width as planned and with plain row noise."""

    quality: ExpectedQuality
    reach: float | None
    row_noise: float | None
    helps: tuple[str, ...] = ()

    @property
    def document(self) -> Document:
        """The prospect as JSON."""
        quality = self.quality
        return {
            "quality": quality.level,
            "relative_error": quality.relative_error,
            "reason": quality.reason or None,
            "publish_from": quality.publish_from,
            "with_care_from": quality.with_care_from,
            "thresholds": quality.thresholds or None,
            "row_level_gaussian": self.row_noise,
        } | ({"helps": list(self.helps)} if self.helps else {})


@dataclass(frozen=True, slots=True)
class Prospects:
    """All answers of a plan in the order asked, and what would help those not to be published, the best first."""

    size: TableSize
    answers: tuple[Prospect, ...]
    helps: tuple[Remedy, ...] = ()
    cases: Mapping[str, Case] = field(default_factory=dict, repr=False)

    @property
    def levels(self) -> dict[Level, int]:
        """How many answers are in each class."""
        return tallied(answer.quality.level for answer in self.answers)

    @property
    def warning(self) -> str:
        """Say that answers could not be published; nothing if none of them is known to be so."""
        reaches = [answer.reach for answer in self.answers if answer.quality.level == "not"]
        if not reaches:
            return ""
        widest = max((reach for reach in reaches if reach is not None), default=0.0)
        return (
            f"{len(reaches):,} of {len(self.answers):,} statistics could not be published: the noise drowns them. "
            f"Their 95 % intervals reach ± {figure(widest)} in a table of {self.size.words}."
        )

    @property
    def best(self) -> str:
        """Say what would help most, with its figure."""
        if not self.helps:
            return ""
        first = self.helps[0]
        return f"{first.do}: their intervals would reach ± {figure(first.reach(self.cases))}."

    @property
    def document(self) -> Document:
        """All of it as JSON, the answers left out."""
        return {
            "table": self.size.words,
            "levels": self.levels,
            "summary": f"{tally_words(self.levels, 'statistics')}.",
            "warning": self.warning or None,
            "best": self.best or None,
            "helps": [
                {
                    "do": remedy.do,
                    "reach": remedy.reach(self.cases),
                    "leakage": remedy.leakage,
                    "enough": remedy.enough,
                }
                for remedy in self.helps
            ],
        }


def prospects(  # noqa: PLR0913  (a plan, and what it is held against)
    planned: Batch,
    queries: Sequence[Query],
    forecasts: Sequence[Forecast],
    size: TableSize,
    *,
    leakage: Fraction | None,
    beside: Sequence[Rival],
    wanted: Sequence[Fraction | None] | None = None,
) -> Prospects:
    """Judge the answers of a plan; what would help is worked out only where one of them could not be published."""
    qualities = [
        expected_quality(query, planned.schema, size, forecast, within)
        for query, forecast, within in zip(queries, forecasts, wanted or [None] * len(queries), strict=True)
    ]
    cases = {
        query.fingerprint: Case(forecast.reach, quality.needed, quality.cell_rows, quality.cells)
        for query, forecast, quality in zip(queries, forecasts, qualities, strict=True)
        if quality.level == "not" and quality.needed and forecast.reach
    }
    helps: tuple[Remedy, ...] = ()
    if cases:
        allowed = planned.price.worst if leakage is None else leakage
        others = _others(planned, Fraction(allowed), beside)
        helps = remedies(planned, [query.fingerprint for query in queries], cases, others, Fraction(allowed))
    rows = _row_noise(planned, beside)
    answers = [
        Prospect(
            quality,
            forecast.reach,
            None if forecast.reach is None or not rows else forecast.reach * rows[query.fingerprint],
            _helping(query.fingerprint, cases, helps),
        )
        for query, forecast, quality in zip(queries, forecasts, qualities, strict=True)
    ]
    return Prospects(size, tuple(answers), helps, cases)


def _others(planned: Batch, leakage: Fraction, beside: Sequence[Rival]) -> Sequence[Rival]:
    """Work out the other ways that a plan is not compared with yet."""
    known = list(beside) or list(rivals(planned, leakage))
    return known if any(not one.whole_rows for one in known) else [*known, other_noise(planned, leakage)]


def _row_noise(planned: Batch, beside: Sequence[Rival]) -> dict[str, float]:
    """Give how many times the noise each query would have as plain Gaussian noise for whole rows, where known."""
    found = next((one.sketch for one in beside if one.whole_rows), None)
    return {} if found is None else noise_times(planned, found)


def _helping(name: str, cases: Mapping[str, Case], helps: Sequence[Remedy]) -> tuple[str, ...]:
    """Say what would help an answer that could not be published."""
    if name not in cases:
        return ()
    said = [remedy.helps(name, cases[name]) for remedy in helps]
    return tuple(filter(None, [*said, cases[name].merging]))
