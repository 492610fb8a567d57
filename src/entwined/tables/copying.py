"""Rows of 64-bit integers as PostgreSQL copies them out in binary: a head, rows of one size, and an end mark."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from entwined.numbers import IntArray
from entwined.tables.engine import ROWS_AT_ONCE

HEAD: Final = 19
END: Final = b"\xff\xff"
WIDTH: Final = 8


def copied(blocks: Iterable[bytes | bytearray | memoryview]) -> Iterator[IntArray]:
    """Give batches of rows as blocks of bytes come in; a ValueError for anything but 64-bit integers."""
    held = bytearray()
    row: np.dtype[np.void] | None = None
    for block in blocks:
        held += block
        if row is None and len(held) >= HEAD + len(END):
            row = _row(held[HEAD : HEAD + len(END)])
            del held[:HEAD]
        if row is not None and len(held) > row.itemsize * ROWS_AT_ONCE:
            yield _taken(held, row, len(held) // row.itemsize)
    if row is None or held[-len(END) :] != END or (len(held) - len(END)) % row.itemsize:
        raise ValueError("PostgreSQL did not copy all rows out.")
    if len(held) > len(END):
        yield _taken(held, row, len(held) // row.itemsize)


def _row(count: bytes | bytearray) -> "np.dtype[np.void]":
    """Say how a row is laid out, by the number of its columns in front of it; without rows it does not matter."""
    columns = 1 if count == END else int.from_bytes(count, "big")
    return np.dtype([("columns", ">i2"), ("cells", [("width", ">i4"), ("value", ">i8")], (columns,))])


def _taken(held: bytearray, row: "np.dtype[np.void]", rows: int) -> IntArray:
    """Take rows off the front of what is held."""
    found = np.frombuffer(bytes(held[: rows * row.itemsize]), dtype=row)
    del held[: rows * row.itemsize]
    cells = found["cells"]
    if (found["columns"] != cells.shape[1]).any() or (cells["width"] != WIDTH).any():
        raise ValueError("PostgreSQL copied something else than 64-bit integers out.")
    return cells["value"].astype(np.int64)
