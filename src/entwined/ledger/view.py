"""What a ledger says at one moment, believed only after it was verified."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from entwined.canonical import sha256_of_bytes
from entwined.errors import LedgerDamaged
from entwined.ledger.calendar import Calendar
from entwined.ledger.entry import START, Entry, Kind, Mark, Row
from entwined.ledger.pages import CUT, Pages
from entwined.promise.part import Part
from entwined.promise.totals import Totals

CHUNK: Final = 500
OTHER_TERMS: Final = "The ledger's terms are not those it was made with. Restore the newest copy."


@dataclass(frozen=True, slots=True)
class Course:
    """How a charge went on: how many runs it has had, and what closed it, if anything."""

    runs: int
    closed: Entry | None


class View:
    """A verified ledger inside one transaction; it moves on as entries are appended."""

    def __init__(self, pages: Pages, first: Entry, terms: Entry, last: Entry) -> None:
        self._pages = pages
        self.first = first
        self.terms = terms
        self.last = last

    @classmethod
    def verified(cls, pages: Pages, anchored: Mark) -> Self:
        """Check in a few look-ups that end, terms and anchor belong together.

        The anchor vouches for the chain up to its entry, and the last entry for the totals, for the first entry
        and for the one that set the cap. What is not looked at is the history in between: that is `Book.check`.
        """
        head = pages.head()
        rows = pages.rows_at(1, anchored.position, head.position - 1, head.position)
        if anchored.position not in rows or rows[anchored.position].hash != anchored.hash:
            raise LedgerDamaged(
                f"The ledger has {head.position} entries, and not the one at {anchored.position} that was "
                f"seen here before: it is an old copy or another ledger. Restore the newest copy."
            )
        if not {1, head.position} <= rows.keys() or rows[head.position].hash != head.hash:
            raise LedgerDamaged(CUT)
        first = Entry.read(rows[1], START)
        if head.position == 1:
            return cls(pages, first, first, first)
        before = rows.get(head.position - 1)
        last = Entry.read(rows[head.position], Mark(head.position - 1, before.hash if before else ""))
        if first.hash != last.fields["first"]:
            raise LedgerDamaged(OTHER_TERMS)
        return cls(pages, first, _terms_in_force(pages, first, last), last)

    def holds(self, mark: Mark) -> bool:
        """Whether the entry of a mark is part of the ledger."""
        return self._pages.hash_at(mark.position) == mark.hash

    def hash_at(self, position: int) -> str | None:
        """Read the hash of one entry, if it is there."""
        return self._pages.hash_at(position)

    @property
    def calendar(self) -> Calendar:
        """What the terms in force allow each period."""
        return Calendar.from_document(self.terms.fields.get("calendar", {}))

    def clock(self) -> datetime:
        """Tell the time by the clock of the ledger's place."""
        return self._pages.clock()

    def entry_at(self, position: int) -> Entry:
        """Read one entry."""
        row = self._pages.rows_at(position).get(position)
        if row is None:
            raise LedgerDamaged(CUT)
        return self._read(row)

    def entries(self, after: Mark, most: int | None = None) -> Iterator[Entry]:
        """Read the entries behind one, each chained to the one before, so many or all up to the last."""
        end = self.last.position if most is None else after.position + most
        before = after
        while before.position < end:
            rows = self._pages.rows(before.position, min(CHUNK, end - before.position))
            for row in rows:
                entry = Entry.read(row, before)
                before = entry.mark
                yield entry
            if not rows:
                raise LedgerDamaged(CUT)
        if before.position == self.last.position and before != self.last.mark:
            raise LedgerDamaged(CUT)

    def document(self, terms: Entry | None = None) -> Any:
        """Read what the terms in force, or those that an entry set, depend on, as it was written."""
        return json.loads(stored_bytes(self._pages, terms or self.terms))["terms"]

    def totals(self, known: Totals | None = None) -> Totals:
        """Tell what has been spent, as the last entry vouches for it; what is known already is not read again."""
        vouched = self.last.fields["totals"]
        if known is not None and known.digest == vouched:
            return known
        found = Totals.of(self._pages.totals())
        if found.digest != vouched:
            raise LedgerDamaged("The ledger's totals are not those of its entries. Restore the newest copy.")
        return found

    def charge_of(self, request: str) -> Entry | None:
        """Find the charge of a request."""
        return self._entry(self._pages.charge_of(request))

    def last_charge(self, fingerprint: str) -> Entry | None:
        """Find the latest charge for a question."""
        return self._entry(self._pages.last_charge(fingerprint))

    def last_price(self) -> Entry | None:
        """Find the latest entry that says what everything amounts to."""
        return self._entry(self._pages.last_price())

    def course(self, charge: int) -> Course:
        """Tell how a charge went on."""
        later = [self._read(row) for row in self._pages.about(charge)]
        closed = [entry for entry in later if entry.kind in (Kind.ANSWERED, Kind.FAILED)]
        return Course(1 + sum(entry.kind is Kind.RUN for entry in later), closed[0] if closed else None)

    def answer(self, entry: Entry) -> bytes:
        """Read the bytes that were answered."""
        return stored_bytes(self._pages, entry)

    def append(self, fields: Mapping[str, Any], answer: bytes | None = None) -> Entry:
        """Write an entry that spends nothing."""
        return self._append(fields, self.last.fields["totals"], answer)

    def spend(self, fields: Mapping[str, Any], parts: Iterable[Part], after: Totals) -> Entry:
        """Write an entry that spends these parts, with the totals as they are after it."""
        self._pages.write_totals(after[part.key].row for part in parts)
        return self._append(fields, after.digest, None)

    def migrate(self, fields: Mapping[str, Any], after: Totals, document: bytes) -> Entry:
        """Write an entry that sets other terms, with the totals as they are under them."""
        self._pages.clear_totals()
        self._pages.write_totals(after.rows.values())
        self.terms = self._append(fields, after.digest, document)
        return self.terms

    def _append(self, fields: Mapping[str, Any], totals: str, answer: bytes | None) -> Entry:
        since = {} if self.terms.position == 1 else {"terms": list(self.terms.mark)}
        now = self.clock()
        if self.calendar or fields["kind"] == Kind.MIGRATED:  # then periods are told by the order of entries
            now = max(now, self.last.time)
        entry = Entry.after(
            self.last.mark, {**fields, **since, "totals": totals, "first": self.first.hash}, now
        )
        self._pages.append(entry, self.last.mark, answer)
        self.last = entry
        return entry

    def _entry(self, row: Row | None) -> Entry | None:
        return None if row is None else self._read(row)

    def _read(self, row: Row) -> Entry:
        before = row.position - 1
        return Entry.read(row, Mark(before, self._pages.hash_at(before) or "") if before else START)


def stored_bytes(pages: Pages, entry: Entry) -> bytes:
    """Read the bytes beside an entry, an answer or terms, refusing others than were written with it."""
    found = pages.answer(entry.position)
    if found is None or sha256_of_bytes(found) != entry.fields["answer"]:
        raise LedgerDamaged(
            f"What stands in entry {entry.position} is not what was written there. Restore the newest copy."
        )
    return found


def _terms_in_force(pages: Pages, first: Entry, last: Entry) -> Entry:
    """Find the entry that set the terms in force, for which the last entry vouches."""
    if last.kind is Kind.MIGRATED:
        return last
    if "terms" not in last.fields:
        return first
    position, head = last.fields["terms"]
    row = pages.rows_at(position).get(position)
    if row is None or row.hash != head:
        raise LedgerDamaged(OTHER_TERMS)
    return Entry.read(row, Mark(position - 1, pages.hash_at(position - 1) or ""))
