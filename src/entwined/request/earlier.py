"""Batches that were answered before, read back from the ledger: what was drawn may be used again for nothing."""

from collections.abc import Mapping
from typing import Any

from entwined.door.door import Door
from entwined.door.question import question_of
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import Drawn
from entwined.ledger.entry import Kind
from entwined.mechanisms.batch import Batch
from entwined.promise.promise import Promise


def earlier_batches(door: Door, now: Batch) -> dict[int, Drawn]:
    """Find the other batches that were answered from the same rows under the same promise, by their charges.

    A question names the version of the rows and the promise: one that would be named otherwise now is of other rows, or
    was promised otherwise, and is left out.
    """
    charges: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for entry in door.ledger.book.history():
        document = entry.fields.get("document", {})
        if entry.kind is not Kind.CHARGE or document.get("kind") != Batch.kind or document == now.document:
            continue
        question = entry.fields["fingerprint"]
        if question in charges or question == question_of(door.table, door.promise, document):
            charges[question] = entry.position, document  # the last charge of a question has its answer
    answers = {question: door.ledger.stored(question) for question in charges}
    return {
        position: drawn_before(document, drawn, door.promise)
        for question, (position, document) in charges.items()
        if (drawn := answers[question]) is not None
    }


def drawn_before(document: Mapping[str, Any], drawn: bytes, promise: Promise) -> Drawn:
    """Read an answered batch back, with its numbers as they were drawn."""
    batch = Batch.from_document(document, promise)
    return batch, as_drawn(batch, batch.output(drawn))
