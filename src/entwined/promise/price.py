"""What all that has been charged amounts to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Self

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadLoss

ROUNDING: Final = Fraction(1, 10**9)  # of an ε that was found in two ways


@dataclass(frozen=True, slots=True)
class Price:
    """What everything spent so far amounts to: the nominal ε, and the leakage under each dependence model."""

    nominal: Fraction
    leakage: Mapping[str, Fraction | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for amount in (self.nominal, *self.leakage.values()):
            if math.isnan(amount) or amount < 0:
                raise BadLoss(f"An accountant gave the price {amount}. A price is at least 0 and a number.")

    @property
    def worst(self) -> Fraction | float:
        """The number that the cap is on: the largest leakage, or the nominal ε where no model is declared."""
        return max(self.leakage.values()) if self.leakage else self.nominal

    def at_least(self, own: Fraction) -> Self:
        """Give this price, or refuse one below what ordinary differential privacy gives a unit by itself."""
        if self.worst < own * (1 - ROUNDING):
            raise BadLoss(
                f"The models price at {float(self.worst):.6g} what one unit alone loses {float(own):.6g} of, which "
                "cannot be. Nothing is charged; report this as a defect of entwined."
            )
        return self

    @property
    def document(self) -> Document:
        """The price as JSON, exact fractions as text."""
        leakage = {
            name: fraction_text(amount) if isinstance(amount, Fraction) else float(amount)
            for name, amount in self.leakage.items()
        }
        return {"nominal": fraction_text(self.nominal), "leakage": leakage}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a price as it was written."""
        leakage = {
            name: fraction_from(amount) if isinstance(amount, str) else amount
            for name, amount in document["leakage"].items()
        }
        return cls(fraction_from(document["nominal"]), leakage)
