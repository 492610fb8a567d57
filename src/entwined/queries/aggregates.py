"""What an engine is asked for: exact integers over codes, many of them in one scan.

`where` is the whole condition: rows whose code is missing where a value is needed are already outside it.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from entwined.queries.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Axis:
    """A column of a table of counts: `width` codes a cell, missing in the last cell if it is kept at all."""

    column: str
    levels: int
    width: int = 1
    keeps_missing: bool = True

    @property
    def cells(self) -> int:
        """How many cells there are along this axis."""
        return -(-self.levels // self.width) + self.keeps_missing

    def cell(self, code: int) -> int | None:
        """Give the cell of a code; None if its row is left out."""
        if code < self.levels:
            return code // self.width
        return self.cells - 1 if self.keeps_missing else None


@dataclass(frozen=True, slots=True)
class Term:
    """What a row adds to a sum: (factor · code + offset) to a power."""

    column: str
    power: int = 1
    factor: int = 1
    offset: int = 0

    def value(self, code: int) -> int:
        """Give what a row with this code adds."""
        return int((self.factor * code + self.offset) ** self.power)


@dataclass(frozen=True, slots=True)
class CountOf:
    """How many rows are inside."""

    where: Predicate

    @property
    def cells(self) -> int:
        """One integer."""
        return 1


@dataclass(frozen=True, slots=True)
class SumOf:
    """The sum of a term over the rows inside."""

    term: Term
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer."""
        return 1


@dataclass(frozen=True, slots=True)
class TableOf:
    """How many rows are inside in each cell, empty cells included, the last axis fastest."""

    axes: tuple[Axis, ...]
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer a cell."""
        return math.prod(axis.cells for axis in self.axes)


@dataclass(frozen=True, slots=True)
class TotalsOf:
    """The sum of a term over the rows inside in each cell, empty cells included, the last axis fastest."""

    axes: tuple[Axis, ...]
    term: Term
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer a cell."""
        return math.prod(axis.cells for axis in self.axes)


Aggregate: TypeAlias = CountOf | SumOf | TableOf | TotalsOf
