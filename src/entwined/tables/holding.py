"""Scanned rows kept for as long as they are lent, so that a mechanism of many rounds reads its source once.

They are held as small integers, up to a limit; what is larger is scanned again each time.
"""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from entwined.numbers import Codes
from entwined.queries.axes import Axis

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES: Final = 2**29


@dataclass(frozen=True, slots=True)
class Scan:
    """A statement that gives the cell of every row along some axes; `rows` says which rows of a source it is about.

    It is of `few` rows if all that there may be, by what is public, can be held at once.
    """

    rows: Hashable
    axes: tuple[Axis, ...]
    statement: str
    few: bool = False

    def has(self, rows: Hashable, axes: Sequence[Axis]) -> bool:
        """Whether tables of some axes can be counted from it."""
        return self.rows == rows and set(axes) <= set(self.axes)


class Held:
    """Batches of scanned rows by statement; nothing is kept unless rows are lent."""

    def __init__(self) -> None:
        self._lent = 0
        self._kept: dict[str, list[Codes]] = {}
        self._scans: list[Scan] = []
        self._bytes = 0
        self._lock = threading.Lock()

    @contextmanager
    def lending(self) -> Iterator[None]:
        """Keep what is scanned until the last lending ends."""
        with self._lock:
            self._lent += 1
        try:
            yield
        finally:
            with self._lock:
                self._lent -= 1
                if not self._lent:
                    self._kept, self._scans, self._bytes = {}, [], 0

    def scan_of(self, rows: Hashable, axes: Sequence[Axis]) -> Scan | None:
        """Find a scan that is held and has the cells along some axes."""
        return next((one for one in self._scans if one.has(rows, axes)), None)

    def cells(self, scan: Scan, read: Callable[[], Iterable[Codes]]) -> Iterator[Codes]:
        """Give the batches of a scan, and remember what they are of once they are held."""
        yield from self.batches(scan.statement, read)
        if scan.statement in self._kept and scan not in self._scans:
            self._scans.append(scan)

    def batches(self, statement: str, scan: Callable[[], Iterable[Codes]]) -> Iterator[Codes]:
        """Give the batches of a statement, from memory if they were scanned before."""
        kept = self._kept.get(statement)
        if kept is not None:
            yield from kept
            return
        home = (
            self._kept if self._lent else None
        )  # of a scan begun before rows were lent the first ones are not held
        found: list[Codes] = []
        size = 0
        for batch in scan():
            if home is self._kept and self._bytes + size <= MOST_BYTES:
                found.append(small(batch))
                size += found[-1].nbytes
            yield batch
        if home is self._kept and self._bytes + size <= MOST_BYTES:
            self._kept[statement] = found
            self._bytes += size


def small(batch: Codes) -> Codes:
    """Hold numbers in as few bytes as the largest of them takes; one below zero in all of them."""
    if not batch.size or batch.min() < 0:
        return batch
    return batch.astype(np.min_scalar_type(int(batch.max())))


def side_by_side(batch: "pa.RecordBatch") -> Codes:
    """Give a batch of Arrow's as rows of codes, in memory one column after another as they were."""
    return np.array([_numbers(column) for column in batch.columns]).T


def _numbers(column: "pa.Array") -> Codes:
    """Give the integers of a column as they lie in memory; Arrow itself would load pandas to do so."""
    whole = column.buffers()[1]
    if column.null_count or whole is None:
        return np.asarray(column.to_numpy())
    kind = column.type.to_pandas_dtype()
    return np.frombuffer(whole, kind, len(column), column.offset * np.dtype(kind).itemsize)
