"""What is released of values that are clipped to public bounds: what moves with their distances, and the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from entwined.bounds.profiles.gaussian import gaussian_epsilon
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadLoss
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, float_above


@dataclass(frozen=True, slots=True)
class ClippedValues:
    """Losses of one unit of a group, all of them ε, or with a δ the ρ of Gaussian noise.

    `moved`: what moves in proportion to the unit's value, if that goes from one of the `bounds` to the other.
    `besides`: any change of the unit to what does not. `own`: any change of the unit at all, a value that goes missing
    among them; no leakage is taken for less. Values are clipped to the bounds and rounded, which takes two of them at
    most `rounding` further apart.

    >>> sums = ClippedValues.of(1, bounds=(140, 200), units=3)      # heights in cm, and nothing but their sum
    >>> (sums * 2).moved
    Fraction(2, 1)
    """

    own: Fraction
    moved: Fraction
    besides: Fraction
    bounds: tuple[Fraction, Fraction]
    rounding: Fraction
    units: int
    delta: Fraction = Fraction(0)
    plural: ClassVar[str] = "losses along the distances of clipped values"

    def __post_init__(self) -> None:
        if self.units < 1 or min(self.own, self.moved, self.besides, self.rounding) < 0:
            raise BadLoss(
                "A group of no units, or a loss or rounding below 0. Give numbers ≥ 0 for a unit or more."
            )
        if self.bounds[0] >= self.bounds[1]:
            raise BadLoss(
                f"Values are clipped to {self.bounds[0]} … {self.bounds[1]}. Give a lower and a higher bound."
            )
        if self.own < max(self.moved, self.besides):
            raise BadLoss(
                "Any change of a unit costs less than some changes do. Give the loss of the worst one."
            )
        if self.delta:
            object.__setattr__(self, "delta", probability(self.delta, "δ"))

    @classmethod
    def of(
        cls,
        moved: str | float | Fraction,
        *,
        bounds: tuple[float | Fraction, float | Fraction],
        units: int,
        besides: str | float | Fraction = 0,
        rounding: str | float | Fraction = 0,
        delta: str | float | Fraction = 0,
    ) -> Self:
        """A release whose parts lose so much each; a unit loses both."""
        ends = Fraction(bounds[0]), Fraction(bounds[1])
        parts = Fraction(moved), Fraction(besides)
        return cls(sum(parts, Fraction(0)), *parts, ends, Fraction(rounding), units, Fraction(delta))

    @property
    def length(self) -> Fraction:
        """How far the bounds are apart."""
        return self.bounds[1] - self.bounds[0]

    @property
    def released(self) -> str:
        """What a guarantee is about; the bounds are said here."""
        noise = "Gaussian noise and these losses" if self.delta else "these losses"
        low, high = (f"{float(end):g}" for end in self.bounds)
        return f"anything released with {noise} of values that are clipped to {low} … {high}"

    @property
    def believed(self) -> str:
        """What must be believed of the mechanism."""
        noise = (
            " Its noise shows no more than (continuous) Gaussian noise of these losses does."
            if self.delta
            else ""
        )
        return (
            "The mechanism has the stated losses, and the first of them falls in proportion to how far the clipped and "
            f"rounded value moves.{noise}"
        )

    @property
    def document(self) -> Document:
        """Every number as an exact fraction."""
        losses = {
            name: fraction_text(getattr(self, name)) for name in ("own", "moved", "besides", "rounding")
        }
        delta = {"delta": fraction_text(self.delta)} if self.delta else {}
        return {**losses, "bounds": [fraction_text(end) for end in self.bounds], "units": self.units, **delta}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""
        own, moved, besides, rounding = (
            fraction_from(document[name]) for name in ("own", "moved", "besides", "rounding")
        )
        low, high = map(fraction_from, document["bounds"])
        delta = fraction_from(document["delta"]) if "delta" in document else Fraction(0)
        return cls(own, moved, besides, (low, high), rounding, int(document["units"]), delta)

    def own_loss(self, knowledge: str) -> FloatArray:  # noqa: ARG002  (whatever is known of others)
        """Give the ε of any change of a unit at all."""
        own = gaussian_epsilon(self.own, self.delta) if self.delta and self.own else float_above(self.own)
        return np.full(self.units, own)

    def widened(self, units: int) -> Self:
        """Speak of a group of so many units at least."""
        return replace(self, units=max(units, self.units))

    def __mul__(self, factor: float) -> Self:
        """Lose so many times as much."""
        times = Fraction(factor)
        return replace(self, own=self.own * times, moved=self.moved * times, besides=self.besides * times)
