"""`entwined budget restore`: go on from an old copy of a ledger, after what it forgot was charged."""

from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption, RequestFile, YesOption, ask
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadInput, Refused

if TYPE_CHECKING:
    from fractions import Fraction

    from entwined.ledger.restoring import Restored
    from entwined.request.request import Request

LOST = "Is the newest copy of the ledger lost for good, and was no more than this charged since the copy that is here?"


def restore(
    request_file: RequestFile,
    spent_since: Annotated[
        str,
        typer.Option("--spent-since", metavar="LOSS", help="The most that was charged since: a nominal ε."),
    ],
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Take an old copy of a ledger, whose newest one is lost: what was spent since is charged first, on every row."""
    from entwined.numbers import positive_fraction
    from entwined.request.request_file import read_request

    loss = positive_fraction(spent_since, "What was spent since")
    request = read_request(request_file)
    if request.schema.unit.by_column or request.delta is not None:
        raise Refused("What was forgotten can be charged where rows or persons are protected, without a δ.")
    if request.cap is None:
        raise BadInput("The request names no cap. Give the cap that the ledger was begun with.")
    if not yes:
        ask(LOST)
    with progress():
        done, spent = taken(request, request.cap, loss)
    if as_document:
        as_json({"receipt": done.mark.receipt, "spent": spent, "charged_before": float(done.charged_before)})
        return
    if done.charged_before:
        say(
            f"An attempt that was cut off had charged {number(float(done.charged_before))} of it: charged once."
        )
    say(
        f"Restored. Spent so far: {number(spent)} of {number(float(request.cap))}. receipt {done.mark.receipt}"
    )
    say("Certificates of what was released since that copy contradict it: say so where you published them.")


def taken(request: "Request", cap: "Fraction", loss: "Fraction") -> "tuple[Restored, float]":
    """Charge what the copy forgot, take it for the newest, and bind its table; give what was done and the total."""
    from entwined.door.witnessed import witness_of
    from entwined.ledger import Book
    from entwined.ledger.restoring import restore as charge_and_take
    from entwined.promise.part import Part
    from entwined.promise.places import key_of
    from entwined.queries import everything
    from entwined.tables import open_table

    lost = Part(key_of(everything(), None), loss, loss)
    with open_table(request.source, request.schema) as table:
        witness = witness_of(table)
        marks = () if witness is None else witness.remembered()
        done = charge_and_take(request.place, cap, request.promise, lost, marks)
        book = Book(request.place)
        if witness is not None:
            witness.bind(book, other_rows=True)
        spent = float(book.spent().price.worst)
        book.close()
    return done, spent
