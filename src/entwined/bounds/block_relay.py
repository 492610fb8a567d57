"""Messages over blocks of steps along a chain, each step by its best block."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Self

import numpy as np

from entwined.bounds.transport import add
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, IntArray

NEAR: Final = 1e-11  # a ceiling that sinks by less than this share is kept
MOST_SENT: Final = 2_000_000  # messages tried: a few seconds
SHORTER, LONGER = (
    2,
    4,
)  # blocks this many times shorter or longer than the best are left out once it can be taken
PATIENCE: Final = 64  # a chain this many times as long as its messages take to grow has ceilings throughout

Send = Callable[[int, int, float], float]
"""What is left of a leakage some steps before a step: of the step, the size of the block, and the leakage."""
SendEach = Callable[[int, FloatArray], FloatArray]
"""The same of many leakages over blocks of one size, at steps that pass alike."""


@dataclass(frozen=True, slots=True)
class Strides:
    """Sizes of blocks, the smallest first, and what passes over one."""

    sizes: tuple[int, ...]
    send: Send
    send_each: SendEach

    def best(self, step: int, between: Callable[[int], float], held: Callable[[int], float]) -> float:
        """Find the least that reaches a step: `between` sums so many losses just before it, `held` is what an
        earlier step and all before it show.
        """
        least = between(step)
        for size in self.sizes:
            near = between(size - 1) if size <= step else least
            if near >= least:
                break
            least = min(least, add(near, self.send(step, size, held(step - size))))
        return least

    def around(self, best: int) -> Self:
        """Leave much shorter and much longer blocks out."""
        return replace(
            self, sizes=tuple(size for size in self.sizes if best // SHORTER <= size <= best * LONGER)
        )

    def best_size(self, epsilon: float, held: float, step: int) -> int:
        """Find the size of blocks that is best where every earlier step holds as much."""
        least, best = math.inf, self.sizes[0]
        for size in self.sizes:
            near = (size - 1) * epsilon
            if near >= least:
                break
            found = add(near, self.send(step, size, held))
            if found < least:
                least, best = found, size
        return best

    def many(self, steps: IntArray, epsilon: float, passed: FloatArray, settled: float) -> FloatArray:
        """Give the same as `best` for steps that are no more than the smallest size here, all losses equal."""
        least: FloatArray = np.asarray(steps * (epsilon * (1 + ULP)), dtype=np.float64)
        for size in self.sizes:
            near = (size - 1) * epsilon * (1 + ULP)
            if near >= least.max():
                break
            far = steps - size
            there = np.flatnonzero(far >= settled)
            held = (epsilon + passed[far[there]]) * (1 + ULP)
            least[there] = np.minimum(least[there], (near + self.send_each(size, held)) * (1 + ULP))
        return least


def relay(loss: Loss, blocks: Strides, settled: float, *, back: bool) -> FloatArray:
    """What reaches each step from those before it (or after it); from `settled` on all steps pass alike."""
    if loss.common is not None:
        return relay_even(loss.common, loss.units, blocks, settled)
    losses = (loss.per_unit[::-1] if back else loss.per_unit).tolist()
    sums: list[float] = [0.0, *np.cumsum(losses).tolist()]

    def between(step: int, count: int) -> float:
        return max(sums[step] - sums[step - count], 0.0) + 4 * loss.units * ULP * sums[step]

    passed = [0.0]
    for step in steps_of(blocks, loss.units):
        passed.append(blocks.best(step, partial(between, step), lambda far: add(losses[far], passed[far])))
    return np.array(passed)


def relay_even(epsilon: float, units: int, blocks: Strides, settled: float) -> FloatArray:
    """The same for equal losses: one by one as long as messages grow, then one ceiling for all that is left.

    If no message is above C, none is above what follows from C: so ceilings sink from infinity, and each is valid.
    """

    def between(count: int) -> float:
        return count * epsilon * (1 + ULP)

    passed, ceiling = [0.0], math.inf
    for step in steps_of(blocks, units):
        if ceiling == math.inf and (settled == 0 or step >= settled + blocks.sizes[-1]):
            ceiling = sinking(partial(blocks.best, units - 1, between), epsilon, max(passed))
            best = blocks.best_size(epsilon, add(epsilon, ceiling), units - 1)
        if passed[-1] >= ceiling * (1 - NEAR) or units - step > PATIENCE * ceiling / epsilon:
            rest = np.arange(step, units) * (epsilon * (1 + 2 * ULP))
            return np.append(passed, np.minimum(rest, max(ceiling, *passed)))
        if ceiling < math.inf and SHORTER < best <= step - settled:
            return relay_strides(epsilon, np.array(passed), units, blocks.around(best), (settled, ceiling))
        passed.append(blocks.best(step, between, lambda far: add(epsilon, passed[far])))
    return np.array(passed)


def relay_strides(
    epsilon: float, passed: FloatArray, units: int, blocks: Strides, ends: tuple[float, float]
) -> FloatArray:
    """Go on for as many steps at a time as the smallest block has, until messages stand at their ceiling."""
    settled, ceiling = ends
    highest, found = max(ceiling, float(passed.max())), np.empty(units)
    found[: passed.size] = passed
    for first in range(passed.size, units, blocks.sizes[0]):
        if found[first - 1] >= ceiling * (1 - NEAR):
            rest = np.arange(first, units) * (epsilon * (1 + 2 * ULP))
            found[first:] = np.minimum(rest, highest)
            break
        steps = np.arange(first, min(first + blocks.sizes[0], units))
        found[steps] = np.minimum(blocks.many(steps, epsilon, found, settled), highest)
    return found


def sinking(best: Callable[[Callable[[int], float]], float], epsilon: float, known: float) -> float:
    """Lower a ceiling over all messages as far as it follows from itself; `known` is above those that came before."""
    ceiling, lower = math.inf, best(lambda _: math.inf)
    while lower < ceiling * (1 - NEAR):
        ceiling, held = lower, add(epsilon, max(lower, known))
        lower = best(partial(constant, held))
    return min(ceiling, lower)


def constant(held: float, _: int) -> float:
    """What every earlier step holds at most."""
    return held


def steps_of(blocks: Strides, units: int) -> Iterator[int]:
    """Count the steps after the first; refuse to go on for long."""
    for step in range(1, units):
        if step * len(blocks.sizes) > MOST_SENT:
            raise DoesNotApply("What passes over blocks of steps does not settle soon enough.")
        yield step
