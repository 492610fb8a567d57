"""Every way to protect a batch: plain noise and what it really leaks, and the noise that each theorem asks for.

A way is a loss of each statistic together with the theorem that says what it leaks. Where a leakage is asked
for, each theorem is turned round to find the largest loss that it allows; where a loss or an accuracy is
asked for, the loss is the same in every way, and theorems differ in the leakage that they can prove.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from entwined.bounds.calibrate import largest_multiple
from entwined.bounds.choose import theorems_taking
from entwined.bounds.exposure import Exposure
from entwined.bounds.noisy_sum import SeriesSum
from entwined.bounds.theorem import ROUNDING, Theorem
from entwined.dependence import Chained
from entwined.errors import DoesNotApply, Refused, Unreachable
from entwined.mechanisms.batch import Batch
from entwined.numbers import float_above, float_below
from entwined.progress import report
from entwined.promise.base_loss import BaseLoss
from entwined.promise.declared import Declared
from entwined.promise.judge import Judge
from entwined.promise.promise import Promise
from entwined.queries.row_weights import RowWeights
from entwined.schema.unit import Unit

PLAIN: Final = "plain"
TITLES: Final = {
    "group": "Group privacy",
    "exact scalar of series": "Exact law of one number",
    "wasserstein of series": "Wasserstein distance of one number",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One way to protect a batch: the loss of each statistic, the nominal ε it makes, and what that leaks.

    Without a loss the way cannot be gone, and `why` says why not. One that is `made_for` a declared model is about
    models of that very kind.
    """

    name: str
    why: str
    each: Fraction | None = None
    nominal: float = 0.0
    leakage: Mapping[str, float] = field(default_factory=dict)
    keeps_promise: bool = False
    called: str = ""
    made_for: bool = False

    @property
    def title(self) -> str:
        """What people call it."""
        return self.called or TITLES.get(self.name, self.name[:1].upper() + self.name[1:])

    @property
    def applies(self) -> bool:
        """Whether the way can be gone."""
        return self.each is not None

    @property
    def worst(self) -> float:
        """The largest leakage, or the nominal ε where no model is declared."""
        return max(self.leakage.values(), default=self.nominal)


