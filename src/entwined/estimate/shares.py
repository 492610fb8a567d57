"""Intervals for a share of rows: every value is kept that two noisy counts of different rows leave possible.

For the share r = a / (a + b) of true counts, (1 − r) · noisy a − r · noisy b is an error of a known law. So r is kept
if that difference is within the half width of this law, and the truth is kept with the confidence asked for, however
few rows there are. The weights lie on a straight line in r, so the half width is convex in r (see `ratios`) and a
straight line between the shares where it is worked out is not below it.
"""

from fractions import Fraction
from typing import Final

import numpy as np

from entwined.estimate.ratios import SET_ASIDE, Bounds, Noisy, kept, surer

PIECES: Final = 32


def share_interval(inside: Noisy, outside: Noisy, confidence: str | float | Fraction = 0.95) -> Bounds:
    """Give the lowest and highest share that the counts of rows inside and outside leave possible.

    >>> from entwined.estimate.error_law import ErrorLaw
    >>> from entwined.noise import DiscreteLaplace
    >>> law = ErrorLaw.of([1], [DiscreteLaplace(Fraction(10))])
    >>> low, high = share_interval(Noisy(np.array([250]), law), Noisy(np.array([750]), law))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.226, 0.273)
    """
    nodes = np.linspace(0.0, 1.0, PIECES + 1)
    sure = surer(confidence, SET_ASIDE)
    widths = np.array(
        [(inside.law * (1 - node) + outside.law * node).half_width(sure) for node in nodes.tolist()]
    )
    return kept((inside.values, inside.values), inside.values + outside.values, nodes, widths)
