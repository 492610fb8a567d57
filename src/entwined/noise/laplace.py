"""Discrete Laplace noise: the pure loss of an integer answer."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np

from entwined.noise.lattice import Integers, exactly, integers, not_negative, probability, usable_scale
from entwined.noise.protocol import Figure
from entwined.noise.sampler import add_laplace
from entwined.numbers import FloatArray, IntArray, float_above, positive_fraction

EXACT: Final = Context(prec=60, Emin=-(10**18) + 1, Emax=10**18 - 1, traps=[])
AGAINST_US: Final = Decimal("1e-40")  # far above the error of 60 digits, far below the step of a float
NEAR_POLE: Final = 0.99  # of 1/scale: beyond it there is no moment, and nearer to it floats cannot be trusted


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Noise Z with P(Z = k) ∝ exp(−|k|/scale) on the integers.

    Two answers d apart in L1 give any output with probabilities at most exp(d/scale) apart, because
    |k| − |k − d| ≤ d. The scale is rounded up to a float before anything is drawn, so the loss is never above
    the one asked for.

    >>> noise = DiscreteLaplace.for_loss("0.5", Fraction(1))
    >>> noise.loss(Fraction(1)), noise.half_width(0.95)
    (Fraction(1, 2), 6)
    """

    scale: Fraction
    name: ClassVar[str] = "discrete Laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", Fraction(usable_scale(self.scale)))

    @classmethod
    def for_loss(cls, epsilon: str | float | Fraction, sensitivity: Fraction) -> Self:
        """Make the least noise whose loss is at most `epsilon` for answers that move by `sensitivity`."""
        return cls(positive_fraction(sensitivity, "Sensitivity") / positive_fraction(epsilon, "Loss"))

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
        """Give the noise of so many times the loss."""
        return type(self)(self.scale / times)

    @property
    def variance(self) -> float:
        """2q/(1−q)² with q = exp(−1/scale)."""
        width = 1.0 / math.sinh(0.5 / float(self.scale))
        return 0.5 * width * width

    def loss(self, sensitivity: Fraction) -> Fraction:
        """Return the base loss ε of answers that move by at most `sensitivity` in L1, exactly."""
        return not_negative(sensitivity, "Sensitivity") / self.scale

    def add(self, exact: Integers) -> IntArray:
        """Add one independent draw to each answer; what leaves the range of int64 is put to its end."""
        return add_laplace(integers(exact), float(self.scale))

    def log_weights(self, noise: IntArray) -> FloatArray:
        """Give the log of the probability of each noise up to a constant, to the last bits of floats."""
        return np.asarray(-np.abs(noise) / float(self.scale))

    def log_weight(self, noise: int) -> Fraction:
        """Return the log of the probability of this noise up to a constant, exactly."""
        return Fraction(-abs(noise)) / self.scale

    def probability(self, noise: int) -> float:
        """P(Z = noise), to the last bits of a float."""
        return math.tanh(0.5 / float(self.scale)) * math.exp(self.log_weight(noise))

    def tail(self, distance: int) -> float:
        """P(|Z| ≥ distance) = 2 q^distance / (1 + q), rounded up."""
        if distance <= 0:
            return 1.0
        above = EXACT.multiply(2, EXACT.divide(self._power(distance), EXACT.add(1, self._power(1))))
        if above < Decimal("1e-330"):
            return math.nextafter(0.0, 1.0)
        return float_above(Fraction(above) * (1 + Fraction(AGAINST_US)))

    def accuracy(self, beta: str | float | Fraction) -> int:
        """Find the least a with P(|Z| > a) ≤ beta: a + 1 ≥ scale · ln(2 / (beta (1 + q)))."""
        missed = _decimal(probability(beta, "Probability of a miss"))
        odds = EXACT.divide(2, EXACT.multiply(missed, EXACT.add(1, self._power(1))))
        reach = EXACT.multiply(_decimal(self.scale), EXACT.ln(odds))
        steps = EXACT.multiply(reach, EXACT.add(1, AGAINST_US)).to_integral_value(rounding=ROUND_CEILING)
        return max(int(steps) - 1, 0)

    def half_width(self, confidence: str | float | Fraction) -> int:
        """Find the least h such that answer ± h covers with at least this confidence."""
        return self.accuracy(1 - probability(confidence, "Confidence"))

    def log_transform(self, frequencies: FloatArray) -> FloatArray:
        """Give log E cos(t · Z)."""
        return np.asarray(-np.log1p(2 * self.variance * np.sin(0.5 * frequencies) ** 2))

    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Give log E exp(λ · Z), infinite from a little before the pole at 1/scale on."""
        near = np.minimum(np.abs(tilts), NEAR_POLE / float(self.scale))
        logs = -np.log1p(-2 * self.variance * np.sinh(0.5 * near) ** 2)
        return np.where(near < np.abs(tilts), math.inf, logs)

    def _power(self, steps: int) -> Decimal:
        """q^steps with q = exp(−1/scale), to 60 digits."""
        return EXACT.exp(_decimal(-Fraction(steps) / self.scale))


def _decimal(exact: Fraction) -> Decimal:
    return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))
