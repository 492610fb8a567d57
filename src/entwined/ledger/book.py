"""A ledger as a book: its chain can be read, checked and continued, whoever prices it."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeVar

from entwined.canonical import Document, fraction_from, sha256_of_bytes
from entwined.errors import BadInput, BadLedger, LedgerDamaged, NoAnchor, NoLedger
from entwined.ledger.anchor import Anchor, default_anchor
from entwined.ledger.calendar import Allowance
from entwined.ledger.entry import RECEIPT_DIGITS, START, Entry, Kind, Mark
from entwined.ledger.pages import CUT, Pages
from entwined.ledger.postgres import PostgresStore
from entwined.ledger.sqlite import SqliteStore
from entwined.ledger.store import Lease, Store
from entwined.ledger.unanswered import Unanswered
from entwined.ledger.view import View, stored_bytes
from entwined.progress import report
from entwined.promise.part import Part, add_up
from entwined.promise.price import Price
from entwined.promise.totals import NOTHING

Opened = TypeVar("Opened")
BEGINNING: Final = "the ledger is begun"
PATIENCE: Final = 60.0
"""Seconds to wait for others before giving up."""
CHUNK: Final = 2000
MOST_DIGITS: Final = 18  # of a position, which is a database's whole number


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been spent so far: by part, and what it amounts to; within periods only what leaked in them counts."""

    cap: Fraction
    price: Price
    parts: tuple[Part, ...]
    entries: int
    periods: tuple[Allowance, ...] = ()


class Book:
    """A hash chain of entries in a database, held to its anchor.

    `where` is a file path or a postgresql:// URL. `anchor` is the path of the anchor, by default in the
    user's state folder: it guards against copies put back by accident, or by someone who cannot write to it.
    """

    def __init__(self, where: str | Path, anchor: Path | None = None, patience: float = PATIENCE) -> None:
        self.store = _store(where, patience)
        self.anchor = Anchor(anchor or default_anchor(self.store.name), patience)

    def opened_or_begun(self, opened: Callable[[], Opened], begun: Callable[[], Opened]) -> Opened:
        """Open the ledger of this book or begin it, alone: whoever else would begin it meanwhile waits and opens it.

        A ledger is there a moment before its anchor is, so one without an anchor is looked at again once it was begun.
        """
        with suppress(NoLedger, NoAnchor):
            return opened()
        lease = self.store.lease(BEGINNING)
        try:
            return opened()
        except NoLedger:
            return begun()
        finally:
            lease.release()

    def await_beginning(self) -> None:
        """Wait until nobody is beginning this ledger."""
        self.store.lease(BEGINNING).release()

    def begin(self, terms: Document, document: bytes) -> None:
        """Write the first entry where no book is and none was."""
        self.anchor.refuse_to_start()
        self.anchor.require_room()
        kept = {"kind": Kind.CREATED.value, "totals": NOTHING.digest, "answer": sha256_of_bytes(document)}
        first = Entry.after(START, {**terms, **kept}, self.store.clock())
        self.store.create(first, document)
        self.anchor.start(first.mark)

    def adopt(self) -> Mark:
        """Trust the book as it stands, after a full check: it was moved here, and is the newest copy.

        This is the holder's word, and from here on the new anchor vouches for the book. An anchor that is here
        already is taken at its word: a book that it knows further, or otherwise, is refused.
        """
        with self.store.reading() as pages:
            head = pages.head()
            known = self.anchor.read() if self.anchor.exists else None
            _walk(pages, View.verified(pages, known or head))
        if known is None:
            self.anchor.start(head)
        else:
            self.anchor.raise_to(head)
        return head

    def require(self, receipt: str) -> None:
        """Refuse a book that does not hold the entry which a printed receipt names."""
        position, _, digits = receipt.strip().partition(":")
        if not position.isdecimal() or len(digits) != RECEIPT_DIGITS or len(position) > MOST_DIGITS:
            raise BadInput(
                f"{receipt!r:.60} is no receipt. Give one as it was printed, such as 12:0123456789abcdef."
            )
        with self.reading() as view:
            if not (view.hash_at(int(position)) or "").startswith(digits):
                raise LedgerDamaged(
                    f"The ledger has {view.last.position} entries, and not the one of the receipt {receipt}: it is "
                    f"an old copy or another ledger. Restore the newest copy."
                )

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

    def unanswered(self, question: str) -> Unanswered | None:
        """Find the last charge of a question, where it has no answer."""
        with self.reading() as view:
            return Unanswered.of(view, question)

    def answered(self, charges: Iterable[int]) -> dict[int, tuple[Entry, bytes]]:
        """Read charges that have an answer, by their positions, with the bytes that were settled."""
        with self.reading() as view:
            closed = {position: view.course(position).closed for position in charges}
            return {
                position: (view.entry_at(position), view.answer(last))
                for position, last in closed.items()
                if last is not None and last.kind is Kind.ANSWERED
            }

    def lease(self, question: str) -> Lease:
        """Wait for the right to be the only one who answers a question."""
        return self.store.lease(question)

    def first(self) -> Entry:
        """Read the entry that the book was begun with."""
        with self.reading() as view:
            return view.first

    def terms(self) -> Entry:
        """Read the entry that set the terms in force: the first, or the last migration."""
        with self.reading() as view:
            return view.terms

    def head(self) -> Mark:
        """Tell how far the book has come."""
        with self.reading() as view:
            return view.last.mark

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

    def promised(self, since: int | None = None) -> Document:
        """Give the promise that it is kept under, or was since an entry that set terms, as it was written."""
        with self.reading() as view:
            return dict(view.document(None if since is None else view.entry_at(since)))

    def spent(self) -> Spent:
        """Tell what has been spent so far."""
        with self.reading() as view:
            last, parts = view.last_price(), view.totals().parts
            allowances = view.calendar.allowances
            now = max(view.clock(), view.last.time) if allowances else view.last.time
            return Spent(
                cap=fraction_from(view.terms.fields["cap"]),
                price=Price(Fraction(0)) if last is None else last.price,
                parts=tuple(parts[key] for key in sorted(parts)),
                entries=view.last.position,
                periods=tuple(
                    Allowance.as_written(period, now, allowed, last) for period, allowed in allowances
                ),
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
            return self.anchor.read()  # perhaps both were made meanwhile

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
            if "answer" in entry.fields:
                beside = stored_bytes(pages, entry)
            if entry.kind is Kind.MIGRATED:
                spent = {row[0]: Part.from_row(tuple(row)) for row in json.loads(beside)["carried"]}
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
