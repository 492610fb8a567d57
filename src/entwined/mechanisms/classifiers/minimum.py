"""The weights of least total loss, found from gradients alone and certified by the gradient that is left.

What is minimised is J(w) = Σ ℓ + (Λ/2)‖w‖² + b·w. It is strongly convex: ‖w − w*‖ ≤ ‖∇J(w)‖ / Λ at every w.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from entwined.mechanisms.classifiers.slopes import Pull, Slopes
from entwined.numbers import FloatArray

READS: Final = 40  # always, so that their number says nothing about the rows
PATIENCE: Final = 25  # times as many, before the slow way that is sure to arrive
KEPT: Final = 60  # steps that are remembered
STEEP: Final = 0.9  # a step that turns more than this part of the slope around was too long
TOLERANCE: Final = 2.0**-13
MARGIN: Final = 1.0001  # above all that the bounds below may lose by rounding
UNIT: Final = 2.0**-53  # half the distance of 1 from the next float

Asked: TypeAlias = Callable[[FloatArray], Pull]


@dataclass(frozen=True, slots=True)
class Precision:
    """How near the weights that are found are to the exact ones, proved for all tables of at most `most_rows` rows.

    Theorem. If the exact minimiser has norm at most `reach`, `minimiser` returns weights w with ‖w − w*‖ ≤ `distance`.

    Proof. A fold's gradient is within `rounding` of the exact one at weights of norm at most 2·reach: a row's margin
    has K + 3 roundings of numbers that add up to at most ‖w‖, so its slope is off by bend · (K + 3) · u · ‖w‖ and a
    few units in the last place, and its K entries are cut by less than 2^−bits each. If the gradient that was computed
    is at most `tolerance`, the exact one is at most tolerance + rounding, and strong convexity divides by Λ. Otherwise
    steps of 1/L from 0 were taken, L = bend · rows + Λ: each brings w nearer to w* by the factor 1 − Λ/L and astray by
    rounding / L, so that after (L/Λ) · log(reach · Λ / tolerance) of them ‖w − w*‖ ≤ (tolerance + rounding) / Λ.
    """

    ridge: float
    reach: float
    rounding: float
    tolerance: float

    @classmethod
    def of(cls, slopes: Slopes, most_rows: int, ridge: float, push: float) -> "Precision":
        """Work the bounds out; `push` is the largest norm of b.

        J(w*) ≤ J(0) ≤ rows, so (Λ/2)‖w*‖² ≤ rows + ‖b‖‖w*‖.
        """
        reach = MARGIN * (2 * push + math.sqrt(2 * ridge * most_rows)) / ridge
        entries, bend = slopes.features.entries, float(slopes.curve.bend)
        row = math.sqrt(entries) * 2.0**-slopes.bits + bend * (entries + 3) * 4 * UNIT * reach + 2.0**-48
        rounding = MARGIN * (most_rows * row + 16 * UNIT * (4 * ridge * reach + most_rows))
        return cls(ridge, reach, rounding, max(TOLERANCE, 4 * rounding))

    @property
    def distance(self) -> float:
        """How far from the exact minimiser the weights may be."""
        return MARGIN * (self.tolerance + self.rounding) / self.ridge


def minimiser(asked: Asked, push: FloatArray, precision: Precision, bend: float) -> FloatArray:
    """Find the weights; the number of reads is public unless the rows are such that it does not do."""

    def gradient(weights: FloatArray) -> FloatArray:
        pull = asked(weights)
        rows.append(pull.rows)
        return pull.gradient + precision.ridge * weights + push

    rows: list[float] = []
    with np.errstate(all="ignore"):
        best, left = _quickly(gradient, rows, precision, bend, len(push))
        return best if left <= precision.tolerance else _surely(gradient, rows[0], precision, bend, len(push))


def _quickly(
    gradient: Callable[[FloatArray], FloatArray],
    rows: list[float],
    precision: Precision,
    bend: float,
    size: int,
) -> tuple[FloatArray, float]:
    """Take quasi-Newton steps (L-BFGS), and keep the weights at which the least gradient is left."""
    at, best, least = np.zeros(size), np.zeros(size), math.inf
    slope = gradient(at)
    known: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=KEPT)
    longest = bend * rows[0] + precision.ridge
    step, shortened = -slope / longest, False
    while len(rows) < READS or (least > precision.tolerance and len(rows) < READS * PATIENCE):
        there = gradient(at + step)
        turned, before = float(there @ step), float(slope @ step)
        if turned > STEEP * abs(before) and not shortened:
            step, shortened = step * (before / (before - turned)), True
            continue
        if float(step @ (there - slope)) > 0:
            known.append((step, there - slope))
        at, slope = at + step, there
        left = float(np.linalg.norm(slope))
        if left < least and np.linalg.norm(at) <= 2 * precision.reach:
            best, least = at, left
        step, shortened = -_newton(slope, known, longest), False
    return best, least


def _newton(slope: FloatArray, known: deque[tuple[FloatArray, FloatArray]], longest: float) -> FloatArray:
    """Multiply by the inverse of what is known of the second derivative."""
    turned, parts = slope, []
    for step, change in reversed(known):
        part = step @ turned / (step @ change)
        parts.append(part)
        turned = turned - part * change
    last = known[-1] if known else None
    turned = turned * (last[0] @ last[1] / (last[1] @ last[1]) if last else 1 / longest)
    for (step, change), part in zip(known, reversed(parts), strict=True):
        turned = turned + step * (part - change @ turned / (step @ change))
    return np.asarray(turned)


def _surely(
    gradient: Callable[[FloatArray], FloatArray], rows: float, precision: Precision, bend: float, size: int
) -> FloatArray:
    """Go down by steps that are short enough for any rows, as many as it may take."""
    longest = bend * rows + precision.ridge
    steps = (
        longest
        / precision.ridge
        * math.log(max(precision.reach * precision.ridge / precision.tolerance, 2.0))
    )
    at = np.zeros(size)
    for _ in range(math.ceil(MARGIN * steps)):
        at = at - gradient(at) / longest
    return at
