"""Members of households drawn column by column, each given its relatives, with rules that hold by construction.

A rule leaves cells out before a member is drawn: those that its own columns so far, or its head's code, rule out. Where
members share what they hang on, the numbers that their cells are read from lie evenly, as in `marginals.made_up`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entwined.mechanisms.households.household_rules import HouseholdRules
from entwined.mechanisms.households.seating import TYPE, Place, Seating
from entwined.mechanisms.marginals.made_up import GOLDEN
from entwined.numbers import FloatArray, IntArray
from entwined.queries import Axis
from entwined.queries.seats import HEAD

AT_ONCE: Final = 2_000_000  # numbers in memory

Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Hanging:
    """A place with what it hangs on, a column of the same members and one place outside, and its law given these."""

    place: Place
    own: int | None
    home: Place | None
    table: FloatArray


@dataclass(slots=True, eq=False)
class Drawn:
    """Households as far as they are drawn: compositions, whose each member is, and cells and codes by place."""

    seating: Seating
    compositions: IntArray
    homes: dict[int, IntArray] = field(default_factory=dict)
    cells: dict[Place, IntArray] = field(default_factory=dict)
    codes: dict[Place, IntArray] = field(default_factory=dict)
    barred: Bits = field(init=False)
    """Households in which somebody could be nothing that the rules allow."""

    def __post_init__(self) -> None:
        seating, many = self.seating, len(self.compositions)
        self.barred = np.zeros(many, bool)
        members = seating.members(seating.compositions[self.compositions])
        self.homes[HEAD] = np.arange(many)
        for kind in range(1, seating.seats.kinds):
            self.homes[kind] = np.repeat(np.arange(many), members[:, kind - 1])
        for kind in range(seating.seats.kinds):
            for at in range(len(seating.domain.axes)):
                fixed = seating.fixed(kind, at)
                if fixed is not None:
                    self.cells[kind, at] = np.full(len(self.homes[kind]), fixed)
                    self.codes[kind, at] = self.cells[kind, at]

    def outside(self, kind: int, place: Place) -> IntArray:
        """The cells of a place outside, for each member of a kind."""
        if place == TYPE:
            return np.asarray(self.seating.types[self.compositions][self.homes[kind]], np.int64)
        return np.asarray(self.cells[place][self.homes[kind]], np.int64)

    def shared(self, kind: int) -> None:
        """Let members of a kind say what their head says, where all share it."""
        for name in self.seating.shared if kind != HEAD else ():
            at = self.seating.domain.names.index(name)
            for known in (self.cells, self.codes):
                known[kind, at] = known[HEAD, at][self.homes[kind]]

    def parts(self, kind: int) -> FloatArray:
        """What part of its household each member of a kind is."""
        return np.asarray(1 / np.bincount(self.homes[kind], minlength=1)[self.homes[kind]], float)

    def groups(self, hanging: Hanging) -> IntArray:
        """Number members by what they hang on."""
        kind = hanging.place[0]
        own = 0 if hanging.own is None else self.cells[kind, hanging.own]
        home = 0 if hanging.home is None else self.outside(kind, hanging.home)
        return np.broadcast_to(own * hanging.table.shape[1] + home, len(self.homes[kind])).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """What rules leave of a column: cells that no member may have, and by how much it is below a head's."""

    seating: Seating
    rules: HouseholdRules
    never: Mapping[tuple[int, ...], FloatArray]

    def draw(self, drawn: Drawn, hanging: Hanging, luck: np.random.Generator) -> None:
        """Draw a place for all members of its kind."""
        kind, at = hanging.place
        axis = self.seating.domain.axes[at]
        many = len(drawn.homes[kind])
        groups, table = drawn.groups(hanging), hanging.table.reshape(-1, axis.cells)
        even = evenly(groups, len(table), luck)
        low, high = self._codes(drawn, kind, at)
        cells = np.zeros(many, np.int64)
        step = max(AT_ONCE // axis.cells, 1)
        for start in range(0, many, step):
            part = slice(start, start + step)
            open_to = self._open(drawn, kind, at, part) & _between(axis, low[part], high[part])
            drawn.barred[drawn.homes[kind][part][~open_to.any(axis=1)]] = True
            cells[part] = _read(table[groups[part]], open_to, even[part])
        drawn.cells[kind, at] = cells
        drawn.codes[kind, at] = _codes_between(axis, cells, low, high, luck)

    def _codes(self, drawn: Drawn, kind: int, at: int) -> tuple[IntArray, IntArray]:
        """The lowest and the highest code of every member in a column; missing stands outside."""
        many, levels = len(drawn.homes[kind]), self.seating.domain.axes[at].levels
        low, high = np.zeros(many, np.int64), np.full(many, levels - 1)
        if kind != HEAD:
            gap = self.rules.gaps(self.seating, kind).get(at)
            if gap is not None:
                head = drawn.codes[HEAD, at][drawn.homes[kind]]
                high = np.where(head < levels, head - gap, high)
            return low, high
        for member in range(1, self.seating.seats.kinds):
            gap = self.rules.gaps(self.seating, member).get(at)
            if gap is not None:
                there = np.bincount(drawn.homes[member], minlength=many) > 0
                low = np.where(there, np.maximum(low, gap), low)
        return low, high

    def _open(self, drawn: Drawn, kind: int, at: int, part: slice) -> Bits:
        """The cells that a member may be in, given what is known of it."""
        axis = self.seating.domain.axes[at]
        members = len(drawn.homes[kind][part])
        found = np.ones((members, axis.cells), bool)
        if axis.column == self.seating.seats.role:
            found[:] = np.isin(np.arange(axis.cells), self.seating.open_roles(kind))
        for scope, marks in self.never.items():
            if at in scope and all(one == at or (kind, one) in drawn.cells for one in scope):
                given = tuple(drawn.cells[kind, one][part] for one in scope if one != at)
                found &= np.moveaxis(marks, scope.index(at), -1)[given] == 0
        return found


def evenly(groups: IntArray, many: int, luck: np.random.Generator) -> FloatArray:
    """Give every member a number in [0, 1): evenly spread among those of one group, by chance who has which."""
    order = np.lexsort((luck.random(len(groups)), groups))
    counts = np.bincount(groups, minlength=many)
    places = np.arange(len(groups)) - (np.cumsum(counts) - counts)[groups[order]]
    found = np.empty(len(groups))
    found[order] = (luck.random(many)[groups[order]] + places * GOLDEN) % 1.0
    return found


def _read(laws: FloatArray, open_to: Bits, even: FloatArray) -> IntArray:
    """Read cells from laws, cells that are closed left out; where a law has nothing else, all open ones are alike."""
    left = laws * open_to
    left = np.where(left.sum(axis=1, keepdims=True) > 0, left, open_to)
    sums = np.cumsum(left, axis=1)
    found = (sums <= even[:, None] * sums[:, -1:]).sum(axis=1)
    last = left.shape[1] - 1 - np.argmax(left[:, ::-1] > 0, axis=1)
    return np.asarray(np.minimum(found, last), np.int64)


def _ends(axis: Axis) -> tuple[IntArray, IntArray]:
    """The first and the last code of every cell, that of missing last."""
    firsts = np.array([*axis.starts, axis.levels], np.int64)
    return firsts, np.array([*firsts[1:] - 1, axis.levels], np.int64)


def _between(axis: Axis, low: IntArray, high: IntArray) -> Bits:
    """Whether a cell holds a code within bounds; missing always may be."""
    firsts, lasts = _ends(axis)
    found = (firsts <= high[:, None]) & (lasts >= low[:, None])
    found[:, -1] = True
    return np.asarray(found)


def _codes_between(
    axis: Axis, cells: IntArray, low: IntArray, high: IntArray, luck: np.random.Generator
) -> IntArray:
    """Draw a code in each cell within bounds, all as likely."""
    firsts, lasts = _ends(axis)
    missing = cells == axis.cells - 1
    first = np.where(missing, axis.levels, np.maximum(firsts[cells], low))
    last = np.where(missing, axis.levels, np.minimum(lasts[cells], high))
    width = np.maximum(last - first + 1, 1)
    return np.asarray(
        first + np.minimum((luck.random(len(cells)) * width).astype(np.int64), width - 1), np.int64
    )
