"""The ledger's three tables, as one open transaction shows them; the same SQL for every database."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from entwined.canonical import sha256
from entwined.errors import LedgerDamaged
from entwined.ledger.entry import Entry, Kind, Mark, Row

TABLES: Final = (
    """CREATE TABLE entwined_entry (
        position {number} PRIMARY KEY,
        kind TEXT NOT NULL,
        request TEXT,
        fingerprint TEXT,
        charge {number},
        content TEXT NOT NULL,
        hash TEXT NOT NULL,
        answer {bytes})""",
    "CREATE UNIQUE INDEX entwined_request ON entwined_entry (request) WHERE request IS NOT NULL",
    """CREATE INDEX entwined_fingerprint ON entwined_entry (fingerprint, position)
        WHERE fingerprint IS NOT NULL""",
    "CREATE INDEX entwined_charge ON entwined_entry (charge) WHERE charge IS NOT NULL",
    # a part's key may be longer than an index can hold: its hash finds it
    """CREATE TABLE entwined_total (
        name TEXT PRIMARY KEY,
        part TEXT NOT NULL,
        loss_one TEXT NOT NULL,
        loss_both TEXT NOT NULL)""",
    # one row: who may write next has it locked
    "CREATE TABLE entwined_head (position {number} NOT NULL, hash TEXT NOT NULL)",
)
ENTRIES: Final = (
    "SELECT position, kind, request, fingerprint, charge, content, hash FROM entwined_entry WHERE "
)
STRANGE: Final = "The ledger holds what was never written. Restore the newest copy."
CUT: Final = "The ledger does not end where it says: it was cut. Restore the newest copy."


class Execute(Protocol):
    """Run one statement with `?` for its values, in the open transaction."""

    def __call__(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        """Return the rows it gives."""
        ...


class Pages:
    """What the tables hold, unverified: `View` is what can be believed."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def clock(self) -> datetime:
        """Tell the time by this machine's clock."""
        return datetime.now(UTC)

    def head(self) -> Mark:
        """Tell where the ledger ends, refusing one whose head and entries disagree about it."""
        ends = self._execute(
            "SELECT position, hash, (SELECT MAX(position) FROM entwined_entry) FROM entwined_head"
        )
        if len(ends) != 1 or ends[0][0] != ends[0][2]:
            raise LedgerDamaged(CUT)
        return Mark(_number(ends[0][0]), _text(ends[0][1]))

    def rows_at(self, *positions: int) -> dict[int, Row]:
        """Find entries by position, in one look-up."""
        places = ", ".join("?" * len(positions))
        return {row[0]: _row(row) for row in self._execute(ENTRIES + f"position IN ({places})", positions)}

    def hash_at(self, position: int) -> str | None:
        """Read the hash of one entry."""
        rows = self._execute("SELECT hash FROM entwined_entry WHERE position = ?", (position,))
        return _text(rows[0][0]) if rows else None

    def charge_of(self, request: str) -> Row | None:
        """Find the charge of a request."""
        return self._one(ENTRIES + "request = ?", request)

    def last_charge(self, fingerprint: str) -> Row | None:
        """Find the latest charge for a question."""
        return self._one(ENTRIES + "fingerprint = ? ORDER BY position DESC LIMIT 1", fingerprint)

    def last_price(self) -> Row | None:
        """Find the latest entry that says what everything amounts to."""
        priced = "kind IN (?, ?) ORDER BY position DESC LIMIT 1"
        return self._one(ENTRIES + priced, Kind.CHARGE.value, Kind.MIGRATED.value)

    def about(self, charge: int) -> list[Row]:
        """List the runs, answer and failure of a charge, in order."""
        return [_row(row) for row in self._execute(ENTRIES + "charge = ? ORDER BY position", (charge,))]

    def rows(self, after: int, most: int) -> list[Row]:
        """List entries in order."""
        return [
            _row(row)
            for row in self._execute(ENTRIES + "position > ? ORDER BY position LIMIT ?", (after, most))
        ]

    def answer(self, position: int) -> bytes | None:
        """Read the bytes that stand beside an entry: an answer, or the terms that it sets."""
        found = self._execute("SELECT answer FROM entwined_entry WHERE position = ?", (position,))[0][0]
        return None if found is None else bytes(found)

    def totals(self) -> list[tuple[str, str, str]]:
        """List the total of every part."""
        found = self._execute("SELECT part, loss_one, loss_both FROM entwined_total")
        return [(_text(part), _text(one), _text(both)) for part, one, both in found]

    def begin(self, first: Entry, document: bytes, number: str, binary: str) -> None:
        """Make the tables and write the first entry."""
        for statement in TABLES:
            self._execute(statement.format(number=number, bytes=binary))
        self._insert(first, document)
        self._execute("INSERT INTO entwined_head (position, hash) VALUES (?, ?)", first.mark)

    def append(self, entry: Entry, before: Mark, answer: bytes | None) -> None:
        """Write an entry behind `before`, or fail if that is not the end any more."""
        self._insert(entry, answer)
        moved = self._execute(
            "UPDATE entwined_head SET position = ?, hash = ? "
            "WHERE position = ? AND hash = ? RETURNING position",
            (*entry.mark, *before),
        )
        if len(moved) != 1:
            raise LedgerDamaged(CUT)

    def clear_totals(self) -> None:
        """Take all totals out, for others to be written."""
        self._execute("DELETE FROM entwined_total")

    def write_totals(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Set the totals of some parts."""
        for row in rows:
            self._execute(
                "INSERT INTO entwined_total (name, part, loss_one, loss_both) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE "
                "SET loss_one = excluded.loss_one, loss_both = excluded.loss_both",
                (sha256(row[0]), *row),
            )

    def _insert(self, entry: Entry, answer: bytes | None) -> None:
        self._execute(
            "INSERT INTO entwined_entry "
            "(position, kind, request, fingerprint, charge, content, hash, answer) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*entry.row, answer),
        )

    def _one(self, statement: str, *values: Any) -> Row | None:
        rows = self._execute(statement, values)
        return _row(rows[0]) if rows else None


def _row(found: Sequence[Any]) -> Row:
    position, kind, request, fingerprint, charge, content, head = found
    return Row(_number(position), kind, request, fingerprint, charge, _text(content), _text(head))


def _text(found: Any) -> str:
    """Refuse what a damaged file shows in place of a text."""
    if not isinstance(found, str):
        raise LedgerDamaged(STRANGE)
    return found


def _number(found: Any) -> int:
    if not isinstance(found, int):
        raise LedgerDamaged(STRANGE)
    return found
