"""A table and its ledger, held to each other around every charge, under every name that its rows are known by.

Beside its place and its bytes, rows are known by their fingerprint, which neither their order nor their spelling nor
the format of the table changes. It takes one reading of all rows before the charge: what it decides is whether this
ledger may be charged for them at all, and only the holder is told.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from entwined.canonical import sha256
from entwined.dependence import LearnedFrom
from entwined.errors import EntwinedError
from entwined.ledger import Ledger, Mark
from entwined.ledger.slots import Kept, state_folder
from entwined.ledger.witness import SAME_ROWS, Witness
from entwined.schema import Schema
from entwined.tables.origin import Known, Notes
from entwined.writing import write_whole

FINGERPRINTS: Final = "fingerprints"
LARGE: Final = 10_000  # rows from which a fingerprint is kept for the next opening
DIGEST: Final = re.compile("[0-9a-f]{64}")


@runtime_checkable
class Fingerprinted(Protocol):
    """Rows that are known again in any order and spelling."""

    @property
    def schema(self) -> Schema:
        """What is public about them."""

    @property
    def identity(self) -> str:
        """Where the rows live and which version of them it is."""

    def fingerprint(self) -> LearnedFrom | None:
        """Read the fingerprint of all rows; None where they cannot be read."""


class InSource:
    """A mark that is kept where the rows are."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    @property
    def path(self) -> str:
        """Where that is."""
        return self._notes.path

    def read(self) -> Kept | None:
        """Give the mark."""
        found = self._notes.read()
        return None if found is None else Kept(Mark(found[0], found[1]), found[2])

    @property
    def can_keep(self) -> bool:
        """Whether the user may write there."""
        return self._notes.can_keep

    def start(self, kept: Kept, mode: int) -> None:  # noqa: ARG002  (rights are the database's)
        """Remember a mark where none is."""
        self._notes.start(*kept.mark, kept.ledger)

    def raise_to(self, kept: Kept) -> None:
        """Remember a further mark of the same ledger."""
        self._notes.raise_to(*kept.mark, kept.ledger)

    def forget(self) -> None:
        """Remember nothing."""
        self._notes.forget()


def witness_of(table: object) -> Witness | None:
    """Find the rollback guard of a table; what is known by no name is remembered by nothing."""
    known = getattr(table, "known", None)
    if not isinstance(known, Known):
        return None
    names = (*known.own, *_rows_name(table, known.own))
    if not names:
        return None
    folder = getattr(table, "folder", None)
    return Witness(
        names,
        folder if isinstance(folder, Path) else None,
        known.under,
        sources=[InSource(notes) for notes in known.notes[:1]],
        sources_under=[InSource(notes) for notes in known.notes[1:]],
    )


def _rows_name(table: object, names: tuple[str, ...]) -> tuple[str, ...]:
    """Name rows by their fingerprint; no rows at all are nobody's."""
    if not isinstance(table, Fingerprinted):
        return ()
    identity = table.identity
    schema, is_kept = table.schema.digest, bool(names) and getattr(table, "has_version", False)
    path = state_folder() / FINGERPRINTS / sha256(identity, schema, *names)[:32]
    kept = _kept_fingerprint(path) if is_kept else ""
    if kept:
        return (f"{SAME_ROWS} {kept}",)
    rows = table.fingerprint()
    if rows is None or not rows.rows:
        return ()
    if is_kept and rows.rows >= LARGE:
        with suppress(OSError, EntwinedError):  # the guard finds out whether the folder can be written
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, f"{rows.fingerprint}\n", only_owner=True)
    return (f"{SAME_ROWS} {rows.fingerprint}",)


def _kept_fingerprint(path: Path) -> str:
    """Read the fingerprint of a large table that was scanned before as this same version."""
    try:
        text = path.read_text().strip()
    except OSError:
        return ""
    return text if DIGEST.fullmatch(text) else ""


def unguarded(table: object) -> str:
    """Say where the rollback guard of a table cannot be kept beside its rows; empty where it can."""
    witness = witness_of(table)
    return "" if witness is None else witness.unguarded


@contextmanager
def witnessed(table: object, ledger: Ledger) -> Iterator[str]:
    """Refuse a ledger that is not the table's newest before anything is charged; remember it on leaving.

    Whatever happens inside, what was charged is remembered before anything is handed out. It gives where that cannot
    be kept beside the rows, for the charge to say.
    """
    witness = witness_of(table)
    if witness is None:
        yield ""
        return
    witness.bind(ledger.book)
    try:
        yield witness.unguarded
    finally:
        witness.raise_to(ledger.head(), ledger.id)


@contextmanager
def rows_bound_on_leaving(table: object, ledger: Ledger) -> Iterator[None]:
    """Bind rows that come in while a stream is followed to its ledger once it ends; refuse those of another one."""
    try:
        yield
    except BaseException:
        with suppress(EntwinedError):
            _bind_rows(table, ledger)
        raise
    _bind_rows(table, ledger)


def _bind_rows(table: object, ledger: Ledger) -> None:
    rows = getattr(table, "rows_so_far", None)
    if isinstance(rows, LearnedFrom) and rows.rows:
        witness = Witness([f"{SAME_ROWS} {rows.fingerprint}"])
        witness.bind(ledger.book)
        witness.raise_to(ledger.head(), ledger.id)
