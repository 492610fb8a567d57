"""A ledger in PostgreSQL: for many writers on many machines.

Writers lock the one row of the head table (`SELECT … FOR UPDATE`) before they look at anything: every check
is made on what is committed, and the head moves only from where it was seen. The tables stand in the first
schema of the connection's search path: one ledger a schema.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakSet

from entwined.canonical import sha256
from entwined.connecting import connected
from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable, NoLedger
from entwined.ledger.entry import Entry
from entwined.ledger.pages import Execute, Pages
from entwined.ledger.store import Pool

if TYPE_CHECKING:
    import psycopg

Link: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


_links: Final[WeakSet[Link]] = WeakSet()


def _let_go_after_fork() -> None:
    """Close a child's share of its parent's connections, or a dead parent's leases would live on in it."""
    for link in _links:
        if not link.closed:
            os.close(link.fileno())
    _links.clear()


os.register_at_fork(after_in_child=_let_go_after_fork)


class PostgresStore:
    """A ledger in one schema of a PostgreSQL database."""

    def __init__(self, url: str, patience: float) -> None:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise LedgerUnavailable(
                "A ledger in PostgreSQL needs the driver psycopg. Run: pip install 'entwined[postgres]'."
            ) from None
        self._psycopg = psycopg
        self._url = url
        self._patience = patience
        self._pool: Pool[Link] = Pool(self._connect, lambda link: link.close())
        try:
            self._place = _place(conninfo_to_dict(url))
        except psycopg.ProgrammingError:
            raise BadLedger(
                "The ledger's URL cannot be read. Write postgresql://user@host:port/database."
            ) from None

    @property
    def name(self) -> str:
        """Host, port and database, without user and password."""
        return self._place

    def create(self, first: Entry, document: bytes) -> None:
        """Make the tables."""
        with self._transaction("READ COMMITTED") as execute:
            execute("SELECT pg_advisory_xact_lock(?)", (_number("create a ledger"),))
            if execute("SELECT to_regclass('entwined_head')")[0][0] is not None:
                raise BadLedger(
                    f"There is a ledger at {self._place} already. Open it, or choose another schema."
                )
            Pages(execute).begin(first, document, number="BIGINT", binary="BYTEA")

    @contextmanager
    def reading(self) -> Iterator[Pages]:
        """Show one moment of the ledger."""
        with self._transaction("REPEATABLE READ READ ONLY") as execute:
            yield ServerPages(execute)

    @contextmanager
    def writing(self) -> Iterator[Pages]:
        """Write alone."""
        with self._transaction("READ COMMITTED READ WRITE") as execute:
            execute("SELECT position FROM entwined_head FOR UPDATE")
            yield ServerPages(execute)

    def clock(self) -> datetime:
        """Tell the time by the server's clock."""
        with self._transaction("READ COMMITTED READ ONLY") as execute:
            return ServerPages(execute).clock()

    def lease(self, question: str) -> "SessionLease":
        """Wait for the right to answer a question, on a connection of its own."""
        with self._translated():
            link = self._pool.take()
            try:
                link.execute(b"SELECT pg_advisory_lock(%s)", (_number(question),))
            except BaseException:
                self._pool.drop(link)
                raise
        return SessionLease(question, link, self._pool)

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._pool.close()

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[Execute]:
        with self._translated():
            link = self._pool.take()
            try:
                link.execute(f"BEGIN ISOLATION LEVEL {mode}".encode())
                yield _executor(link)
                link.execute(b"COMMIT")
            except self._psycopg.Error:
                self._pool.drop(link)
                raise
            except BaseException:
                self._undo(link)
                raise
            self._pool.give(link)

    def _undo(self, link: Link) -> None:
        try:
            link.execute(b"ROLLBACK")
        except self._psycopg.Error:
            self._pool.drop(link)  # the server undoes what a lost connection left open
        else:
            self._pool.give(link)

    def _connect(self) -> Link:
        link = connected(self._url)
        _links.add(link)
        durable = link.execute(
            b"SELECT current_setting('fsync'), set_config('synchronous_commit', 'on', false),"
            b" set_config('lock_timeout', %s, false)",
            (f"{int(1000 * self._patience)}ms",),
        ).fetchone()
        if durable is None or durable[0] != "on":
            link.close()
            raise LedgerUnavailable(
                f"The server of {self._place} runs with fsync off and may forget charges in a power cut. "
                f"Turn fsync on."
            )
        return link

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the server says into what to do, without repeating secrets of the URL."""
        errors = self._psycopg.errors
        try:
            yield
        except (errors.UndefinedTable, errors.InvalidSchemaName):
            raise NoLedger(
                f"There is no ledger at {self._place}. Create one there, or check the URL."
            ) from None
        except errors.LockNotAvailable:
            raise LedgerUnavailable(
                f"The ledger {self._place} is busy: others are writing, or answering the same question. "
                f"Try again later; nothing was charged by this attempt."
            ) from None
        except (
            errors.IntegrityError,
            errors.UndefinedColumn,
            errors.DataCorrupted,
            errors.IndexCorrupted,
        ) as bad:
            raise LedgerDamaged(
                f"The ledger {self._place} is not as it was made: {bad.diag.message_primary}. "
                f"Restore the newest copy."
            ) from None
        except self._psycopg.Error as failed:
            why = failed.diag.message_primary or type(failed).__name__
            raise LedgerUnavailable(
                f"The ledger {self._place} cannot be used: {why}. Check the server, then ask again with the "
                f"same request id: what was charged is not charged twice."
            ) from None


class ServerPages(Pages):
    """The tables on a server, which has one clock for all of its users."""

    def clock(self) -> datetime:
        """Tell the time by the server's clock."""
        now: datetime = self._execute("SELECT clock_timestamp()")[0][0]
        return now


class SessionLease:
    """A lease held by a session: the server gives it back when the connection ends."""

    def __init__(self, question: str, link: Link, pool: Pool[Link]) -> None:
        self._question = question
        self._link = link
        self._pool = pool
        self._holder = os.getpid()

    def release(self) -> None:
        """Let the next one in."""
        if self._holder != os.getpid():  # a fork of the process that holds it, or released before
            return
        self._holder = 0
        try:
            self._link.execute(b"SELECT pg_advisory_unlock(%s)", (_number(self._question),))
        except BaseException:
            self._pool.drop(self._link)  # the end of the session releases it too
            raise
        self._pool.give(self._link)


def _executor(link: Link) -> Execute:
    def execute(statement: str, values: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        found = link.execute(statement.replace("?", "%s").encode(), values or None)
        return found.fetchall() if found.description else []

    return execute


def _number(question: str) -> int:
    """Name a question as PostgreSQL's advisory locks do."""
    return int.from_bytes(bytes.fromhex(sha256("entwined", question))[:8], signed=True)


def _place(given: Mapping[str, Any]) -> str:
    host = given.get("host") or given.get("hostaddr") or "localhost"
    schema = f"?options={given['options']}" if given.get("options") else ""
    return f"postgresql://{host}:{given.get('port') or 5432}/{given.get('dbname') or ''}{schema}"
