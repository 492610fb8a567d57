"""An old copy of a ledger whose newest one is lost for good: it goes on only after what it forgot was charged anew.

Nobody can tell from the copy what was answered since. So the holder says the most that it can have been, on every row,
and that is charged before the copy is taken for the newest. What is more than the cap allows is not taken: then nothing
further is released.

That a copy is old is seen by marks elsewhere, of the anchor and of tables, which the copy does not hold. The charge
names these marks: whoever says the same again after a crash finds it there, and is charged for no loss twice. A ledger
that holds all marks is the newest copy known, and is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final
from uuid import uuid4

from entwined.canonical import sha256
from entwined.errors import BadLedger, Refused
from entwined.ledger.book import Book
from entwined.ledger.charge import Accountant, Charge
from entwined.ledger.entry import Entry, Kind, Mark
from entwined.ledger.ledger import Ledger
from entwined.ledger.slots import Kept
from entwined.promise.part import Part

SAID: Final = "what was charged after this copy was made, by the holder's word"
LOST: Final = "lost"
NO_OLD_COPY: Final = (
    "The ledger holds everything that is remembered of it up to entry {position}: it is no old copy.{done} Nothing was "
    "charged. Go on with it."
)
DONE: Final = " What an old copy had forgotten was charged at its entry {entry}."
OTHER: Final = (
    "The table was released from under the ledger {ledger}…, and this is another one. Nothing was charged. Put an old "
    "copy of that ledger back."
)


@dataclass(frozen=True, slots=True)
class Restored:
    """The ledger's last entry, and how much of the loss had been charged before, by an attempt that was cut off."""

    mark: Mark
    charged_before: Fraction


def restore(
    where: str | Path, cap: Fraction, accountant: Accountant, lost: Part, remembered: Sequence[Kept] = ()
) -> Restored:
    """Charge what a copy forgot, and take it for the newest from there on; until then the anchor stays as it was.

    `remembered` are the marks of the tables that were released from under it.
    """
    book = Book(where)
    aside = book.anchor.path.with_name(f"{book.anchor.path.name}-restoring")
    aside.unlink(missing_ok=True)
    copy = Book(where, aside)
    try:
        copy.adopt()  # all of it is checked
        marks = [kept.mark for kept in _of_this(copy, remembered)]
        marks += [book.anchor.read()] if book.anchor.exists else []
        forgotten = _forgotten(copy, marks)
        before = _charged(copy, forgotten)
        _charge(Ledger(copy, cap, accountant), lost, before, forgotten)
        mark = copy.head()
    finally:
        copy.close()
        aside.unlink(missing_ok=True)
        aside.with_name(f"{aside.name}-lock").unlink(missing_ok=True)
    book.anchor.replace(mark)
    return Restored(mark, before)


def _of_this(copy: Book, remembered: Sequence[Kept]) -> list[Kept]:
    """Refuse marks of another ledger."""
    own = copy.first().fields["ledger"]
    for kept in remembered:
        if kept.ledger != own:
            raise BadLedger(OTHER.format(ledger=kept.ledger[:8]))
    return list(remembered)


def _forgotten(copy: Book, marks: Sequence[Mark]) -> list[Mark]:
    """Give the marks that the copy does not hold; refuse a copy that holds all of them."""
    with copy.reading() as view:
        forgotten = sorted({mark for mark in marks if not view.holds(mark)})
        position = view.last.position
    if marks and not forgotten:
        charged = [entry.position for entry in copy.history() if _is_lost(entry)]
        done = DONE.format(entry=charged[-1]) if charged else ""
        raise Refused(NO_OLD_COPY.format(position=position, done=done))
    return forgotten


def _is_lost(entry: Entry) -> bool:
    return entry.kind is Kind.CHARGE and entry.fields["document"].get("kind") == LOST


def _charged(copy: Book, forgotten: Sequence[Mark]) -> Fraction:
    """Add up what was charged for the same forgotten entries; where none is remembered, by the last entries alone."""
    charged, last = Fraction(0), copy.head().position
    for entry in copy.history():
        if not _is_lost(entry):
            continue
        named = [Mark(*mark) for mark in entry.fields["document"]["forgotten"]]
        if set(forgotten) <= set(named) if forgotten else entry.position >= last - 1:
            charged += sum((part.one for part in entry.parts), Fraction(0))
    return charged


def _charge(ledger: Ledger, lost: Part, before: Fraction, forgotten: Sequence[Mark]) -> None:
    """Charge what of the loss was not charged yet."""
    due = lost.one - before
    if due <= 0:
        return
    name = f"restored {uuid4().hex}"
    document = {"kind": LOST, "forgotten": [list(mark) for mark in forgotten]}
    charge = Charge(name, sha256(name), (Part(lost.key, due, due),), "holder", document, (SAID,))
    ledger.fail(ledger.reserve(charge), SAID)
