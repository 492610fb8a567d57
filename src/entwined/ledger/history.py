"""The history of a ledger as people look at it: its charges, and what came of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from entwined.canonical import Document
from entwined.ledger.book import Book
from entwined.ledger.entry import Entry, Kind
from entwined.promise.price import Price
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


def charge_documents(book: Book) -> Iterator[Document]:
    """Give every charge with what became of it, oldest first."""
    charges: dict[int, Entry] = {}
    outcomes: dict[int, str] = {}
    for entry in book.history():
        if entry.kind is Kind.CHARGE:
            charges[entry.position] = entry
        elif entry.kind in (Kind.ANSWERED, Kind.FAILED):
            outcomes[entry.fields["charge"]] = entry.kind.value
    for position, entry in charges.items():
        yield {
            "position": position,
            "time": entry.fields["time"],
            "request": entry.fields["request"],
            "analyst": entry.fields["analyst"],
            "outcome": outcomes.get(position, "open"),
            **_asked(entry),
            **({"again_after": entry.fields["again_after"]} if "again_after" in entry.fields else {}),
            **floats_of(entry.price),
            **({"unguarded": entry.fields["unguarded"]} if "unguarded" in entry.fields else {}),
        }


def floats_of(price: Price) -> Document:
    """Write a price in floats."""
    return {
        "nominal": float(price.nominal),
        "leakage": {name: float(amount) for name, amount in price.leakage.items()},
    }


def _asked(entry: Entry) -> Document:
    """Tell what a charge was for: its kind, the queries of a batch, and both in words."""
    document = entry.fields["document"]
    kind = document.get("kind", "batch")
    queries = document.get("queries") or [one["query"] for one in document.get("asked", [])]
    return {"kind": kind, "asked": entry.fields.get("asked") or [kind], "queries": queries}
