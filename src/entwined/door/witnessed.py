"""A table and its ledger, held to each other around every charge."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from entwined.ledger import Ledger, Mark
from entwined.ledger.slots import Kept
from entwined.ledger.witness import Witness
from entwined.tables.origin import Known, Notes


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
    """Find the witness of a table; what is known by no name is remembered by nothing."""
    known = getattr(table, "known", None)
    if not isinstance(known, Known) or not known.own:
        return None
    folder = getattr(table, "folder", None)
    return Witness(
        known.own,
        folder if isinstance(folder, Path) else None,
        known.under,
        sources=[InSource(one) for one in known.notes[:1]],
        sources_under=[InSource(one) for one in known.notes[1:]],
    )


@contextmanager
def witnessed(table: object, ledger: Ledger) -> Iterator[None]:
    """Refuse a ledger that is not the table's newest before anything is charged; remember it on leaving.

    Whatever happens inside, what was charged is remembered before anything is handed out.
    """
    witness = witness_of(table)
    if witness is None:
        yield
        return
    witness.bind(ledger.book)
    try:
        yield
    finally:
        witness.raise_to(ledger.head(), ledger.id)
