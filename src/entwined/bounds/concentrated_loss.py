"""Concentrated losses: what Gaussian noise shows of each unit, at one public δ."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from entwined.canonical import Document, fraction_text
from entwined.errors import BadLoss
from entwined.noise.lattice import probability
from entwined.numbers import positive_fraction


@dataclass(frozen=True, slots=True)
class ConcentratedLoss:
    """ρ_j for every unit, exact: replacing unit j alone is ρ_j-zCDP; `rhos` holds one for all, or one a unit.

    >>> ConcentratedLoss.uniform("0.01", units=3, delta="1e-6").document
    {'rho': '1/100', 'units': 3, 'delta': '1/1000000'}
    """

    rhos: tuple[Fraction, ...]
    units: int
    delta: Fraction
    plural: ClassVar[str] = "concentrated losses"
    released: ClassVar[str] = "anything released with these losses"
    believed: ClassVar[str] = "The mechanism has the stated concentrated loss for each unit."

    def __post_init__(self) -> None:
        if self.units < 1 or len(self.rhos) not in (1, self.units):
            raise BadLoss(
                f"There are {len(self.rhos)} concentrated losses for {self.units} units. Give one for all, or one "
                "a unit."
            )
        if min(self.rhos) < 0:
            raise BadLoss("A concentrated loss is negative. Give numbers ≥ 0.")
        object.__setattr__(self, "delta", probability(self.delta, "δ"))

    @classmethod
    def uniform(cls, rho: str | float | Fraction, units: int, delta: str | float | Fraction) -> Self:
        """The same loss for every unit."""
        return cls((positive_fraction(rho, "ρ"),), units, probability(delta, "δ"))

    @classmethod
    def of(cls, rhos: Iterable[str | float | Fraction], delta: str | float | Fraction) -> Self:
        """One loss a unit, each above zero."""
        exact = tuple(positive_fraction(rho, "ρ") for rho in rhos)
        return cls(exact, len(exact), probability(delta, "δ"))

    @property
    def common(self) -> Fraction | None:
        """The one loss that all units share, if they do."""
        return self.rhos[0] if len(set(self.rhos)) == 1 else None

    @property
    def document(self) -> Document:
        """The losses as exact fractions, once if all units share it."""
        if self.common is not None:
            return {
                "rho": fraction_text(self.common),
                "units": self.units,
                "delta": fraction_text(self.delta),
            }
        return {"rho_per_unit": [fraction_text(rho) for rho in self.rhos], "delta": fraction_text(self.delta)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read losses back."""
        delta = Fraction(document["delta"])
        if "rho" in document:
            return cls((Fraction(document["rho"]),), int(document["units"]), delta)
        rhos = tuple(map(Fraction, document["rho_per_unit"]))
        return cls(rhos, len(rhos), delta)

    def widened(self, units: int) -> Self:
        """Speak of so many units at least, each new one with the largest loss."""
        if units <= self.units:
            return self
        more = () if len(self.rhos) == 1 else (max(self.rhos),) * (units - self.units)
        return type(self)(self.rhos + more, units, self.delta)

    def __mul__(self, factor: float) -> Self:
        """The same mechanism, this many times."""
        return type(self)(tuple(rho * Fraction(factor) for rho in self.rhos), self.units, self.delta)
