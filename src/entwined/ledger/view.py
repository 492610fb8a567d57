"""What a ledger says at one moment, believed only after it was verified."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from entwined.errors import LedgerDamaged
from entwined.ledger.canonical import sha256_of_bytes
from entwined.ledger.entry import BEFORE_THE_FIRST, Entry, Kind, Mark, Row
from entwined.ledger.pages import Pages
from entwined.ledger.totals import Totals


@dataclass(frozen=True, slots=True)
class Course:
    """How a charge went on: how many runs it has had, and what closed it, if anything."""

    runs: int
    closed: Entry | None


class View:
    """A verified ledger inside one transaction; it moves on as entries are appended."""

    def __init__(self, pages: Pages, first: Entry, last: Entry, totals: Totals) -> None:
        self._pages = pages
        self.first = first
        self.last = last
        self.totals = totals

    @classmethod
    def verified(cls, pages: Pages, anchored: Mark) -> Self:
        """Check in a few look-ups that end, totals, terms and anchor belong together.

        The anchor vouches for the chain up to its entry, the last entry for the totals and for the first entry,
        which holds the cap. What is not looked at is the history in between: that is `Book.check`.
        """
        head = pages.head()
        row = pages.row(head.position)
        if row is None or row.hash != head.hash or pages.last_position() != head.position:
            raise LedgerDamaged("The ledger does not end where it says: it was cut. Restore the newest copy.")
        last = Entry.read(row, _mark_before(pages, head.position))
        if pages.hash_at(anchored.position) != anchored.hash:
            raise LedgerDamaged(
                f"The ledger has {head.position} entries, and not the one at {anchored.position} that was seen "
                f"here before: it is an old copy or another ledger. Restore the newest copy."
            )
        totals = Totals.from_rows(pages.totals())
        if totals.digest != last.fields["totals"]:
            raise LedgerDamaged("The ledger's totals are not those of its entries. Restore the newest copy.")
        return cls(pages, _first(pages, last), last, totals)

    def charge_of(self, request: str) -> Entry | None:
        """Find the charge of a request."""
        return self._entry(self._pages.charge_of(request))

    def last_charge(self, fingerprint: str) -> Entry | None:
        """Find the latest charge for a question."""
        return self._entry(self._pages.last_charge(fingerprint))

    def last_price(self) -> Entry | None:
        """Find the latest charge of all."""
        return self._entry(self._pages.last_price())

    def course(self, charge: int) -> Course:
        """Tell how a charge went on."""
        later = [self._read(row) for row in self._pages.about(charge)]
        closed = [entry for entry in later if entry.kind in (Kind.ANSWERED, Kind.FAILED)]
        return Course(1 + sum(entry.kind is Kind.RUN for entry in later), closed[0] if closed else None)

    def answer(self, entry: Entry) -> bytes:
        """Read the bytes that were answered."""
        return settled_answer(self._pages, entry)

    def append(self, fields: Mapping[str, Any], totals: Totals, answer: bytes | None = None) -> Entry:
        """Write an entry, with the totals as they are after it."""
        vouched = {**fields, "totals": totals.digest, "first": self.first.hash}
        entry = Entry.after(self.last.mark, vouched)
        self._pages.append(entry, self.last.mark, answer)
        if totals is not self.totals:
            known = self.totals.parts
            self._pages.write_totals(part for key, part in totals.parts.items() if known.get(key) is not part)
        self.last, self.totals = entry, totals
        return entry

    def _entry(self, row: Row | None) -> Entry | None:
        return None if row is None else self._read(row)

    def _read(self, row: Row) -> Entry:
        return Entry.read(row, _mark_before(self._pages, row.position))


def settled_answer(pages: Pages, entry: Entry) -> bytes:
    """Read the bytes of an answered entry, refusing others than were settled."""
    answer = pages.answer(entry.position)
    if answer is None or sha256_of_bytes(answer) != entry.fields["answer"]:
        raise LedgerDamaged(
            f"The answer in entry {entry.position} is not the one that was given. Restore the newest copy."
        )
    return answer


def _first(pages: Pages, last: Entry) -> Entry:
    """Read the entry that holds the terms, as the last entry knows it."""
    row = pages.row(1)
    if row is None or row.hash != last.fields.get("first", last.hash):
        raise LedgerDamaged("The ledger's first entry is not the one its last was written after. Restore it.")
    return Entry.read(row, Mark(0, BEFORE_THE_FIRST))


def _mark_before(pages: Pages, position: int) -> Mark:
    if position == 1:
        return Mark(0, BEFORE_THE_FIRST)
    return Mark(position - 1, pages.hash_at(position - 1) or "")
