"""What is learned for nothing must not be learned from the rows that are to be protected."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from entwined.dependence import LearnedFrom
from entwined.errors import HolderError
from entwined.promise.declared import Declared


@runtime_checkable
class Recognizing(Protocol):
    """A table that knows its own rows again."""

    def holds(self, public: LearnedFrom) -> bool:
        """Say whether these rows are those of a table that is called public."""


def refuse_own_rows(table: object, declared: Iterable[Declared]) -> None:
    """Refuse a model that was learned, without a charge, from the very rows of a table; only the holder is told."""
    for one in declared:
        told = one.model.learned_from
        if told is not None and isinstance(table, Recognizing) and table.holds(told):
            raise HolderError(
                f"The model {one.title!r} was learned from rows that are those of the private table, in whatever "
                "order and spelling, so it is not public. Learn it from another table, or with a budget."
            )
