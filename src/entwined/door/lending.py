"""Rows lent to a mechanism for as long as it runs: the one place where an engine is asked for an answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Final

from entwined.door.answering import Answering, Lending
from entwined.door.mechanism import Read
from entwined.errors import Refused, Unreadable
from entwined.noise.lattice import integers
from entwined.numbers import IntArray
from entwined.queries import Aggregate

WRONG: Final = "The table gave something other than what it was asked for. Open it again, or another one."
GIVEN_BACK: Final = "The rows were given back when the mechanism ended. Read them inside `run`."


@contextmanager
def lent(table: Answering) -> Iterator[Read]:
    """Lend the rows of a table; who keeps the reader gets nothing after the end."""
    is_lent = True

    def read(aggregates: Sequence[Aggregate]) -> list[IntArray]:
        if not is_lent:
            raise Refused(GIVEN_BACK)
        exact = [integers(one) for one in table.answer(aggregates)]
        if [one.shape for one in exact] != [(asked.cells,) for asked in aggregates]:
            raise Unreadable(WRONG)
        return exact

    try:
        with table.lending() if isinstance(table, Lending) else nullcontext():
            yield read
    finally:
        is_lent = False
