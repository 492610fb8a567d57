"""Aggregates of a graph whose rows are edges and whose units are nodes."""

from dataclasses import dataclass
from typing import ClassVar

from entwined.queries.aggregates import Aggregate, Asking, Made
from entwined.queries.predicate import Predicate


@dataclass(frozen=True, slots=True)
class BoundedDegreesOf(Aggregate):
    """How many ids have 1, 2, … edges, the last number of `most` or more, after all were cut to `bound` edges.

    An edge is a pair of different ids that some row names, in either order and however often. Edges are taken in a
    fixed pseudo-random order of pairs of ids, and one is kept if neither of its ids has `bound` edges by then.
    """

    columns: tuple[str, str]
    bound: int
    most: int
    where: Predicate
    of_units: ClassVar[bool] = True

    @property
    def cells(self) -> int:
        """One integer a degree."""
        return self.most

    @property
    def values(self) -> frozenset[str]:
        """The columns of ids."""
        return frozenset(self.columns)

    def asked_of(self, engine: Asking[Made]) -> Made:
        """Have edges cut and ids counted."""
        return engine.bounded(self)
