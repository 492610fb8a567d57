"""Concentrated losses: what Gaussian noise shows of each unit, at one public δ."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.bounds.profiles.bits import Bits, BitsCurve, scaled
from entwined.bounds.profiles.curves import (
    ConcentratedCurve,
    GaussianCurve,
    ProfileCurve,
    epsilon_at_delta,
)
from entwined.bounds.profiles.gaussian import shift_of
from entwined.canonical import Document, fraction_text
from entwined.errors import BadLoss
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, float_above, positive_fraction
from entwined.showing import Tabled

FACTS: Final = (
    "gaussian",
    "separable",
)  # what else is public of a release, left out of a document where it is not so


@dataclass(frozen=True, slots=True)
class SharedPart:
    """A part of a release that reads several units: it costs ρ whichever of them change, one or all.

    `alone`: what each of them costs if it alone changes, where that is known to be less.
    """

    units: tuple[int, ...]
    rho: Fraction
    alone: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if len(self.units) < 2 or len(set(self.units)) < len(self.units) or min(self.units) < 0:  # noqa: PLR2004
            raise BadLoss("A part of several units names fewer than two, or one twice. Name each once.")
        if (
            len(self.alone) not in (0, len(self.units))
            or not 0 <= min(self.each) <= max(self.each) <= self.rho
        ):
            raise BadLoss(
                "What a part of several units costs if one alone changes is not between 0 and what it costs in all. "
                "Give one such number a unit, or none."
            )

    @property
    def each(self) -> tuple[Fraction, ...]:
        """What it costs if one of its units alone changes."""
        return self.alone or (self.rho,) * len(self.units)

    @property
    def document(self) -> Document:
        """The part as it is written."""
        alone = {"alone": [fraction_text(rho) for rho in self.alone]} if self.alone else {}
        return {"units": list(self.units), "rho": fraction_text(self.rho), **alone}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a part back."""
        units, alone = map(int, document["units"]), map(Fraction, document.get("alone", ()))
        return cls(tuple(units), Fraction(document["rho"]), tuple(alone))

    def __mul__(self, factor: Fraction) -> Self:
        """The same part, this many times."""
        return replace(self, rho=self.rho * factor, alone=tuple(rho * factor for rho in self.alone))


