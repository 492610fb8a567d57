"""Coded rows that stay in an engine's memory while a table is open, for a service that answers all day.

They are made of the rows when those are first lent, so after a charge. What was kept of rows that are no longer those
that were opened is never asked: the table looks at its source before and after every answer, and what was made while
the source changed is thrown away.
"""

import threading
from collections.abc import Callable
from typing import Final

from entwined.schema import Coded, Schema
from entwined.tables.coding import NARROW

MOST_BYTES: Final = 2**30
MOST_KEPT: Final = 4
SMALL: Final = ((2**8, 1, "UTINYINT"), (2**16, 2, "USMALLINT"), (NARROW, 4, "INTEGER"))
WIDE: Final = (8, "BIGINT")


class Resident:
    """The relations that coded rows are kept in, by the statement that makes them."""

    def __init__(self, make: Callable[[str, str], bool]) -> None:
        self._make = make
        self._kept: dict[str, str] = {}
        self._lock = threading.Lock()

    def relation(self, statement: str) -> str:
        """Name where the rows of a statement are kept, made if need be; nothing where they cannot be.

        What could not be kept once is not tried again.
        """
        with self._lock:
            if statement not in self._kept and len(self._kept) < MOST_KEPT:
                name = f"resident_{len(self._kept)}"
                self._kept[statement] = name if self._is_made(name, statement) else ""
            return self._kept.get(statement, "")

    def _is_made(self, name: str, statement: str) -> bool:
        try:
            return self._make(name, statement)
        except Exception:  # noqa: BLE001  (then rows are read from their source, which says what is wrong in our words)
            return False


def small_type(column: Coded) -> tuple[int, str]:
    """Give the bytes and the name of the smallest type that holds a column's codes."""
    return next(((size, kind) for most, size, kind in SMALL if column.size < most), WIDE)


def usual_type(column: Coded) -> str:
    """Name the type that a column's codes have where they come from rows, so that sums are made alike."""
    return "INTEGER" if column.size < NARROW else "BIGINT"


def is_small(schema: Schema) -> bool:
    """Say by what is public alone whether all coded rows can be kept."""
    return schema.most_rows * sum(small_type(one)[0] for one in coded_columns(schema)) <= MOST_BYTES


def coded_columns(schema: Schema) -> tuple[Coded, ...]:
    """List the columns that have codes."""
    return tuple(one for one in schema.columns if isinstance(one, Coded))
