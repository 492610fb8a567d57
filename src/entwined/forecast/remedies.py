"""What would let answers be published that cannot be: other noise, more leakage, fewer questions, fewer cells.

Noise is enough if the number that is expected could be published: a cell if all were equally frequent, or half of what
is possible. Every figure is worked out with the promise as it would be; nothing is read and nothing is spent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from entwined.errors import EntwinedError
from entwined.estimate.quality import figure
from entwined.forecast.rivals import Rival
from entwined.mechanisms.batch import Batch, Sketch, nearly_planned
from entwined.numbers import float_below

HARDLY_A_PROMISE: Final = 10.0  # odds may change by exp(10)
TRIES: Final = 5
FEWEST: Final = 2  # cells of a table
CLOSE: Final = 1.15  # how far apart numbers of questions may be that are not told apart
DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Case:
    """An answer that could not be published: its half-width, and how many times its noise would be enough.

    A table of counts has so many `cells`, with `cell_rows` rows each if all were equally frequent.
    """

    reach: float
    needed: float
    cell_rows: float | None = None
    cells: int = 1

    @property
    def merging(self) -> str:
        """Say into how few cells its answers have to be merged to be published with this noise."""
        if self.cell_rows is None:
            return ""
        most = math.floor(self.cells * self.needed)
        if not FEWEST <= most < self.cells:
            return ""
        merged = self.cell_rows * self.cells / most
        return (
            f"Merge its answers into at most {most}: with the same noise cells of {figure(merged)} rows each could be "
            "published."
        )


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do, and how many times the noise each answer would have then; `enough` if all could be published.

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
        """Give the widest half-width of all answers that could not be published now."""
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
