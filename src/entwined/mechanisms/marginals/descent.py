"""The least of a smooth convex function of many numbers, by steps that remember the last few (L-BFGS)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from entwined.numbers import FloatArray
from entwined.progress import report

Slope: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]

REMEMBERED: Final = 20
ENOUGH: Final = 1e-4  # of what the slope promises a step must bring
MOST_HALVINGS: Final = 30
HARDLY: Final = 1e-9  # what ten steps brought, of the value, when there is no sense in going on
TEN: Final = 10


def inner(one: FloatArray, two: FloatArray) -> float:
    """Multiply and add up in one thread: a library that wakes others for it takes longer where these are busy."""
    return float(np.einsum("i,i->", one, two))


@dataclass(slots=True)
class _Memory:
    """The last steps, and by how much each changed the slope."""

    steps: deque[tuple[FloatArray, FloatArray, float]] = field(
        default_factory=lambda: deque(maxlen=REMEMBERED)
    )

    def add(self, step: FloatArray, turned: FloatArray) -> None:
        """Remember a step, unless the function did not bend along it."""
        bent = inner(step, turned)
        if bent > 0:
            self.steps.append((step, turned, bent))

    def direction(self, slope: FloatArray) -> FloatArray:
        """Give the way down that the remembered steps suggest (Nocedal 1980, two loops)."""
        way = -slope
        taken: list[float] = []
        for step, turned, bent in reversed(self.steps):
            taken.append(inner(step, way) / bent)
            way = way - taken[-1] * turned
        if self.steps:
            _, turned, bent = self.steps[-1]
            way = way * (bent / inner(turned, turned))
        for (step, turned, bent), along in zip(self.steps, reversed(taken), strict=True):
            way = way + (along - inner(turned, way) / bent) * step
        return way


def lowest(function: Slope, start: FloatArray, steps: int, flat: float, what: str = "") -> FloatArray:
    """Go down from a start for at most so many steps, or until no slope is above `flat`; `what` is a progress bar's.

    >>> lowest(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2), 50, 1e-9).round(6).tolist()
    [3.0, 3.0]
    """
    memory = _Memory()
    point = start
    value, slope = function(point)
    values = deque([value], maxlen=TEN)
    for at in range(steps):
        if what:
            report(what, at, steps)
        if np.abs(slope).max(initial=0.0) <= flat:
            break
        way = memory.direction(slope)
        falls = inner(way, slope)
        if falls >= 0:
            memory, way = _Memory(), -slope
            falls = inner(way, slope)
        length = 1.0 if memory.steps else min(1.0, 1.0 / float(np.abs(slope).sum()))
        for _ in range(MOST_HALVINGS):
            there, after = function(point + length * way)
            if there <= value + ENOUGH * length * falls:
                break
            length /= 2
        else:
            break
        memory.add(length * way, after - slope)
        point, value, slope = point + length * way, there, after
        if len(values) == TEN and values[0] - value <= HARDLY * abs(value):
            break
        values.append(value)
    if what:
        report(what, steps, steps)
    return point
