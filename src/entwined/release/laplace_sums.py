"""Sums of independent Laplace noises: how far from zero they lie."""

import math
from collections.abc import Sequence
from typing import Final

from scipy.optimize import brentq

APART: Final = 1.001  # scales nearer than this are moved apart, the larger one up
NEGLIGIBLE: Final = 1e-6


def half_width(scales: Sequence[float], confidence: float) -> float:
    """Find h such that a sum of noises with these scales lies within ±h with this confidence.

    The characteristic function Π 1/(1 + cᵢ²t²) splits into partial fractions, so the sum is a mixture, with
    weights of either sign, of single noises of the same scales: P(|X| > t) = Σ wᵢ·exp(−t/cᵢ).

    >>> round(half_width([3.0], 0.95), 3)  # 3 ln 20
    8.987
    """
    largest = max(scales, default=0.0)
    apart = _apart([scale for scale in scales if scale > largest * NEGLIGIBLE])
    if not apart:
        return 0.0
    weights = [math.prod(one**2 / (one**2 - other**2) for other in apart if other != one) for one in apart]

    def missed(distance: float) -> float:
        outside = sum(weight * math.exp(-distance / one) for weight, one in zip(weights, apart, strict=True))
        return outside - (1 - confidence)

    furthest = 2 * sum(apart) * math.log(len(apart) / (1 - confidence))  # so far not even one of them goes
    return float(brentq(missed, 0.0, furthest, rtol=1e-9, xtol=1e-9 * largest))


def _apart(scales: Sequence[float]) -> list[float]:
    """Sort scales and move equal ones a little apart, upwards: more noise makes no interval too short."""
    apart: list[float] = []
    for scale in sorted(scales):
        apart.append(max(scale, apart[-1] * APART) if apart else scale)
    return apart
