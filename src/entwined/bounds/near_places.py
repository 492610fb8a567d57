"""What is released of people's places: what moves with their distances, and the rest, for secrets that are near."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadLoss
from entwined.numbers import FloatArray, float_above

LOSSES: Final = ("own", "rate", "besides", "within")


@dataclass(frozen=True, slots=True)
class NearPlaces:
    """Losses ε of one unit whose secret is which of two places, at most `within` apart, it is at.

    `rate`: what moves with the unit's place and with nothing else of it, for each unit of distance. `besides`: any
    change of the unit to what does not. `own`: any change of the unit at all, a place that goes missing among them; no
    leakage is taken for less.

    >>> (NearPlaces.of("0.1", own="0.5", within=2, units=3) * 2).rate
    Fraction(1, 5)
    """

    own: Fraction
    rate: Fraction
    besides: Fraction
    within: Fraction
    units: int
    plural: ClassVar[str] = "losses by the distance of places, and others beside them"
    delta: ClassVar[Fraction] = Fraction(0)
    believed: ClassVar[str] = (
        "The mechanism has the stated losses, and the first of them falls in proportion to the distance of two places."
    )

    def __post_init__(self) -> None:
        if self.units < 1 or min(self.own, self.rate, self.besides) < 0 or self.within <= 0:
            raise BadLoss(
                "Places of no units, a loss below 0, or secrets at no distance. Give numbers above 0, and a unit."
            )
        if self.own < self.besides:
            raise BadLoss(
                "Any change of a unit costs less than some changes do. Give the loss of the worst one."
            )

    @classmethod
    def of(
        cls,
        rate: str | float | Fraction,
        *,
        own: str | float | Fraction,
        within: str | float | Fraction,
        units: int,
        besides: str | float | Fraction = 0,
    ) -> Self:
        """A release whose parts lose so much each."""
        return cls(Fraction(own), Fraction(rate), Fraction(besides), Fraction(within), units)

    @property
    def released(self) -> str:
        """What a guarantee is about; how near secrets are is said here."""
        return f"anything released with these losses of places, at most {float(self.within):g} apart"

    @property
    def document(self) -> Document:
        """Every number as an exact fraction."""
        return {name: fraction_text(getattr(self, name)) for name in LOSSES} | {"units": self.units}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""
        own, rate, besides, within = (fraction_from(document[name]) for name in LOSSES)
        return cls(own, rate, besides, within, int(document["units"]))

    def own_loss(self, knowledge: str) -> FloatArray:  # noqa: ARG002  (whatever is known of others)
        """Give the loss of any change of a unit at all."""
        return np.full(self.units, float_above(self.own))

    def widened(self, units: int) -> Self:
        """Speak of so many units at least."""
        return replace(self, units=max(units, self.units))

    def __mul__(self, factor: float) -> Self:
        """Lose so many times as much."""
        times = Fraction(factor)
        return replace(self, own=self.own * times, rate=self.rate * times, besides=self.besides * times)
