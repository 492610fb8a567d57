"""What the answers of a plan will be good for: each beside the table, a guess and plain noise, and what would help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from entwined.canonical import Document
from entwined.estimate.usefulness import TableSize, Usefulness, Yardstick, figure, judged, yardstick
from entwined.forecast.forecast import Forecast
from entwined.forecast.remedies import ENOUGH, Case, Remedy, noise_times, remedies
from entwined.forecast.rivals import Rival, other_noise, rivals
from entwined.mechanisms.batch import Batch
from entwined.queries import Query


@dataclass(frozen=True, slots=True)
class Prospect:
    """One answer: what it will be good for, and what its half-width is held against."""

    usefulness: Usefulness
    reach: float | None
    yardstick: Yardstick | None
    row_noise: float | None

    @property
    def is_coarse(self) -> bool:
        """Whether noise is more than what would be enough."""
        known = self.yardstick
        return known is not None and self.reach is not None and self.reach > ENOUGH * known.width

    @property
    def document(self) -> Document:
        """The prospect as JSON."""
        known = self.yardstick
        beside = {
            "all_that_is_possible": None if known is None else known.width,
            "most_of_a_uniform_guess": None if known is None else known.guess,
            "row_level_gaussian": self.row_noise,
        }
        return self.usefulness.document | {"beside": beside}


@dataclass(frozen=True, slots=True)
class Prospects:
    """All answers of a plan in the order asked, and what would help those that are not usable, the best first."""

    size: TableSize
    answers: tuple[Prospect, ...]
    helps: tuple[Remedy, ...] = ()
    cases: Mapping[str, Case] = field(default_factory=dict, repr=False)

    @property
    def warning(self) -> str:
        """Say that answers are not usable; nothing if all are."""
        bad = [one for one in self.answers if not one.usefulness.usable]
        if not bad:
            return ""
        widest = max(one.reach for one in bad if one.reach is not None)
        return (
            f"{len(bad):,} of {len(self.answers):,} statistics will not be usable: the noise drowns them. Their 95 % "
            f"intervals reach ± {figure(widest)} in a table of {self.size.words}."
        )

    @property
    def is_coarse(self) -> bool:
        """Whether some interval is so long that it matters if a guess would have been as good."""
        return any(one.is_coarse for one in self.answers)

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
            "usable": sum(one.usefulness.usable for one in self.answers),
            "of": len(self.answers),
            "warning": self.warning or None,
            "is_coarse": self.is_coarse,
            "best": self.best or None,
            "helps": [
                {"do": one.do, "reach": one.reach(self.cases), "leakage": one.leakage, "enough": one.enough}
                for one in self.helps
            ],
        }


def prospects(
    planned: Batch,
    queries: Sequence[Query],
    found: Sequence[Forecast],
    size: TableSize,
    *,
    leakage: Fraction | None,
    beside: Sequence[Rival],
) -> Prospects:
    """Judge the answers of a plan; what would help is worked out only where one of them is not usable."""
    schema = planned.schema
    goods = [
        judged(one, schema, size, ahead.reach, ahead.deviation)
        for one, ahead in zip(queries, found, strict=True)
    ]
    sticks = [yardstick(one, schema, size) for one in queries]
    cases = {
        query.fingerprint: Case(ahead.reach, ahead.deviation, stick)
        for query, ahead, stick, good in zip(queries, found, sticks, goods, strict=True)
        if not good.usable and stick is not None and ahead.reach
    }
    helps: tuple[Remedy, ...] = ()
    if cases:
        allowed = planned.price.worst if leakage is None else leakage
        others = _others(planned, Fraction(allowed), beside)
        helps = remedies(planned, [one.fingerprint for one in queries], cases, others, Fraction(allowed))
    rows = _row_noise(planned, beside)
    answers = [
        Prospect(
            _helped(good, query.fingerprint, cases, helps),
            ahead.reach,
            stick,
            None if ahead.reach is None or not rows else ahead.reach * rows[query.fingerprint],
        )
        for query, ahead, stick, good in zip(queries, found, sticks, goods, strict=True)
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


def _helped(good: Usefulness, name: str, cases: Mapping[str, Case], helps: Sequence[Remedy]) -> Usefulness:
    """Say what would help an answer that is not usable."""
    if name not in cases:
        return good
    said = [one.helps(name, cases[name]) for one in helps]
    return replace(good, helps=tuple(filter(None, [*said, cases[name].merging])))
