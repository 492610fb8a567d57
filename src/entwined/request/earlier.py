"""Batches that were answered before, read back from the ledger: what was drawn may be used again for nothing."""

from entwined.door.door import Door
from entwined.door.question import question_of
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import Drawn
from entwined.ledger.entry import Kind
from entwined.mechanisms.batch import Batch


def earlier_batches(door: Door, now: Batch) -> list[Drawn]:
    """Find the other batches that were answered from the same rows under the same promise, oldest first.

    A question names the version of the rows and the promise: one that would be named otherwise now is of other rows, or
    was promised otherwise, and is left out.
    """
    found: dict[str, Drawn] = {}
    for entry in door.ledger.book.history():
        document = entry.fields.get("document", {})
        if entry.kind is not Kind.CHARGE or document.get("kind") != Batch.kind or document == now.document:
            continue
        question = entry.fields["fingerprint"]
        if question in found or question != question_of(door.table, door.promise, document):
            continue
        drawn = door.ledger.stored(question)
        if drawn is not None:
            batch = Batch.from_document(document, door.promise)
            found[question] = batch, as_drawn(batch, batch.output(drawn))
    return list(found.values())
