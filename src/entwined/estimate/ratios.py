"""Intervals for means and variances: every value is kept that the noisy sums and count leave possible.

For a ratio r = a / b of true numbers, noisy a − r · noisy b is an error of a known law. So r is kept if that
difference is within the half width of this law, and the truth is kept with the confidence asked for, however
small the count is (Fieller's argument). Of all values only those in a public range can be the truth.

As a function of the weights of independent errors, the half width is convex if their laws are symmetric and
log-concave (it is the support function of a floating body: Meyer, Reisner 1991; Bobkov 2010). So it is worked
out at some weights, and a straight line between them is not below it. Integer noise is log-concave up to its
steps; for these a part of the chance of a miss is set aside.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadQuery
from entwined.estimate.error_law import ErrorLaw
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, IntArray

ANGLE: Final = 1 / 16  # between weights that are worked out, as a hyperbolic angle
SET_ASIDE: Final = Fraction(1, 25)  # of the chance of a miss, for the steps of noise
FEW: Final = 32.0  # the largest range in which each half step is worked out too
NARROW: Final = 0.2  # the part of the public range in which a mean is known well enough

Bounds: TypeAlias = tuple[FloatArray, FloatArray]
Confidence: TypeAlias = str | float | Fraction


@dataclass(frozen=True, eq=False, slots=True)
class Noisy:
    """Noisy numbers, one for each release, and the law of their errors."""

    values: FloatArray
    law: ErrorLaw

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.atleast_1d(np.asarray(self.values, dtype=float)))


def ratio_interval(
    top: Noisy, bottom: Noisy, public: tuple[float, float], confidence: Confidence = 0.95
) -> Bounds:
    """Give the lowest and highest ratio of two true numbers that is in a public range.

    >>> from entwined.noise import DiscreteLaplace
    >>> total, count = (ErrorLaw.of([1], [DiscreteLaplace(Fraction(scale))]) for scale in (100, 2))
    >>> low, high = ratio_interval(Noisy(np.array([20_000]), total), Noisy(np.array([1_000]), count), (0, 50))
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (19.68, 20.32)
    """
    laws = top.law, bottom.law
    return kept_ratios(
        top.values, bottom.values, lambda node: laws[0] + laws[1] * node, laws, public, confidence
    )


def kept_ratios(
    tops: FloatArray,
    bottoms: FloatArray,
    law_of: Callable[[float], ErrorLaw],
    laws: tuple[ErrorLaw, ErrorLaw],
    public: tuple[float, float],
    confidence: Confidence,
) -> Bounds:
    """Give the ratios x in a public range for which top − x · bottom is within what its law, `law_of` x, allows."""
    nodes = ratio_nodes(public, *map(_deviation, laws))
    sure = surer(confidence, SET_ASIDE)
    widths = np.array([law_of(node).half_width(sure) for node in nodes.tolist()])
    return kept((tops, tops), bottoms, nodes, widths)


def variance_interval(
    line: Noisy, square: Noisy, count: Noisy, public: tuple[float, float], confidence: Confidence = 0.95
) -> Bounds:
    """Give the lowest and highest variance of values in a public range, from their sum, squares and number.

    With the true mean m and variance v, noisy squares − 2m · noisy sum + (m² − v) · noisy number is an error
    of a known law. The mean is only known to be in an interval of its own, so v is kept if some m in it
    allows it: this is sound, as the chance that m is not in it is set aside. If that interval is narrow the
    noisy mean stands for all of it: the difference is of second order, and the same part is there for it.
    """
    means = ratio_interval(line, count, public, surer(confidence, 1 - SET_ASIDE / 2))
    narrow = (means[1] - means[0] <= NARROW * (public[1] - public[0])) & (count.values > 0)
    middle = np.clip(line.values / np.where(narrow, count.values, 1), *public)
    lowest, highest = np.where(narrow, middle, means[0]), np.where(narrow, middle, means[1])
    nodes = ratio_nodes(
        (0.0, ((public[1] - public[0]) / 2) ** 2), _deviation(square.law), _deviation(count.law)
    )
    least, most = _squares(lowest, highest)
    by_count = np.maximum(np.abs(most[:, None] - nodes), np.abs(least[:, None] - nodes))
    by_line = np.broadcast_to(2 * np.sqrt(most)[:, None], by_count.shape)
    widths = _Widths(square.law, line.law, count.law, surer(confidence, SET_ASIDE))
    tops = _quadratic((lowest, highest), line.values, square.values, count.values)
    return kept(tops, count.values, nodes, widths(by_line, by_count))


def _squares(low: FloatArray, high: FloatArray) -> Bounds:
    """Give the least and greatest square of the numbers between two ends."""
    ends = np.array([low**2, high**2])
    return np.where((low < 0) & (high > 0), 0.0, ends.min(axis=0)), ends.max(axis=0)


@dataclass(frozen=True, slots=True)
class _Widths:
    """Half widths of first + a · second + b · third, worked out where they are asked for."""

    first: ErrorLaw
    second: ErrorLaw
    third: ErrorLaw
    confidence: Fraction

    def __call__(self, by_second: FloatArray, by_third: FloatArray) -> FloatArray:
        """Interpolate between the four nodes around each pair of weights."""
        seconds, shares = self._around(by_second, self.second)
        thirds, others = self._around(by_third, self.third)
        low = (1 - others) * self._at(seconds, thirds) + others * self._at(seconds, thirds + 1)
        high = (1 - others) * self._at(seconds + 1, thirds) + others * self._at(seconds + 1, thirds + 1)
        return (1 - shares) * low + shares * high

    def _around(self, weights: FloatArray, law: ErrorLaw) -> tuple[IntArray, FloatArray]:
        """Give the number of the node below each weight, and how far it is to the next one."""
        numbers = np.floor(np.arcsinh(weights / self._unit(law)) / ANGLE)
        low, high = self._node(numbers, law), self._node(numbers + 1, law)
        return numbers.astype(np.int64), np.clip((weights - low) / (high - low), 0, 1)

    def _at(self, seconds: IntArray, thirds: IntArray) -> FloatArray:
        pairs, places = np.unique(seconds << 32 | thirds, return_inverse=True)
        found = []
        for pair in pairs.tolist():
            second = self.second * float(self._node(pair >> 32, self.second))
            third = self.third * float(self._node(pair & (2**32 - 1), self.third))
            found.append((self.first + second + third).half_width(self.confidence))
        return np.array(found)[places].reshape(seconds.shape)

    def _node(self, number: FloatArray | int, law: ErrorLaw) -> FloatArray:
        return np.asarray(self._unit(law) * np.sinh(ANGLE * number))

    def _unit(self, law: ErrorLaw) -> float:
        """Give the weight that makes an error as large as the first."""
        return _deviation(self.first) / _deviation(law) if self.first.variance and law.variance else 1.0


def _quadratic(means: Bounds, line: FloatArray, square: FloatArray, count: FloatArray) -> Bounds:
    """Give the least and greatest square − 2m · line + m² · count for m between the ends."""
    turn = np.divide(line, count, out=means[0].copy(), where=count != 0)
    places = np.array([means[0], means[1], np.clip(turn, *means)])
    found = square - 2 * places * line + places**2 * count
    return found.min(axis=0), found.max(axis=0)


def kept(tops: Bounds, bottoms: FloatArray, nodes: FloatArray, widths: FloatArray) -> Bounds:
    """Find the least and greatest x with tops[0] − x · bottom ≤ width(x) and x · bottom − tops[1] ≤ width(x).

    The width is a straight line between nodes, so on each piece x is between two ends. If no x is left, the
    one nearest to the ratio is.
    """
    moved = nodes * bottoms[:, None]
    pieces = [
        _part(tops[0][:, None] - moved - widths, nodes),
        _part(moved - tops[1][:, None] - widths, nodes),
    ]
    low = np.maximum(pieces[0][0], pieces[1][0])
    high = np.minimum(pieces[0][1], pieces[1][1])
    empty = ~(low <= high)
    lowest = np.where(empty, math.inf, low).min(axis=1)
    highest = np.where(empty, -math.inf, high).max(axis=1)
    middle = np.divide(tops[0] + tops[1], 2 * bottoms, out=np.full(len(bottoms), nodes[0]), where=bottoms > 0)
    nearest = np.clip(middle, nodes[0], nodes[-1])
    none = empty.all(axis=1)
    return np.where(none, nearest, lowest), np.where(none, nearest, highest)


def _part(excess: FloatArray, nodes: FloatArray) -> Bounds:
    """Give, on each piece, the ends between which a straight line is not above zero; none are infinite."""
    left, right = excess[:, :-1], excess[:, 1:]
    run = np.diff(nodes)
    crossing = nodes[:-1] + run * np.divide(left, left - right, out=np.zeros(left.shape), where=left != right)
    low = np.where(left <= 0, nodes[:-1], np.where(right <= 0, crossing, math.inf))
    high = np.where(right <= 0, nodes[1:], np.where(left <= 0, crossing, -math.inf))
    return low, high


def ratio_nodes(public: tuple[float, float], top: float, bottom: float) -> FloatArray:
    """Choose where half widths are worked out: close where either error is as large as the other."""
    low, high = map(float, public)
    if not -math.inf < low < high < math.inf:
        raise BadQuery(f"A ratio between {low} and {high}. Give two finite numbers, the lower one first.")
    inner = [0.0] if low < 0 < high else []
    if high - low <= FEW:  # the steps of both noises meet there, so lines across are not above the half width
        inner += (0.5 * np.arange(math.floor(2 * low) + 1, math.ceil(2 * high))).tolist()
    if top > 0 and bottom > 0:
        first, last = math.asinh(low * bottom / top), math.asinh(high * bottom / top)
        steps = math.ceil((last - first) / ANGLE)
        inner += ((top / bottom) * np.sinh(np.linspace(first, last, steps + 1)[1:-1])).tolist()
    return np.unique([low, *inner, high])


def surer(confidence: Confidence, part: Fraction) -> Fraction:
    """Set a part of the chance of a miss aside."""
    exact = probability(confidence, "Confidence")
    return exact + (1 - exact) * part


def _deviation(law: ErrorLaw) -> float:
    return math.sqrt(law.variance)
