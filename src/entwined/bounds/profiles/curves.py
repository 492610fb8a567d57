"""Curves: how far apart two output laws can be, as a function δ of γ = e^ε, exact and rounded up.

δ(γ) bounds sup_S P(S) − γ Q(S) for every pair of outputs, in both orders, for γ ≥ 1. It is convex and falls; below
1 it follows from the other order: δ(γ) = 1 − γ + γ δ(1/γ). All curves are asked at the excess γ − 1, which keeps
its digits where ε is small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

import numpy as np

from entwined.errors import BadLoss, DoesNotApply
from entwined.noise import DiscreteGaussian
from entwined.numbers import ULP, FloatArray, float_below

ROUNDING: Final = 64 * ULP  # above what a handful of operations and one special function lose
LARGEST_EPSILON: Final = 300.0  # e to it is a float with room to spare
HALVINGS: Final = 200
LEAST_RHO: Final = 1e-100  # below it the best order is beyond floats
TINY: Final = 1e-300  # what underflows is not nothing
WIDEST: Final = 100_000.0  # the largest scale whose tails are summed
REACH: Final = 40  # exp(−40²/2) is below the smallest float
REFINEMENTS: Final = 6


class ProfileCurve(Protocol):
    """A bound on how far apart two output laws are, for each γ."""

    def at(self, excess: FloatArray) -> FloatArray:
        """δ at γ = 1 + excess, rounded up."""


@dataclass(frozen=True, slots=True)
class GaussianCurve:
    """Gaussian noise whose centre moves by μ standard deviations.

    >>> GaussianCurve(1.0).at(np.array([0.0, math.expm1(0.5)])).round(5).tolist()
    [0.38292, 0.23842]
    """

    shift: float

    def __post_init__(self) -> None:
        if not 0 <= self.shift < math.inf:
            raise BadLoss(f"A shift of {self.shift} standard deviations. Give a finite number ≥ 0.")

    def at(self, excess: FloatArray) -> FloatArray:
        """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
        return np.zeros(np.shape(excess)) if self.shift == 0 else gaussian_deltas(self.shift, excess)


