"""Units in groups of at most a given size; anything may happen inside a group."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.dependence.model import Dependence, Source, checked_source, checked_units
from entwined.dependence.narrower import Narrower
from entwined.dependence.product_law import ProductLaw, near_copies
from entwined.loss import Loss
from entwined.numbers import FloatArray, round_up

NEARLY: Final = 0.99  # of the group's members hold what their common cause holds
WHOLE: Final = 9  # digits after which a size is taken as a whole number: 10 × 1.1 is 11 units


@dataclass(frozen=True)
class Groups(Dependence):
    """Families, households, classes: independent of each other, unknown inside."""

    largest: int
    source: Source = "declared"
    kind: ClassVar[str] = "groups"
    plural: ClassVar[str] = "groups of units"
    alike: ClassVar[bool] = True
    strength: ClassVar[str] = "the size of the largest group"

    def __post_init__(self) -> None:
        checked_units(self.largest)
        checked_source(self.source)

    @property
    def units(self) -> int:
        """The units of one group of the largest size; a loss over more units is welcome too."""
        return self.largest

    def fits(self, units: int) -> bool:
        """Any number of units can fall into groups."""
        return units >= 1

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        return {"kind": self.kind, "largest": self.largest, "source": self.source}

    def group_totals(self, loss: Loss) -> FloatArray:
        """Each unit with the others whose losses are largest: who shares a group is not said."""
        values = loss.per_unit
        if loss.common is not None:
            return round_up(np.full(loss.units, loss.common * min(self.largest, loss.units)), 1)
        others = min(self.largest, loss.units) - 1
        if others == 0:
            return values
        ranked = np.sort(values)[::-1]
        top, next_one = ranked[:others], ranked[others]
        inside = (
            values > ranked[others - 1]
        )  # such a unit is itself among the top, the next one takes its place
        in_top = inside | (values == ranked[others - 1])
        return round_up(np.where(in_top, top.sum() + next_one, values + top.sum()), others + 2)

    def member(self, values: int = 2) -> ProductLaw:
        """One group of near-copies, which comes near the worst that a group can be."""
        return near_copies(self.largest, values, NEARLY)

    def times_as_strong(self, factor: float) -> "Groups":
        """Groups that are larger by a factor, and so by a unit at least: inside one they cannot be stronger."""
        return replace(self, largest=math.ceil(round(self.largest * factor, WHOLE)))

    def narrower(self) -> Iterator[Narrower]:
        """Groups that are smaller by a unit."""
        if self.largest > 1:
            fewer = self.largest - 1
            knowing = f"that no group has more than {fewer} (or let {fewer} of each count, by its column)"
            yield Narrower("group size", knowing, replace(self, largest=fewer))
