"""Many tables of counts from one scan: rows come as the numbers of their cells, and are counted here, batch by batch.

An engine that groups rows by hundreds of tables at once takes memory for every one of them, or a job for every few. The
cells of a row are small numbers, one a column. So they are scanned once, held while rows are lent if there is room, and
whatever tables of them are asked for are counted from them; memory is that of a batch and of the tables.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import Codes, IntArray
from entwined.queries.aggregates import TableOf
from entwined.queries.axes import Axis
from entwined.tables.cells import along
from entwined.tables.engine import Dialect
from entwined.tables.holding import Scan
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement

MANY: Final = 9  # tables of several columns; an engine counts fewer of them itself
MOST_BYTES_AT_ONCE: Final = 2**25  # of a scan that is not read in batches
SPARSE: Final = 4  # times the rows of a batch: a table of more cells is counted row by row
NARROW: Final = ((2**7, "TINYINT"), (2**15, "SMALLINT"), (2**31, "INTEGER"))
NOT_TINY: Final[frozenset[Dialect]] = frozenset({"postgres"})


@dataclass(frozen=True, slots=True)
class CellTally:
    """Tables to be counted, and the axis that each number of a scanned row is the cell of."""

    tables: tuple[TableOf, ...]
    axes: tuple[Axis, ...]

    def over(self, batches: Iterable[Codes]) -> IntArray:
        """Count all tables over batches of rows, one after another; one table's cells after another's."""
        counts = np.zeros(sum(one.cells for one in self.tables), np.int64)
        ends = np.cumsum([0, *(one.cells for one in self.tables)])
        scopes = [tuple(map(self.axes.index, one.axes)) for one in self.tables]
        order = sorted(range(len(scopes)), key=scopes.__getitem__)
        for batch in batches:
            numbered = _Numbered(batch, self.axes)
            for at in order:
                _count(counts[ends[at] : ends[at + 1]], numbered.cells(scopes[at]))
        return counts

    def split(self, counts: IntArray) -> list[IntArray]:
        """Give each table its counts back."""
        return np.split(counts, np.cumsum([one.cells for one in self.tables])[:-1])


class _Numbered:
    """The rows of a batch by their cells in tables; what tables in a sorted order begin with is worked out once."""

    def __init__(self, batch: Codes, axes: Sequence[Axis]) -> None:
        self._columns = [column.astype(np.intp) for column in batch.T]
        self._axes = axes
        self._begun: list[tuple[int, NDArray[np.intp]]] = []

    def cells(self, scope: tuple[int, ...]) -> NDArray[np.intp]:
        """Number the cells of a table of some columns, the last fastest."""
        same = 0
        while same < min(len(self._begun), len(scope)) and self._begun[same][0] == scope[same]:
            same += 1
        del self._begun[same:]
        for at in scope[same:]:
            own = self._columns[at]
            cells = self._begun[-1][1] * self._axes[at].cells + own if self._begun else own
            self._begun.append((at, cells))
        return self._begun[-1][1]


def _count(counts: IntArray, cells: NDArray[np.intp]) -> None:
    """Add to the counts of a table how many rows lie in each of its cells."""
    if counts.size > SPARSE * cells.size:
        np.add.at(counts, cells, 1)
    else:
        counts += np.bincount(cells, minlength=counts.size)


def tallied(rows: CodedRows, wanted: Sequence[TableOf]) -> tuple[Scan, CellTally] | None:
    """Say how tables are counted from one scan; not at all where they are few and no scan that has them is held.

    They are where each counts every row: a condition is the engine's to apply.
    """
    if not wanted or not all(one.where.is_everything and one.axes for one in wanted):
        return None
    axes = tuple(dict.fromkeys(axis for one in wanted for axis in one.axes))
    scan = rows.engine.held.scan_of(rows.picked, axes)
    if scan is None:
        if sum(len(one.axes) > 1 for one in wanted) < MANY:
            return None
        few = rows.schema.most_rows * sum(_width(axis.cells) for axis in axes) <= MOST_BYTES_AT_ONCE
        scan = Scan(rows.picked, axes, scanned(rows, axes), few)
    return scan, CellTally(tuple(wanted), scan.axes)


def scanned(rows: CodedRows, axes: Sequence[Axis]) -> str:
    """Ask for the cells of every row, one number an axis, in as few bytes as the engine has."""
    steps, last = rows.steps(rows.in_order(axis.column for axis in axes))
    listed = ", ".join(
        f"CAST({along(axis, rows.code(axis.column))} AS {_narrow(axis.cells, rows.engine.dialect)}) AS n{at}"
        for at, axis in enumerate(axes)
    )
    return statement(steps, f"SELECT {listed} FROM {last}")


def _width(size: int) -> int:
    return next((1 << at for at, (most, _) in enumerate(NARROW) if size <= most), 8)


def _narrow(size: int, dialect: Dialect) -> str:
    kinds = NARROW[1:] if dialect in NOT_TINY else NARROW
    return next((name for most, name in kinds if size <= most), "BIGINT")