@dataclass(frozen=True, eq=False)
class Crossing:
    """A batch whose ways are sought: its plan, and the leakage that was asked for, if one was."""

    planned: Batch
    leakage: Fraction | None
    base: BaseLoss = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", self.planned.promise.base(self.planned.charged))

    @property
    def promise(self) -> Promise:
        """What the leakages are asked of."""
        return self.planned.promise

    @property
    def unit(self) -> Unit:
        """Whose secret is protected."""
        return self.promise.schema.unit

    def ways(self) -> tuple[Way, ...]:
        """Give plain noise first, then the way that is proposed, then the others by their noise."""
        proposed = self.proposed()
        if proposed.name == PLAIN:
            return (proposed,)
        others: list[Way] = []
        (one, _), *_ = self.promise.judges.values()
        trusting = [name for given in self.promise.declared for name in given.trusting]
        theorems = theorems_taking(type(self.promise.exposure(one, self.base)), trusting)
        if any(isinstance(given.model, Chained) for given in self.promise.declared):
            theorems += theorems_taking(SeriesSum)
        for number, theorem in enumerate(theorems):
            report("ways to protect", number, len(theorems))
            if theorem.name != proposed.name:
                others.append(self.by(theorem))
        others.sort(key=lambda way: (not way.applies, -(way.each or 0), way.worst))
        return (self.plain(), proposed, *others)

    def proposed(self) -> Way:
        """Give the way that a release goes, named by the theorem that decides."""
        price = self.planned.price
        leakage = {name: float(amount) for name, amount in price.leakage.items()}
        nominal = float_above(price.nominal)
        if not leakage:
            why = "No dependence is declared: units are taken to be independent of each other."
            return Way(PLAIN, why, self.planned.loss, nominal, {}, keeps_promise=True, called=self.unit.plain)
        bounds = self.promise.bounds(self.base)
        theorem = bounds[max(leakage, key=lambda name: leakage[name])].theorem
        return Way(theorem.name, theorem.title, self.planned.loss, nominal, leakage, keeps_promise=True)

    def plain(self) -> Way:
        """Take what is asked as the ε of one unit alone, as if all were independent, and say what it leaks."""
        measure = self.promise.bare.measure
        times = Fraction(1) if self.leakage is None else measure.largest(self.leakage) / self.base.nominal
        base = self.base.times(times)
        found = {name: float(leaked) for name, leaked in self.promise.leakages(base).items()}
        nominal = float_above(self.promise.nominal(base))
        promised = nominal if self.leakage is None else float_above(self.leakage)
        keeps = max(found.values()) <= promised * (1 + ROUNDING)
        why = (
            f"Noise for ε = {nominal:.4g} of one unit alone, as if units were independent. Who knows what "
            f"depends on what can learn up to {max(found.values()):.4g}."
        )
        return Way(PLAIN, why, self.planned.loss * times, nominal, found, keeps, self.unit.plain)

    def by(self, theorem: Theorem) -> Way:
        """Go by one theorem wherever it applies, and by the tightest one elsewhere."""
        made_for = any(type(one.model) is theorem.about for one in self.promise.declared)
        try:
            times = self._multiple(theorem)
            base = self.base.times(times)
            found = {
                name: self._leakage(theorem, one, judge, base)
                for name, (one, judge) in self.promise.judges.items()
            }
        except Refused as reason:
            return Way(theorem.name, str(reason), made_for=made_for)
        if not math.isfinite(max(found.values())):
            why = "It bounds nothing here: what it proves is infinite."
            return Way(theorem.name, why, made_for=made_for)
        each, nominal = self.planned.loss * times, float_above(self.promise.nominal(base))
        return Way(theorem.name, theorem.title, each, nominal, found, keeps_promise=True, made_for=made_for)

    def _multiple(self, theorem: Theorem) -> Fraction:
        """Find how much more noise-saving than the plan a theorem allows to be, under every model."""
        reasons, found = [], []
        for one, judge in self.promise.judges.values():
            shape, reason = self._shape(theorem, one, judge, self.base)
            if reason:
                reasons.append(reason)
            elif self.leakage is not None:
                ceiling = float_below(self.leakage)
                found.append(largest_multiple(theorem, judge.model, shape, ceiling, judge.knowledge).multiple)
            else:
                found.append(1.0)
            if reason and self.leakage is not None:
                found.append(judge.largest(self.promise.exposure(one, self.base), self.leakage))
        if len(reasons) == len(self.promise.judges):
            raise DoesNotApply(" ".join(dict.fromkeys(reasons)))
        return Fraction(min(found))

    def _leakage(self, theorem: Theorem, one: Declared, judge: Judge, base: BaseLoss) -> float:
        exposure, reason = self._shape(theorem, one, judge, base)
        if reason:
            return judge.bound(self.promise.exposure(one, base)).leakage.worst
        return theorem(exposure, judge.model).worst

    def _shape(self, theorem: Theorem, one: Declared, judge: Judge, base: BaseLoss) -> tuple[Exposure, str]:
        """Give what a theorem starts from, and why it has no word on it; nothing if it has."""
        exposure = self.promise.exposure(one, base)
        if theorem.takes is SeriesSum:
            alone = self.promise.single_numbers
            reason = alone.why_not(one, self._added)
            if reason or base.number is None:
                return exposure, reason or "It is for one count or one total; this batch is something else."
            exposure = alone.exposure(one, base.number)
        return exposure, _why_not(theorem, judge, exposure)

    @property
    def _added(self) -> RowWeights | None:
        """What a row adds to the number that the batch is, if it is one."""
        asked = [one.statistic for one in self.planned.statistics]
        return RowWeights.of(asked[0].aggregate, self.promise.schema) if len(asked) == 1 else None


def _why_not(theorem: Theorem, judge: Judge, exposure: Exposure) -> str:
    """Say why a theorem has no word on a model; nothing if it has."""
    if not theorem.covers(judge.knowledge):
        return "It covers only an adversary who knows no values; ask with knowledge 'model'."
    if not isinstance(judge.model, theorem.about):
        return f"It is about {theorem.about.plural}, not about {judge.model.plural}."
    slow = judge.takes_long(theorem, exposure)
    if slow:
        return slow
    try:
        theorem(exposure, judge.model)
    except (DoesNotApply, Unreachable) as reason:
        return str(reason)
    return ""


def reasons(ways: tuple[Way, ...], proposed: Way, *, settled: bool) -> Iterator[str]:
    """Say what speaks for the way that is proposed; `settled` is noise that is the same on every way."""
    by_name = {way.name: way for way in ways}
    group, plain = by_name.get("group"), by_name[PLAIN]
    if proposed is plain:
        yield "no dependence is declared"
    elif settled:
        yield "the noise follows from what is asked, and this theorem proves the least leakage for it"
        yield f"as plain privacy it would pass for ε = {plain.nominal:.4g}"
    else:
        yield "it is the least noise that is proven to keep the promise"
        times = float(proposed.each / group.each) if group and group.each and proposed.each else 1.0
        if times > 1.005:  # noqa: PLR2004  (what rounds to more than 1)
            yield f"group privacy would need {times:.3g} times as much"
        if not plain.keeps_promise:
            yield f"{plain.title[:1].lower()}{plain.title[1:]} would leak up to {plain.worst:.4g}"
