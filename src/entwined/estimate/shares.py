"""Intervals for a share of rows: every value is kept that two noisy counts of different rows leave possible.

For the share r = a / (a + b) of true counts, (1 − r) · noisy a − r · noisy b is an error of a known law. So r is kept
if that difference is within the half width of this law, and the truth is kept with the confidence asked for, however
few rows there are. The same goes for a part a of a whole n that was counted with noise of its own, by noisy a − r ·
noisy n. The weights lie on a straight line in r, so the half width is convex in r (see `ratios`) and a
straight line between the shares where it is worked out is not below it.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.ratios import SET_ASIDE, Bounds, Confidence, Noisy, kept, surer
from entwined.numbers import FloatArray

PIECES: Final = 32
FEW: Final = np.array([0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0])  # enough where hundreds of tables have shares


def share_interval(
    inside: Noisy, outside: Noisy, confidence: Confidence = 0.95, nodes: FloatArray | None = None
) -> Bounds:
    """Give the lowest and highest share that the counts of rows inside and outside leave possible.

    Half widths are worked out at the shares `nodes`, from 0 to 1: few are quicker, and make longer intervals.

    >>> from fractions import Fraction
    >>> from entwined.estimate.error_law import ErrorLaw
    >>> from entwined.noise import DiscreteLaplace
    >>> law = ErrorLaw.of([1], [DiscreteLaplace(Fraction(10))])
    >>> low, high = share_interval(Noisy(np.array([250]), law), Noisy(np.array([750]), law))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.226, 0.273)
    """
    at = np.linspace(0.0, 1.0, PIECES + 1) if nodes is None else nodes
    whole = inside.values + outside.values
    return _kept(inside.values, whole, lambda r: inside.law * (1 - r) + outside.law * r, at, confidence)


def part_interval(part: Noisy, whole: Noisy, confidence: Confidence = 0.95) -> Bounds:
    """Give the lowest and highest share that a part can have of a whole which was counted with noise of its own.

    >>> from fractions import Fraction
    >>> from entwined.estimate.error_law import ErrorLaw
    >>> from entwined.noise import DiscreteLaplace
    >>> law = ErrorLaw.of([1], [DiscreteLaplace(Fraction(10))])
    >>> low, high = part_interval(Noisy(np.array([250]), law), Noisy(np.array([1000]), law))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.219, 0.281)
    """
    wholes = np.broadcast_to(whole.values, part.values.shape)
    return _kept(part.values, wholes, lambda r: part.law + whole.law * r, FEW, confidence)


def _kept(
    parts: FloatArray,
    wholes: FloatArray,
    law_of: Callable[[float], ErrorLaw],
    nodes: FloatArray,
    confidence: Confidence,
) -> Bounds:
    sure = surer(confidence, SET_ASIDE)
    widths = np.array([law_of(node).half_width(sure) for node in nodes.tolist()])
    return kept((parts, parts), wholes, nodes, widths)
