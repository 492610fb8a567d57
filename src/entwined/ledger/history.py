"""The history of a ledger as people look at it: its charges, and what came of each."""

from dataclasses import dataclass
from typing import Self

from entwined.ledger.book import Book
from entwined.ledger.entry import Entry, Kind
from entwined.showing import Tabled


@dataclass(frozen=True, slots=True, repr=False)
class History(Tabled):
    """Every entry of a ledger, verified as it was read."""

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, book: Book) -> Self:
        """Read a book from its first entry on."""
        return cls(tuple(book.history()))

    @property
    def charges(self) -> tuple[Entry, ...]:
        """The entries that spent something."""
        return tuple(entry for entry in self.entries if entry.kind is Kind.CHARGE)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What came of each charge."""
        closed = {
            entry.fields["charge"]: entry.kind.value
            for entry in self.entries
            if entry.kind in (Kind.ANSWERED, Kind.FAILED)
        }
        return tuple(closed.get(entry.position, "open") for entry in self.charges)
