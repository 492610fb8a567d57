"""What was charged to a ledger, oldest first, in words: of the schema that was in force then."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from entwined.canonical import Document

if TYPE_CHECKING:
    from entwined.ledger import Book, Entry
    from entwined.promise.price import Price
    from entwined.schema import Schema


def history(book: "Book") -> Iterator[Document]:
    """Give every charge with what became of it, oldest first."""
    from entwined.ledger import Kind

    charges: dict[int, tuple[Entry, Schema | None]] = {}
    outcomes: dict[int, str] = {}
    schema: Schema | None = None
    for entry in book.history():
        if entry.kind in (Kind.CREATED, Kind.MIGRATED):
            schema = _schema(book, entry)
        elif entry.kind is Kind.CHARGE:
            charges[entry.position] = entry, schema
        elif entry.kind in (Kind.ANSWERED, Kind.FAILED):
            outcomes[entry.fields["charge"]] = entry.kind.value
    for position, (entry, then) in charges.items():
        yield {
            "position": position,
            "time": entry.fields["time"],
            "request": entry.fields["request"],
            "analyst": entry.fields["analyst"],
            "outcome": outcomes.get(position, "open"),
            **_asked(entry.fields["document"], then),
            **amounts(entry.price),
        }


def amounts(price: "Price") -> Document:
    """Write a price in floats."""
    return {
        "nominal": float(price.nominal),
        "leakage": {name: float(amount) for name, amount in price.leakage.items()},
    }


def _schema(book: "Book", entry: "Entry") -> "Schema | None":
    """Read the schema that an entry set; an accountant that has none prices by other things."""
    from entwined.errors import BadInput
    from entwined.schema.files import schema_from

    document = book.terms_at(entry).get("schema")
    try:
        return None if document is None else schema_from(document)
    except BadInput:  # of a version of entwined that knew other columns
        return None


def _asked(document: Document, schema: "Schema | None") -> Document:
    """Tell what a charge was for: its kind, the queries of a batch, and both in words."""
    from entwined.report.findings import in_values

    kind = document.get("kind", "batch")
    queries = document.get("queries") or [one["query"] for one in document.get("asked", [])]
    said = [] if schema is None else [in_values(query, schema) for query in queries]
    return {"kind": kind, "asked": said or [kind], "queries": queries}
