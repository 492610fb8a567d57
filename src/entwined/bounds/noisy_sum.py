"""One noisy number: a sum of integer weights of the units' values with Laplace noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadLoss
from entwined.numbers import BoolArray, FloatArray, round_up, round_up_float


@dataclass(frozen=True, slots=True)
class LaplaceSum:
    """A sum of weights with Laplace noise; what is added up, each kind says for itself."""

    weights: tuple[int, ...]
    scale: float
    units: int
    delta: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise BadLoss(
                f"Scale {self.scale} is not a positive number. Give the scale of the Laplace noise, such as 2.0."
            )

    @classmethod
    def of(cls, weights: Sequence[int], scale: float, units: int) -> Self:
        """Read the weights of the values, in their order."""
        return cls(tuple(weights), scale, units)

    @property
    def document(self) -> Document:
        """The weights, the scale of the noise and the number of units."""
        return {"weights": list(self.weights), "laplace_scale": self.scale, "units": self.units}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a noisy sum back."""
        return cls.of(document["weights"], float(document["laplace_scale"]), int(document["units"]))

    @property
    def widest(self) -> float:
        """The loss of a unit that goes from the least weight to the largest, rounded up."""
        return round_up_float((max(self.weights) - min(self.weights)) / self.scale)

    def widened(self, units: int) -> Self:
        """Refuse: no model of steps has more of them for being stronger."""
        if units > self.units:
            raise BadLoss(f"There are {self.units} units, not {units}. Give one of as many units.")
        return self

    def __mul__(self, factor: float) -> Self:
        """The same sum with noise that shows so many times as much."""
        return type(self)(self.weights, self.scale / factor, self.units)


@dataclass(frozen=True, slots=True)
class NoisySum(LaplaceSum):
    """Σ_t w(X_t) + Laplace noise of scale t over `units` steps; `weights[v]` is w of the value v.

    >>> count = NoisySum.of([0, 1], scale=8.64, units=100)
    >>> round((count * 2).scale, 2)    # twice the loss, half the noise
    4.32
    """

    plural: ClassVar[str] = "one noisy sum"
    released: ClassVar[str] = "this noisy sum and nothing else"
    believed: ClassVar[str] = "The sum has the stated weights, and Laplace noise of the stated scale."

    def own_loss(self, knowledge: str) -> FloatArray:
        """Give 0 where no values are known, as other units hide a unit in the sum; else that of the widest change."""
        return np.full(self.units, 0.0 if knowledge == "model" else self.widest)

    def ruled_out(self, possible: BoolArray) -> FloatArray:
        """Give the own loss of each unit (columns) between values (rows) of which one at least cannot be.

        A law says nothing of a row that has such a value: what is left is that of ordinary differential privacy.
        """
        weights = np.array(self.weights, dtype=np.float64)
        farthest = np.maximum(weights.max() - weights, weights - weights.min())
        return round_up(np.where(possible, 0.0, farthest[:, None]).max(axis=0) / self.scale)


@dataclass(frozen=True, slots=True)
class SeriesSum(LaplaceSum):
    """Σ w(X) over all rows + Laplace noise of scale t, where rows are the steps of series of at most `units` steps.

    >>> count = SeriesSum.of([0, 1], scale=8.0, units=30)
    >>> (count * 2).scale
    4.0
    """

    plural: ClassVar[str] = "one noisy sum over series"
    released: ClassVar[str] = "this noisy sum over series and nothing else"
    believed: ClassVar[str] = (
        "The sum is over series of at most the stated number of steps, has the stated weights, and Laplace noise of "
        "the stated scale."
    )

    def own_loss(self, knowledge: str) -> FloatArray:  # noqa: ARG002  (a row of no series has no other to hide it)
        """Give that of the widest change: a row may be of no series, and independent of all others."""
        return np.full(self.units, self.widest)
