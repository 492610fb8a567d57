"""PostgreSQL by URL: read-only, one snapshot an answer."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from entwined.connecting import SECONDS, connected, deadline
from entwined.errors import BadTable
from entwined.numbers import IntArray
from entwined.tables.engine import FAR, ROWS_AT_ONCE, Dialect, Fold, Key, Kind, Shown, Tallying
from entwined.tables.holding import Held, Scan
from entwined.tables.limits import require_time, time_limit
from entwined.tables.origin import Known, version_of
from entwined.tables.postgres_notes import RowNotes, relations
from entwined.tables.reading import LARGEST, TINY

if TYPE_CHECKING:
    import psycopg

Link: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

KINDS: Final[Mapping[str, Kind]] = {
    "bool": "truth",
    "int2": "whole",
    "int4": "whole",
    "int8": "whole",
    "float4": "number",
    "float8": "number",
    "numeric": "number",
    "text": "text",
    "varchar": "text",
    "bpchar": "text",
    "name": "text",
    "citext": "text",
    "uuid": "text",
    "date": "day",
    "timestamp": "moment",
    "timestamptz": "moment",
}
LATEST: Final = "290000-01-01"  # later times do not fit 64 bits of microseconds since 1970
TYPE_NAMES: Final = (
    b"SELECT oid::int8, CASE WHEN typtype = 'e' THEN 'text' ELSE typname::text END"
    b" FROM pg_type WHERE oid = ANY(%s)"
)
FULL_NAME: Final = (
    b"SELECT nspname::text, relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    b" WHERE pg_class.oid = to_regclass(%s)"
)
BROKEN: Final = ("08", "57P01", "57P02", "57P03")
"""States of a connection that broke, was ended by an administrator or a crash, or is not there yet."""
SETTINGS: Final = (
    "SET default_transaction_read_only = on",
    "SET standard_conforming_strings = on",
    "SET timezone = 'UTC'",
    "SET cursor_tuple_fraction = 1",  # all rows of a cursor are fetched
)
SILENT: Final = (
    "The server of the table accepts the connection and stays silent: there was no answer in time. Check its host and "
    f"port; {SECONDS} s are waited, or what connect_timeout=60 in the URL says."
)


class Postgres:
    """One table of a PostgreSQL database."""

    def __init__(self, url: str, table: str, version: str | None = None) -> None:
        try:
            import psycopg
        except ImportError:
            raise BadTable(
                "Tables in PostgreSQL need the driver psycopg. Run: pip install 'entwined[postgres]'."
            ) from None
        self.folder = None
        self.notes = ()
        self.changed = False  # it shows no sign
        self.version = version_of(version)
        self._url = url
        self._relation = ".".join(map(quoted_name, table.split(".", 1)))
        self._lock = threading.Lock()
        self.held = Held()
        self._link: Link | None = None
        begun = time.monotonic()
        try:
            with deadline(self._connected()):
                self._columns = self._describe()
                self.place = self._named()
                self.known = self._known()
        except psycopg.Error as failed:
            self.close()
            if isinstance(failed, psycopg.errors.ConnectionTimeout) or time.monotonic() - begun >= SECONDS:
                raise BadTable(SILENT) from None
            raise BadTable(
                f"The table {table!r} cannot be opened. Check the URL, the table's name and the right to read it."
            ) from None

    @property
    def dialect(self) -> Dialect:
        """PostgreSQL's own."""
        return "postgres"

    @property
    def relation(self) -> str:
        """What stands behind FROM."""
        return self._relation

    @property
    def columns(self) -> Mapping[str, Shown]:
        """The columns by name."""
        return self._columns

    def lookup(self, codes: Mapping[Key, int]) -> str:
        """Write a list into the statement itself: nothing is stored in a database that is only read."""
        numeric = not isinstance(next(iter(codes), ""), str)
        values = ", ".join(repr(key) if numeric else quoted_text(str(key)) for key in codes)
        listed = f"ARRAY[{values}]::{'float8' if numeric else 'text'}[]"
        numbers = f"ARRAY[{', '.join(map(str, codes.values()))}]::int4[]"
        text = "" if numeric else ' COLLATE "C"'
        return f"(SELECT value{text} AS value, code FROM unnest({listed}, {numbers}) AS given(value, code))"

    def resident(self, statement: str) -> str:  # noqa: ARG002  (rows that others write are read anew)
        """Keep nothing: what was kept would not show what became of the rows."""
        return ""

    def reconnect(self) -> None:
        """Ask the server for nothing; over a new connection where the one that was idle is gone."""
        import psycopg

        with self._lock:
            try:
                self._connected().execute(b"SELECT 1")
            except psycopg.Error:
                self._drop()
                self._connected().execute(b"SELECT 1")

    def is_lost(self, failed: Exception) -> bool:
        """Whether the server ended the connection, or starts up; a statement that failed or was cancelled did not."""
        import psycopg

        if isinstance(failed, psycopg.InterfaceError):
            return True
        state = failed.sqlstate if isinstance(failed, psycopg.OperationalError) else "none"
        return state is None or state.startswith(BROKEN)

    @contextmanager
    def reading(self) -> Iterator["Postgres.Reader"]:
        """Hold one snapshot."""
        with self._lock:
            link = self._connected()
            try:
                with time_limit(link.cancel) as limit:
                    link.execute(f"SET statement_timeout = {ceil(limit.seconds * 1000)}".encode())
                    link.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    yield Postgres.Reader(link, self.held)
                    link.execute(b"COMMIT")
            except BaseException:
                self._drop()
                raise

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None

    def _connected(self) -> Link:
        if self._link is None or self._link.closed:
            self._link = connected(self._url)
            with deadline(self._link):
                for setting in SETTINGS:
                    self._link.execute(setting.encode())
        return self._link

    def _describe(self) -> dict[str, Shown]:
        """Ask for no rows: what the server says of the columns is enough. A domain shows as what it is made of."""
        link = self._connected()
        found = link.execute(f"SELECT * FROM {self._relation} LIMIT 0".encode()).description or []
        types: dict[int, str] = dict(
            link.execute(TYPE_NAMES, (sorted({column.type_code for column in found}),)).fetchall()
        )
        return {column.name: shown(column.name, types.get(column.type_code, "")) for column in found}

    def _named(self) -> str:
        """Name the server, the database and the table by its full name, but neither user nor password."""
        link = self._connected()
        found = link.execute(FULL_NAME, (self._relation,)).fetchone()
        schema, table = found or ("", "")
        return f"postgresql {link.info.host}:{link.info.port}/{link.info.dbname} {schema}.{table}"

    def _known(self) -> Known:
        """Know the table whatever host, port and user it is reached by, and what a view is made of."""
        found = relations(self._connected(), self._relation)
        own, *under = (one.name for one in found)
        return Known((self.place, own), tuple(under), tuple(RowNotes(self._url, one) for one in found))

    class Reader:
        """One snapshot."""

        def __init__(self, link: Link, held: Held) -> None:
            self._link = link
            self._held = held

        def rows(self, statement: str) -> list[tuple[Any, ...]]:
            """Give rows as they are."""
            return self._link.execute(statement.encode()).fetchall()

        def counts(self, statement: str) -> IntArray:
            """Give integers as one array."""
            with self._link.cursor(binary=True) as cursor:
                cursor.execute(statement.encode())
                parts = [np.zeros((0, 3), dtype=np.int64)]
                while rows := cursor.fetchmany(100_000):
                    require_time()
                    parts.append(np.array(rows, dtype=np.int64))
            return np.concatenate(parts)

        def folded(self, statement: str, fold: Fold) -> list[int]:
            """Fold batches that are fetched from a cursor of the server, one after another."""
            return fold(self._held.batches(statement, lambda: self._batches(statement)))

        def tallied(self, scan: Scan, tally: Tallying) -> IntArray:
            """Count batches that are fetched from a cursor of the server, one after another."""
            return tally(self._held.cells(scan, lambda: self._batches(scan.statement)))

        def in_turn(self, statement: str, fold: Fold) -> list[int]:
            """Fold batches in the order of the cursor."""
            return fold(self._batches(statement))

        def _batches(self, statement: str) -> Iterator[IntArray]:
            with self._link.cursor("fold", binary=True) as cursor:
                cursor.execute(statement.encode())
                while rows := cursor.fetchmany(ROWS_AT_ONCE):
                    require_time()
                    yield np.array(rows, np.int64)


