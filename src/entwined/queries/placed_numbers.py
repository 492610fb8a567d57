"""Numbers of rows that are added up in the cells of the rows' own codes: a table a number, all from one scan."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from entwined.numbers import Codes, FloatArray, IntArray

EXACT: Final = 2**53
HALF_BITS: Final = 32
MOST_TOGETHER: Final = 2**12  # cells: they stay near the processor
MOST_HALVED: Final = 2**21  # rows, of which sums of halves of numbers are exact


class Placed(NamedTuple):
    """One of a row's numbers, added in the cell that the row has by its codes in some columns, the last fastest."""

    number: int
    columns: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def named(self) -> Iterator[tuple[str, int]]:
        """The columns with as many codes as each has."""
        return zip(self.columns, self.sizes, strict=True)

    @property
    def cells(self) -> int:
        """How many cells there are; one where no column says which."""
        return math.prod(self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedNumbers:
    """Numbers of rows and the codes that they were made of, with the columns of these codes by name."""

    numbers: IntArray
    codes: Codes
    columns: Sequence[str]
    placed: tuple[Placed, ...]

    @property
    def vectors(self) -> IntArray:
        """What each row adds, one table after another."""
        rows = np.arange(len(self.codes))
        found = np.zeros((len(rows), sum(one.cells for one in self.placed)), np.int64)
        start = 0
        for one in self.placed:
            found[rows, start + self._cell(one)] = self.numbers[:, one.number]
            start += one.cells
        return found

    def sums(self, exact: type) -> IntArray:
        """What all rows add, in 64 bits or in whole numbers of any size."""
        if exact is object or len(self.codes) > MOST_HALVED:
            return self._one_by_one(exact)
        return np.concatenate(list(self._tables()))

    def _tables(self) -> Iterator[IntArray]:
        """Add up table by table: by floats that are exact, of halves of the numbers where these are large.

        Tables of one number by a few levels each are added up two at once: each is what is left of both.
        """
        weights: dict[int, list[FloatArray]] = {}
        found: dict[Placed, IntArray] = {}
        cells: dict[tuple[str, ...], Codes] = {}
        for one in self.placed:
            if one.columns and one.number not in weights:
                weights[one.number] = _in_floats(self.numbers[:, one.number])
        for one, other in _couples(self.placed):
            both = Placed(one.number, one.columns + other.columns, one.sizes + other.sizes)
            if both.columns not in cells:
                cells[both.columns] = self._cell(both)
            table = _table(cells[both.columns], weights[one.number], both.cells).reshape(both.sizes)
            found |= {one: table.sum(axis=1), other: table.sum(axis=0)}
        for one in self.placed:
            if one.columns:
                yield found[one] if one in found else _table(self._cell(one), weights[one.number], one.cells)
            else:
                yield self.numbers[:, one.number].sum(keepdims=True)

    def _one_by_one(self, exact: type) -> IntArray:
        tables = []
        for one in self.placed:
            table: IntArray = np.zeros(one.cells, exact)
            np.add.at(table, self._cell(one), self.numbers[:, one.number].astype(exact))
            tables.append(table)
        return np.concatenate(tables)

    def _cell(self, one: Placed) -> Codes:
        """Give the cell of each row."""
        if not one.columns:
            return np.zeros(len(self.codes), np.int64)
        first, *others = (self.codes[:, self.columns.index(name)] for name in one.columns)
        cell = first
        for codes, size in zip(others, one.sizes[1:], strict=True):
            cell = cell.astype(np.int64) * size + codes
        return cell


def _table(cell: Codes, weights: Sequence[FloatArray], cells: int) -> IntArray:
    """Add up numbers, whole or in two parts, by cell."""
    sums = [np.bincount(cell, part, cells).astype(np.int64) for part in weights]
    return sums[0] if len(sums) == 1 else (sums[0] << HALF_BITS) + sums[1]


def _couples(placed: Sequence[Placed]) -> Iterator[tuple[Placed, Placed]]:
    """Put tables of a single column two by two if they are of the same number and small together."""
    waiting: dict[int, Placed] = {}
    for one in placed:
        if len(one.columns) != 1:
            continue
        other = waiting.pop(one.number, None)
        if other is not None and other.columns != one.columns and other.cells * one.cells <= MOST_TOGETHER:
            yield other, one
        else:
            waiting[one.number] = one


def _in_floats(numbers: IntArray) -> list[FloatArray]:
    """Give numbers as floats whose sums are exact in any order, in two parts if need be: upper and lower bits."""
    largest = max(int(numbers.max()), -int(numbers.min())) if len(numbers) else 0
    if largest * len(numbers) < EXACT:
        return [numbers.astype(np.float64)]
    return [(numbers >> HALF_BITS).astype(np.float64), (numbers & (2**HALF_BITS - 1)).astype(np.float64)]
