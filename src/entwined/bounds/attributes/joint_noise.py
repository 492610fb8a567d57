"""Noise of several answers in whole numbers: a draw for each, and one draw that goes along a common direction.

Z + j·p, where Z has independent discrete Gaussians of variances S, p is a vector of whole numbers and j one discrete
Gaussian of variance Λ: covariance N = S + Λ ppᵀ. Most of the least-trace noise lies along one direction.

**Theorem.** Everything that `on_grid` proves of diagonal noise holds of this N, if
g²/λ + g²/min S + 1/Λ + pᵀS⁻¹p ≤ 1/3, λ being the least eigenvalue of the answers' own covariance where that is counted,
and g the largest grain of the answers.
Proof. There the law of what leaves is a Gaussian sum over whole k; here it is one over whole (k, j), and Gaussian
densities convolve as before. The precision of that sum is a matrix of two blocks on its diagonal, at most
g²(C⁻¹ + S⁻¹) and 1/Λ + pᵀS⁻¹p, so its norm is at most the left side, and its covariance at least 3: the sum is 1 but
for less than 10⁻²⁰ (Poisson's summation in up to 13 dimensions). Without C the same holds around every whole number. ∎

Shows less than Z alone: j·p is independent noise on top, so losses of rows may be taken from S.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np

from entwined.bounds.attributes.least_trace import Case, least_diagonal, least_trace, strain
from entwined.bounds.attributes.on_grid import LEAST_SPREAD
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadNoise
from entwined.noise.dominated import SMOOTHED, SPARE
from entwined.noise.gaussian import DiscreteGaussian
from entwined.numbers import FloatArray

WHOLE: Final = Fraction(1, 1000)
THIRD: Final = Fraction(1, 3)
STIFF: Final = 0.15  # of pᵀS⁻¹p, which leaves room for the rest
LEAST_ALONG: Final = 24.0
PARTS: Final = (
    1e-4,
    1e-3,
    1e-2,
    0.03,
    0.1,
    0.3,
)  # of the independent noise that is kept beside the common one
HALVINGS: Final = 50
LARGEST: Final = 1e30


@dataclass(frozen=True, slots=True)
class JointNoise:
    """The variances of independent draws, and a direction with the variance of the one draw that goes along it."""

    variances: tuple[Fraction, ...]
    direction: tuple[int, ...] = ()
    along: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if min(self.variances) < 0 or (self.along > 0) != any(self.direction):
            raise BadNoise(
                "Noise has a variance below zero, or a direction without a variance. Settle it again."
            )
        if self.direction and len(self.direction) != len(self.variances):
            raise BadNoise(
                "The direction of common noise has another length than there are answers. Settle it again."
            )

    @property
    def own(self) -> tuple[Fraction, ...]:
        """What is compared with noise for rows: the variances of the independent draws."""
        return self.variances

    @property
    def laws(self) -> list[DiscreteGaussian | None]:
        """The law of each answer's own noise; none where there is none."""
        return [gaussian_of(one) for one in self.variances]

    @property
    def total_laws(self) -> list[DiscreteGaussian | None]:
        """The law of each answer's noise in all."""
        return [gaussian_of(one) for one in self.totals]

    @property
    def is_none(self) -> bool:
        """Whether there is none at all."""
        return not any(self.variances) and not self.along

    @property
    def totals(self) -> tuple[Fraction, ...]:
        """The variance of each answer's noise."""
        along = self.direction or (0,) * len(self.variances)
        return tuple(one + self.along * step**2 for one, step in zip(self.variances, along, strict=True))

    @property
    def counted(self) -> FloatArray:
        """Its covariance less 3, as it is counted on whole numbers."""
        diagonal = np.diag([max(float(one - SMOOTHED) / (1 + float(SPARE)), 0.0) for one in self.variances])
        if not self.direction:
            return diagonal
        step = np.array(self.direction, float)
        return diagonal + float(self.along) * np.outer(step, step)

    def stiffness(self, grain: int = 1) -> Fraction:
        """g²/min S + 1/Λ + pᵀS⁻¹p of a common direction; 0 without one."""
        if not self.direction:
            return Fraction(0)
        bent = sum(
            (step**2 / one for one, step in zip(self.variances, self.direction, strict=True)), Fraction(0)
        )
        return grain**2 / min(self.variances) + 1 / self.along + bent

    def at_least(self, variances: Sequence[Fraction]) -> Self:
        """Raise the independent draws to at least these variances."""
        return type(self)(tuple(map(max, self.variances, variances)), self.direction, self.along)

    @property
    def document(self) -> Document:
        """The noise as JSON."""
        return {
            "variances": list(map(fraction_text, self.variances)),
            "direction": list(self.direction),
            "along": fraction_text(self.along),
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read noise as it was written."""
        direction = tuple(given["direction"])
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in direction):
            raise BadNoise("The direction of common noise is not of whole numbers. Settle it again.")
        return cls(tuple(map(fraction_from, given["variances"])), direction, fraction_from(given["along"]))


def least_joint(cases: Sequence[Case], weights: FloatArray, stiff: Fraction, grain: int = 1) -> JointNoise:
    """Find noise that keeps what all cases ask, in units of μ, of a total variance near the least.

    `stiff` is g²/λ of the answers' own covariance, where it is counted.
    """
    alone, least = least_diagonal(cases, 1.0, weights), LEAST_SPREAD * grain**2
    apart = JointNoise(tuple(max(up(Fraction(one) * (1 + SPARE) + SMOOTHED), least) for one in alone))
    scale = np.sqrt(weights)
    scaled = [(shift * scale, own * np.outer(scale, scale)) for shift, own in cases]
    values, vectors = np.linalg.eigh(least_trace(scaled, 1.0))
    found = [apart]
    for part in PARTS:
        beside = np.maximum(alone * part, LEAST_ALONG * (grain**2 - 1))
        tried = _along(cases, vectors[:, int(np.argmax(values))] / scale, beside)
        if tried is not None and tried.stiffness(grain) + stiff <= THIRD:
            found.append(tried)
    return min(found, key=lambda one: float(np.array([float(total) for total in one.totals]) @ weights))


def _along(cases: Sequence[Case], line: FloatArray, beside: FloatArray) -> JointNoise | None:
    """Find the least common noise along a line, beside independent noise of these variances; none if none will do."""
    own = np.maximum(beside * (1 + float(SPARE)) + float(SMOOTHED), LEAST_ALONG)
    step = np.rint(line * math.sqrt(STIFF / float(np.sum(line**2 / own)) * 0.9))
    if not step.any():
        return None
    variances = tuple(up(Fraction(one)) for one in own)
    direction = tuple(int(one) for one in step)

    def kept(along: float) -> bool:
        return strain(cases, JointNoise(variances, direction, up(Fraction(along))).counted) <= 1.0

    low, high = LEAST_ALONG, LEAST_ALONG
    while not kept(high):
        low, high = high, high * 16
        if high > LARGEST:
            return None
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if kept(middle) else (middle, high)
    return JointNoise(variances, direction, up(Fraction(high)))


def gaussian_of(variance: Fraction) -> DiscreteGaussian | None:
    """Discrete Gaussian noise of a variance; none of none."""
    return DiscreteGaussian.of_variance(variance) if variance else None


def up(exact: Fraction) -> Fraction:
    """Round up to a few digits, so that documents stay short."""
    return Fraction(math.ceil(exact / WHOLE)) * WHOLE
