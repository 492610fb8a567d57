"""Loss, which adds, and Leakage, which does not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadLoss
from entwined.numbers import FloatArray, float_above, positive_fraction, round_up
from entwined.showing import Tabled

QUANTILES: Final = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Loss(Tabled):
    """What a mechanism reveals about each unit when all the others are known: its base loss ε_j.

    >>> spent = Loss.uniform(0.5, units=3) + Loss.of([1, 0, 0])
    >>> spent.per_unit.round(6).tolist()
    [1.5, 0.5, 0.5]
    """

    per_unit: FloatArray
    plural: ClassVar[str] = "losses"
    released: ClassVar[str] = "anything released with these losses"
    believed: ClassVar[str] = "The mechanism has the stated base loss for each unit."
    delta: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        values = np.asarray(self.per_unit, dtype=np.float64)
        if values.ndim != 1 or values.size == 0:
            raise BadLoss("A loss needs one number a unit. Give a flat, non-empty list.")
        if not np.isfinite(values).all() or values.min() < 0:
            raise BadLoss(
                "A loss has a number that is negative, infinite or not a number. Give finite losses ≥ 0."
            )
        values.flags.writeable = False
        object.__setattr__(self, "per_unit", values)

    @classmethod
    def uniform(cls, epsilon: float | Fraction | str, units: int) -> Self:
        """The same loss for every unit, held once however many units there are."""
        each = float_above(positive_fraction(epsilon, "Loss"))
        return cls(np.broadcast_to(np.float64(each), (units,)))

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """One loss a unit."""
        try:
            return cls(np.array(list(values), dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise BadLoss(
                "A loss vector holds something that is not a number. Give numbers, one a unit."
            ) from None

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.per_unit.size)

    @property
    def common(self) -> float | None:
        """The one loss that all units share, if they do."""
        if self.per_unit.strides == (0,) or self.per_unit.min() == self.per_unit.max():
            return float(self.per_unit[0])
        return None

    @property
    def document(self) -> Document:
        """A loss as it is written down: once if all units share it."""
        if self.common is not None:
            return {"uniform": self.common, "units": self.units}
        return {"per_unit": self.per_unit.tolist()}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a loss back."""
        if set(document) == {"uniform", "units"}:
            return cls(np.broadcast_to(np.float64(document["uniform"]), (int(document["units"]),)))
        return cls.of(document["per_unit"])

    def own_loss(self, knowledge: str) -> FloatArray:  # noqa: ARG002  (whatever is known of others)
        """Give the loss of each unit: a mechanism of these losses may show any unit that much."""
        return self.per_unit

    def widened(self, units: int) -> Self:
        """Speak of so many units at least, each new one with the largest loss."""
        if units <= self.units:
            return self
        if self.common is not None:
            return type(self)(np.broadcast_to(np.float64(self.common), (units,)))
        return type(self)(np.pad(self.per_unit, (0, units - self.units), constant_values=self.per_unit.max()))

    def __add__(self, other: "Loss") -> "Loss":
        """Add unit by unit: composition, sequential and parallel alike."""
        if other.units != self.units:
            raise BadLoss(f"Losses over {self.units} and {other.units} units do not add. Use the same units.")
        return Loss(round_up(self.per_unit + other.per_unit, 1))

    def __mul__(self, factor: float) -> Self:
        """The same mechanism, this many times."""
        return type(self)(round_up(self.per_unit * factor, 1))

    def padded(self, units: int) -> Self:
        """Speak of so many units, of the new ones with no loss."""
        return type(self)(np.pad(self.per_unit, (0, units - self.units)))

    def without(self, hidden: Sequence[int]) -> Self:
        """Show nothing of these units."""
        if not hidden:
            return self
        kept = np.array(self.per_unit)
        kept[list(hidden)] = 0.0
        return type(self)(kept)


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Leakage(Tabled):
    """What an adversary who knows the dependence learns about each unit; leakages do not add.

    Hidden units, such as a latent class, stand in the list of all but are no secrets: the worst is none of them.
    """

    per_unit: FloatArray
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        values = np.asarray(self.per_unit, dtype=np.float64)
        if np.isnan(values).any():  # a bound that is not a number would be no bound
            raise BadLoss(
                "A leakage is not a number: the losses are too large to bound. Give smaller losses."
            )
        values.flags.writeable = False
        object.__setattr__(self, "per_unit", values)

    @property
    def spread(self) -> dict[str, float]:
        """What shares of all units leak at most, hidden ones aside."""
        secret = np.delete(self.per_unit, self.hidden) if self.hidden else self.per_unit
        return {f"{at:g}": float(np.quantile(secret, at, method="higher")) for at in QUANTILES}

    @property
    def worst(self) -> float:
        """The leakage of the unit that leaks most."""
        return float(np.delete(self.per_unit, self.hidden).max() if self.hidden else self.per_unit.max())
