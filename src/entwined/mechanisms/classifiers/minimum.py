"""The weights of least total loss, found from gradients alone and certified by the gradient that is left.

What is minimised is J(w) = Σ ℓ + (Λ/2)‖w‖² + b·w. It is strongly convex: ‖w − w*‖ ≤ ‖∇J(w)‖ / Λ at every w.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from entwined.mechanisms.classifiers.slopes import Pull, Slopes
from entwined.numbers import FloatArray

FEWEST_READS: Final = 10
READS: Final = (2.6, -4.0)  # for each power of e by which rows outweigh the ridge, and beside it
CORNERS: Final = 0.35  # by this power of its bend a curve takes longer than the logistic one
PATIENCE: Final = 25  # times as many at most, before the slow way that is sure to arrive
KEPT: Final = 60  # steps that are remembered
STEEP: Final = 0.9  # a step that turns more than this part of the slope around was too long
BENT: Final = 0.6  # of the largest bend: about what rows have on the way
TOLERANCE: Final = 2.0**-10
MARGIN: Final = 1.0001  # above all that the bounds below may lose by rounding
UNIT: Final = 2.0**-53  # half the distance of 1 from the next float

Gradient: TypeAlias = Callable[[FloatArray], FloatArray]


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
    reads: int

    @classmethod
    def of(cls, slopes: Slopes, most_rows: int, ridge: float, push: float) -> "Precision":
        """Work the bounds out; `push` is the largest norm of b.

        J(w*) ≤ J(0) ≤ rows, so (Λ/2)‖w*‖² ≤ rows + ‖b‖‖w*‖.
        """
        reach = MARGIN * (2 * push + math.sqrt(2 * ridge * most_rows)) / ridge
        entries, bend = slopes.features.entries, float(slopes.curve.bend)
        row = math.sqrt(entries) * 2.0**-slopes.bits + bend * (entries + 3) * 4 * UNIT * reach + 2.0**-48
        rounding = MARGIN * (most_rows * row + 16 * UNIT * (4 * ridge * reach + most_rows))
        turns = READS[0] * math.log(max(most_rows / ridge, 1.0)) + READS[1]
        reads = max(math.ceil(turns * (4 * bend) ** CORNERS), FEWEST_READS)
        return cls(ridge, reach, rounding, max(TOLERANCE, 4 * rounding), reads)

    @property
    def distance(self) -> float:
        """How far from the exact minimiser the weights may be."""
        return MARGIN * (self.tolerance + self.rounding) / self.ridge


def minimiser(
    asked: Callable[[FloatArray], Pull], push: FloatArray, precision: Precision, steps: "Steps"
) -> FloatArray:
    """Find the weights; it asks `reads` times, or a multiple of that should the rows be such that it takes longer."""
    rows: list[float] = []

    def gradient(weights: FloatArray) -> FloatArray:
        pull = asked(weights)
        rows.append(pull.rows)
        return pull.gradient + precision.ridge * weights + push

    with np.errstate(all="ignore"):
        best, left = _quickly(gradient, rows, precision, steps)
        return best if left <= precision.tolerance else _surely(gradient, rows[0], precision, steps)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A guess of the second derivative, which steps are made by: how fast they arrive hangs on it, not whether."""

    bend: float
    inverse: FloatArray

    @classmethod
    def of(cls, slopes: Slopes, products: FloatArray, ridge: float) -> "Steps":
        """Work it out from the products of features, or from their squares alone."""
        bend = float(slopes.curve.bend)
        around = BENT * bend * slopes.unit**2 * products
        if products.ndim == 1:
            return cls(bend, 1 / (around + ridge))
        inverse: FloatArray = np.linalg.inv(around + ridge * np.eye(len(products))).astype(np.float64)
        return cls(bend, inverse)

    def __matmul__(self, slope: FloatArray) -> FloatArray:
        """Divide by the guess."""
        return self.inverse * slope if self.inverse.ndim == 1 else self.inverse @ slope


def _quickly(
    gradient: Gradient, rows: Sequence[float], precision: Precision, steps: Steps
) -> tuple[FloatArray, float]:
    """Take quasi-Newton steps (L-BFGS), and keep the weights at which the least gradient is left."""
    at = best = np.zeros(len(steps.inverse))
    slope, least = gradient(at), math.inf
    known: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=KEPT)
    step, shortened = -(steps @ slope), False
    reads = precision.reads
    while len(rows) % reads or (least > precision.tolerance and len(rows) < reads * PATIENCE):
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
        step, shortened = -_newton(slope, known, steps), False
    return best, least


def _newton(slope: FloatArray, known: Sequence[tuple[FloatArray, FloatArray]], steps: Steps) -> FloatArray:
    """Divide by what is known of the second derivative."""
    turned, parts = slope, []
    for step, change in reversed(known):
        part = step @ turned / (step @ change)
        parts.append(part)
        turned = turned - part * change
    turned = steps @ turned
    if known:
        last, bent = known[-1]
        turned = turned * (last @ bent / (bent @ (steps @ bent)))
    for (step, change), part in zip(known, reversed(parts), strict=True):
        turned = turned + step * (part - change @ turned / (step @ change))
    return np.asarray(turned)


def _surely(gradient: Gradient, rows: float, precision: Precision, steps: Steps) -> FloatArray:
    """Go down by steps that are short enough for any rows, as many as it may take."""
    longest = steps.bend * rows + precision.ridge
    turns = (
        longest
        / precision.ridge
        * math.log(max(precision.reach * precision.ridge / precision.tolerance, 2.0))
    )
    at = np.zeros(len(steps.inverse))
    for _ in range(math.ceil(MARGIN * turns)):
        at = at - gradient(at) / longest
    return at
