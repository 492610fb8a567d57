"""What would make answers usable that are not: other noise, more leakage, fewer questions, fewer cells; with figures.

Noise is enough if the half-width of an interval is 15 % of all that is possible, and the expected error in a cell a
third of what a uniform guess may be off by: then the numbers tell the answers apart. Every figure is worked out with
the promise as it would be; nothing is read and nothing is spent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from entwined.errors import EntwinedError
from entwined.estimate.usefulness import Yardstick, figure
from entwined.forecast.rivals import Rival
from entwined.mechanisms.batch import Batch, Sketch, nearly_planned
from entwined.numbers import float_below

ENOUGH: Final = 0.15  # of all that is possible, for a half-width
OF_A_GUESS: Final = 1 / 3
HARDLY_A_PROMISE: Final = 10.0  # odds may change by exp(10)
TRIES: Final = 5
CLOSE: Final = 1.15  # how far apart numbers of questions may be that are not told apart
DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Case:
    """An answer that is not usable: its half-width, its expected error in a cell, and what they are held against."""

    reach: float
    deviation: float | None
    yardstick: Yardstick

    @property
    def needed(self) -> float:
        """How many times its noise would be enough."""
        found = ENOUGH * self.yardstick.width / self.reach
        if self.yardstick.guess is None or not self.deviation:
            return found
        return min(found, OF_A_GUESS * self.yardstick.guess / self.deviation)

    @property
    def merging(self) -> str:
        """Say into how few cells its answers have to be merged for this noise to be less than a guess's error."""
        width, deviation = self.yardstick.width, self.deviation
        if self.yardstick.guess is None or not deviation or 2 * self.reach >= width:
            return ""
        off = {cells: width * math.sqrt(cells - 1) / cells for cells in range(2, self.yardstick.cells)}
        fits = [cells for cells, guess in off.items() if deviation <= OF_A_GUESS * guess]
        if not fits:
            return ""
        return (
            f"Merge its answers into at most {max(fits)}: with the same noise a uniform guess could be off by "
            f"{figure(off[max(fits)])} in a cell, the numbers are off by {figure(deviation)}."
        )


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do, and how many times the noise each answer would have then; `enough` if all would be usable.

    `leakage` is what the release would leak, where that is more than was asked for. What costs less is better.
    """

    do: str
    times: Mapping[str, float] = field(repr=False)
    enough: bool
    cost: float = 0.0
    leakage: float | None = None

    def helps(self, name: str, case: Case) -> str:
        """Say what it would do for one answer."""
        if name not in self.times:
            return f"{self.do}: this one would be left out."
        return f"{self.do}: ± {figure(case.reach * self.times[name])} instead of ± {figure(case.reach)}."

    def reach(self, cases: Mapping[str, Case]) -> float:
        """Give the widest half-width of all answers that are not usable now."""
        return max(case.reach * self.times[name] for name, case in cases.items() if name in self.times)


def remedies(
    planned: Batch,
    asked: Sequence[str],
    cases: Mapping[str, Case],
    rivals: Sequence[Rival],
    leakage: Fraction,
) -> tuple[Remedy, ...]:
    """Give what would help the answers of a plan, the best first; `asked` has the texts of all queries in order."""
    found = _on("", planned.sketch, planned, cases)
    for one in rivals:
        found += [] if one.sketch is None else _on(one.do, one.sketch, planned, cases)
    found += _fewer(planned, asked, cases, leakage)
    return tuple(sorted(found, key=lambda one: (not one.enough, one.cost)))


def noise_times(planned: Batch, other: Sketch) -> dict[str, float]:
    """Give how many times the noise of the plan each query would have, of those that are asked."""
    before = planned.sketch.noise
    return {
        text: math.sqrt(sum(one.spread**2 for one in now) / sum(one.spread**2 for one in before[text]))
        for text, now in other.noise.items()
    }


def _on(how: str, sketch: Sketch, planned: Batch, cases: Mapping[str, Case]) -> list[Remedy]:
    """Go another way, or the same, and allow as much more leakage there as it takes."""
    times = noise_times(planned, sketch)
    needed = min(case.needed / times[name] for name, case in cases.items())
    do, found = how[:1].upper() + how[1:], []
    if how and max(times[name] for name in cases) < 1:
        found.append(Remedy(do, times, needed >= 1))
    if needed >= 1:
        return found
    try:
        leakage = sketch.leakage(1 / Fraction(float_below(Fraction(needed))) ** sketch.power)
    except EntwinedError:  # no theorem bounds so large a loss
        return found
    if not math.isfinite(leakage):
        return found
    unit = 10.0 ** (math.floor(math.log10(leakage)) - DIGITS + 1)
    more = math.ceil(leakage / unit) * unit
    said = f"allow a leakage of {more:.{DIGITS}g}" + (
        ", which hardly promises anything" * (more > HARDLY_A_PROMISE)
    )
    do = f"{do}, and {said}" if how else said[:1].upper() + said[1:]
    less = {name: one * needed for name, one in times.items()}
    return [*found, Remedy(do, less, enough=True, cost=more, leakage=more)]


def _fewer(
    planned: Batch, asked: Sequence[str], cases: Mapping[str, Case], leakage: Fraction
) -> list[Remedy]:
    """Find about how many of the questions, the first ones, could be asked for the same leakage."""
    texts = list(dict.fromkeys(asked))
    few, many = 0, len(texts)
    kept = math.floor(many * min(case.needed for case in cases.values()) ** planned.sketch.power)
    found: list[Remedy] = []
    for _ in range(TRIES):
        kept = min(max(kept, few + 1), many - 1)
        if kept < 1 or many <= max(few, 1) * CLOSE:
            break
        try:
            found.append(_first(planned, texts, kept, cases, leakage))
        except EntwinedError:  # no noise of integers is so fine, or no theorem covers them
            break
        few, many = (kept, many) if found[-1].enough else (few, kept)
        kept = round(math.sqrt(max(few, 1) * many))
    helping = [one for one in found if any(one.times.get(text, 1.0) < 1 for text in cases)]
    return sorted(helping, key=lambda one: (one.enough, len(one.times) if one.enough else -len(one.times)))[
        -1:
    ]


def _first(
    planned: Batch, texts: Sequence[str], kept: int, cases: Mapping[str, Case], leakage: Fraction
) -> Remedy:
    """Ask so many of the questions alone, in the proportions of the plan."""
    queries = {query.fingerprint: query for query in planned.queries}
    shares = dict(zip(queries, planned.shares, strict=True))
    some = texts[:kept]
    sketch = nearly_planned(
        planned.promise, [queries[text] for text in some], leakage, [shares[text] for text in some]
    )
    times = noise_times(planned, sketch)
    enough = all(times[text] <= cases[text].needed for text in some if text in cases)
    which = f"the first {kept}" if kept > 1 else "one"
    do = f"Ask only {which} of the {len(texts)} questions"
    return Remedy(do, times, enough, cost=HARDLY_A_PROMISE)
