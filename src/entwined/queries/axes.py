"""The sides of a table of counts, and what a row adds to a sum."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from entwined.errors import BadQuery


@dataclass(frozen=True, slots=True)
class Axis:
    """A column of a table of counts: `width` codes a cell, missing in the last cell if it is kept at all.

    Cells that are not of one width begin at the codes of `cuts`. Where cells are bands they have `labels`, and the
    axis perhaps a name of its own; to count, these do not matter.
    """

    column: str
    levels: int
    width: int = 1
    keeps_missing: bool = True
    cuts: tuple[int, ...] = ()
    labels: tuple[str, ...] = field(default=(), compare=False)
    name: str = field(default="", compare=False)

    @property
    def starts(self) -> Sequence[int]:
        """The first code of every cell, that for missing left out."""
        return self.cuts or range(0, self.levels, self.width)

    @property
    def cells(self) -> int:
        """How many cells there are along this axis."""
        return len(self.starts) + self.keeps_missing

    def cell(self, code: int) -> int | None:
        """Give the cell of a code; None if its row is left out."""
        if code < self.levels:
            return bisect_right(self.cuts, code) - 1 if self.cuts else code // self.width
        return self.cells - 1 if self.keeps_missing else None

    def is_finer(self, other: "Axis") -> bool:
        """Say whether the cells of another axis are sums of its cells."""
        same = (self.column, self.levels, self.keeps_missing) == (
            other.column,
            other.levels,
            other.keeps_missing,
        )
        if not same or self.cuts:
            return same and set(other.starts) <= set(self.starts)
        return all(start % self.width == 0 for start in other.starts)

    def joined(self, other: "Axis") -> list[int]:
        """Give for each cell of a coarser axis the first of the cells that add up to it."""
        places = [
            self.cell(start) for start in (*other.starts, *((self.levels,) if self.keeps_missing else ()))
        ]
        return [place for place in places if place is not None]

    @property
    def title(self) -> str:
        """What stands above its cells: the name of the bands, or the column."""
        return self.name or self.column


@dataclass(frozen=True, slots=True)
class Term:
    """What a row adds to a sum: (factor · code + offset) to a power, or that times the same of another column."""

    column: str
    power: int = 1
    factor: int = 1
    offset: int = 0
    times: "Term | None" = None

    def __post_init__(self) -> None:
        if self.times is not None and (self.power != 1 or self.times.power != 1):
            raise BadQuery("A product of a power is added up. Take the column itself.")
        if len(set(self.columns)) < len(self.columns):
            raise BadQuery(f"Column {self.column!r} is weighted by itself. Take another column of weights.")

    @property
    def factors(self) -> "tuple[Term, ...]":
        """The term, and what it is multiplied by."""
        return (self,) if self.times is None else (self, *self.times.factors)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are multiplied."""
        return tuple(one.column for one in self.factors)

    def value(self, code: int) -> int:
        """Give what a row with this code adds, before it is multiplied by what another column says."""
        return int((self.factor * code + self.offset) ** self.power)
