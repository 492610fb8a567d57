"""Sway: how much of one unit's law another unit's value can move, t(γ) = sup E_γ(p_a ‖ p_b).

If a unit's outputs are within δ of each other whatever its value, what its law says of a neighbour is within

    S_t δ (γ) = t(γ) · δ(1 + (γ − 1)/t(γ)),

because Σ (p_a − γ p_b)(u) M_u(S) has positive weight t and negative weight t + γ − 1. It increases with t.
"""

import math
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from entwined.bounds.frontier import Frontier
from entwined.bounds.profiles.curves import ProfileCurve
from entwined.numbers import ULP, FloatArray

UP: Final = 1 + 32 * ULP
DOWN: Final = 1 - 32 * ULP


class Sway(Protocol):
    """t of one neighbour, for each γ."""

    def at(self, excess: FloatArray) -> FloatArray:
        """T at γ = 1 + excess, rounded up."""

    def __hash__(self) -> int:
        """Sways that are equal sway equally."""


@dataclass(frozen=True, slots=True)
class TiltSway:
    """The sway of any law whose log odds move by at most Δ, whatever is known of other units.

    >>> TiltSway(2 * math.log(3)).at(np.array([0.0])).round(9).tolist()   # tanh(Δ/4)
    [0.5]
    """

    log_odds: float

    def at(self, excess: FloatArray) -> FloatArray:
        """(e^{Δ/2} − √γ)² / (e^Δ − 1) below e^Δ, written so that no digits are lost."""
        if self.log_odds == math.inf:
            return np.ones(np.shape(excess))
        gap = np.maximum(self.log_odds * UP - np.log1p(excess), 0.0)
        with np.errstate(under="ignore"):
            sway = np.expm1(-gap / 2) ** 2 / -math.expm1(-self.log_odds) if self.log_odds > 0 else 0 * gap
        return np.minimum(np.asarray(sway) * UP, 1.0)


@dataclass(frozen=True, slots=True)
class RowsSway:
    """The sway of a known law: the most that Σ (P(v|a) − γ P(v|b))₊ can be over values a and b."""

    frontier: Frontier

    def at(self, excess: FloatArray) -> FloatArray:
        """The largest gain − (γ − 1)·base: the sets that are best for some γ are the corners of the hull."""
        if not self.frontier.points:
            return np.zeros(np.shape(excess))
        gain, base = np.array(self.frontier.points).T
        with np.errstate(divide="ignore", over="ignore"):
            steps = np.diff(gain) / np.diff(base)
        corner = np.searchsorted(-np.minimum.accumulate(steps), -excess)
        best = gain[corner] - excess * base[corner]
        for other in (np.maximum(corner - 1, 0), np.minimum(corner + 1, gain.size - 1)):
            best = np.maximum(best, gain[other] - excess * base[other])
        slack = (self.frontier.slack - 1 + 8 * ULP) * (gain[corner] + excess * base[corner])
        return np.asarray(np.clip(best + slack, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Carried:
    """S_t of a curve, itself a curve."""

    curve: ProfileCurve
    sway: Sway

    def at(self, excess: FloatArray) -> FloatArray:
        """t(γ) · δ(1 + (γ − 1)/t(γ)), rounded up."""
        return carried(self.curve, self.sway.at(excess), excess)


def carried(curve: ProfileCurve, sway: FloatArray, excess: FloatArray) -> FloatArray:
    """S_t δ where t is `sway` at these γ."""
    weight, further = further_on(sway, excess)
    return np.asarray(weight * curve.at(further))


def further_on(sway: FloatArray, excess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """t, rounded up, and the excess at which a curve is asked; nothing gets through where t is 0."""
    through = sway > 0
    with np.errstate(over="ignore"):
        further = np.minimum(excess / np.where(through, sway, 1.0), math.exp(600)) * DOWN
    return sway * UP, further
