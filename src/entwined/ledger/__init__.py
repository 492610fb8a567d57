"""Step 7: what has been spent."""

from entwined.ledger.book import Book, Spent
from entwined.ledger.charge import Accountant, Charge, Part, Price, Receipt
from entwined.ledger.entry import Entry, Kind
from entwined.ledger.ledger import Ledger

__all__ = ["Accountant", "Book", "Charge", "Entry", "Kind", "Ledger", "Part", "Price", "Receipt", "Spent"]
