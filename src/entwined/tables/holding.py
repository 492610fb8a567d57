"""Scanned rows kept for as long as they are lent, so that a mechanism of many rounds reads its source once.

They are held as small integers, up to a limit; what is larger is scanned again each time.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import IntArray

MOST_BYTES: Final = 2**29


class Held:
    """Batches of scanned rows by statement; nothing is kept unless rows are lent."""

    def __init__(self) -> None:
        self._lent = 0
        self._kept: dict[str, list[NDArray[Any]]] = {}
        self._bytes = 0

    @contextmanager
    def lending(self) -> Iterator[None]:
        """Keep what is scanned until the last lending ends."""
        self._lent += 1
        try:
            yield
        finally:
            self._lent -= 1
            if not self._lent:
                self._kept, self._bytes = {}, 0

    def batches(self, statement: str, scan: Callable[[], Iterable[IntArray]]) -> Iterator[IntArray]:
        """Give the batches of a statement, from memory if they were scanned before."""
        kept = self._kept.get(statement)
        if kept is not None:
            yield from (batch.astype(np.int64) for batch in kept)
            return
        found: list[NDArray[Any]] = []
        size = 0
        for batch in scan():
            if self._lent and self._bytes + size <= MOST_BYTES:
                found.append(_small(batch))
                size += found[-1].nbytes
            yield batch
        if self._lent and self._bytes + size <= MOST_BYTES:
            self._kept[statement] = found
            self._bytes += size


def _small(batch: IntArray) -> NDArray[Any]:
    """Hold numbers in as few bytes as the largest of them takes; one below zero in all of them."""
    if not batch.size or batch.min() < 0:
        return batch
    return batch.astype(np.min_scalar_type(int(batch.max())))
