"""What was charged to a ledger, oldest first, in the words that it was charged under."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from entwined.canonical import Document

if TYPE_CHECKING:
    from entwined.ledger import Book, Entry
    from entwined.promise.price import Price


def history(book: "Book") -> Iterator[Document]:
    """Give every charge with what became of it, oldest first."""
    from entwined.ledger import Kind

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
            **amounts(entry.price),
        }


def amounts(price: "Price") -> Document:
    """Write a price in floats."""
    return {
        "nominal": float(price.nominal),
        "leakage": {name: float(amount) for name, amount in price.leakage.items()},
    }


def _asked(entry: "Entry") -> Document:
    """Tell what a charge was for: its kind, the queries of a batch, and both in words."""
    document = entry.fields["document"]
    kind = document.get("kind", "batch")
    queries = document.get("queries") or [one["query"] for one in document.get("asked", [])]
    return {"kind": kind, "asked": entry.fields.get("asked") or [kind], "queries": queries}
