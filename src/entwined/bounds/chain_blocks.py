"""The laws of a chain over blocks of steps: powers of its transitions, forth and back."""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.class_blocks import class_odds
from entwined.bounds.frontier import SMALLEST, Frontier
from entwined.bounds.kernel import MANY, MOST_POINTS, TOO_SMALL, start_and_step
from entwined.bounds.transport import StepLaws, distance
from entwined.dependence import Box, MarkovChain
from entwined.dependence.odds import log_odds
from entwined.errors import DoesNotApply
from entwined.numbers import ULP, FloatArray

SIZES: Final = (1, 2, 3, *(part * 2**times for times in range(1, 10) for part in (2, 3)))
FINE_SIZES: Final = (1, 2, 3, *(part * 2**times for times in range(9) for part in (4, 5, 6, 7)))
FEWEST_STATES: Final = 3
FEWEST_LAWS: Final = 2  # that are told apart, however many states there are
ALIKE: Final = 1e-8  # a start this close to where the chain settles is taken for it
NEARLY: Final = 1e-3  # laws of the state this close together, in log ratios, share their blocks


@dataclass(frozen=True, eq=False, slots=True)
class BlockLaws:
    """What a step says of those a block away, for each size of blocks, where the law of the chain is known."""

    chain: MarkovChain
    course: StepLaws
    powers: dict[int, FloatArray]
    _onward: dict[int, Frontier] = field(default_factory=dict)
    _back: dict[tuple[int, int], Frontier] = field(default_factory=dict)

    def onward(self, size: int) -> Frontier:
        """What the value at any step says of the step so many after it; all values ever taken are secrets."""
        if size not in self._onward:
            met = np.any([law > 0 for law in self.course.laws], axis=0)
            self._onward[size] = Frontier.of(self.powers[size][met], rounding_of(self.chain, size))
        return self._onward[size]

    def back(self, step: int, size: int) -> Frontier:
        """What the value at a step says of the step so many before it."""
        place = place_of(self.course, step - size)
        if (place, size) not in self._back:
            error = self.course.errors[place] + rounding_of(self.chain, size)
            law = reversed_law(self.course.laws[place], self.powers[size])
            self._back[place, size] = Frontier.of(law, error)
        return self._back[place, size]

    @property
    def settled(self) -> float:
        """From which step on the law of the state is the same."""
        return self.course.start if self.course.period == 1 else math.inf


@lru_cache(maxsize=4)
def block_laws(model: MarkovChain, sizes: tuple[int, ...] = SIZES) -> BlockLaws:
    """Find the laws of a chain over blocks, or say why they cannot be had."""
    start, step = start_and_step(model)
    powers = powers_of(model, sizes)
    with np.errstate(under="raise"):
        try:
            course = StepLaws.of(start, step, max(model.length - 1, 1))
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None
    most = max(MOST_POINTS // (4 * len(powers) * model.states**3), FEWEST_LAWS)
    if len(course.errors) > most:
        alike = merged(course, 0)
        course = alike if alike.errors[0] <= ALIKE else merged(course, most - 1)
        if course.errors[-1] > NEARLY:
            raise DoesNotApply(
                f"The law of the state still changes after {most:,} steps, too many to try blocks of each. Start from "
                "the stationary law."
            )
    return BlockLaws(model, course, powers)


def merged(course: StepLaws, first: int) -> StepLaws:
    """Let one law stand for all steps from some step on; its error is that of the farthest of them."""
    last = course.laws[-1]
    apart = [
        distance(law, last) + error
        for law, error in zip(course.laws[first:-1], course.errors[first:], strict=True)
    ]
    return StepLaws(
        (*course.laws[:first], last, last), (*course.errors[:first], max(apart)), first, 1, course.steps
    )


@dataclass(frozen=True, eq=False, slots=True)
class BlockOdds:
    """The largest log odds ratio between steps a block apart, for each size of blocks; of a class those known."""

    chain: MarkovChain
    sizes: tuple[int, ...]
    powers: dict[int, FloatArray] = field(default_factory=dict)
    _found: dict[int, float] = field(default_factory=dict)

    def __getitem__(self, size: int) -> float:
        if size not in self._found:
            widest = float(log_odds(Box.exact(self.powers[size][None]), conditional=False).max())
            self._found[size] = widest + rounding_of(self.chain, size)
        return self._found[size]


@lru_cache(maxsize=4)
def block_odds(model: MarkovChain, sizes: tuple[int, ...] = SIZES) -> BlockOdds:
    """Find the log odds of a chain over blocks, of a class those of its worst member; no law of its start is needed."""
    refuse_few_states(model)
    if not model.transition.is_exact:
        found = class_odds(model, sizes)
        return BlockOdds(model, tuple(found), _found=found)
    powers = powers_of(model, sizes)
    return BlockOdds(model, tuple(powers), powers)


def refuse_few_states(model: MarkovChain) -> None:
    """Refuse chains of which single steps say as much."""
    if model.states < FEWEST_STATES:
        raise DoesNotApply(f"Blocks are tried for chains of {FEWEST_STATES} states or more.")


def place_of(course: StepLaws, step: int) -> int:
    """Which of the laws that were found holds at a step."""
    return step if step < course.start else course.start + (step - course.start) % course.period


def reversed_law(law: FloatArray, power: FloatArray) -> FloatArray:
    """The law of a state given one so many steps after it, one row a state that can occur there."""
    joint = (law[:, None] * power).T
    rows = joint[joint.max(axis=1) > 0]
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def powers_of(model: MarkovChain, sizes: tuple[int, ...] = SIZES) -> dict[int, FloatArray]:
    """Give Pᵏ for the sizes, each the sum of two before it, as far as no entry is too small for a float."""
    if not model.transition.is_exact:
        raise DoesNotApply(MANY)
    refuse_few_states(model)
    step = np.asarray(model.transition.low)
    found, patterns = {1: step}, {1: step > 0}
    for size in sizes[1:]:
        half, rest = size // 2, size - size // 2
        with np.errstate(under="ignore"):
            power = found[half] @ found[rest]
        pattern = patterns[half].astype(float) @ patterns[rest] > 0
        if size >= model.length or power[pattern].min() < SMALLEST:
            break
        found[size], patterns[size] = power, pattern
    return found


def rounding_of(model: MarkovChain, size: int) -> float:
    """How far the log of an entry of a power, and of what is made of it, can be off."""
    return 4 * (size + 1) * (model.states + 4) * ULP
