"""Which pairs of rows of a large kernel can be best: the others are told by a few lines, and never sorted.

For rows a and b the sets A have points (base, gain) = (P(A|b), P(A|a) − P(A|b)). For every θ ≥ 1 all of them lie on
or under the line gain = E_θ + (θ − 1) base with E_θ = Σ_v max(P(v|a) − θ P(v|b), 0), and under the line through the
origin whose slope is the largest P(v|a)/P(v|b) − 1. A pair whose corners of a few such lines lie under the hull of
sets that are there already adds nothing to it, for what is under a hull is convex.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from entwined.numbers import ULP, FloatArray, IntArray

PER_PROBE: Final = 4  # pairs that start the hull, of each probe
ROUNDS: Final = 24  # lines that are drawn at most
NEVER, NOWHERE = -1e9, -3e9  # logs of zeros: x/0 is without end, 0/x and 0/0 are nothing
LOG_ERROR: Final = 1e-12  # logs of chances reach 745 and are right to 2^-52 of that, a few together


@dataclass(frozen=True, eq=False, slots=True)
class Contenders:
    """Pairs of rows that may still be best, sorted by the first, with the lines that are drawn above each."""

    one: IntArray
    other: IntArray
    slopes: FloatArray  # of the lines, the flattest first
    heights: FloatArray  # where they begin, one row a pair
    steepest: FloatArray  # the slope of the line through the origin, one a pair

    @classmethod
    def of(cls, above: FloatArray, below: FloatArray) -> Self:
        """Take all pairs of two rows, `above` against `below`, with the flattest and the steepest line of each."""
        rows = len(above)
        one, other = np.divmod(np.arange(rows * rows), rows)
        apart = one != other
        one, other = one[apart], other[apart]
        heights = lines(above, below, one, other, 1.0)[:, None]
        return cls(one, other, np.zeros(1), heights, slopes(above, below)[apart])

    def first(self, probes: tuple[float, ...]) -> tuple[IntArray, IntArray]:
        """Give pairs that are likely to be best, to start a hull with."""
        bases, gains = self._corners()
        most = min(PER_PROBE, len(self.one))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            seen = [np.nan_to_num(gains[:, 0] / (probe + bases[:, 0])) for probe in probes]
        best = np.unique([np.argpartition(-each, most - 1)[:most] for each in seen])
        return self.one[best], self.other[best]

    def above(self, base: FloatArray, gain: FloatArray) -> Self:
        """Keep the pairs with a corner that is not under a hull."""
        bases, gains = self._corners()
        over = gains > np.interp(bases, base, gain) * (1 - 16 * ULP)
        return self._of(self.slopes, self.heights, np.flatnonzero(over.any(axis=1)))

    def narrowed(
        self, rows: tuple[FloatArray, FloatArray], hull: tuple[FloatArray, FloatArray], few: int
    ) -> Self:
        """Draw further lines, as steep as the hull is somewhere, until few pairs are left."""
        left = self.above(*hull)
        base, gain = hull
        with np.errstate(divide="ignore"):
            steep = np.unique(np.diff(gain) / np.diff(base))
        steep = steep[np.isfinite(steep) & (steep > 0)]
        for place in _halving(len(steep)):
            if len(left.one) <= few:
                break
            left = left.with_line(rows, float(steep[place])).above(*hull)
        return left

    def with_line(self, rows: tuple[FloatArray, FloatArray], slope: float) -> Self:
        """Draw one more line above each pair."""
        drawn = lines(*rows, self.one, self.other, 1.0 + slope)
        place = int(np.searchsorted(self.slopes, slope))
        every = np.arange(len(self.one))
        return self._of(
            np.insert(self.slopes, place, slope), np.insert(self.heights, place, drawn, axis=1), every
        )

    def _of(self, slopes_: FloatArray, heights: FloatArray, kept: IntArray) -> Self:
        return type(self)(self.one[kept], self.other[kept], slopes_, heights[kept], self.steepest[kept])

    def _corners(self) -> tuple[FloatArray, FloatArray]:
        """Where each line meets the next steeper one, and the last the line through the origin."""
        own = self.steepest[:, None]
        slope = np.concatenate([np.minimum(self.slopes, own), own], axis=1)
        height = np.concatenate([np.where(self.slopes < own, self.heights, 0.0), np.zeros_like(own)], axis=1)
        flat, steep = slope[:, :-1], slope[:, 1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            base = np.where(steep > flat, (height[:, :-1] - height[:, 1:]) / (steep - flat), 0.0)
        base = np.maximum(base, 0.0)
        return base, height[:, :-1] + np.where(base > 0, flat * base, 0.0)


def lines(above: FloatArray, below: FloatArray, one: IntArray, other: IntArray, times: float) -> FloatArray:
    """E_θ of pairs that are sorted by their first row, rounded up."""
    scaled, found = times * below, np.empty(len(one))
    starts = np.searchsorted(one, np.arange(len(above) + 1))
    for row in range(len(above)):
        part = slice(starts[row], starts[row + 1])
        gap = above[row] - scaled[other[part]]
        found[part] = np.maximum(gap, 0.0, out=gap).sum(axis=1)
    return np.asarray(found + (above.shape[1] + 8) * ULP)


def slopes(above: FloatArray, below: FloatArray) -> FloatArray:
    """The largest P(v|a)/P(v|b) − 1 of any two rows, rounded up, one after another."""
    with np.errstate(divide="ignore"):
        high = np.where(above > 0, np.log(above), NOWHERE)
        low = np.where(below > 0, np.log(below), NEVER)
    widest = np.concatenate([(row - low).max(axis=1) for row in high])
    with np.errstate(over="ignore"):
        return np.maximum(np.expm1(widest + LOG_ERROR), 0.0)


def _halving(count: int) -> list[int]:
    """The middle of so many places first, then those of the halves, and so on."""
    order: list[int] = []
    spans = [(0, count)]
    for low, high in spans:  # grows while it is walked
        if low < high and len(order) < ROUNDS:
            middle = (low + high) // 2
            order.append(middle)
            spans += [(low, middle), (middle + 1, high)]
    return order
