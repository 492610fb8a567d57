"""The atoms of some counts and tables: sets of rows that no condition and no cell cuts further.

Every count is a sum over atoms, so numbers agree if they are sums of the same atoms. Conditions over separate
columns cut each other everywhere: they are kept apart, and have nothing in common but the number of all rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.numbers import IntArray
from entwined.queries.aggregates import Axis
from entwined.queries.diagram import Diagram
from entwined.queries.predicate import Predicate

MOST_ATOMS: Final = 2**16
MOST_PIECES: Final = 2**20  # of the grid of all cuts, on which atoms are looked for
OUTSIDE: Final = -1
KEPT: Final = 32  # ways of cutting that are remembered
ROOM: Final = 2**62  # for signatures that are packed into one number

Starts: TypeAlias = dict[str, IntArray]  # the first code of every range that a column is cut into


@dataclass(frozen=True, slots=True)
class Counting:
    """What a number or a table counts: the rows inside a condition, in one cell or in those of some axes."""

    where: Predicate
    axes: tuple[Axis, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """Every column that is looked at."""
        return frozenset(self.where.columns) | {axis.column for axis in self.axes}

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(axis.cells for axis in self.axes)


@dataclass(frozen=True, eq=False, slots=True)
class Atoms:
    """For every table the cell that each atom lies in, or that it lies outside; the first axis counts tables."""

    tables: tuple[Counting, ...]
    cell_of: IntArray

    @property
    def atoms(self) -> int:
        """How many atoms there are."""
        return int(self.cell_of.shape[1])

    def sums(self, atoms: IntArray) -> list[IntArray]:
        """Add up numbers of rows in atoms to the cells of every table."""
        return [
            np.bincount(cells + 1, weights=atoms, minlength=table.cells + 1)[1:].astype(np.int64)
            for table, cells in zip(self.tables, self.cell_of, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Component:
    """The places of tables that share columns, however indirectly, and what is impossible in these columns."""

    places: tuple[int, ...]
    impossible: tuple[Predicate, ...]


def components(tables: Sequence[Counting], impossible: Sequence[Predicate]) -> tuple[Component, ...]:
    """Put tables together that share columns, or columns of which something is impossible together."""
    found: list[tuple[frozenset[str], Component]] = []
    given = [
        *((table.columns, Component((place,), ())) for place, table in enumerate(tables)),
        *((frozenset(one.columns), Component((), (one,))) for one in impossible),
    ]
    for columns, one in given:
        near = [other for other in found if other[0] & columns or not (other[0] or columns)]
        apart = [other for other in found if other not in near]
        parts = [*(other for _, other in near), one]
        joined = Component(
            tuple(sorted(place for part in parts for place in part.places)),
            tuple(ruled_out for part in parts for ruled_out in part.impossible),
        )
        found = [*apart, (columns.union(*(names for names, _ in near)), joined)]
    return tuple(sorted((one for _, one in found if one.places), key=lambda one: one.places))


@lru_cache(maxsize=KEPT)
def atoms_of(tables: tuple[Counting, ...], impossible: tuple[Predicate, ...] = ()) -> Atoms:
    """Cut the rows by every condition and every cell, leaving out those that are declared impossible."""
    starts = _starts(tables, impossible)
    shape = tuple(len(found) for found in starts.values())
    if prod(shape) > MOST_PIECES:
        raise QueryTooComplex(
            f"The conditions cut {len(shape)} columns into {prod(shape):,} pieces, over {MOST_PIECES:,}. "
            "Ask about fewer columns at once."
        )
    codes = [_cells(table, starts) for table in tables]
    possible = np.ones((1,) * len(shape), dtype=np.bool_)
    for one in impossible:
        possible = possible & ~_inside(one.diagram, starts)
    places = _first_pieces(codes, [table.cells for table in tables], possible, shape)
    if not places.size:
        raise BadQuery("Everything is declared impossible. Declare only what no row can be.")
    if places.size > MOST_ATOMS:
        raise QueryTooComplex(
            f"The conditions have {places.size:,} atoms, over {MOST_ATOMS:,}. Ask about fewer columns at once."
        )
    corners = np.unravel_index(places, shape) if shape else ()
    return Atoms(tuple(tables), np.array([_at(code, corners, places.size) for code in codes]))


def _starts(tables: Sequence[Counting], impossible: Iterable[Predicate]) -> Starts:
    """Find where each column is cut, by the names of the columns."""
    cuts: dict[str, set[int]] = {}
    for where in (*(table.where for table in tables), *impossible):
        for node in where.diagram.nodes:
            cuts.setdefault(node.column, {0}).update(node.ends[:-1])
    for axis in (axis for table in tables for axis in table.axes):
        cuts.setdefault(axis.column, {0}).update((*range(0, axis.levels, axis.width), axis.levels))
    return {column: np.array(sorted(cuts[column])) for column in sorted(cuts)}


def _inside(diagram: Diagram, starts: Starts) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Say for every piece of the grid whether it is inside; sides that do not matter have length 1."""
    columns = list(starts)
    ends = {-1 - value: np.full((1,) * len(columns), bool(value)) for value in (0, 1)}
    known = dict(ends)
    for number, node in enumerate(diagram.nodes):
        axis = columns.index(node.column)
        ways = [known[node.ways[way]] for way in np.searchsorted(node.ends, starts[node.column], "right")]
        shape = np.broadcast_shapes(*(way.shape for way in ways))
        known[number] = np.concatenate([np.broadcast_to(way, shape) for way in ways], axis=axis)
    return known[diagram.root]


def _cells(table: Counting, starts: Starts) -> IntArray:
    """Give the cell of every piece of the grid; sides that do not matter have length 1."""
    columns = list(starts)
    cells = np.zeros((1,) * len(columns), dtype=np.int64)
    inside = _inside(table.where.diagram, starts)
    for axis in table.axes:
        found = [axis.cell(code) for code in starts[axis.column].tolist()]
        lying = [-1 if column == axis.column else 1 for column in columns]
        own = np.array([OUTSIDE if cell is None else cell for cell in found]).reshape(lying)
        cells, inside = cells * axis.cells + own, inside & (own != OUTSIDE)
    return np.where(inside, cells, OUTSIDE)


def _first_pieces(
    codes: Sequence[IntArray],
    sizes: Sequence[int],
    possible: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    shape: tuple[int, ...],
) -> IntArray:
    """Give one possible piece of every atom: pieces in the same cells of all tables are one atom."""
    packed, room = np.zeros(shape, dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if room * (size + 1) > ROOM:
            _, packed = np.unique(packed, return_inverse=True)
            packed, room = packed.reshape(shape), packed.size
        packed, room = packed * (size + 1) + (code + 1), room * (size + 1)
    left = np.flatnonzero(np.broadcast_to(possible, shape))
    _, first = np.unique(packed.reshape(-1)[left], return_index=True)
    return np.sort(left[first])


def _at(code: IntArray, corners: tuple[IntArray, ...], atoms: int) -> IntArray:
    if not corners:
        return np.full(atoms, int(code))
    return np.asarray(
        code[tuple(np.minimum(at, side - 1) for at, side in zip(corners, code.shape, strict=True))]
    )


def has_empty_cells(table: Counting) -> bool:
    """Say whether there may be cells that no row inside the condition can be in."""
    shared = [axis for axis in table.axes if axis.column in table.where.columns]
    if not shared:
        return False
    if len(table.where.boxes) != 1:
        return True
    box = table.where.boxes[0]
    return any(
        {axis.cell(code) for low, high in box[axis.column] for code in range(low, high + 1)}
        < set(range(axis.cells))
        for axis in shared
    )
