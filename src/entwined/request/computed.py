"""Carry out the mechanisms of a request: each gives a document that its certificate covers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from entwined.canonical import Document, canonical, sha256
from entwined.door.certificate import covering
from entwined.door.door import Door, Passed
from entwined.door.witnessed import unguarded, witness_of
from entwined.mechanisms.offered import Offered
from entwined.mechanisms.sheet import Sheet
from entwined.request.bill import bill_of
from entwined.request.fulfil import require_entry
from entwined.request.funds import Funds, ledger_for, refuse_over, shown
from entwined.request.request import Request
from entwined.request.task_numbers import numbers_of
from entwined.request.tasks import Task
from entwined.tables import open_table


@dataclass(frozen=True, slots=True)
class Computation:
    """What a mechanism gave under its name: what was drawn, what it shows, and the certificate that covers both."""

    name: str
    stem: str
    says: str
    sheet: Sheet
    numbers: Document
    certificate: Mapping[str, Any]

    @classmethod
    def of(cls, task: Task, mechanism: Offered, passed: Passed[Any]) -> Self:
        """Make the document of what passed the door."""
        numbers = numbers_of(task.name, mechanism, passed.drawn.decode())
        proof = covering(passed.certificate, released=sha256(canonical(numbers)))
        return cls(task.name, task.stem, mechanism.words, mechanism.shown(passed.output), numbers, proof)

    @property
    def document(self) -> Document:
        """The numbers with their certificate."""
        return self.numbers | {"certificate": dict(self.certificate)}


@dataclass(frozen=True, slots=True)
class Computed:
    """All that the mechanisms of a request gave, and what the ledger says before and after."""

    found: tuple[Computation, ...]
    funds: Funds
    was_stored: bool


def compute(request: Request, receipt: str | None = None) -> Computed:
    """Let the mechanisms of a request through the door, one after the other; all of them have to fit under the cap.

    With the receipt of an earlier release, a ledger that does not hold its entry is refused.
    """
    if receipt is not None:
        require_entry(request.place, receipt)
    for one in request.dependence:
        one.check(request.schema)
    bill = bill_of(request)
    with (
        open_table(request.source, request.schema) as table,
        ledger_for(request, bill.promise, bill.price, witness_of(table)) as ledger,
    ):
        before = ledger.spent()
        refuse_over(ledger, request, bill)
        door = Door(table, bill.promise, ledger)
        found = tuple(
            Computation.of(task, mechanism, door.admit(mechanism))
            for task, mechanism in zip(request.tasks, request.mechanisms, strict=True)
        )
        after, place = ledger.spent(), shown(ledger.book, request)
        funds = Funds(
            place,
            ledger.cap,
            before.price,
            after.price,
            receipt=ledger.head().receipt,
            periods=after.periods,
            series_in_all=bill.promise.series_in_all(after.parts),
            unguarded=unguarded(table),
            delta_warning=request.delta_warning,
        )
        return Computed(found, funds, was_stored=before.entries == after.entries)
