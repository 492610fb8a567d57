"""Units that have no bearing on each other: ordinary differential privacy."""

from dataclasses import dataclass
from typing import ClassVar

from entwined.canonical import Document
from entwined.dependence.groups import Groups
from entwined.dependence.model import Dependence, Source, checked_source, checked_units
from entwined.dependence.product_law import ProductLaw
from entwined.loss import Loss
from entwined.numbers import FloatArray


@dataclass(frozen=True)
class Independent(Dependence):
    """Nothing depends on anything."""

    size: int
    source: Source = "declared"
    kind: ClassVar[str] = "independent"
    plural: ClassVar[str] = "independent units"
    alike: ClassVar[bool] = True
    strength: ClassVar[str] = "the number of units that depend on each other (now 1)"

    def __post_init__(self) -> None:
        checked_units(self.size)
        checked_source(self.source)

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.size

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        return {"kind": self.kind, "units": self.size, "source": self.source}

    def group_totals(self, loss: Loss) -> FloatArray:
        """Each unit is a group of its own."""
        return loss.per_unit

    def member(self, values: int = 2) -> ProductLaw:
        """Every value is as likely as another."""
        return ProductLaw((values,) * self.size)

    def times_as_strong(self, factor: float) -> Groups:
        """Units that are not independent: any dependence in groups of so many units, 2 at least."""
        return Groups(1, self.source).times_as_strong(factor)
