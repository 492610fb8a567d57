"""What a public function said of rows: numbers kept within their bounds, and added up, perhaps by group."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import Codes, IntArray
from entwined.queries.products import added, block_rows, rows_at_once

FEW_GROUPS: Final = 32
EXACT_SINGLE: Final = 2**24
EXACT_DOUBLE: Final = 2**53
ENTRIES_AT_ONCE: Final = 2**21  # few calls, for each may have to wait for another thread


def within(numbers: IntArray, least: IntArray, most: IntArray) -> IntArray:
    """Cut every number to its bounds; where all are inside, they are given as they are."""
    if not len(numbers):
        return numbers
    if numbers.min() >= least.max() and numbers.max() <= most.min():  # often so, and seen at once
        return numbers
    inside = (numbers.min(axis=0) >= least).all() and (numbers.max(axis=0) <= most).all()
    return numbers if inside else np.clip(numbers, least, most)


def together(numbers: IntArray, most: int, exact: type) -> IntArray:
    """Leave out rows whose numbers, signs left out, add up to more."""
    return np.where((np.abs(numbers).sum(axis=1, dtype=exact) > most)[:, np.newaxis], 0, numbers)


def only_seen(codes: Codes) -> Codes:
    """Let codes be looked at that are added up themselves: nobody may write to them."""
    view = codes.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True, eq=False)
class RowNumbers:
    """Numbers of rows, and the group of each row where there are several; a row of no group adds nothing.

    With `counts` a 1 stands before the numbers of each row.
    """

    numbers: Codes
    group: IntArray | None
    groups: int
    counts: bool = False

    @property
    def vectors(self) -> IntArray:
        """What each row adds, one group's numbers after another's."""
        if self.group is None:
            return self.numbers.astype(np.int64, copy=False)
        rows, each = self.numbers.shape
        dense = np.zeros((rows, self.groups, self.counts + each), np.int64)
        inside = np.flatnonzero(self._inside(self.group))
        dense[inside, self.group[inside], int(self.counts) :] = self.numbers[inside]
        if self.counts:
            dense[inside, self.group[inside], 0] = 1
        return dense.reshape(rows, -1)

    def sums(self, exact: type) -> IntArray:
        """What all rows add, in 64 bits or in whole numbers of any size."""
        if self.group is None:
            return np.asarray(self.numbers.sum(axis=0, dtype=exact))
        group, numbers = self.group, self.numbers
        if len(group) and not 0 <= group.min() <= group.max() < self.groups:
            inside = self._inside(group)
            group, numbers = group[inside], numbers[inside]
        total: IntArray = np.zeros((self.groups, self.counts + numbers.shape[1]), exact)
        if self.counts:
            total[:, 0] += np.bincount(group, minlength=self.groups)
        if exact is object:
            np.add.at(total[:, int(self.counts) :], group, numbers.astype(object))
        else:
            total[:, int(self.counts) :] += _by_group(group, numbers, self.groups)
        return total.reshape(-1)

    def _inside(self, group: IntArray) -> NDArray[np.bool_]:
        return (group >= 0) & (group < self.groups)


def _by_group(group: IntArray, numbers: Codes, groups: int) -> IntArray:
    """Add up rows by group: a product with a matrix that has one 1 a row."""
    rows, each = numbers.shape
    kind = _exact_floats(numbers, min(block_rows(each, groups), rows))
    if groups > FEW_GROUPS or kind is None:
        return _sparsely(group, numbers, groups)
    total, every = np.zeros((each, groups), np.int64), np.arange(groups, dtype=np.uint8)[:, np.newaxis]
    narrow, size = group.astype(np.uint8), rows_at_once(each, groups, ENTRIES_AT_ONCE)
    for start in range(0, rows, size):
        chosen = (narrow[start : start + size] == every).astype(kind)
        total += added(numbers[start : start + size].T.astype(kind), chosen)
    return total.T


def _exact_floats(numbers: Codes, rows: int) -> type[np.float32 | np.float64] | None:
    """Give the floats in which sums of so many rows are exact in whatever order they are added; None if none are."""
    signed = numbers.dtype.kind == "i"
    largest = max(int(numbers.max()), -int(numbers.min()) if signed else 0) * rows if numbers.size else 0
    if largest >= EXACT_DOUBLE:
        return None
    return np.float32 if largest < EXACT_SINGLE else np.float64


def _sparsely(group: IntArray, numbers: Codes, groups: int) -> IntArray:
    """Add up rows by group in 64 bits, in a time that does not grow with the groups."""
    from scipy.sparse import csc_array

    rows = len(group)
    chosen = csc_array((np.ones(rows, np.int64), group, np.arange(rows + 1)), shape=(groups, rows))
    return np.asarray(chosen @ numbers.astype(np.int64, order="C"), np.int64)
