"""A table: rows somewhere, seen through a schema. Only the door asks it for an answer, after the charge."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from entwined.dependence import LearnedFrom
from entwined.errors import EntwinedError, SlowReadingError, SourceLost, Unreadable
from entwined.numbers import IntArray
from entwined.queries.aggregates import Aggregate
from entwined.schema import Person, Schema
from entwined.tables.engine import Connected, Engine, Preparing
from entwined.tables.fingerprint import fingerprint, is_same
from entwined.tables.origin import ONCE, Known
from entwined.tables.plan import Plan, plan
from entwined.tables.rows import CodedRows
from entwined.tables.statements import prepared

Found = TypeVar("Found")
FAILED: Final = (
    "The rows could not be read. What was charged stays charged. "
    "Ask the holder, who finds out why with `entwined describe`."
)
LOST: Final = "The connection to the rows broke, and could not be made again. Ask the same again later."
WAITS: Final = (0.0, 0.5)
"""Seconds before a broken connection is made again, each time."""
GONE: Final = "The table cannot be reached any more. Nothing was charged. Open it again."
UNCHARGED: Final = "Nothing was charged."
CLOSED: Final = "The table was closed. Nothing was charged. Open it again."
CHANGED: Final = (
    "The table is not the one that was opened: its files changed. Nothing was charged. Open it again."
)


class Lost:
    """What a reading gives whose connection broke for good."""


class Table:
    """Rows in an engine under a schema; it holds connections, so close it or use it in a `with`."""

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        kept: Person | None = None,
        first: str | None = None,
        *,
        resident: bool = False,
    ) -> None:
        self._rows = CodedRows(schema, engine, kept, first)
        self._is_resident = resident
        self._is_open = True
        self._fingerprint: LearnedFrom | None = None

    @property
    def place(self) -> str:
        """Where the rows live, in words; empty for a frame in memory."""
        return self._rows.engine.place

    @property
    def folder(self) -> Path | None:
        """The folder of a table that lives in a file."""
        return self._rows.engine.folder

    @property
    def known(self) -> Known:
        """What the same rows are known by at another place, under another name or through a view."""
        return self._rows.engine.known

    @property
    def identity(self) -> str:
        """Where the rows live and which version of them was opened: it tells any two tables apart.

        It stays while the table is open. A frame is read for it. It is for us alone, never shown to an analyst.
        """
        return f"{self.place} {self._rows.engine.version}"

    @property
    def has_version(self) -> bool:
        """Whether the same rows are known to be the same at another opening."""
        return not self._rows.engine.version.startswith(ONCE)

    def keeping(self, column: str, most: int, first: str | None = None) -> "Table":
        """Give the same rows, but of those that share a value in a column at most `most`, picked by lot.

        A lot is pseudo-random and depends on the group's rows alone (see `picking`). With a column `first`, which
        orders steps, a row without one is left out, of the rows of one step one is taken by lot, and of the steps the
        first `most`. A row without a value in the column is left out. Where persons are protected, they are what is
        picked, after their rows: of the persons who share a value `most`, by lot, a person of several values having
        the least of them, with all of their rows that count. With a column `first` a person has the least of its
        codes too: one without any is left out, and of the persons with the same one only one is taken.
        The engine stays this table's: close this one only.
        """
        self._require_open()
        return Table(self.schema, self._rows.engine, Person(column, most), first, resident=self._is_resident)

    @property
    def schema(self) -> Schema:
        """What is public about it."""
        return self._rows.schema

    def check(self, aggregates: Sequence[Aggregate]) -> None:
        """Refuse what this engine cannot answer, or a source that is gone or changed, without reading a row."""
        self._require_open()
        planned = plan(self.schema, aggregates)
        if not self._is_ready(planned):
            raise Unreadable(GONE)
        if self._rows.engine.changed:
            raise Unreadable(CHANGED)

    def _is_ready(self, planned: Plan) -> bool:
        engine = self._rows.engine
        try:
            if isinstance(engine, Connected):
                engine.reconnect()
            if isinstance(engine, Preparing):
                engine.prepare()
            prepared(self._rows, planned)
        except EntwinedError:
            raise
        except Exception:  # noqa: BLE001  (an engine's words are never passed on)
            return False
        return True

    def lending(self) -> AbstractContextManager[None]:
        """Let the engine keep what it scans until this ends, for who reads the same columns again and again."""
        return self._rows.engine.held.lending()

    def answer(self, aggregates: Sequence[Aggregate]) -> list[IntArray]:
        """Give exact integers, one array an aggregate with one number a public cell, in the order of the codes.

        What an engine says when it fails may hold values of rows: it is never passed on. Rows that are no longer those
        that were opened, be it since the charge, are not answered about.
        """
        planned = plan(self.schema, aggregates)
        found = self._found(planned)
        if isinstance(found, Lost):
            raise SourceLost(LOST)
        if found is None or self._rows.engine.changed:
            raise Unreadable(FAILED)
        return found

    def _found(self, planned: Plan) -> list[IntArray] | Lost | None:
        try:
            return self._over_connection(lambda: self._answers(planned))
        except EntwinedError:
            raise
        except Exception as failed:  # noqa: BLE001  (whatever it is, its words may come from private rows)
            return Lost() if self._is_lost(failed) else None

    def _answers(self, planned: Plan) -> list[IntArray]:
        asked = prepared(self._rows.resident() if self._is_resident else self._rows, planned)
        with self._rows.engine.reading() as reader:
            return asked.answers(reader)

    def _over_connection(self, read: Callable[[], Found]) -> Found:
        """Read, and read again from the start where only the connection broke: what is read has no noise in it yet."""
        for wait in WAITS:
            try:
                return read()
            except Exception as failed:
                if not self._is_lost(failed):
                    raise
                time.sleep(wait)
        return read()

    def _is_lost(self, failed: Exception) -> bool:
        engine = self._rows.engine
        return isinstance(engine, Connected) and engine.is_lost(failed)

    def holds(self, public: LearnedFrom) -> bool:
        """Say whether these rows are those of a table that is called public; asked before a charge, for the holder.

        It reads the rows. What cannot be read is found out after the charge.
        """
        if not public.is_comparable(self.schema):
            return False
        try:
            return self._over_connection(lambda: is_same(self._rows, public))
        except SlowReadingError as late:
            raise SlowReadingError(f"{late} {UNCHARGED}") from None
        except Exception:  # noqa: BLE001  (its words may come from private rows)
            return False

    def fingerprint(self) -> LearnedFrom | None:
        """Give what the same rows have under this schema in any order, spelling and format; None if it cannot be read.

        It reads all rows, once while the table is open, and is for the holder alone.
        """
        if self._fingerprint is None:
            try:
                self._fingerprint = self._over_connection(lambda: fingerprint(self._rows))
            except SlowReadingError as late:
                raise SlowReadingError(f"{late} {UNCHARGED}") from None
            except Exception:  # noqa: BLE001  (its words may come from private rows)
                return None
        return self._fingerprint

    def _require_open(self) -> None:
        if not self._is_open:
            raise Unreadable(CLOSED)

    def close(self) -> None:
        """Let go of files and connections."""
        self._is_open = False
        self._rows.engine.close()

    def __enter__(self) -> Self:
        """Use it in a block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it at the end of the block."""
        self.close()
