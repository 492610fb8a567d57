"""Rows of cells that follow a law: made up, by rounding rather than by chance.

Columns are filled one after the other, each given the columns that share a clique with it. Rows lie in the order of
those, then of the other columns filled so far, and the numbers from which their values are read lie evenly in [0, 1),
wherever one begins to count: frac(u + kφ) for the k-th row, φ the golden ratio and u by chance. So a value comes about
as often as the law says among rows that agree, and among whatever part of them some other column marks: counts are off
by little more than rounding, not by the chances of so many draws. In the end columns are put right one by one.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from entwined.dependence.luck import made_up_luck
from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.law import CellLaw
from entwined.mechanisms.marginals.put_right import put_right
from entwined.numbers import FloatArray, IntArray

GOLDEN: Final = (5**0.5 - 1) / 2
HALF: Final = 31  # bits of a number that says where a row lies; the others are chance
SORTED_BY: Final = 3  # columns; more of them hardly matter


def silent(part: float) -> None:
    """Tell nobody."""


def made_up(law: CellLaw, rows: int, heard: Callable[[float], object] = silent) -> IntArray:
    """Make up so many rows, one column of cells for each column of the law; `heard` is told which part is done."""
    luck = made_up_luck()
    cells = np.zeros((len(law.tree.sizes), rows), np.int64).T  # columns are read and written one by one
    filled: list[int] = []
    for at, clique in enumerate(law.tree.cliques):
        for column in clique:
            if column in filled:
                continue
            given = tuple(one for one in clique if one in filled)
            scope = tuple(sorted((*given, column)))
            table = np.moveaxis(law.tree.added_up(law.tables[at], at, scope), scope.index(column), -1)
            groups = _groups(cells, given, law.tree.sizes)
            others = [one for one in filled if one not in given]
            chances = table.reshape(-1, law.tree.sizes[column])
            cells[:, column] = _drawn(cells, groups, others, chances, luck)
            filled.append(column)
            heard(len(filled) / (len(law.tree.sizes) + 1))
    for column, (groups, within) in enumerate(zip(law.groups, law.within, strict=True)):
        if len(groups) > law.tree.sizes[column]:
            chances = np.where(np.arange(law.tree.sizes[column])[:, None] == groups, within, 0.0)
            others = [one for one in filled if one != column]
            cells[:, column] = _drawn(cells, cells[:, column].copy(), others, chances, luck)
    put_right(law, cells, luck)
    return cells.T[:, luck.permutation(rows)].T


def _drawn(
    cells: IntArray, groups: IntArray, others: list[int], chances: FloatArray, luck: np.random.Generator
) -> IntArray:
    """Read a value for every row from the chances of its group, evenly along some of the other columns."""
    order = _order(cells, groups, luck.permutation(others)[:SORTED_BY], luck)
    found = np.zeros(len(cells), np.int64)
    found[order] = _values(chances, groups[order], luck.random())
    return found


def _groups(cells: IntArray, given: Scope, sizes: tuple[int, ...]) -> IntArray:
    """Number the rows by what they say in some columns."""
    if not given:
        return np.zeros(len(cells), np.int64)
    return np.asarray(np.ravel_multi_index(cells[:, given].T, [sizes[at] for at in given]), np.int64)


def _order(cells: IntArray, groups: IntArray, others: IntArray, luck: np.random.Generator) -> IntArray:
    """Put rows in the order of their groups, then of some other columns, then of chance: by one number each."""
    number = _short(groups)
    for at in others[::-1].tolist():
        number = _short(number * (cells[:, at].max(initial=0) + 1) + cells[:, at])
    return np.asarray(np.argsort(number << HALF | luck.integers(1 << HALF, size=len(number))), np.int64)


def _short(numbers: IntArray) -> IntArray:
    """Count through numbers that are too large, in their order."""
    if numbers.max(initial=0) < 1 << HALF:
        return numbers
    return np.asarray(np.unique(numbers, return_inverse=True)[1], np.int64)


def _values(table: FloatArray, groups: IntArray, start: float) -> IntArray:
    """Read values of rows, which lie group by group, from the law of each group."""
    sums = np.cumsum(table, axis=1)
    sums /= np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    last = table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    sums[np.arange(table.shape[1]) >= last[:, None]] = 1.0
    even = (start + np.arange(len(groups)) * GOLDEN) % 1.0
    steps = (np.arange(len(table))[:, None] + sums).reshape(-1)
    found = np.searchsorted(steps, groups + even, side="right") - groups * table.shape[1]
    return np.asarray(np.minimum(np.maximum(found, 0), last[groups]), np.int64)
