"""What was replied, by question and by request id, and the log of who asked what: one small database beside the passes.

It holds nothing that was not handed out. The ledger alone says what was spent: a reply is given again only after the
ledger was seen to hold its answer, and what is missing here is made again from there.
"""

import os
import sqlite3
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from entwined.errors import BadCharge, LedgerUnavailable

TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS reply (question TEXT PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS asked (place TEXT, analyst TEXT, request TEXT, question TEXT NOT NULL)",
    "CREATE UNIQUE INDEX IF NOT EXISTS asked_once ON asked (place, analyst, request)",
    "CREATE TABLE IF NOT EXISTS log (time TEXT, analyst TEXT, place TEXT, act TEXT, request TEXT, status INTEGER)",
)
PATIENCE: Final = 30.0


class Logged(NamedTuple):
    """One line of the log."""

    time: str
    analyst: str
    place: str
    act: str
    request: str
    status: int


class Records:
    """The database; several processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._link = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", *TABLES):
            self._run(statement)

    def reply(self, question: str) -> bytes | None:
        """Find what was replied to a question."""
        found = self._run("SELECT body FROM reply WHERE question = ?", question)
        return None if not found else bytes(found[0][0])

    def keep(self, question: str, body: bytes) -> bytes:
        """Keep a reply; who comes second gets what the first one kept."""
        self._run("INSERT OR IGNORE INTO reply VALUES (?, ?)", question, body)
        return self.reply(question) or body

    def name(self, place: str, analyst: str, request: str, question: str) -> None:
        """Let a request id stand for a question, once."""
        self._run("INSERT OR IGNORE INTO asked VALUES (?, ?, ?, ?)", place, analyst, request, question)
        if self.named(place, analyst, request) != question:
            raise BadCharge(
                f"The request id {request} stands for another question already. Give each its own id."
            )

    def named(self, place: str, analyst: str, request: str) -> str | None:
        """Find the question that a request id stands for."""
        found = self._run(
            "SELECT question FROM asked WHERE place = ? AND analyst = ? AND request = ?",
            place,
            analyst,
            request,
        )
        return None if not found else str(found[0][0])

    def log(self, analyst: str, place: str, act: str, request: str, status: int) -> None:
        """Write a line of the log; there is nothing of a pass or an answer in it."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._run("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", now, analyst, place, act, request, status)

    def logged(self, most: int = 1000) -> list[Logged]:
        """Read the last lines of the log, oldest first."""
        found = self._run("SELECT * FROM log ORDER BY rowid DESC LIMIT ?", most)
        return [Logged(*row) for row in reversed(found)]

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._link.close()

    def _run(self, statement: str, *values: Any) -> Sequence[Sequence[Any]]:
        try:
            with self._lock:
                return self._link.execute(statement, values).fetchall()
        except sqlite3.Error as failed:
            raise LedgerUnavailable(f"The records {self.path} cannot be used: {failed}.") from None
