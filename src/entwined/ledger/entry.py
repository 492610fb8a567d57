"""One line of the ledger, chained to the line before it by its hash."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self

from entwined.canonical import canonical, sha256
from entwined.errors import LedgerDamaged
from entwined.promise.part import Part
from entwined.promise.price import Price


class Kind(StrEnum):
    """What an entry says."""

    CREATED = "created"  # the ledger, its first cap and accountant
    CHARGE = "charge"  # a loss that is spent from now on; its first run may read rows
    RUN = "run"  # a later run under a charge whose runs so far died without an answer
    ANSWERED = "answered"  # the one answer of a charge
    FAILED = "failed"  # a run ended in an error: the charge stays, no answer will come
    MIGRATED = "migrated"  # another cap or accountant from here on; what was spent stays spent


class Row(NamedTuple):
    """An entry as a database holds it; the columns repeat what `content` says, so that it can be found."""

    position: int
    kind: str
    request: str | None
    fingerprint: str | None
    charge: int | None
    content: str
    hash: str


class Mark(NamedTuple):
    """How far a ledger has come: its last position, and the hash that vouches for everything up to it."""

    position: int
    hash: str

    @property
    def receipt(self) -> str:
        """The mark as it is printed for people, who can hold a ledger to it later."""
        return f"{self.position}:{self.hash[:RECEIPT_DIGITS]}"


RECEIPT_DIGITS: Final = 16
START: Final = Mark(0, "0" * 64)
"""What the first entry is chained to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger.

    `fields` always holds `kind`, `time` (for people, and under a calendar for the period) and `totals`, the digest of
    all totals after it; from the second entry on also `first`, the hash of the first, and behind a migration
    `terms`, the position and hash of the last one.
    """

    position: int
    fields: Mapping[str, Any]
    hash: str

    @classmethod
    def after(cls, before: Mark, fields: Mapping[str, Any], now: datetime) -> Self:
        """Chain a new entry to the last one."""
        stamped = {**fields, "time": now.astimezone(UTC).isoformat(timespec="seconds")}
        return cls(before.position + 1, stamped, sha256(before.hash, canonical(stamped)))

    @classmethod
    def read(cls, row: Row, before: Mark) -> Self:
        """Read an entry, refusing one that is not what was written after `before`."""
        if row.position != before.position + 1 or row.hash != sha256(before.hash, row.content):
            raise LedgerDamaged(
                f"Entry {row.position} of the ledger is not the one that was written. Nothing is answered "
                f"from a ledger that was edited or cut: restore the newest copy."
            )
        entry = cls(row.position, json.loads(row.content), row.hash)
        if entry.filed != (row.kind, row.request, row.fingerprint, row.charge):
            raise LedgerDamaged(
                f"Entry {row.position} of the ledger is filed under other names than its content says. "
                f"Restore the newest copy."
            )
        return entry

    @property
    def filed(self) -> tuple[str, str | None, str | None, int | None]:
        """What the entry can be found by."""
        named = self.fields.get
        return self.fields["kind"], named("request"), named("fingerprint"), named("charge")

    @property
    def row(self) -> Row:
        """The entry as a database holds it."""
        return Row(self.position, *self.filed, canonical(self.fields), self.hash)

    @property
    def time(self) -> datetime:
        """When it was written, by the ledger's clock."""
        return datetime.fromisoformat(self.fields["time"])

    @property
    def mark(self) -> Mark:
        """The ledger's state once this entry was written."""
        return Mark(self.position, self.hash)

    @property
    def kind(self) -> Kind:
        """What the entry says."""
        return Kind(self.fields["kind"])

    @property
    def parts(self) -> tuple[Part, ...]:
        """What a charge spends; nothing in other entries."""
        return tuple(Part.from_row(tuple(row)) for row in self.fields.get("parts", ()))

    @property
    def price(self) -> Price:
        """What everything amounted to after a charge."""
        return Price.from_document(self.fields["price"])
