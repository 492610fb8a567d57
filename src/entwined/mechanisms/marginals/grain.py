"""How coarse a table is: cells of its columns put together, by what was released of the columns alone.

A cell of a column that holds few rows beside the noise of a table says nothing there that could be heard. So cells of
each column are put together until a group holds some deviations of the noise: neighbours where values have an order,
else the rare ones. A table of groups is sums of the table of cells: no unit moves it further.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np

from entwined.mechanisms.marginals.domain import Scope
from entwined.numbers import FloatArray, IntArray

Grouping: TypeAlias = tuple[int, ...]
"""The group of every cell of a column, numbered from 0."""
Grain: TypeAlias = tuple[Grouping, ...]
"""The groups of every column of a table."""


def fine(sizes: Sequence[int]) -> Grain:
    """Every cell by itself."""
    return tuple(tuple(range(size)) for size in sizes)


def groups_in(grain: Grain) -> tuple[int, ...]:
    """How many groups each column has."""
    return tuple(max(one) + 1 for one in grain)


def places(grain: Sequence[Sequence[int] | IntArray], shape: Sequence[int]) -> IntArray:
    """Say in which cell of a coarse table of a shape each cell of the fine one lies, both end to end."""
    found = np.zeros((), np.int64)
    for groups, size in zip(grain, shape, strict=True):
        found = np.add.outer(found * size, np.asarray(groups, np.int64))
    return found.reshape(-1)


def coarse(table: IntArray, grain: Grain) -> IntArray:
    """Add a table of cells up to one of groups.

    >>> coarse(np.arange(6), ((0, 0), (0, 1, 1))).tolist()
    [3, 12]
    """
    shape = groups_in(grain)
    added = np.zeros(math.prod(shape), np.int64)
    np.add.at(added, places(grain, shape), table)
    return added


def refined(groupings: Sequence[Grouping], size: int) -> Grouping:
    """Part cells as finely as any of some groupings does; with none of them all are together.

    >>> refined([(0, 0, 1, 1), (0, 1, 1, 1)], 4)
    (0, 1, 2, 2)
    """
    if not groupings:
        return (0,) * size
    if len(set(groupings)) == 1:
        return groupings[0]  # numbered alike, so that tables need not be sorted
    numbers: dict[tuple[int, ...], int] = {}
    return tuple(numbers.setdefault(each, len(numbers)) for each in zip(*groupings, strict=True))


def alike(marks: FloatArray) -> Grain:
    """Put cells of each column together that no mark tells apart.

    >>> alike(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    ((0, 1, 1), (0, 1, 1))
    """
    sides = (np.moveaxis(marks, side, 0).reshape(size, -1) for side, size in enumerate(marks.shape))
    return tuple(_numbered([row.tobytes() for row in side]) for side in sides)


def _numbered(marks: Sequence[bytes]) -> Grouping:
    """Number what is alike by when it first comes."""
    numbers: dict[bytes, int] = {}
    return tuple(numbers.setdefault(one, len(numbers)) for one in marks)


@dataclass(frozen=True, slots=True)
class Grains:
    """The groups of every column, for tables that get noise of one deviation."""

    columns: tuple[Grouping, ...]

    @classmethod
    def of(cls, shares: Sequence[FloatArray], ordered: Sequence[bool], least: float) -> Self:
        """Put cells together so that a group holds this share of rows at least, by public shares of the cells."""
        ways = [neighbours if one else rare for one in ordered]
        return cls(tuple(way(each, min(least, 1.0)) for way, each in zip(ways, shares, strict=True)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many groups each column has."""
        return groups_in(self.columns)

    def grain(self, scope: Scope) -> Grain:
        """The groups of a table's columns."""
        return tuple(self.columns[at] for at in scope)

    def cells(self, scope: Scope) -> int:
        """How many cells a table has."""
        return math.prod(groups_in(self.grain(scope)))


def neighbours(shares: FloatArray, least: float) -> Grouping:
    """Put cells together from the first on until a group holds enough; the last cell is that of missing values.

    >>> neighbours(np.array([0.1, 0.2, 0.3, 0.1, 0.3]), 0.25)
    (0, 0, 1, 1, 2)
    """
    found: list[int] = []
    held, group = 0.0, 0
    for share in shares[:-1]:
        if found and held >= least:
            group, held = group + 1, 0.0
        found.append(group)
        held += share
    if held < least and group > 1:
        found = [min(one, group - 1) for one in found]
        group -= 1
    return (*found, group + int(shares[-1] >= least and bool(found)))


def rare(shares: FloatArray, least: float) -> Grouping:
    """Keep cells apart that hold enough; the others are one group, with the smallest of those if they need it.

    >>> rare(np.array([0.5, 0.02, 0.3, 0.03, 0.15]), 0.1)
    (0, 2, 1, 2, 2)
    """
    order = np.argsort(-shares, kind="stable")
    kept = int((shares >= least).sum())
    if 1 - shares[order[:kept]].sum() < least:
        kept -= 1
    kept = max(kept, 1)
    found = np.full(len(shares), kept)
    found[order[:kept]] = np.arange(kept)
    return tuple(found.tolist())
