"""The atoms of some counts and tables: sets of rows that no condition and no cell cuts further.

Every count is a sum over atoms, so numbers agree if they are sums of the same atoms. Conditions over separate
columns cut each other everywhere: they are kept apart, and have nothing in common but the number of all rows.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.numbers import IntArray
from entwined.queries.axes import Axis
from entwined.queries.diagram import Diagram
from entwined.queries.predicate import IN, OUT, Predicate

MOST_ATOMS: Final = 2**16
MOST_TRIED: Final = 2**16  # steps of a search that may save a longer one
MOST_STATES: Final = 2**26  # of rows in diagrams and tables, while atoms are looked for
OUTSIDE: Final = -1
LEAVES: Final = 2  # of a condition's diagram, which come before its nodes
KEPT: Final = 32  # ways of cutting that are remembered
ROOM: Final = 2**62  # for signatures that are packed into one number

Places: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int32]]


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
    """Cut the rows by every condition and every cell, leaving out those that are declared impossible.

    Columns are decided one after the other. What is known then of a row is where it stands in every condition's
    diagram and in every table: rows of which the same is known are one from there on, and one atom in the end.
    """
    if not impossible:
        refuse_many(surely(tables))
    walk = [table.where.diagram for table in tables] + [one.diagram for one in impossible]
    at: Places = np.array([[diagram.root] for diagram in walk], dtype=np.int32)
    cells: Places = np.zeros((len(tables), 1), dtype=np.int32)
    for column, starts in _starts(tables, impossible).items():
        if at.size * len(starts) > MOST_STATES:
            raise QueryTooComplex(
                f"The conditions have too many pieces in column {column!r}. Ask about fewer columns at once."
            )
        piece = np.tile(np.arange(len(starts)), at.shape[1])
        at, cells = np.repeat(at, len(starts), axis=1), np.repeat(cells, len(starts), axis=1)
        for number, diagram in enumerate(walk):
            if column in diagram.sizes:
                at[number] = _led(diagram, column, starts)[at[number] + LEAVES, piece]
        for number, table in enumerate(tables):
            if column in {axis.column for axis in table.axes}:
                own = _cells(table, column, starts)[piece]
                cells[number] += own
                at[number, own == OUTSIDE] = OUT
        at, cells = _distinct(at, cells, len(tables))
    if not at.shape[1]:
        raise BadQuery("Everything is declared impossible. Declare only what no row can be.")
    refuse_many(at.shape[1])
    return Atoms(tables, np.where(at[: len(tables)] == IN, cells, OUTSIDE).astype(np.int64))


def refuse_many(atoms: int) -> None:
    """Refuse more atoms than can be reconciled."""
    if atoms > MOST_ATOMS:
        raise QueryTooComplex(
            f"The conditions have {atoms:.6g} atoms or more, over {MOST_ATOMS:,}. Ask about fewer columns at once."
        )


def surely(tables: Sequence[Counting]) -> int:
    """Give a number of atoms that some tables have at least, without looking for them.

    Fix the codes of all columns that several tables read. Then tables that read one column more, each its own, put a
    row into cells, or outside, that go together freely, and rows in different cells are in different atoms.
    """
    readers = Counter(column for table in tables for column in table.columns)
    fixed = {column: 0 for column, count in sorted(readers.items()) if count > 1}
    own = [table for table in tables if len(table.columns - fixed.keys()) == len(table.axes) == 1]
    own = [table for table in own if table.axes[0].column not in fixed]
    starts = {column: codes.tolist() for column, codes in _starts(tables, ()).items()}
    if sum(len(starts[column]) for column in fixed) * sum(table.cells for table in own) > MOST_TRIED:
        return 1

    def found(codes: dict[str, int]) -> int:
        return prod(_cells_inside(table, codes, starts[table.axes[0].column]) for table in own)

    for column in fixed:
        fixed |= {column: max(starts[column], key=lambda code: found(fixed | {column: code}))}
    return found(fixed)


def _cells_inside(table: Counting, fixed: dict[str, int], codes: Sequence[int]) -> int:
    """Count the cells that rows can be in, outside as one more, if only the column of the axis is free."""
    axis = table.axes[0]
    return len(
        {axis.cell(code) if table.where.holds(fixed | {axis.column: code}) else None for code in codes}
    )


def _starts(tables: Sequence[Counting], impossible: Iterable[Predicate]) -> dict[str, IntArray]:
    """Find the first code of every piece that a column is cut into, by the names of the columns."""
    cuts: dict[str, set[int]] = {}
    for where in (*(table.where for table in tables), *impossible):
        for node in where.diagram.nodes:
            cuts.setdefault(node.column, {0}).update(node.ends[:-1])
    for axis in (axis for table in tables for axis in table.axes):
        cuts.setdefault(axis.column, {0}).update((*axis.starts, axis.levels))
    return {column: np.array(sorted(cuts[column])) for column in sorted(cuts)}


def _led(diagram: Diagram, column: str, starts: IntArray) -> IntArray:
    """Say where each place of a diagram leads for each piece of a column; the first axis has leaves, then nodes."""
    stay = np.arange(-LEAVES, len(diagram.nodes))[:, None]
    found = np.repeat(stay, len(starts), axis=1)
    for number, node in enumerate(diagram.nodes):
        if node.column == column:
            found[number + LEAVES] = np.array(node.ways)[np.searchsorted(node.ends, starts, "right")]
    return found


def _cells(table: Counting, column: str, starts: IntArray) -> IntArray:
    """Give what each piece of a column adds to the number of a table's cell."""
    place = [axis.column for axis in table.axes].index(column)
    later = prod(axis.cells for axis in table.axes[place + 1 :])
    found = [table.axes[place].cell(code) for code in starts.tolist()]
    return np.array([OUTSIDE if cell is None else cell * later for cell in found])


def _distinct(at: Places, cells: Places, tables: int) -> tuple[Places, Places]:
    """Keep one of all rows of which the same is known, in their order, and none that is impossible."""
    cells[at[:tables] == OUT] = 0
    possible = ~(at[tables:] == IN).any(axis=0)
    at, cells = at[:, possible], cells[:, possible]
    packed, room = np.zeros(at.shape[1], dtype=np.int64), 1
    for known in (*at, *cells) if at.shape[1] else ():
        least, size = int(known.min()), int(known.max()) - int(known.min()) + 1
        if room * size > ROOM:
            _, packed = np.unique(packed, return_inverse=True)
            room = len(packed)
        packed, room = packed * size + (known - least), room * size
    _, first = np.unique(packed, return_index=True)
    first = np.sort(first)
    return at[:, first], cells[:, first]


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
