"""An old copy of a ledger whose newest one is lost for good: it goes on only after what it forgot was charged anew.

Nobody can tell from the copy what was answered since. So the holder says the most that it can have been, on every row,
and that is charged before the copy is taken for the newest. What is more than the cap allows is not taken: then nothing
further is released.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

from entwined.canonical import sha256
from entwined.ledger.book import Book
from entwined.ledger.charge import Accountant, Charge
from entwined.ledger.entry import Mark
from entwined.ledger.ledger import Ledger
from entwined.promise.part import Part

SAID = "what was charged after this copy was made, by the holder's word"


def restore(where: str | Path, cap: Fraction, accountant: Accountant, lost: Sequence[Part]) -> Mark:
    """Charge what a copy forgot, and take it for the newest from there on; until then the anchor stays as it was."""
    book = Book(where)
    aside = book.anchor.path.with_name(f"{book.anchor.path.name}-restoring")
    aside.unlink(missing_ok=True)
    copy = Book(where, aside)
    try:
        copy.adopt()  # all of it is checked
        ledger = Ledger(copy, cap, accountant)
        name = f"restored {uuid4().hex}"
        charge = Charge(name, sha256(name), tuple(lost), "holder", {"kind": "lost"}, (SAID,))
        ledger.fail(ledger.reserve(charge), SAID)
        mark = copy.head()
    finally:
        copy.close()
        aside.unlink(missing_ok=True)
        aside.with_name(f"{aside.name}-lock").unlink(missing_ok=True)
    book.anchor.forget()
    book.anchor.start(mark)
    return mark
