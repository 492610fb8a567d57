"""Discrete Gaussian noise: a concentrated loss, for independent units and for groups at k²ρ."""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar, Final, Self

import numpy as np

from entwined.noise.dominated import rho_of
from entwined.noise.lattice import Integers, exactly, integers, not_negative, probability, usable_scale
from entwined.noise.protocol import Figure
from entwined.noise.sampler import add_gaussian
from entwined.numbers import FloatArray, IntArray, float_below, positive_fraction

LARGEST_SUMMED: Final = 1024.0  # up to this scale tails are summed, beyond it an integral bounds them
NORMAL: Final = 2.0  # from here on the variance differs from scale² by less than exp(−2π²·4), a part in 10³⁴
REACH: Final = 40  # exp(−40²/2) is below the smallest float
FURTHEST_SUMMED: Final = 36  # terms beyond it lose bits, so an integral bounds them too
ALONE: Final = 14.0  # from here on repeated transforms meet only where both are below the smallest float
FEW_PLACES: Final = 10  # below a scale of 1 no float is left of the weights from here on
SUM_ERROR: Final = 1e-10  # above the rounding of a sum of REACH · LARGEST_SUMMED exponentials


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Noise Z with P(Z = k) ∝ exp(−k²/(2·scale²)) on the integers.

    Two answers d apart in L2 give outputs whose Rényi divergence of any order α is at most α d²/(2·scale²):
    the noise is ρ-zCDP with ρ = d²/(2·scale²) (Canonne, Kamath, Steinke 2020, Theorem 14), not pure.

    >>> noise = DiscreteGaussian.for_rho("0.125", Fraction(1))
    >>> noise.scale, noise.rho(Fraction(2)), noise.half_width(0.95)
    (Fraction(2, 1), Fraction(1, 4), 4)
    """

    scale: Fraction
    name: ClassVar[str] = "discrete Gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", Fraction(usable_scale(self.scale)))

    @classmethod
    def for_rho(cls, rho: str | float | Fraction, squared_sensitivity: Fraction) -> Self:
        """Make the least noise that is `rho`-zCDP for answers of at most this squared L2 change."""
        squared = positive_fraction(squared_sensitivity, "Squared sensitivity") / (
            2 * positive_fraction(rho, "ρ")
        )
        return cls.of_variance(squared)

    @classmethod
    def of_variance(cls, squared: Fraction) -> Self:
        """Make noise whose squared scale is at least this, by a little."""
        return cls(_root_above(squared))

    @property
    def document(self) -> dict[str, str]:
        """The law as JSON."""
        return {"law": self.name, "scale": exactly(self.scale)}

    def words(self, figure: Figure = exactly) -> str:
        """Say the law in words."""
        return f"{self.name} of scale {figure(self.scale)}"

    def __str__(self) -> str:
        """Say the law in words, exactly."""
        return self.words()

    def at(self, times: Fraction) -> Self:
        """Give the noise of so many times the loss, which falls with the square of the scale."""
        return type(self)(Fraction(float(self.scale) / math.sqrt(times)))

    @property
    def variance(self) -> float:
        """The variance of one draw: scale² but for the smallest scales, never above it."""
        scale = float(self.scale)
        if scale > NORMAL:
            return scale * scale
        weights = self._weights()
        squares = np.arange(float(weights.size)) ** 2
        return float(2 * (squares @ weights) / (2 * weights.sum() - 1))

    def rho(self, squared_sensitivity: Fraction) -> Fraction:
        """Return the ρ of answers whose squared L2 change is at most `squared_sensitivity`, exactly."""
        return not_negative(squared_sensitivity, "Squared sensitivity") / (2 * self.scale**2)

    def charged(self, squared_sensitivity: Fraction) -> Fraction:
        """Return the ρ of the Gaussian noise that shows no less than this, exactly."""
        return rho_of(self.scale**2, squared_sensitivity)

    def add(self, exact: Integers) -> IntArray:
        """Add one independent draw to each answer; what leaves the range of int64 is put to its end."""
        return add_gaussian(integers(exact), float(self.scale))

    def log_weights(self, noise: IntArray) -> FloatArray:
        """Give the log of the probability of each noise up to a constant, to the last bits of floats."""
        return np.asarray(-0.5 * (noise / float(self.scale)) ** 2)

    def log_weight(self, noise: int) -> Fraction:
        """Return the log of the probability of this noise up to a constant, exactly."""
        return Fraction(-(noise**2)) / (2 * self.scale**2)

    def tail(self, distance: int) -> float:
        """P(|Z| ≥ distance), never below the truth."""
        if distance <= 0:
            return 1.0
        return self._tail(self._summed(), distance)

    def _summed(self) -> FloatArray | None:
        """Give the weights, if there are few enough to add them up."""
        return None if float(self.scale) > LARGEST_SUMMED else self._weights()

    def _tail(self, weights: FloatArray | None, distance: int) -> float:
        if weights is None or distance > FURTHEST_SUMMED * float(self.scale):
            return self._tail_by_integral(distance)
        beyond, total = weights[: distance - 1 : -1].sum(), 1 + 2 * weights[:0:-1].sum()
        return min(1.0, float(2 * beyond / total) * (1 + SUM_ERROR))

    def accuracy(self, beta: str | float | Fraction) -> int:
        """Find the least a with P(|Z| > a) ≤ beta."""
        missed = float_below(probability(beta, "Probability of a miss"))
        weights = self._summed()  # once for all steps

        def enough(distance: int) -> bool:
            return self._tail(weights, distance + 1) <= missed

        near = math.floor(-float(self.scale) * NormalDist().inv_cdf(max(missed / 2, math.ulp(0.0))))
        low, high, step = near, near, 1  # of a normal law, so hardly ever far off
        while not enough(high):
            low, high, step = high + 1, high + step, 2 * step
        while 0 < low <= near and enough(low - 1):
            low, high, step = max(low - step, 0), low - 1, 2 * step
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return low

    def half_width(self, confidence: str | float | Fraction) -> int:
        """Find the least h such that answer ± h covers with at least this confidence."""
        return self.accuracy(1 - probability(confidence, "Confidence"))

    def log_transform(self, frequencies: FloatArray) -> FloatArray:
        """Give log E cos(t · Z)."""
        scale = float(self.scale)
        if scale < 1:
            places = np.arange(1, FEW_PLACES)
            chances = np.exp(-0.5 * (places / scale) ** 2)
            total = 1 + 2 * chances.sum()
            # 1 − cos is exact for small angles, where the log is near 0
            misses = chances @ np.sin(0.5 * places[:, None] * frequencies) ** 2
            return np.asarray(np.log1p(-4 * misses / total))
        # Poisson's summation: the normal transform, repeated every 2π; a fourth would be below e⁻³⁹ of the first
        turned = frequencies - 2 * math.pi * np.rint(frequencies / (2 * math.pi))
        whole = math.log1p(2 * math.exp(-2 * (math.pi * scale) ** 2))
        if scale > ALONE:
            return np.asarray(-0.5 * (scale * turned) ** 2 - whole)
        others = sum(np.exp(-2 * math.pi * scale**2 * (math.pi + sign * turned)) for sign in (-1, 1))
        return np.asarray(-0.5 * (scale * turned) ** 2 + np.log1p(others) - whole)

    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Give at least log E exp(λ · Z): that of the normal law (Canonne, Kamath, Steinke 2020)."""
        return np.asarray(0.5 * (float(self.scale) * tilts) ** 2)

    def _weights(self) -> FloatArray:
        """exp(−k²/(2·scale²)) for k = 0, 1, 2, … as far as floats go."""
        scale = float(self.scale)
        return np.asarray(np.exp(-0.5 * (np.arange(math.ceil(REACH * scale) + 2) / scale) ** 2))

    def _tail_by_integral(self, distance: int) -> float:
        """Bound the tail by the continuous one.

        The weights add up to at least scale·√(2π) (Poisson's summation: every term of the transform is
        positive). Where the curve is convex, from one scale on, a term is at most the integral over the unit
        interval around it; everywhere it is at most the integral over the unit interval before it.
        """
        scale = float(self.scale)
        start = distance - 0.5 if distance - 0.5 >= scale else distance - 1.0
        return min(1.0, math.erfc(start / (scale * math.sqrt(2.0))) * (1 + SUM_ERROR) + math.ulp(0.0))


def _root_above(squared: Fraction) -> Fraction:
    """Return the square root, rounded up to a float."""
    near = math.sqrt(squared)
    while Fraction(near) ** 2 < squared:
        near = math.nextafter(near, math.inf)
    while Fraction(math.nextafter(near, 0.0)) ** 2 >= squared:
        near = math.nextafter(near, 0.0)
    return Fraction(near)