def gaussian_deltas(shift: float | FloatArray, excess: FloatArray) -> FloatArray:
    """Read the curve of Gaussian noise at γ = 1 + excess, or those of several shifts above 0."""
    from scipy.special import ndtr

    middle, half = np.log1p(excess) / shift, shift / 2
    above, below = ndtr(half - middle), (1 + excess) * ndtr(-half - middle)
    sharp = 1 + middle**2 + half**2  # how much a rounded argument moves a tail
    return np.asarray(np.clip(above - below + ROUNDING * sharp * (above + below) + TINY, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class LaplaceCurve:
    """Laplace noise of loss ε₀ on one number."""

    epsilon: float

    def at(self, excess: FloatArray) -> FloatArray:
        """1 − exp((ε − ε₀)/2) up to ε₀."""
        gap = (self.epsilon * (1 + 4 * ULP) - np.log1p(excess)) / 2
        return np.asarray(-np.expm1(-np.maximum(gap, 0.0)) * (1 + ROUNDING))


@dataclass(frozen=True, slots=True)
class PureCurve:
    """Anything of pure loss L: at worst a truthful answer with odds e^L."""

    epsilon: float

    def at(self, excess: FloatArray) -> FloatArray:
        """(e^L − γ) / (e^L + 1) up to e^L; 1 where e^L is no float."""
        if self.epsilon > 2 * LARGEST_EPSILON:
            return np.ones(np.shape(excess))
        gap = math.expm1(self.epsilon) * (1 + 4 * ULP) - excess
        return np.asarray(np.maximum(gap, 0.0) / (math.expm1(self.epsilon) + 2) * (1 + ROUNDING))


@dataclass(frozen=True, slots=True)
class DiscreteGaussianCurve:
    """Discrete Gaussian noise on one whole number that moves by at most `shift`."""

    noise: DiscreteGaussian
    shift: int

    def __post_init__(self) -> None:
        if self.shift < 1:
            raise BadLoss(f"A number that moves by {self.shift}. Give a whole number of 1 or more.")
        if self.noise.scale > WIDEST:
            raise DoesNotApply(f"A scale of {float(self.noise.scale):g} is too wide to sum its tails.")

    def at(self, excess: FloatArray) -> FloatArray:
        """P(Z ≥ m) − γ P(Z ≥ m + d) with m the least whole number from εσ²/d − d/2 on, of every d up to the shift."""
        scale = float(self.noise.scale)
        places = np.arange(-math.ceil(REACH * scale) - 1, math.ceil(REACH * scale) + 2 * self.shift + 2)
        weights = np.exp(-0.5 * (places / scale) ** 2)
        tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0) / weights.sum()
        worst = np.zeros(np.shape(excess))
        for moved in range(1, self.shift + 1):
            first = np.ceil(np.log1p(excess) * scale**2 / moved - moved / 2).astype(np.int64)
            for start in (first - 1, first, first + 1):  # the true one is the largest, whatever was rounded
                place = np.clip(start - places[0], 0, places.size)
                above = tails[place]
                below = (1 + excess) * tails[np.minimum(place + moved, places.size)]
                worst = np.maximum(worst, above - below + places.size * 4 * ULP * (above + below))
        return np.minimum(worst + TINY, 1.0)


@dataclass(frozen=True, slots=True)
class ConcentratedCurve:
    """Anything that is ρ-zCDP: every order α gives a bound (see noise/concentrated.py), and so does Pinsker's."""

    rho: float

    def at(self, excess: FloatArray) -> FloatArray:
        """The least over orders near the best one; the best at γ = 1 is the total variation √(ρ/2)."""
        if self.rho == 0:
            return np.zeros(np.shape(excess))
        rho = max(self.rho, LEAST_RHO)  # a larger loss shows no less
        loss, gap = np.log1p(excess), np.ones(np.shape(excess))
        least = np.full(np.shape(excess), math.sqrt(rho / 2))
        for _ in range(REFINEMENTS):
            gap = np.maximum((loss + np.log1p(1 / gap)) / (2 * rho) - 0.5, 1e-3)
            terms = (gap * (gap + 1) * rho, -gap * loss, gap * np.log(gap), -(gap + 1) * np.log1p(gap))
            slack = ROUNDING * sum(map(np.abs, terms))
            least = np.minimum(least, np.exp(np.minimum(sum(terms) + slack, 0.0)))
        return np.minimum(least * (1 + ROUNDING) + TINY, 1.0)


def read_at(curves: Sequence[ProfileCurve], excess: FloatArray) -> FloatArray:
    """Read curves at γ = 1 + excess, a row each; those of Gaussian noise at once."""
    shifts = np.array([one.shift if isinstance(one, GaussianCurve) else 0.0 for one in curves])
    found = np.empty((len(curves), excess.size))
    found[shifts > 0] = gaussian_deltas(shifts[shifts > 0, None], excess)
    for place in np.flatnonzero(shifts == 0).tolist():
        found[place] = curves[place].at(excess)
    return found


def epsilon_at_delta(curve: ProfileCurve, delta: Fraction | float) -> float:
    """Return the least ε found with δ(e^ε) ≤ delta, rounded up; infinite where there is none in range."""
    allowed = float_below(Fraction(delta))

    def within(epsilon: float) -> bool:
        return bool(curve.at(np.array([math.expm1(epsilon)]))[0] <= allowed)

    if within(0.0):
        return 0.0
    low, high = 0.0, LARGEST_EPSILON
    if not within(high):
        return math.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if within(middle) else (middle, high)
    return high * (1 + ROUNDING)


def largest_shift(epsilon: Fraction, delta: Fraction) -> float:
    """Return about the largest shift of Gaussian noise whose ε at δ is within the one given: where a search starts."""
    excess, allowed = np.array([math.expm1(min(float(epsilon), LARGEST_EPSILON))]), float(delta)
    low, high = 0.0, 4.0 * math.sqrt(LARGEST_EPSILON)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if GaussianCurve(middle).at(excess)[0] <= allowed else (low, middle)
    return high
