"""What a public function said of rows: numbers kept within their bounds, and added up, perhaps by group."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import IntArray


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


def only_seen(codes: IntArray) -> IntArray:
    """Let codes be looked at that are added up themselves: nobody may write to them."""
    view = codes.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True, eq=False)
class RowNumbers:
    """Numbers of rows, and the group of each row where there are several; a row of no group adds nothing.

    With `counts` a 1 stands before the numbers of each row.
    """

    numbers: IntArray
    group: IntArray | None
    groups: int
    counts: bool = False

    @property
    def vectors(self) -> IntArray:
        """What each row adds, one group's numbers after another's."""
        if self.group is None:
            return self.numbers
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
        inside = self._inside(self.group)
        all_in = bool(inside.all())
        group, numbers = (self.group, self.numbers) if all_in else (self.group[inside], self.numbers[inside])
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


def _by_group(group: IntArray, numbers: IntArray, groups: int) -> IntArray:
    """Add up rows by group: a product with a matrix that has one 1 a row."""
    from scipy.sparse import csc_array

    rows = len(group)
    chosen = csc_array((np.ones(rows, np.int64), group, np.arange(rows + 1)), shape=(groups, rows))
    return np.asarray(chosen @ numbers, np.int64)
