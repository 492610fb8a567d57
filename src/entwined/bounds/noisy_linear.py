"""Weighted sums of the units' values with Gaussian noise, for secrets at one distance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta
from entwined.canonical import Document, fraction_text
from entwined.errors import BadLoss
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, float_above, round_up_float

LEAST, MOST = 1e-100, 1e100


@dataclass(frozen=True, slots=True)
class NoisyLinear:
    """Answers Σ_j w_kj X_j + Gaussian noise of deviation `deviations[k]`, with noise of its own for each.

    Its leakage is that of two values of one unit at most `distance` apart. Answers with correlated noise of covariance
    LLᵀ show the same as those of weights L⁻¹w with independent noise of deviation 1.

    >>> total = NoisyLinear.total(units=3, deviation=5.0, distance=2.0, delta="1e-6")
    >>> (total * 2).deviations    # shows twice as much: half the noise
    (2.5,)
    """

    weights: tuple[tuple[float, ...], ...]
    deviations: tuple[float, ...]
    distance: float
    delta: Fraction
    plural: ClassVar[str] = "noisy weighted sums of the values"
    believed: ClassVar[str] = (
        "Each answer is the stated weighted sum of the values, and has Gaussian noise of its own of the stated "
        "deviation."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", probability(self.delta, "δ"))
        lengths = {len(row) for row in self.weights}
        if len(lengths) != 1 or 0 in lengths or len(self.deviations) != len(self.weights):
            raise BadLoss(
                f"There are {len(self.weights)} rows of weights of lengths {sorted(lengths)[:3]} and "
                f"{len(self.deviations)} deviations. Give each answer one weight a unit and one deviation."
            )
        sizes = [abs(weight) for row in self.weights for weight in row]
        if not all(size == 0 or LEAST < size < MOST for size in sizes):
            raise BadLoss(
                f"A weight is not a number, or out of range. Give 0, or sizes from {LEAST:g} to {MOST:g}."
            )
        for number in (*self.deviations, self.distance):
            if not LEAST < number < MOST:
                raise BadLoss(
                    f"A deviation or distance of {number}. Give positive numbers from {LEAST:g} to {MOST:g}."
                )

    @classmethod
    def of(
        cls,
        weights: Sequence[Sequence[float]] | FloatArray,
        deviations: Sequence[float],
        distance: float,
        delta: str | float | Fraction,
    ) -> Self:
        """Read weights, one row an answer and one column a unit."""
        rows = tuple(tuple(float(weight) for weight in row) for row in weights)
        return cls(rows, tuple(map(float, deviations)), float(distance), probability(delta, "δ"))

    @classmethod
    def total(cls, units: int, deviation: float, distance: float, delta: str | float | Fraction) -> Self:
        """The sum of all values."""
        return cls.of([[1.0] * units], [deviation], distance, delta)

    @classmethod
    def each(cls, rhos: Sequence[Fraction], delta: str | float | Fraction) -> Self:
        """Every value with noise of its own that costs ρ_j for two values 1 apart; none of a value where ρ_j is 0."""
        told = [place for place, rho in enumerate(rhos) if rho]
        weights = [[float(place == unit) for unit in range(len(rhos))] for place in told]
        shifts = [round_up_float(math.sqrt(float_above(2 * rhos[place])), 2) for place in told]
        return cls.of(weights, [math.nextafter(1 / shift, 0.0) for shift in shifts], 1.0, delta)

    @classmethod
    def mean(cls, units: int, deviation: float, distance: float, delta: str | float | Fraction) -> Self:
        """The mean of all values, its noise of this deviation: the same as the sum with `units` times it."""
        return cls.total(units, deviation * units, distance, delta)

    @property
    def units(self) -> int:
        """How many units it speaks of."""
        return len(self.weights[0])

    @property
    def released(self) -> str:
        """What a guarantee is about; the distance is said here."""
        answers = "this noisy sum" if len(self.weights) == 1 else f"these {len(self.weights)} noisy sums"
        return f"{answers} and nothing else, for values at most {self.distance:g} apart"

    @property
    def moved(self) -> FloatArray:
        """By how many deviations of its noise each answer moves with each unit; each entry is rounded once."""
        return np.asarray(np.array(self.weights) / np.array(self.deviations)[:, None], dtype=np.float64)

    @property
    def document(self) -> Document:
        """Weights, deviations of the noise, distance and δ."""
        return {
            "weights": [list(row) for row in self.weights],
            "gaussian_scales": list(self.deviations),
            "distance": self.distance,
            "delta": fraction_text(self.delta),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""
        scales, distance = document["gaussian_scales"], float(document["distance"])
        return cls.of(document["weights"], scales, distance, Fraction(document["delta"]))

    def own_loss(self, knowledge: str) -> FloatArray:
        """Give 0 where no values are known, as the spread of others is noise; else the ε at δ of the noise alone.

        A Gaussian law rules no value out, and a covariance that leaves a unit no spread is refused.
        """
        if knowledge == "model":
            return np.zeros(self.units)
        moved = np.sqrt(np.square(self.moved).sum(axis=0)) * self.distance
        different, place = np.unique(moved, return_inverse=True)
        each = [epsilon_at_delta(GaussianCurve(shift), self.delta) for shift in different.tolist()]
        return np.array(each)[place]

    def widened(self, units: int) -> Self:
        """Refuse: no Gaussian law has more units for being stronger."""
        if units > self.units:
            raise BadLoss(f"There are {self.units} units, not {units}. Give weights for as many units.")
        return self

    def __mul__(self, factor: float) -> Self:
        """The same sums with noise that shows so many times as much."""
        if not (math.isfinite(factor) and factor > 0):
            raise BadLoss(f"{factor} times as much. Give a positive number.")
        return replace(self, deviations=tuple(deviation / float(factor) for deviation in self.deviations))
