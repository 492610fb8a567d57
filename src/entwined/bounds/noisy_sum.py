"""One noisy number: a sum of integer weights of the units' values with Laplace noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from entwined.canonical import Document
from entwined.errors import BadLoss


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
