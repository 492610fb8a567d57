"""A table and its ledger, held to each other around every charge."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from entwined.ledger import Ledger
from entwined.ledger.witness import Witness


def witness_of(table: object) -> Witness | None:
    """Find the witness of a table; a frame in memory has no place, so nothing remembers it."""
    place = getattr(table, "place", "")
    folder = getattr(table, "folder", None)
    return Witness(str(place), folder if isinstance(folder, Path) else None) if place else None


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
