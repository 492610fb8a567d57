"""Aggregates of households, whose members are rows."""

from dataclasses import dataclass

from entwined.queries.aggregates import Aggregate, Asking, Made
from entwined.queries.predicate import Predicate
from entwined.queries.seats import HomeTable


@dataclass(frozen=True, slots=True)
class HomesOf(Aggregate):
    """How many households, or how many of their members, are in each cell of a table: see `seats`."""

    table: HomeTable
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer a cell."""
        return self.table.cells

    @property
    def values(self) -> frozenset[str]:
        """The columns of roles and of the sides; whose a row is, is no value."""
        return self.table.columns

    def asked_of(self, engine: Asking[Made]) -> Made:
        """Have households counted."""
        return engine.homes(self)
