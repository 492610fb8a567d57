"""Step 8: what has been spent.

    charge.Charge ─> ledger.Ledger.reserve ─> receipt.Receipt ─> settle, fail or abandon
                            │
                          book ─> view of pages: a chain of entries, each with the hash of the one before
                            ├─ store: sqlite (`locks`) or postgres
                            └─ anchor, and the table's witness: how far the chain has come (`slots`)

`terms` are what a ledger was opened for and `migration` changes them with everything spent kept; `standing` is what a
certificate says of all charges so far.
"""

from entwined.ledger.book import Book, Spent
from entwined.ledger.charge import Accountant, Charge
from entwined.ledger.entry import Entry, Kind, Mark
from entwined.ledger.history import History
from entwined.ledger.ledger import Ledger
from entwined.ledger.receipt import Receipt
from entwined.ledger.standing import Standing

__all__ = [
    "Accountant",
    "Book",
    "Charge",
    "Entry",
    "History",
    "Kind",
    "Ledger",
    "Mark",
    "Receipt",
    "Spent",
    "Standing",
]
