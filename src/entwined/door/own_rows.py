"""What is learned for nothing must not be learned from the rows that are to be protected."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from entwined.dependence import LearnedFrom
from entwined.errors import BadInput, HolderError, LedgerDamaged, Refused
from entwined.ledger import Ledger
from entwined.promise.declared import Declared


@runtime_checkable
class Recognizing(Protocol):
    """A table that knows its own rows again."""

    def holds(self, public: LearnedFrom) -> bool:
        """Say whether these rows are those of a table that is called public."""


def refuse_own_rows(table: object, declared: Iterable[Declared]) -> None:
    """Refuse a model that was learned, without a charge, from the very rows of a table; only the holder is told."""
    for given in declared:
        origin = given.model.learned_from
        if origin is not None and isinstance(table, Recognizing) and table.holds(origin):
            raise HolderError(
                f"The model {given.title!r} was learned from rows that are those of the private table, in whatever "
                "order and spelling, so it is not public. Learn it from another table, or with a budget."
            )


def require_charges(ledger: Ledger, declared: Iterable[Declared]) -> None:
    """Refuse a model whose learning was charged to this ledger where the ledger does not hold that entry.

    One that was charged to another ledger is of other rows: the rollback guard keeps these from a second ledger.
    """
    for given in declared:
        origin = given.model.learned_from
        charge = None if origin is None else origin.charge
        if charge is None or charge.ledger != ledger.id:
            continue
        try:
            ledger.book.require(charge.receipt)
        except (BadInput, LedgerDamaged):
            raise Refused(
                f"The model {given.title!r} was learned with a budget, and the ledger has no entry "
                f"{charge.receipt!r:.40} for it. Nothing was charged. Restore the newest copy, or learn it again."
            ) from None
