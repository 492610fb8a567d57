"""Rows of codes in memory, counted as an engine counts them: synthetic rows, and a holder's own for nobody else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from entwined.errors import DoesNotApply
from entwined.numbers import IntArray
from entwined.queries import Aggregate, HomesOf, TableOf
from entwined.queries.axes import Axis
from entwined.queries.seats import HEAD, HomeTable, Seats
from entwined.synthetic.holders_rows import cells_of


@dataclass(frozen=True, slots=True, eq=False)
class LentCodes:
    """Codes of rows by column, and the number of the household that each is of."""

    names: tuple[str, ...]
    codes: IntArray
    homes_of: IntArray

    def read(self, aggregates: Sequence[Aggregate]) -> list[IntArray]:
        """Count tables of rows or households; nothing else is asked of these."""
        return [one.asked_of(self) for one in aggregates]

    def few(self, most: int) -> "LentCodes":
        """Keep so many rows of every household, a pseudo-random sample as `tables.picking` has it."""
        order = np.lexsort((self._lots, self.homes_of))
        kept = order[_places(self.homes_of[order]) < most]
        return replace(self, codes=self.codes[kept], homes_of=self.homes_of[kept])

    def table(self, one: TableOf) -> IntArray:
        """Count rows by cell."""
        return _counted([(self._cells(axis), axis.cells) for axis in one.axes], len(self.codes), one.cells)

    def homes(self, one: HomesOf) -> IntArray:
        """Count households, or members of one kind, by cell."""
        table, seats = one.table, one.table.seats
        kept, kinds = self._seated(seats)
        whose, home = np.unique(self.homes_of[kept], return_inverse=True)
        numbers = [np.bincount(home[kinds == kind], minlength=len(whose)) for kind in range(seats.kinds)]
        heads = np.zeros(len(whose), np.int64)
        heads[home[kinds == HEAD]] = kept[kinds == HEAD]
        there = numbers[HEAD] == 1
        rows = np.flatnonzero(there) if table.member == HEAD else np.flatnonzero(kinds == table.member)
        of = rows if table.member == HEAD else home[rows]
        members = heads[of] if table.member == HEAD else kept[rows]
        inside = there[of]
        digits = self._digits(table, numbers, (heads[of], members), of)
        return _counted([(one[inside], size) for one, size in digits], int(inside.sum()), table.cells)

    def _digits(
        self, table: HomeTable, numbers: Sequence[IntArray], whose: tuple[IntArray, IntArray], of: IntArray
    ) -> list[tuple[IntArray, int]]:
        seats = table.seats
        found: list[tuple[IntArray, int]] = []
        if table.member != HEAD:
            found.append((numbers[table.member][of] - 1, seats.capacity(table.member)))
        if table.composed:
            found += [(numbers[kind][of], seats.capacity(kind) + 1) for kind in range(1, seats.kinds)]
        for kind, axis in table.sides:
            found.append((self._cells(axis)[whose[0] if kind == HEAD else whose[1]], axis.cells))
        return found

    def _seated(self, seats: Seats) -> tuple[IntArray, IntArray]:
        """Give the rows that count with their kinds: heads first, then by lot; without roles by codes once picked."""
        kinds = np.zeros(len(self.codes), np.int64)
        if seats.role is not None:
            kinds[:] = seats.kinds - 1
            for kind, codes in enumerate(seats.codes):
                kinds[np.isin(self.codes[:, self.names.index(seats.role)], codes)] = kind
        order = np.lexsort((self._lots, kinds, self.homes_of))
        order = order[_places(self.homes_of[order]) < seats.most]
        if seats.role is None:
            order = order[np.lexsort((*self.codes[order].T[::-1], self.homes_of[order]))]
        sorted_kinds = kinds[order]
        if seats.role is None:
            sorted_kinds = np.minimum(_places(self.homes_of[order]), 1)
        seat = _places(self.homes_of[order] * seats.kinds + sorted_kinds)
        kept = (seat == 0) | ~np.isin(sorted_kinds, seats.singles)
        return order[kept], sorted_kinds[kept]

    @property
    def _lots(self) -> NDArray[np.uint64]:
        """Number rows pseudo-randomly: by their household, their codes, and their number among equal ones."""
        order = np.lexsort((*self.codes.T[::-1], self.homes_of))
        content = np.column_stack([self.homes_of, self.codes])[order]
        _, same = np.unique(content, axis=0, return_inverse=True)
        copies = np.empty(len(order), np.int64)
        copies[order] = _places(same.reshape(-1))
        lots = np.zeros(len(order), np.uint64)
        for column in (self.homes_of, *self.codes.T, copies):
            lots = _mixed(lots ^ column.astype(np.uint64))
        return lots

    def _cells(self, axis: Axis) -> IntArray:
        return cells_of(self.codes[:, self.names.index(axis.column)], axis)

    def single(self, one: Any) -> NoReturn:
        """Refuse."""
        raise DoesNotApply(f"{type(one).__name__} is asked of rows in memory, and tables alone are.")

    totals = fold = degrees = moves = bounded = single


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over 64 bits, different ones to different places (the finalizer of SplitMix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _places(groups: IntArray) -> IntArray:
    """Number the members of groups, which lie together, from 0."""
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(groups) else np.zeros(0, np.int64)
    sizes = np.diff(np.r_[begins, len(groups)])
    return np.arange(len(groups)) - np.repeat(begins, sizes)


def _counted(digits: Sequence[tuple[IntArray, int]], many: int, cells: int) -> IntArray:
    number = np.zeros(many, np.int64)
    for digit, size in digits:
        number = number * size + digit
    return np.bincount(number, minlength=cells).astype(np.int64)
