"""What the door asks of a table."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias, runtime_checkable

from entwined.numbers import IntArray
from entwined.queries import Aggregate
from entwined.schema import Schema

Exact: TypeAlias = Sequence[int] | IntArray


class Answering(Protocol):
    """Where the exact answers come from."""

    @property
    def schema(self) -> Schema:
        """What is public about it."""

    def check(self, aggregates: Sequence[Aggregate]) -> None:
        """Refuse what the engine cannot answer; it is asked before the charge, so it reads no row."""

    def answer(self, aggregates: Sequence[Aggregate]) -> Sequence[Exact]:
        """Give exact integers, one sequence an aggregate with one number a public cell."""


@runtime_checkable
class Lending(Protocol):
    """A table that may keep what it scanned while its rows are lent."""

    def lending(self) -> AbstractContextManager[None]:
        """Keep what is scanned until this ends."""


@runtime_checkable
class Picking(Protocol):
    """A table that can keep groups small."""

    def keeping(self, column: str, most: int, first: str | None = None) -> Answering:
        """Give the same rows, but of those that share a value in a column at most `most`, picked by lot.

        A lot is pseudo-random and depends on the group's rows alone (see `picking`). With a column `first`, which
        orders steps, a row without one is left out, of the rows of one step one is taken by lot, and of the steps the
        first `most`. A row without a value in the column is left out. Where persons are protected, they are what is
        picked, after their rows: of the persons who share a value `most`, by lot, a person of several values having
        the least of them, with all of their rows that count. With a column `first` a person has the least of its
        codes too: one without any is left out, and of the persons with the same one only one is taken.
        """
