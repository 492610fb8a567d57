"""Concentrated losses: what Gaussian noise shows of each unit, at one public δ."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from entwined.bounds.profiles.curves import ConcentratedCurve, GaussianCurve, ProfileCurve
from entwined.bounds.profiles.gaussian import shift_of
from entwined.canonical import Document, fraction_text
from entwined.errors import BadLoss
from entwined.noise.lattice import probability
from entwined.numbers import float_above, positive_fraction

FACTS: Final = (
    "gaussian",
    "separable",
)  # what else is public of a release, left out of a document where it is not so


@dataclass(frozen=True, slots=True)
class ConcentratedLoss:
    """ρ_j for every unit, exact: replacing unit j alone is ρ_j-zCDP; `rhos` holds one for all, or one a unit.

    `gaussian`: it shows no more than Gaussian noise does of a number that moves by √(2ρ_j) standard deviations.
    `separable`: the release is one batch of parts with independent noise, each of which reads one unit alone.

    >>> ConcentratedLoss.uniform("0.01", units=3, delta="1e-6").document
    {'rho': '1/100', 'units': 3, 'delta': '1/1000000'}
    """

    rhos: tuple[Fraction, ...]
    units: int
    delta: Fraction
    gaussian: bool = False
    separable: bool = False
    plural: ClassVar[str] = "concentrated losses"

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
    def uniform(
        cls,
        rho: str | float | Fraction,
        units: int,
        delta: str | float | Fraction,
        *,
        gaussian: bool = False,
        separable: bool = False,
    ) -> Self:
        """The same loss for every unit."""
        return cls((positive_fraction(rho, "ρ"),), units, probability(delta, "δ"), gaussian, separable)

    @classmethod
    def of(
        cls,
        rhos: Iterable[str | float | Fraction],
        delta: str | float | Fraction,
        *,
        gaussian: bool = False,
        separable: bool = False,
    ) -> Self:
        """One loss a unit, each above zero."""
        exact = tuple(positive_fraction(rho, "ρ") for rho in rhos)
        return cls(exact, len(exact), probability(delta, "δ"), gaussian, separable)

    @property
    def released(self) -> str:
        """What a guarantee is about: one batch, if more than its losses is known of it."""
        noise = "Gaussian noise" if self.gaussian else "independent noise"
        if self.separable:
            return f"one batch of parts with {noise} and these losses, each of which reads one unit alone"
        return (
            f"anything released with {noise} and these losses"
            if self.gaussian
            else "anything released with these losses"
        )

    @property
    def believed(self) -> str:
        """What must be believed of the mechanism."""
        said = ["The mechanism has the stated concentrated loss for each unit."]
        if self.gaussian:
            said.append("Its noise shows no more than (continuous) Gaussian noise of that loss does.")
        if self.separable:
            said.append("Each of its parts reads one unit alone, with noise of its own.")
        return " ".join(said)

    @property
    def common(self) -> Fraction | None:
        """The one loss that all units share, if they do."""
        return self.rhos[0] if len(set(self.rhos)) == 1 else None

    @property
    def document(self) -> Document:
        """The losses as exact fractions, once if all units share it."""
        facts = {name: True for name in FACTS if getattr(self, name)}
        delta = {"delta": fraction_text(self.delta), **facts}
        if self.common is not None:
            return {"rho": fraction_text(self.common), "units": self.units, **delta}
        return {"rho_per_unit": [fraction_text(rho) for rho in self.rhos], **delta}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read losses back."""
        delta, facts = Fraction(document["delta"]), [document.get(name) is True for name in FACTS]
        if "rho" in document:
            return cls((Fraction(document["rho"]),), int(document["units"]), delta, *facts)
        rhos = tuple(map(Fraction, document["rho_per_unit"]))
        return cls(rhos, len(rhos), delta, *facts)

    def widened(self, units: int) -> Self:
        """Speak of so many units at least, each new one with the largest loss."""
        if units <= self.units:
            return self
        more = () if len(self.rhos) == 1 else (max(self.rhos),) * (units - self.units)
        return replace(self, rhos=self.rhos + more, units=units)

    def __mul__(self, factor: float) -> Self:
        """The same mechanism, this many times."""
        return replace(self, rhos=tuple(rho * Fraction(factor) for rho in self.rhos))

    @property
    def curves(self) -> tuple[ProfileCurve, ...]:
        """What each unit shows at every ε when all the others are known: once if all units share it."""
        return (self.curve(self.common),) if self.common is not None else tuple(map(self.curve, self.rhos))

    @property
    def largest(self) -> ProfileCurve:
        """What the unit with the largest loss shows."""
        return self.curve(max(self.rhos))

    def curve(self, rho: Fraction) -> ProfileCurve:
        """What a unit of this loss shows."""
        if self.gaussian:
            return GaussianCurve(shift_of(rho))
        return ConcentratedCurve(float_above(rho))
