"""A ledger as a book: its chain can be read, checked and continued, whoever prices it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from entwined.errors import BadLedger, LedgerDamaged
from entwined.ledger.anchor import Anchor, default_anchor
from entwined.ledger.canonical import fraction_from
from entwined.ledger.charge import Part, Price, add_up
from entwined.ledger.entry import START, Entry, Kind, Mark
from entwined.ledger.pages import CUT, Pages
from entwined.ledger.postgres import PostgresStore
from entwined.ledger.sqlite import SqliteStore
from entwined.ledger.store import Lease, Store
from entwined.ledger.totals import NOTHING
from entwined.ledger.view import View, settled_answer
from entwined.progress import report

PATIENCE: Final = 60.0
"""Seconds to wait for others before giving up."""
CHUNK: Final = 2000


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been spent so far: by part, and what it amounts to."""

    cap: Fraction
    price: Price
    parts: tuple[Part, ...]
    entries: int


class Book:
    """A hash chain of entries in a database, held to its anchor.

    `where` is a file path or a postgresql:// URL. `anchor` is the path of the anchor, by default in the
    user's state folder: it guards against copies put back by accident, or by someone who cannot write to it.
    """

    def __init__(self, where: str | Path, anchor: Path | None = None, patience: float = PATIENCE) -> None:
        self.store = _store(where, patience)
        self.anchor = Anchor(anchor or default_anchor(self.store.name), patience)

    def begin(self, terms: dict[str, str]) -> None:
        """Write the first entry where no book is and none was."""
        self.anchor.refuse_to_start()
        fields = {**terms, "kind": Kind.CREATED.value, "totals": NOTHING.digest}
        first = Entry.after(START, fields)
        self.store.create(first)
        self.anchor.start(first.mark)

    def adopt(self) -> None:
        """Trust the book as it stands, after a full check: it was moved here, and is the newest copy.

        This is the holder's word. From here on the new anchor vouches for the book.
        """
        self.anchor.refuse_to_start()
        with self.store.reading() as pages:
            head = pages.head()
            _walk(pages, View.verified(pages, head))
        self.anchor.start(head)

    @contextmanager
    def reading(self) -> Iterator[View]:
        """Look at one verified moment; what is seen is anchored on leaving."""
        anchored = self._anchored()  # before the ledger is, or a commit in between would look like a cut
        with self.store.reading() as pages:
            view = View.verified(pages, anchored)
            yield view
        self._anchor_at(view, anchored)

    @contextmanager
    def writing(self) -> Iterator[View]:
        """Continue the chain alone; on leaving without an error it is on disk and anchored."""
        with self.store.writing() as pages:
            anchored = self.anchor.read()
            view = View.verified(pages, anchored)
            yield view
        self._anchor_at(view, anchored)

    def lease(self, question: str) -> Lease:
        """Wait for the right to be the only one who answers a question."""
        return self.store.lease(question)

    def first(self) -> Entry:
        """Read what the book was begun for."""
        with self.reading() as view:
            return view.first

    def check(self) -> int:
        """Walk the whole chain, recompute every hash, answer and total, and count the entries."""
        anchored = self._anchored()
        with self.store.reading() as pages:
            view = View.verified(pages, anchored)
            _walk(pages, view)
        return view.last.position

    def history(self) -> Iterator[Entry]:
        """Read all entries, oldest first, as they stand at the start."""
        with self.reading() as view:
            end = view.last.position
        before = START
        while before.position < end:
            with self.store.reading() as pages:
                rows = pages.rows(before.position, min(CHUNK, end - before.position))
            if not rows:
                raise LedgerDamaged("The ledger was cut while it was read. Restore the newest copy.")
            for row in rows:
                entry = Entry.read(row, before)
                before = entry.mark
                yield entry

    def spent(self) -> Spent:
        """Tell what has been spent so far."""
        with self.reading() as view:
            last, parts = view.last_price(), view.totals().parts
            return Spent(
                cap=fraction_from(view.first.fields["cap"]),
                price=Price(Fraction(0)) if last is None else last.price,
                parts=tuple(parts[key] for key in sorted(parts)),
                entries=view.last.position,
            )

    def _anchor_at(self, view: View, anchored: Mark) -> None:
        if view.last.position > anchored.position:
            self.anchor.raise_to(view.last.mark)

    def _anchored(self) -> Mark:
        try:
            return self.anchor.read()
        except LedgerDamaged:
            with self.store.reading() as pages:
                pages.head()  # where there is no ledger either, this says so
            raise

    def close(self) -> None:
        """Close the connections; the book opens them again when it is used."""
        self.store.close()


def _walk(pages: Pages, view: View) -> None:
    """Follow the chain from its first entry to its last and compare the totals at the end."""
    before = START
    spent: dict[str, Part] = {}
    closed: set[int] = set()
    while rows := pages.rows(before.position, CHUNK):
        for row in rows:
            entry = Entry.read(row, before)
            before = entry.mark
            add_up(spent, entry.parts)
            if entry.kind is Kind.ANSWERED:
                settled_answer(pages, entry)
            if entry.kind in (Kind.ANSWERED, Kind.FAILED):
                _close_once(entry, closed)
        report("ledger check", before.position, view.last.position)
    if before != view.last.mark:
        raise LedgerDamaged(CUT)
    if spent != view.totals().parts:
        raise LedgerDamaged("The ledger's totals are not those of its entries. Restore the newest copy.")


def _close_once(entry: Entry, closed: set[int]) -> None:
    """Refuse a second answer to one charge: it would be a second release for one price."""
    charge = entry.fields["charge"]
    if charge in closed:
        raise LedgerDamaged(f"Charge {charge} was closed twice. Restore a sound copy.")
    closed.add(charge)


def _store(where: str | Path, patience: float) -> Store:
    """Choose the database that a place names."""
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        return PostgresStore(where, patience)
    if isinstance(where, str) and "://" in where:  # a file of that name would be a ledger nobody meant
        raise BadLedger("A ledger's URL starts with postgresql://. Give such a URL, or the path of a file.")
    return SqliteStore(Path(where), patience)
