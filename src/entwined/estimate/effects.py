"""Tables split into effects: along each side, sums over blocks of cells, or what is left within the blocks.

If all tables cut a column in the same way there is one block, and this is the usual split into a mean and its
residuals. Within a table the noise of two effects is uncorrelated: the split is orthogonal, and the cells
have independent noise of one variance.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from entwined.estimate.layout import Cuts, Starts, starts_of
from entwined.numbers import FloatArray
from entwined.queries.axes import Axis

Effect: TypeAlias = frozenset[str]  # the columns taken within blocks


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a table, cut into blocks of cells: their first codes and their numbers of cells."""

    column: str
    starts: Starts
    sizes: tuple[int, ...]

    @property
    def splits(self) -> bool:
        """Say whether anything is left within the blocks."""
        return max(self.sizes) > 1

    def sums(self, table: FloatArray, axis: int) -> FloatArray:
        """Add up the cells of each block."""
        if len(self.sizes) == 1:
            return np.asarray(table.sum(axis=axis, keepdims=True))
        edges = np.cumsum((0, *self.sizes[:-1]))
        return np.asarray(np.add.reduceat(table, edges, axis=axis)) if self.splits else table

    def even(self, sums: FloatArray, axis: int) -> FloatArray:
        """Give each cell an equal share of its block's sum."""
        if not self.splits:
            return sums
        lying = [-1 if place == axis else 1 for place in range(sums.ndim)]
        shares = sums / np.reshape(self.sizes, lying)
        return np.repeat(shares, self.sizes, axis=axis)

    def within(self, table: FloatArray, axis: int) -> FloatArray:
        """Give what is left of each cell after its block's mean."""
        return table - self.even(self.sums(table, axis), axis)


def side_of(axis: Axis, cuts: Cuts, *, apart: bool) -> Side:
    """Lay an axis out in the blocks of its column; `apart` shares no block with other ways of cutting it."""
    if apart:
        return Side(f"{axis.column}\0{starts_of(axis)}", (0,), (axis.cells,))
    if starts_of(axis) == cuts.fine:
        return Side(axis.column, cuts.coarse, cuts.sizes)
    return Side(axis.column, starts_of(axis), (1,) * axis.cells)


@dataclass(frozen=True, slots=True)
class Parts:
    """A table as the sum of its effects; arrays have a first axis that counts releases."""

    sides: tuple[Side, ...]

    @property
    def effects(self) -> Iterator[Effect]:
        """Every set of columns that can be taken within blocks."""
        columns = [side.column for side in self.sides if side.splits]
        return (
            frozenset(some) for length in range(len(columns) + 1) for some in combinations(columns, length)
        )

    def has(self, effect: Effect) -> bool:
        """Say whether an effect is one of this table."""
        return effect <= {side.column for side in self.sides if side.splits}

    def outside(self, effect: Effect) -> list[Side]:
        """Give the sides of which an effect keeps only sums over blocks."""
        return [side for side in self.sides if side.column not in effect]

    def sums(self, effect: Effect) -> int:
        """Count the sums over blocks that an effect keeps."""
        return math.prod(len(side.sizes) for side in self.outside(effect))

    def taken(self, table: FloatArray, effect: Effect) -> FloatArray:
        """Take an effect out of a table: sides within blocks by name, then sums over blocks in one axis."""
        for axis, side in enumerate(self.sides, start=1):
            table = side.within(table, axis) if side.column in effect else side.sums(table, axis)
        moved = table.transpose(0, *self._order(effect))
        return moved.reshape(*moved.shape[: 1 + len(effect)], -1)

    def spread(self, part: FloatArray, effect: Effect) -> FloatArray:
        """Put an effect back into the cells of a table."""
        blocks = [len(side.sizes) for side in self.outside(effect)]
        moved = part.reshape(*part.shape[:-1], *blocks)
        table = moved.transpose(0, *(1 + np.argsort(self._order(effect))))
        for axis, side in enumerate(self.sides, start=1):
            if side.column not in effect:
                table = side.even(table, axis)
        return table

    def _order(self, effect: Effect) -> list[int]:
        names = [side.column for side in self.sides]
        first = [1 + names.index(column) for column in sorted(effect)]
        return first + [axis for axis in range(1, len(names) + 1) if axis not in first]
