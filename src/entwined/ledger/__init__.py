"""Step 8: what has been spent."""

from entwined.ledger.book import Book, Spent
from entwined.ledger.charge import Accountant, Charge
from entwined.ledger.entry import Entry, Kind, Mark
from entwined.ledger.ledger import Ledger
from entwined.ledger.receipt import Receipt
from entwined.ledger.standing import Standing

__all__ = [
    "Accountant",
    "Book",
    "Charge",
    "Entry",
    "Kind",
    "Ledger",
    "Mark",
    "Receipt",
    "Spent",
    "Standing",
]
