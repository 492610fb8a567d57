"""`entwined budget migrate`, `adopt` and `check`: other terms, another place, and whether all is sound."""

from typing import TYPE_CHECKING, Annotated

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption, ReceiptOption, RequestFile, YesOption, ask, ledger_of
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadInput, BadLedger, NoLedger, Refused

if TYPE_CHECKING:
    from entwined.ledger import Book
    from entwined.ledger.migration import Migration
    from entwined.ledger.witness import Witness

NEWEST = "Is this the newest copy of the ledger, with everything that was ever charged?"
OTHER = "Are the rows of this table about other people than any that were released from at this place?"
Place = Annotated[
    str,
    typer.Argument(metavar="LEDGER or RELEASE.toml", help="With a RELEASE.toml also what its table knows."),
]


def migrate(
    request_file: RequestFile,
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Go on under the terms of a request: other models, schema, cap or calendar. What was spent stays spent."""
    from entwined.canonical import fraction_from
    from entwined.ledger import Book
    from entwined.ledger.migration import foresee
    from entwined.ledger.migration import migrate as write
    from entwined.request.funds import PLANNING_ONLY
    from entwined.request.request_file import read_request

    with progress():
        request = read_request(request_file)
        if request.is_exploratory:
            raise Refused(PLANNING_ONLY)
        book = Book(request.place)
        book.check()
        cap = request.cap or fraction_from(book.terms().fields["cap"])
        planned = foresee(book, cap, request.promise, request.calendar)
    if not as_document:
        show(planned)
    if not yes:
        ask("Go on under these terms?")
    with progress():
        done = write(book, cap, request.promise, request.calendar)
        book.close()
    if as_document:
        as_json(_document(done))
        return
    say("Migrated. The next release is made, and charged, under the new terms.")


def _document(done: "Migration") -> Document:
    return {
        "differences": list(done.differences),
        "cap": float(done.cap),
        "spent_before": float(done.before.worst),
        "spent": float(done.after.worst),
        "over": done.is_over,
        "calendar": [one.document for one in done.allowances],
    }


def show(planned: "Migration") -> None:
    """Print what a migration changes."""
    say("What changes:")
    for one in planned.differences:
        say(f"  {one}")
    say(
        f"Spent so far: {number(float(planned.before.worst))} of {number(float(planned.cap_before))}. Under the "
        f"new terms: {number(float(planned.after.worst))} of {number(float(planned.cap))}."
    )
    for allowance in planned.allowances:
        say(f"Of the calendar, {allowance.words}.")
    if planned.is_over:
        say("That is more than the cap: nothing more can be released under these terms.")


def adopt(
    place: Place,
    other_rows: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--other-rows", help="The table of RELEASE.toml holds other rows than its earlier ledger was for."
        ),
    ] = False,
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Trust a ledger that was moved here, after a full check; it must be the newest copy that there is."""
    from entwined.ledger import Book

    witness = _witness(place)
    if other_rows and witness is None:
        raise BadInput("--other-rows is said of a table. Name the RELEASE.toml of a table that has a place.")
    if not yes:
        ask(OTHER if other_rows else NEWEST)
    with progress():
        book = Book(ledger_of(place))
        try:
            receipt = _adopted(book, witness, other_rows=other_rows)
        finally:
            book.close()
    if as_document:
        as_json({"ledger": book.store.name, "receipt": receipt})
        return
    if receipt is None:
        say("Forgotten. The next release begins a new ledger for this table.")
    else:
        say(f"Adopted {book.store.name}, receipt {receipt}. From here on an older copy is refused.")


def _adopted(book: "Book", witness: "Witness | None", *, other_rows: bool) -> str | None:
    """Start or raise the anchor, and bind the table; for other rows without a ledger let one be begun."""
    try:
        receipt = book.adopt().receipt
    except NoLedger:
        if witness is None or not other_rows:
            raise
        book.anchor.forget()
        witness.forget()
        return None
    if witness is not None:
        try:
            witness.bind(book)
        except BadLedger:
            if not other_rows:
                raise
            witness.bind(book, other_rows=True)
    return receipt


def check(
    place: Place,
    receipt: ReceiptOption = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Check that a ledger is whole and the newest: its chain, its anchor, what its tables know, a receipt."""
    from entwined.ledger import Book
    from entwined.ledger.witness import require_all

    witness = _witness(place)
    with progress():
        book = Book(ledger_of(place))
        try:
            entries = book.check()
            if receipt is not None:
                book.require(receipt)
            known = require_all(book)
            if witness is not None:
                witness.require(book)
            head = book.head().receipt
        finally:
            book.close()
    if as_document:
        as_json({"ledger": book.store.name, "entries": entries, "rollback_guards": known, "receipt": head})
        return
    say(f"Sound: {entries} entries. The anchor agrees. Tables whose rollback guard agrees: {known}.")
    say(f"receipt {head}")


def _witness(place: str) -> "Witness | None":
    """Find the witness of the table that a request names."""
    if "://" in place or not place.lower().endswith(".toml"):
        return None
    from entwined.door.witnessed import witness_of
    from entwined.request.request_file import read_terms
    from entwined.tables import open_table

    request = read_terms(place)
    with open_table(request.source, request.schema) as table:
        return witness_of(table)