def shown(name: str, kind: str) -> Shown:
    """Show a column of a PostgreSQL type without an error whatever it holds."""
    column = quoted_name(name)
    match KINDS.get(kind):
        case "truth":
            return Shown("truth", column, kind)
        case "whole":
            return Shown("whole", f"{column}::int8", kind)
        case "number":
            decimal = kind == "numeric"
            return Shown("number", _double(column) if decimal else f"{column}::float8", kind, blurs=decimal)
        case "text":
            return Shown("text", f'({column}::text COLLATE "C")', kind)
        case "day":
            return Shown(
                "day", _within(column, "date", f"({column} - DATE '1970-01-01')::int8", FAR // 10**12), kind
            )
        case "moment":
            micros = f"(EXTRACT(EPOCH FROM {column}) * 1000000)::int8"
            return Shown("moment", _within(column, kind, micros, FAR), kind)
    return Shown("other", column, kind)


def _double(column: str) -> str:
    """Turn a decimal of any size into a double, by the same limits as text."""
    return (
        f"CASE WHEN {column} = 'NaN' THEN NULL WHEN {column} > {LARGEST} THEN 'Infinity'::float8 "
        f"WHEN {column} < -{LARGEST} THEN '-Infinity'::float8 WHEN abs({column}) < {TINY} THEN 0::float8 "
        f"ELSE {column}::float8 END"
    )


def _within(column: str, kind: str, number: str, end: int) -> str:
    """Let infinite times, and those no calendar reaches, stand far outside."""
    late, early = f"'{LATEST}'::{kind}", f"'4700-01-01 BC'::{kind}"
    return f"CASE WHEN {column} > {late} THEN {end} WHEN {column} < {early} THEN -{end} ELSE {number} END"


def quoted_name(name: str) -> str:
    """Quote an identifier."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Quote a text, under standard_conforming_strings."""
    return "'" + text.replace("'", "''") + "'"
