"""What the tables of a batch look like before any number is known: their sides, their noise, their cuts."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from entwined.errors import BadQuery
from entwined.noise import Additive
from entwined.numbers import IntArray
from entwined.queries.axes import Axis

Starts: TypeAlias = tuple[int, ...]  # the first code of every cell along an axis, the missing code last


@dataclass(frozen=True, slots=True)
class Layout:
    """The sides of a table and the noise that each cell got a draw of; None marks public, exact numbers.

    No sides make a single number.
    """

    axes: tuple[Axis, ...]
    noise: Additive | None

    def __post_init__(self) -> None:
        names = [axis.column for axis in self.axes]
        if len(set(names)) < len(names):
            raise BadQuery(f"A table over the columns {names}. Name each column once.")

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells there are along each side."""
        return tuple(axis.cells for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def variance(self) -> float:
        """The variance of the noise in a cell."""
        return 0.0 if self.noise is None else self.noise.variance


@dataclass(frozen=True, eq=False, slots=True)
class NoisyTable:
    """Released integers, last side fastest: all that post-processing ever sees."""

    layout: Layout
    values: IntArray

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.dtype.kind not in "iu" or values.size != self.layout.cells:
            raise BadQuery(
                f"{values.size} numbers of type {values.dtype} for a table of {self.layout.cells} cells. "
                "Give one integer a cell, last side fastest."
            )
        values = values.astype(np.int64).reshape(self.layout.shape)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, slots=True)
class Cuts:
    """How the tables of a batch cut one column, every way by the first codes of its cells.

    `fine` has the cuts of all ways together. If a table has exactly these cells, `coarse` has the cuts of all
    other ways together, so that only sums over its blocks are known from more than one way of cutting;
    otherwise it is the same as `fine`.
    """

    fine: Starts
    coarse: Starts

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many fine cells each block has."""
        edges = np.searchsorted(self.fine, (*self.coarse, self.fine[-1] + 1))
        return tuple(np.diff(edges).tolist())


def starts_of(axis: Axis) -> Starts:
    """Give the first code of every cell along an axis."""
    missing = (axis.levels,) if axis.keeps_missing else ()
    return (*axis.starts, *missing)


def cuts_of(layouts: Iterable[Layout]) -> dict[str, Cuts]:
    """Find how each column is cut; refuse a column that is not the same in all tables."""
    ways: dict[str, set[Starts]] = {}
    domains: dict[str, tuple[int, bool]] = {}
    for axis in (axis for layout in layouts for axis in layout.axes):
        domain = (axis.levels, axis.keeps_missing)
        if domains.setdefault(axis.column, domain) != domain:
            raise BadQuery(
                f"Column {axis.column!r} has {domains[axis.column][0]} values in one table and {axis.levels} "
                "in another, or is missing in only one. Make tables consistent that share one schema."
            )
        ways.setdefault(axis.column, set()).add(starts_of(axis))
    return {column: _cuts(found) for column, found in ways.items()}


def _cuts(ways: set[Starts]) -> Cuts:
    fine: Starts = tuple(sorted(frozenset[int]().union(*ways)))
    others = ways - {fine}
    return Cuts(fine, tuple(sorted(frozenset({0}).union(*others))) if fine in ways else fine)
