"""The largest loss whose leakage stays within a target."""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Generic, overload

from entwined.bounds.choose import bound, theorems_taking
from entwined.bounds.exposure import Exposure, Given
from entwined.bounds.hints import Hint, hints_for
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.dependence import Dependence
from entwined.errors import DoesNotApply, Unreachable
from entwined.loss import Leakage, Loss
from entwined.numbers import float_below, positive_fraction
from entwined.showing import Tabled

CLOSE: Final = 1e-9
TINY: Final = 1e-30


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(Tabled, Generic[Given]):
    """An exposure that is as large as its theorem allows for the target."""

    model: Dependence
    exposure: Given
    knowledge: Knowledge
    theorem: Theorem
    leakage: Leakage
    multiple: float
    trusting: tuple[str, ...] = ()

    def hints(self) -> tuple[Hint, ...]:
        """What further knowledge would allow a larger loss, and of a pure one how many times as large."""
        found = hints_for(self, lambda *asked: bound(*asked, trusting=self.trusting).leakage.worst)
        alike = [hint for hint in found if type(hint.exposure) is type(self.exposure)]
        return tuple(replace(hint, times=self._times(hint)) for hint in alike)

    def _times(self, hint: Hint) -> float | None:
        if not isinstance(hint.exposure, Loss):  # turning a profile round takes long
            return None
        asked = hint.model, self.leakage.worst, hint.knowledge, hint.exposure
        return calibrate(*asked, trusting=self.trusting).multiple


@overload
def calibrate(
    model: Dependence,
    leakage: float | str | Fraction,
    knowledge: Knowledge = "any",
    *,
    trusting: Sequence[str] = (),
) -> Calibration[Loss]: ...
@overload
def calibrate(
    model: Dependence,
    leakage: float | str | Fraction,
    knowledge: Knowledge,
    weights: Given,
    *,
    trusting: Sequence[str] = (),
) -> Calibration[Given]: ...
def calibrate(
    model: Dependence,
    leakage: float | str | Fraction,
    knowledge: Knowledge = "any",
    weights: Exposure | None = None,
    *,
    trusting: Sequence[str] = (),
) -> Calibration[Any]:
    """Find the largest multiple of the weights (by default the same loss for every unit) that leaks at most
    the target.

    >>> from entwined.dependence import Box, MarkovChain
    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    >>> round(1 / calibrate(chain, 1.0).multiple, 2)   # the Laplace scale for a sum of sensitivity 1
    8.91
    """
    ceiling = float_below(positive_fraction(leakage, "Leakage"))
    shape = Loss.uniform(1, model.units).without(model.hidden) if weights is None else weights
    best: Calibration[Exposure] | None = None
    reasons, answered = [], set[str]()
    covering = [theorem for theorem in theorems_taking(type(shape), trusting) if theorem.covers(knowledge)]
    for theorem in tightest_first(covering):
        try:
            if answered.isdisjoint(theorem.yields_to) and (best is None or improves(theorem, best)):
                reached = largest_multiple(theorem, model, shape, ceiling, knowledge)
                best = reached if best is None or reached.multiple > best.multiple else best
            answered.add(theorem.name)
        except (DoesNotApply, Unreachable) as reason:
            reasons.append(f"{theorem.name}: {reason}")
    if best is None:
        raise Unreachable(f"No theorem reaches a leakage of {leakage}. " + " ".join(reasons))
    return replace(best, trusting=tuple(trusting))


def improves(theorem: Theorem, best: Calibration[Any]) -> bool:
    """Say whether a theorem allows more; it says no less than those that it yields to, whoever their adversary is."""
    for one in theorems_taking(type(best.exposure), best.trusting):
        if one.name in theorem.yields_to and not one.covers(best.knowledge):
            with suppress(DoesNotApply):
                if one(best.exposure, best.model).worst >= best.leakage.worst:
                    return False
    return bool(theorem(best.exposure, best.model).worst < best.leakage.worst)


def tightest_first(theorems: Sequence[Theorem]) -> Iterable[Theorem]:
    """Order theorems so that each comes right after those that it yields to, and the others as they are."""
    named = {theorem.name: theorem for theorem in theorems}
    ordered: dict[str, Theorem] = {}

    def place(theorem: Theorem) -> None:
        for name in theorem.yields_to:
            if name in named and name not in ordered:
                place(named[name])
        ordered.setdefault(theorem.name, theorem)

    for theorem in theorems:
        place(theorem)
    return ordered.values()


def largest_multiple(  # noqa: PLR0913, PLR0917  (what one search is about)
    theorem: Theorem,
    model: Dependence,
    shape: Given,
    ceiling: float,
    knowledge: Knowledge,
    close: float = CLOSE,
    first: float = 1.0,
) -> Calibration[Given]:
    """Invert one theorem, which is increasing in what is shown; `first` is what is tried first."""
    multiple = invert(lambda at: theorem(shape * at, model).worst, ceiling, close, first)
    exposure = shape * multiple
    return Calibration(model, exposure, knowledge, theorem, theorem(exposure, model), multiple)


def invert(
    leakage_at: Callable[[float], float], ceiling: float, close: float = CLOSE, first: float = 1.0
) -> float:
    """Find the largest multiple whose leakage is at most the ceiling, to one part in 10⁹ and never above.

    A secant on logarithms hits a linear bound at once and the others in a few steps; where it does not come nearer,
    a halving step guards it.
    """
    below, above = 0.0, math.inf
    guess, leaked = first, leakage_at(first)
    trail = [(guess, leaked)]
    for step in range(200):
        if leaked <= ceiling:
            below = max(below, guess)
        else:
            above = min(above, guess)
        if leaked <= ceiling and (ceiling - leaked <= close * ceiling or above <= below * (1 + close)):
            return below
        if below > 0 and above <= below * (1 + close / 8):
            return below
        if above < TINY * ceiling:
            break
        guess = next_guess(trail, ceiling * (1 - close / 2), (below, above), step)
        leaked = leakage_at(guess)
        trail.append((guess, leaked))
    if below > 0:
        return below
    raise Unreachable(f"Even a vanishing loss leaks more than {ceiling:.6g}.")


def next_guess(
    trail: list[tuple[float, float]], aim: float, bracket: tuple[float, float], step: int
) -> float:
    """Aim at where the line through the last two points, in logarithms, meets what is wanted."""
    below, above = bracket
    guess, leaked = trail[-1]
    slope = 1.0
    if (
        len(trail) > 1
        and 0 < leaked < math.inf
        and 0 < trail[-2][1] < math.inf
        and trail[-2][0] != guess
        and trail[-2][1] != leaked
    ):
        slope = (math.log(leaked) - math.log(trail[-2][1])) / (math.log(guess) - math.log(trail[-2][0]))
    if 0 < leaked < math.inf and slope > 0.05:  # noqa: PLR2004  (flatter than this says nothing)
        shift = max(-20.0, min(20.0, (math.log(aim) - math.log(leaked)) / slope))
        guess = guess * math.exp(shift)
    if below < guess < above and (step % 4 != 3 or is_nearing(trail, aim)):  # noqa: PLR2004
        return guess
    if below == 0:
        return above / 16
    return below * 16 if above == math.inf else math.sqrt(below * above)


def is_nearing(trail: list[tuple[float, float]], aim: float) -> bool:
    """Say whether the last step came at least half the way that was left, in logarithms."""
    (_, before), (_, now) = trail[-2:]
    if not (0 < before < math.inf and 0 < now < math.inf):
        return False
    return abs(math.log(now / aim)) <= abs(math.log(before / aim)) / 2
