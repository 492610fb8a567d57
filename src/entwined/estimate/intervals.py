"""Intervals of integers that cover the truth at least as often as they say, also where it cannot be negative.

An interval is about the true number and comes from the unbiased estimate before rounding, so that putting
numbers to zero or to integers afterwards costs no coverage. Where rounding moves a number far, as in a table
of mostly empty cells, the released number may lie outside its interval.
"""

from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from entwined.estimate.error_law import ErrorLaw
from entwined.numbers import ULP, FloatArray, IntArray

LEAST_SLACK: Final = 1e-9  # what the rounding of floats may move an estimate of a small number by
SLACK: Final = 64 * ULP  # and as a part of a large one

Estimates: TypeAlias = FloatArray | IntArray
Interval: TypeAlias = tuple[IntArray, IntArray]


def intervals(
    estimates: Estimates, law: ErrorLaw, confidence: str | float | Fraction = 0.95, *, counts: bool
) -> Interval:
    """Give the lowest and highest integer that each estimate leaves possible; counts are not below 0.

    >>> from entwined.noise import DiscreteLaplace
    >>> law = ErrorLaw.of([1], [DiscreteLaplace(Fraction(10))])
    >>> low, high = intervals(np.array([100, 20, -40]), law, counts=True)
    >>> low.tolist(), high.tolist()
    ([70, 0, 0], [130, 50, 30])
    """
    half = law.half_width(confidence)
    if not counts:
        return _whole(estimates, half)
    return _of_counts(estimates, half, law.side(confidence))


def _whole(estimates: Estimates, half: float) -> Interval:
    """Give the integers within `half`; if there are none the nearest one."""
    low, high = _above(estimates, -half), _below(estimates, half)
    nearest = _below(estimates, 0.5)
    return np.where(low > high, nearest, low), np.where(low > high, nearest, high)


def _of_counts(estimates: Estimates, half: float, side: float) -> Interval:
    """Give the integers n ≥ 0 that are not refused by a test of their own, each with the same confidence.

    A count n above the half width is refused if the estimate is further than that from it. A smaller n is
    refused only if the estimate is above n + side, where P(error ≤ side) is the confidence: an estimate below
    zero says no more than zero does. So the interval is never empty, and each n, 0 included, is covered with
    the confidence asked for.
    """
    small = int(np.floor(half + LEAST_SLACK))
    low, high = _above(estimates, -half), _below(estimates, half)
    low_small = np.maximum(_above(estimates, -side), 0)
    low = np.where(low_small <= small, low_small, np.maximum(low, small + 1))
    high = np.maximum(high, small)
    nearest = np.maximum(_below(estimates, 0.5), 0)
    return np.where(low > high, nearest, low), np.where(low > high, nearest, high)


def _above(estimates: Estimates, shift: float) -> IntArray:
    """Give the least integer that is not below estimate + shift by more than rounding."""
    lowest = -np.iinfo(np.int64).max  # so that its negative is an integer too
    return -_below(-(np.maximum(estimates, lowest) if estimates.dtype.kind == "i" else estimates), -shift)


def _below(estimates: Estimates, shift: float) -> IntArray:
    """Give the greatest integer that is not above estimate + shift by more than rounding."""
    if estimates.dtype.kind == "i":
        ends = np.iinfo(np.int64)
        step = int(np.floor(shift + LEAST_SLACK))
        kept = np.clip(estimates, ends.min + max(-step, 0) + 1, ends.max - max(step, 0))
        return np.asarray(kept + step)
    slack = LEAST_SLACK + SLACK * np.abs(estimates)
    return np.asarray(np.floor(estimates + shift + slack), dtype=np.int64)
