"""Carry out a request: open its table and its ledger, and go through the door."""

from dataclasses import dataclass

from entwined.door.door import Door
from entwined.door.witnessed import unguarded, witness_of
from entwined.estimate.answers import Release
from entwined.estimate.compared import ComparedNumbers, NamedNumbers
from entwined.ledger import Book
from entwined.mechanisms.batch import Batch
from entwined.request.bill import Bill
from entwined.request.funds import Funds, ledger_for, shown
from entwined.request.request import Request
from entwined.request.verbs import release_batch
from entwined.tables import open_table


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """What a request gave, in the order of its questions, and what the ledger says before and after it."""

    release: Release
    funds: Funds
    was_stored: bool
    """Whether the same had been asked before of the same rows, so that nothing new was charged."""
    compared: tuple[ComparedNumbers, ...] = ()


def fulfil(
    request: Request, planned: Batch, receipt: str | None = None, *, with_earlier: bool = False
) -> Fulfilled:
    """Release what was planned; a table that cannot be opened is refused before a ledger is begun.

    With the receipt of an earlier release, a ledger that does not hold its entry is refused. `with_earlier` makes the
    numbers agree with what was released before of the same rows.
    """
    for one in request.dependence:
        one.check(request.schema)
    if receipt is not None:
        require_entry(request.place, receipt)
    with (
        open_table(request.source, request.schema) as table,
        ledger_for(request, planned.promise, Bill.of_batch(planned).price, witness_of(table)) as ledger,
    ):
        before = ledger.spent()
        door = Door(table, planned.promise, ledger)
        found = release_batch(
            door,
            planned,
            request.queries,
            consistent=request.consistent,
            impossible=request.impossible,
            with_earlier=with_earlier,
            expected_rows=request.rows,
        )
        after, head, place = ledger.spent(), ledger.head().receipt, shown(ledger.book, request)
        funds = Funds(
            place,
            ledger.cap,
            before.price,
            after.price,
            receipt=head,
            periods=after.periods,
            series_in_all=planned.promise.series_in_all(after.parts),
            unguarded=unguarded(table),
            delta_warning=request.delta_warning,
        )
        names = tuple(question.name for question in request.questions)
        numbers = NamedNumbers(planned, found, names, request.impossible)
        stored = before.entries == after.entries
        return Fulfilled(found, funds, stored, numbers.all(request.comparisons))


def require_entry(place: str, receipt: str) -> None:
    """Refuse a ledger that does not hold the entry of a receipt."""
    book = Book(place)
    try:
        book.require(receipt)
    finally:
        book.close()
