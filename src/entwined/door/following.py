"""A stream through the door: charged as a whole, then lent its rows block by block; no answer is shown before it is on
disk.

    admit ─> charged and settled ─> journal found again ─┬─> steps ready ─> lent rows ─> take ─> journal ─> shown ─┐
             (no row is read)       (or refused)         └──────────────────────────────────────────────────────────┘

`Door.admit` stays the one that charges, and `lent` the one that reads. What is new is only the order: the bytes that
the ledger keeps name the journal, and what the journal keeps was paid for by that charge. If the process dies, whoever
asks again is not charged, finds the journal, and goes on behind its last step; noise that was drawn and not written
was never shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from entwined.door.door import FAILED, Door
from entwined.door.lending import lent
from entwined.door.mechanism import Read
from entwined.door.stepwise import Incoming, Journal, StepAnswer, Stepwise, Taken
from entwined.errors import EntwinedError, Unreadable


@dataclass(frozen=True, slots=True)
class Following:
    """A stream that was charged: its certificate, and its answers block by block as rows come in."""

    certificate: Mapping[str, Any]
    blocks: Iterator[tuple[StepAnswer, ...]]


def follow(door: Door, mechanism: Stepwise, incoming: Incoming, journal: Journal) -> Following:
    """Charge a stream, or find it charged, and answer it for as long as rows come in; no step is answered again."""
    passed = door.admit(mechanism)
    kept = journal.resumed(passed.output)
    incoming.behind(len(kept))
    return Following(passed.certificate, _blocks(door, mechanism, incoming, journal, mechanism.begun(kept)))


def _blocks(
    door: Door, mechanism: Stepwise, incoming: Incoming, journal: Journal, state: object
) -> Iterator[tuple[StepAnswer, ...]]:
    while steps := incoming.ready(mechanism.left(state)):
        with lent(incoming) as read:
            taken = _taken(door, mechanism, state, read, steps)
        if taken is None:
            raise Unreadable(FAILED)
        journal.keep(taken)
        state = taken.state
        yield taken.answers


def _taken(door: Door, mechanism: Stepwise, state: object, read: Read, steps: int) -> Taken | None:
    """Take some steps; what fails in other words than ours tells nothing."""
    try:
        return mechanism.take(state, read, door.promise.schema, steps)
    except EntwinedError:
        raise
    except Exception:  # noqa: BLE001  (its words may come from private rows)
        return None
