"""Profiles passed from unit to unit: along chains, through forests of factors, and around loops."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, cycle
from typing import Final, Generic, TypeAlias, TypeVar

import numpy as np

from entwined.bounds.kernel import Forest, Link
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import LARGEST_EPSILON, ProfileCurve, epsilon_at_delta
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import Sway
from entwined.bounds.transport import Run
from entwined.errors import DoesNotApply
from entwined.numbers import FloatArray, IntArray

COARSE: Final = 192
FIRST_PART: Final = 0.75
MANY: Final = 64  # units; where pairs of values of more are told apart, fewer points are taken
FEW_POINTS: Final = 96
WIDENED: Final = 3.0
SHORTEST: Final = 1e-6  # where a grid ends at the earliest: finer steps lose their digits
TAIL: Final = 1e-4  # the share of δ that may be cut off at the end of the grid
THICK: Final = 0.1  # the same where a profile never falls so low
AT_ONCE: Final = 64  # profiles that are read at once
MOST_STEPS: Final = 4000
NEAR: Final = (1e-6, 1e-13)  # messages this close together are tried as a ceiling for all that follow
CEILING: Final = (1e-5, 1e-12)

Held = TypeVar("Held")
Sways: TypeAlias = Mapping[Link, Sway]


@dataclass(frozen=True, slots=True)
class Algebra(Generic[Held]):
    """How what a unit holds is put together; `silent` is what shows nothing, `fine` how many points a grid needs."""

    hold: Callable[[PrivacyProfile], Held]
    join: Callable[[Held, Held], Held]
    read: Callable[[Held], PrivacyProfile]
    stack: Callable[[Sequence[Held]], Held]
    split: Callable[[Held], list[Held]]
    silent: Callable[[Held], bool]
    fine: int

    def send(self, held: Sequence[Held], sways: Sequence[Sway]) -> list[Held]:
        """What neighbours get of each."""
        return self.split(self.hold(self.read(self.stack(held)).through_each(sways)))

    def reads(self, held: Sequence[Held]) -> list[PrivacyProfile]:
        """Read each, some at a time."""
        some = [held[first : first + AT_ONCE] for first in range(0, len(held), AT_ONCE)]
        return [profile for each in some for profile in self.read(self.stack(each)).split()]


def itself(profile: PrivacyProfile) -> PrivacyProfile:
    """Leave a profile as it is."""
    return profile


TOGETHER: Final = Algebra(
    Composition.of,
    Composition.join,
    Composition.profile,
    Composition.stacked,
    Composition.split,
    lambda held: bool(held.is_nothing),
    1024,
)
"""⊗: parts that each read one unit, with independent noise."""
IN_TURN: Final = Algebra(
    itself,
    PrivacyProfile.beside,
    itself,
    PrivacyProfile.stacked,
    PrivacyProfile.split,
    lambda held: not held.deltas.any(),
    384,
)
"""⊕: one mechanism that reads all units, which are changed one after another."""


@dataclass(frozen=True, eq=False, slots=True)
class Told:
    """What is shown of each unit in the end: a few profiles, and which of them is whose."""

    profiles: Sequence[PrivacyProfile]
    place: IntArray

    def epsilons(self, delta: Fraction | float) -> FloatArray:
        """The ε of every unit at δ."""
        return self._stack.epsilons(delta)[self.place]

    def end(self, delta: Fraction) -> float:
        """Where a grid may end: beyond it is a small share of δ, or a larger one of what has no end before."""
        found = self._stack.epsilons(delta * Fraction(TAIL))
        return float(np.where(np.isfinite(found), found, self._stack.epsilons(delta * Fraction(THICK))).max())

    @property
    def _stack(self) -> PrivacyProfile:
        return PrivacyProfile.stacked(self.profiles)


def held_by(algebra: Algebra[Held], curves: Sequence[ProfileCurve], grid: Grid) -> list[Held]:
    """What each curve shows, equal ones once."""
    different = list(dict.fromkeys(curves))
    held = [one for stack in stacks_of(different, grid) for one in algebra.split(algebra.hold(stack))]
    each = dict(zip(different, held, strict=True))
    return [each[curve] for curve in curves]


def stacks_of(curves: Sequence[ProfileCurve], grid: Grid) -> Iterator[PrivacyProfile]:
    """Read curves, some at a time."""
    for first in range(0, len(curves), AT_ONCE):
        yield PrivacyProfile.of_each(curves[first : first + AT_ONCE], grid)


def parts_of(cases: Sequence[Sequence[ProfileCurve]], grid: Grid) -> tuple[Composition, list[list[int]]]:
    """What each curve shows, equal ones once, and which of them each case has."""
    row = {curve: at for at, curve in enumerate(dict.fromkeys(chain.from_iterable(cases)))}
    parts = Composition.concatenated([Composition.of(stack) for stack in stacks_of(list(row), grid)])
    return parts, [[row[curve] for curve in curves] for curves in cases]


def read_rows(
    stack: Composition, rows: Sequence[int], more: Composition | None = None
) -> list[PrivacyProfile]:
    """Read some of a stack, with what they have more."""
    some = [stack.rows(rows[first : first + AT_ONCE]) for first in range(0, len(rows), AT_ONCE)]
    return [one for each in some for one in (each if more is None else each.join(more)).profile().split()]


def leakage_at(
    passed: Callable[[Grid], Told],
    largest: ProfileCurve,
    delta: Fraction,
    fine: int,
    rough: Callable[[Grid], Told] | None = None,
) -> FloatArray:
    """Pass profiles on a coarse grid that is long enough, then on a fine one, and read each unit's ε.

    Every grid gives a valid bound: a short one puts more at infinity, a coarse one has longer chords. `rough` is larger
    and quicker: it finds a grid that is surely long enough, of which the first part mostly is too.
    """
    first = epsilon_at_delta(largest, delta * Fraction(TAIL))
    reach = min(WIDENED * max(first, SHORTEST), LARGEST_EPSILON)
    coarse = COARSE if rough is None else COARSE // 2
    told = (rough or passed)(Grid.up_to(reach, coarse))
    while not math.isfinite(told.epsilons(delta).max()):
        if reach >= LARGEST_EPSILON:
            return told.epsilons(delta)
        reach = min(reach * WIDENED, LARGEST_EPSILON)
        told = (rough or passed)(Grid.up_to(reach, coarse))
    found, end = told.epsilons(delta), min(reach, max(told.end(delta), SHORTEST))
    for share in (1.0,) if rough is None else (FIRST_PART, 1.0):
        better = passed(Grid.up_to(share * end, fine)).epsilons(delta)
        found = np.minimum(found, better)
        if np.isfinite(better).all():
            break
    return found


def along_chain(
    algebra: Algebra[Held], own: Sequence[Held], past: Sequence[Run[Sway]], future: Sequence[Run[Sway]]
) -> Told:
    """What each step shows, with all that comes from before and after it."""
    steady = all(held is own[0] for held in own)
    before = [None, *relay(algebra, own, past, steady=steady)]
    after = [*relay(algebra, own[::-1], future, steady=steady)[::-1], None]
    return told_with(algebra, own, before, after)


def told_with(
    algebra: Algebra[Held],
    own: Sequence[Held],
    before: Sequence[Held | None],
    after: Sequence[Held | None],
) -> Told:
    """What each step shows of itself and by what reaches it from both sides, equal ones once."""
    found: dict[tuple[int, int, int], int] = {}
    profiles: list[PrivacyProfile] = []
    place = np.empty(len(own), np.int64)
    for step, held in enumerate(zip(own, before, after, strict=True)):
        key = (id(held[0]), id(held[1]), id(held[2]))
        if key not in found:
            found[key] = len(profiles)
            profiles.append(algebra.read(joined(algebra, [part for part in held if part is not None])))
        place[step] = found[key]
    return Told(profiles, place)


def joined(algebra: Algebra[Held], parts: Sequence[Held]) -> Held:
    """Join one or more."""
    held = parts[0]
    for part in parts[1:]:
        held = algebra.join(held, part)
    return held


def relay(
    algebra: Algebra[Held], own: Sequence[Held], runs: Sequence[Run[Sway]], *, steady: bool
) -> list[Held]:
    """Give what reaches each step but the first from those before it; equal steps only until it stands still."""
    messages: list[Held] = []
    passed = 0
    for run in runs:
        last: PrivacyProfile | None = None
        end = len(messages) + run.steps
        for sway in cycle(run.turn):
            if len(messages) == end:
                break
            passed += 1
            if passed > MOST_STEPS:
                raise DoesNotApply(
                    f"The messages still change after {MOST_STEPS:,} steps. The group covers it."
                )
            mine = own[len(messages)]
            sent = algebra.read(algebra.join(mine, messages[-1]) if messages else mine).through(sway)
            if steady and len(run.turn) == 1 and last is not None and sent.below(last.raised(*NEAR)):
                ceiling = sent.raised(*CEILING)
                held = algebra.hold(ceiling)
                if algebra.read(algebra.join(mine, held)).through(sway).below(ceiling):
                    messages.extend([held] * (end - len(messages)))  # each later one stays below it
                    break
            messages.append(algebra.hold(sent))
            last = sent
    return messages


def through_forest(
    algebra: Algebra[Held], forest: Forest, curves: Sequence[ProfileCurve], sways: Sways, grid: Grid
) -> list[PrivacyProfile]:
    """What each node shows, with all that comes from its neighbours."""
    own = held_by(algebra, curves, grid)
    return algebra.reads(forest.sweep_levels(own, partial(send_swayed, algebra, sways), algebra.join))


def send_swayed(
    algebra: Algebra[Held], sways: Sways, links: Sequence[Link], held: Sequence[Held]
) -> list[Held]:
    """Send what is held over many links at once; one without a sway passes all on, and nothing stays nothing."""
    sent = list(held)
    swayed = [place for place, link in enumerate(links) if link in sways and not algebra.silent(held[place])]
    found = algebra.send([held[k] for k in swayed], [sways[links[k]] for k in swayed]) if swayed else []
    for place, message in zip(swayed, found, strict=True):
        sent[place] = message
    return sent
