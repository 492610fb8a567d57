"""The same questions protected otherwise: with the other kind of noise for the same promise, or row by row.

A plan is honest only beside what people would use instead. Laplace noise pays for every question, Gaussian noise only
for the root of their number but for a small chance δ. Noise for whole rows keeps every promise about cells of a row.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from entwined.canonical import Document
from entwined.dependence import Ties
from entwined.errors import EntwinedError
from entwined.loss import Loss
from entwined.mechanisms.batch import Batch, Sketch, nearly_planned, otherwise_noised
from entwined.promise.measure import Measure, NoiseKind, measure_of
from entwined.promise.promise import Promise
from entwined.schema.unit import Rows

USUAL_DELTA: Final = Fraction(1, 10**6)
WITHOUT_PROOF: Final = "WITHOUT A GUARANTEE: linear correlations of ties (Zhu, Xiong, Li, Zhou 2015)"
MOST_UNITS: Final = 1000  # with more, another plan would take long
MOST_FITTED: Final = 100  # the same where profiles are passed on
AS_GOOD: Final = 0.005  # what is rounded away


@dataclass(frozen=True, slots=True)
class Rival:
    """Another way to ask the same: `times` is its noise over that of the plan, `how` what one would have to do.

    Noise is shared among the queries as in the plan, or equally if that is better; who asks for it may share it better.
    """

    title: str
    how: str
    times: float | None = None
    why_not: str = ""
    sketch: Sketch | None = field(default=None, repr=False, compare=False)
    proved: bool = True
    whole_rows: bool = False

    @property
    def document(self) -> Document:
        """The rival as JSON."""
        return {"title": self.title, "how": self.how, "times": self.times, "why_not": self.why_not or None}

    @property
    def do(self) -> str:
        """What exactly one would have to do."""
        if not self.whole_rows or self.sketch is None or self.sketch.promise.measure.delta is None:
            return self.how
        delta = float(self.sketch.promise.measure.delta)
        return f'{self.how} (unit = {{kind = "rows"}}), leave [[dependence]] out and give delta = {delta:g}'

    @property
    def is_better(self) -> bool:
        """Whether it has less noise."""
        return self.proved and self.times is not None and self.times < 1 - AS_GOOD

    @property
    def words(self) -> str:
        """Say that it is better, and what to do."""
        return f"{self.title} would have {self.times:.3g} times the noise: {self.how}"


def rivals(planned: Batch, leakage: Fraction) -> Iterator[Rival]:
    """Plan the same questions otherwise, for the same leakage."""
    promise = planned.promise
    delta = promise.measure.delta
    if promise.declared or delta is not None:
        yield other_noise(planned, leakage)
    yield from _without_proof(planned, leakage)
    if promise.schema.unit.by_column:
        rows = replace(promise.schema, unit=Rows(), approved_digest="", signature=None).approve()
        measure = measure_of(delta or USUAL_DELTA)
        title = "Plain Gaussian noise for whole rows" + (
            "" if delta else f" and a chance of {float(USUAL_DELTA):g}"
        )
        found = _rival(planned, Promise(rows, measure=measure), leakage, title, "protect rows in the schema")
        yield replace(found, whole_rows=True)
    if delta is not None and promise.reserve is None:
        yield _same_price(planned)


def _without_proof(planned: Batch, leakage: Fraction) -> Iterator[Rival]:
    """Say how much noise linear correlations of ties would ask for, which keeps no promise."""
    promise = planned.promise
    base = promise.base(planned.charged)
    for one in promise.declared:
        exposure = promise.exposure(one, base)
        if isinstance(one.model, Ties) and isinstance(exposure, Loss):
            taken = one.model.correlated_sensitivity(exposure.per_unit) / float(leakage)
            how = "not to be had: linear correlations bound nothing, and nothing is released by them"
            yield Rival(WITHOUT_PROOF, how, taken, proved=False)


def other_noise(planned: Batch, leakage: Fraction) -> Rival:
    """Plan the same questions with the other kind of noise."""
    if planned.promise.measure.delta is None:
        title = f"Gaussian noise, but for a chance of {float(USUAL_DELTA):g}"
        other, how = measure_of(USUAL_DELTA), f"give delta = {float(USUAL_DELTA):g}"
    else:
        title, other, how = "Laplace noise, without a chance to fail", measure_of(None), "leave delta out"
    return _rival(planned, replace(planned.promise, measure=other, reserve=None), leakage, title, how)


def _same_price(planned: Batch) -> Rival:
    """Add the other noise under the same δ at the same price: Laplace, or Gaussian where that was asked for."""
    noise: NoiseKind = "" if planned.noise else "laplace"
    title, how = (
        ("Laplace noise under the same chance", 'give noise = "laplace"')
        if noise
        else ("Gaussian noise under the same chance", "leave noise out")
    )
    units = max((one.model.units for one in planned.promise.declared), default=0)
    if not planned.promise.is_for_one_batch or planned.promise.gates or units > MOST_FITTED:  # by the same ρ
        other = otherwise_noised(planned, noise)
        return Rival(title, how, compared(planned, other), sketch=other)
    try:
        leakage = Fraction(planned.price.worst)
        other = nearly_planned(planned.promise, planned.queries, leakage, planned.shares, noise)
    except EntwinedError as reason:
        return Rival(title, how, why_not=str(reason))
    return Rival(title, how, compared(planned, other), sketch=other)


def _rival(planned: Batch, promise: Promise, leakage: Fraction, title: str, how: str) -> Rival:
    units = max((one.model.units for one in promise.declared), default=0)
    if units > MOST_UNITS:
        return Rival(
            title, how, why_not=f"It takes long to work out with {units:,} units: {how}, and plan again."
        )
    wanted = [_shares(planned, promise.measure), None] if promise.declared else [None]
    try:
        others = [nearly_planned(promise, planned.queries, leakage, shares) for shares in wanted]
    except EntwinedError as reason:
        return Rival(title, how, why_not=str(reason))
    found = [(compared(planned, other), other) for other in others]
    known = [(times, other) for times, other in found if times is not None]
    times, sketch = min(known, key=lambda one: one[0], default=(None, None))
    return Rival(title, how, times, sketch=sketch)


def _shares(planned: Batch, measure: Measure) -> list[Fraction]:
    """Keep the noise of the queries in proportion: a scale goes as 1/ε, or as 1/√ρ."""
    if measure.is_pure == planned.promise.measure.is_pure:
        return list(planned.shares)
    if measure.is_pure:
        return [Fraction(math.sqrt(share)) for share in planned.shares]
    return [share**2 for share in planned.shares]


def compared(planned: Batch, other: Sketch) -> float | None:
    """Give how many times larger the noise of another plan is: the root of all squares, unit by unit.

    Where units differ, as of counts and totals, their ratios are averaged in logarithms, by their numbers of cells.
    """
    before, after, cells = (defaultdict[str, float](float) for _ in range(3))
    for place, query in enumerate(planned.queries):
        for use, rival in zip(planned.uses[place], other.noise[query.fingerprint], strict=True):
            one = planned.statistics[use]
            if one.noise is not None and rival.noise is not None:
                count = one.statistic.aggregate.cells
                cells[query.measured] += count
                before[query.measured] += count * one.noise.variance
                after[query.measured] += count * rival.noise.variance
    if not cells:
        return None
    logs = sum(count * math.log(after[unit] / before[unit]) / 2 for unit, count in cells.items())
    return math.exp(logs / sum(cells.values()))
