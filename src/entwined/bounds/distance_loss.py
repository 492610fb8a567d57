"""Losses by distance: what a mechanism shows of a unit for each unit of distance between two of its values."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from entwined.canonical import Document
from entwined.loss import Loss
from entwined.numbers import FloatArray


@dataclass(frozen=True, eq=False)
class DistanceLoss:
    """λ_j for every unit: two values of unit j at distance d change the chance of any output by a factor of e^{λ_j d}.

    >>> DistanceLoss.uniform("0.5", units=3).document
    {'per_distance': {'uniform': 0.5, 'units': 3}}
    """

    each: Loss
    plural: ClassVar[str] = "losses by distance"
    released: ClassVar[str] = "anything released with these losses by distance"
    believed: ClassVar[str] = (
        "The mechanism's loss for unit j is at most λ_j times the distance between two of its values."
    )
    delta: ClassVar[Fraction] = Fraction(0)

    @classmethod
    def uniform(cls, rate: float | Fraction | str, units: int) -> Self:
        """The same loss for every unit."""
        return cls(Loss.uniform(rate, units))

    @property
    def units(self) -> int:
        """How many units it speaks of."""
        return self.each.units

    @property
    def document(self) -> Document:
        """The losses for each unit of distance."""
        return {"per_distance": self.each.document}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read them back."""
        return cls(Loss.from_document(document["per_distance"]))

    def own_loss(self, knowledge: str) -> FloatArray:
        """Give λ of each unit: its loss for each unit of distance, as leakages of such losses are too."""
        return self.each.own_loss(knowledge)

    def widened(self, units: int) -> Self:
        """Speak of so many units at least."""
        return type(self)(self.each.widened(units))

    def __mul__(self, factor: float) -> Self:
        """Lose so many times as much."""
        return type(self)(self.each * factor)