@dataclass(frozen=True, slots=True, repr=False)
class ConcentratedLoss(Tabled):
    """ρ_j for every unit, exact: replacing unit j alone is ρ_j-zCDP; `rhos` holds one for all, or one a unit.

    `gaussian`: it shows no more than Gaussian noise does of a number that moves by √(2ρ_j) standard deviations.
    `separable`: the release is one batch of parts with independent noise, each of which reads one unit alone.
    `shared`: it is such a batch but for these parts, whose ρ is in that of each unit that they read.
    `bits`: it is a separable batch of counts with discrete Laplace noise, which show of each unit what these bits do.

    >>> ConcentratedLoss.uniform("0.01", units=3, delta="1e-6").document
    {'rho': '1/100', 'units': 3, 'delta': '1/1000000'}
    """

    rhos: tuple[Fraction, ...]
    units: int
    delta: Fraction
    gaussian: bool = False
    separable: bool = False
    shared: tuple[SharedPart, ...] = ()
    bits: tuple[Bits, ...] = ()
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
        if self.shared and self.separable:
            raise BadLoss("Parts read several units, and each reads one alone. Say one of the two.")
        if self.shared and (max(max(part.units) for part in self.shared) >= self.units or min(self.own) < 0):
            raise BadLoss(
                "A part of several units reads a unit that is not there, or costs more than its units do. Count its ρ "
                "in that of each of them."
            )

        if self.bits and (not self.separable or len(self.bits) != self.units):
            raise BadLoss("Bits are for a separable batch, a list of them for each unit. Leave them out.")
        if any(loss <= 0 or many < 1 for each in self.bits for loss, many in each):
            raise BadLoss("A bit of no loss, or less than one of them. Leave it out.")

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
        """One loss a unit, 0 for one of which nothing is read."""
        exact = tuple(Fraction(0) if rho in (0, "0") else positive_fraction(rho, "ρ") for rho in rhos)
        return cls(exact, len(exact), probability(delta, "δ"), gaussian, separable)

    @property
    def released(self) -> str:
        """What a guarantee is about: one batch, if more than its losses is known of it."""
        noise = "Gaussian noise" if self.gaussian else "independent noise"
        noise = "Laplace noise" if self.bits else noise
        if self.separable:
            return f"one batch of parts with {noise} and these losses, each of which reads one unit alone"
        if self.shared:
            return f"one batch of parts with {noise} and these losses, each of which reads the units named for it"
        return (
            f"anything released with {noise} and these losses"
            if self.gaussian
            else "anything released with these losses"
        )

    @property
    def believed(self) -> str:
        """What must be believed of the mechanism."""
        said = ["The mechanism has the stated concentrated loss for each unit."]
        if self.bits:
            said.append(
                "It releases counts with discrete Laplace noise, of which a change of a unit moves at most as many by "
                "one as are stated, each of the stated loss."
            )
        if self.gaussian:
            said.append("Its noise shows no more than (continuous) Gaussian noise of that loss does.")
        if self.separable:
            said.append("Each of its parts reads one unit alone, with noise of its own.")
        if self.shared:
            said.append(
                "Each of its parts reads one unit alone, or the units named for it, with noise of its own."
            )
        return " ".join(said)

    @property
    def common(self) -> Fraction | None:
        """The one loss that all units share, if they do."""
        return self.rhos[0] if len(set(self.rhos)) == 1 else None

    @property
    def document(self) -> Document:
        """The losses as exact fractions, once if all units share it."""
        facts = {name: True for name in FACTS if getattr(self, name)}
        shared = {"shared": [part.document for part in self.shared]} if self.shared else {}
        bits = [[[fraction_text(loss), many] for loss, many in each] for each in self.bits]
        delta = {"delta": fraction_text(self.delta), **facts, **shared, **({"bits": bits} if bits else {})}
        if self.common is not None:
            return {"rho": fraction_text(self.common), "units": self.units, **delta}
        return {"rho_per_unit": [fraction_text(rho) for rho in self.rhos], **delta}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read losses back."""
        delta, facts = Fraction(document["delta"]), {name: document.get(name) is True for name in FACTS}
        shared = tuple(map(SharedPart.from_document, document.get("shared", ())))
        bits = tuple(
            tuple((Fraction(loss), int(many)) for loss, many in each) for each in document.get("bits", ())
        )
        same = "rho" in document
        rhos = tuple(map(Fraction, [document["rho"]] if same else document["rho_per_unit"]))
        units = int(document["units"]) if same else len(rhos)
        return cls(rhos, units, delta, **facts, shared=shared, bits=bits)

    def drawn(self, bits: tuple[Bits, ...]) -> Self:
        """The same of a separable batch of counts with Laplace noise; of another batch they say nothing."""
        return replace(self, bits=bits) if self.separable else self

    def own_loss(self, knowledge: str) -> FloatArray:  # noqa: ARG002  (whatever is known of others)
        """Give the ε at δ of each unit, by its ρ or by its bits, whichever is less."""
        by_rho = {rho: epsilon_at_delta(self.curve(rho), self.delta) for rho in dict.fromkeys(self.rhos)}
        own = np.array([by_rho[rho] for rho in self.rhos])
        if not self.bits:
            return np.broadcast_to(own, (self.units,))
        by_bits = {each: epsilon_at_delta(BitsCurve(each), self.delta) for each in dict.fromkeys(self.bits)}
        return np.asarray(np.minimum(own, [by_bits[each] for each in self.bits]))

    def widened(self, units: int) -> Self:
        """Speak of so many units at least, each new one with the largest loss."""
        if units <= self.units:
            return self
        more = () if len(self.rhos) == 1 else (max(self.rhos),) * (units - self.units)
        return replace(self, rhos=self.rhos + more, units=units, bits=())

    def __mul__(self, factor: float) -> Self:
        """The same mechanism, this many times."""
        times = Fraction(factor)
        shared = tuple(part * times for part in self.shared)
        bits = tuple(scaled(each, times) for each in self.bits)
        return replace(self, rhos=tuple(rho * times for rho in self.rhos), shared=shared, bits=bits)

    @property
    def each(self) -> tuple[Fraction, ...]:
        """The loss of every unit."""
        return self.rhos if len(self.rhos) == self.units else self.rhos * self.units

    @property
    def own(self) -> tuple[Fraction, ...]:
        """What each unit costs but for the parts that read others too."""
        left = list(self.each)
        for part in self.shared:
            for unit, rho in zip(part.units, part.each, strict=True):
                left[unit] -= rho
        return tuple(left)

    def padded(self, units: int) -> Self:
        """Speak of so many units, of the new ones with no loss."""
        bits = (*self.bits, *[()] * (units - self.units)) if self.bits else ()
        return replace(self, rhos=(*self.each, *[Fraction(0)] * (units - self.units)), units=units, bits=bits)

    def without(self, hidden: Sequence[int]) -> Self:
        """Show nothing of these units."""
        if not hidden:
            return self
        each = list(self.each)
        for unit in hidden:
            each[unit] = Fraction(0)
        bits = tuple(() if unit in hidden else one for unit, one in enumerate(self.bits))
        return replace(self, rhos=tuple(each), bits=bits)

    @property
    def curves(self) -> tuple[ProfileCurve, ...]:
        """What each unit shows at every ε when all the others are known: once if all units share it."""
        if self.bits:
            return tuple(map(BitsCurve, self.bits))
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
