"""A ledger in a SQLite file: the default.

The file is in WAL mode with `synchronous=FULL`: a commit returns after the log is on disk. Writers queue on a
file lock before they begin. SQLite's own lock (`BEGIN IMMEDIATE`) would do for correctness; the queue wastes
less time, and it keeps a checkpoint from meeting another process's commit, a meeting in which SQLite before
3.51.3 could lose pages (https://sqlite.org/wal.html#walresetbug).
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable, NoLedger
from entwined.ledger.entry import Entry
from entwined.ledger.locks import Lock
from entwined.ledger.pages import Execute, Pages
from entwined.ledger.slots import sync_folder
from entwined.ledger.store import Pool
from entwined.writing import why_not, why_not_at

LATER: Final = "Try again later; nothing was charged by this attempt."
ADVICE: Final = {
    sqlite3.SQLITE_FULL: "the disk is full. Make room.",
    sqlite3.SQLITE_READONLY: "it may only be read. Give the right to write to the file and its folder.",
    sqlite3.SQLITE_BUSY: "other processes keep it locked. Try again later.",
    sqlite3.SQLITE_IOERR: "the disk does not read or write: it is broken, or over its quota. Make room, or check it.",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Give the right to write to the file and its folder.",
}
OF_THE_DISK: Final = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
)
"""SQLite says these of a full or read-only disk, and of much else."""
DAMAGE: Final = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # our statements are sound: a table or a column is gone
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    0,  # not SQLite's word but Python's: a text that is no text
)


class SqliteStore:
    """A ledger in one file."""

    def __init__(self, path: Path, patience: float) -> None:
        try:
            self._path = path.resolve()
            self._locks = self._path.with_name(self._path.name + "-locks")
        except (OSError, RuntimeError, ValueError):  # links in a circle, a zero, the root of all folders
            raise BadLedger(f"{path!s:.200} cannot be the file of a ledger. Name another file.") from None
        self._patience = patience
        self._pool = Pool(self._connect, lambda known: known[0].close())

    @property
    def name(self) -> str:
        """The file."""
        return str(self._path)

    def create(self, first: Entry, document: bytes) -> None:
        """Make the file."""
        with self._translated():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            link = self._open("rwc")
            try:
                self._require_empty(link)
                self._require_durable(link)
                link.execute("BEGIN IMMEDIATE")
                self._require_empty(link)
                Pages(_executor(link)).begin(first, document, number="INTEGER", binary="BLOB")
                link.execute("COMMIT")
            finally:
                link.close()
            sync_folder(self._path.parent)

    @contextmanager
    def reading(self) -> Iterator[Pages]:
        """Show one moment of the ledger."""
        with self._transaction("BEGIN") as pages:
            yield pages

    @contextmanager
    def writing(self) -> Iterator[Pages]:
        """Write alone."""
        queue = self._lock("write", f"The ledger {self._path} is busy: other processes are writing. {LATER}")
        try:
            with self._transaction("BEGIN IMMEDIATE") as pages:
                yield pages
        finally:
            queue.release()

    def clock(self) -> datetime:
        """Tell the time by this machine's clock."""
        return datetime.now(UTC)

    def lease(self, question: str) -> Lock:
        """Wait for the right to answer a question."""
        with self._translated():
            self._path.parent.mkdir(parents=True, exist_ok=True)  # there may be no ledger yet
        return self._lock(
            f"answer {question}", f"The same question is being answered by another process. {LATER}"
        )

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._pool.close()

    def _lock(self, name: str, what: str) -> Lock:
        with self._translated():
            return Lock(self._locks, name, self._patience, what)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Pages]:
        with self._translated():
            link, identity = self._current()
            try:
                link.execute(begin)
                yield Pages(_executor(link))
                link.execute("COMMIT")
            except (sqlite3.Error, UnicodeDecodeError):
                self._pool.drop((link, identity))  # closing undoes what is open
                raise
            except BaseException:
                link.rollback()
                self._pool.give((link, identity))
                raise
            self._pool.give((link, identity))

    def _current(self) -> tuple[sqlite3.Connection, tuple[int, int]]:
        """Take a connection to the file that stands at the path now, not to one that was replaced."""
        known = self._pool.take()
        if known[1] != self._identity():
            self._pool.drop(known)
            known = self._connect()
        return known

    def _connect(self) -> tuple[sqlite3.Connection, tuple[int, int]]:
        identity = self._identity()
        link = self._open("rw")
        try:
            self._require_ledger(link)
            self._require_durable(link)
        except BaseException:
            link.close()
            raise
        return link, identity

    def _require_ledger(self, link: sqlite3.Connection) -> None:
        if not link.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'entwined_head'").fetchone()[0]:
            raise NoLedger(f"{self._path} holds no ledger. Create one there, or name the right file.")

    def _require_empty(self, link: sqlite3.Connection) -> None:
        if link.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
            raise BadLedger(f"There is a database at {self._path} already. Open it, or choose another place.")

    def _require_durable(self, link: sqlite3.Connection) -> None:
        link.execute("PRAGMA synchronous = FULL")
        link.execute("PRAGMA fullfsync = ON")  # macOS needs to be asked twice
        if link.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise LedgerUnavailable(f"{self._path}: a ledger needs a local disk. Choose another place.")

    def _open(self, mode: str) -> sqlite3.Connection:
        place = f"file:{quote(str(self._path))}?mode={mode}"
        return sqlite3.connect(
            place, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )

    def _identity(self) -> tuple[int, int]:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            raise NoLedger(
                f"There is no ledger at {self._path}. Create one there, or name the right file."
            ) from None
        return found.st_dev, found.st_ino

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what SQLite and the disk say into what to do."""
        try:
            yield
        except sqlite3.Error as failed:
            raise _refusal(self._path, failed) from failed
        except UnicodeDecodeError as failed:  # SQLite quotes a damaged schema as it is
            raise _damaged(self._path, failed) from failed
        except OSError as failed:
            raise LedgerUnavailable(f"The ledger {self._path} cannot be used: {why_not(failed)}") from failed


def _executor(link: sqlite3.Connection) -> Execute:
    def execute(statement: str, values: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        return link.execute(statement, values).fetchall()

    return execute


def _damaged(path: Path, failed: Exception) -> LedgerDamaged:
    return LedgerDamaged(
        f"The ledger {path} is not a sound database: {str(failed)[:100]}. Restore the newest copy."
    )


def _refusal(path: Path, failed: sqlite3.Error) -> LedgerDamaged | LedgerUnavailable:
    code = getattr(failed, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest details
    if code in DAMAGE:
        return _damaged(path, failed)
    seen = why_not_at(path.parent) if code in OF_THE_DISK else ""
    advice = seen or ADVICE.get(code, f"{failed}. Check the file.")
    return LedgerUnavailable(f"The ledger {path} cannot be used: {advice}")
