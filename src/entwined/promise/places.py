"""The names of the parts of a table that charges fall on."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from entwined.canonical import canonical
from entwined.errors import BadQuery, LedgerDamaged
from entwined.promise.moved_by_one import MovedByOne
from entwined.promise.one_number import OneNumber
from entwined.promise.part import Part
from entwined.queries import Predicate, predicate_from


class PartPlace(NamedTuple):
    """A part of a table: a column, empty for rows or for all those `together`, and a condition.

    `together` are the columns that a statistic reads, where it reads several and that matters, and `filling` the
    weights by which the blanks of its column are filled. Where `distance` names a column, what is released moves in
    proportion to the distance of two values of that column, and with nothing else. `number` is what was released, where
    that is a single number which may have a price of its own. What is `reserved` was taken of that column's reserve.
    `apart` names a mechanism, fixed as a whole before it began, whose answers each read one step of a series alone with
    noise of their own. `counts` are what was released, where these are counts with Laplace noise under a δ.
    """

    column: str
    where: Predicate
    together: tuple[str, ...] = ()
    filling: tuple[int, ...] = ()
    distance: str = ""
    number: OneNumber | None = None
    reserved: bool = False
    apart: str = ""
    counts: MovedByOne | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose cells were read, none for rows."""
        return (self.column,) if self.column else self.together


def key_of(  # noqa: PLR0913  (what names a part)
    where: Predicate,
    column: str | None,
    together: Sequence[str] = (),
    filling: Sequence[int] = (),
    distance: str | None = None,
    number: OneNumber | None = None,
    *,
    counts: MovedByOne | None = None,
    reserved: bool = False,
) -> str:
    """Name the part of a table that a charge falls on; equal parts have equal names."""
    about = ({} if column is None else {"column": column}) | (
        {"together": list(together)} if together else {}
    )
    filled = {"filling": list(filling)} if filling else {}
    along = {"distance": distance} if distance else {}
    alone = {} if number is None else {"number": number.document}
    counted = {} if counts is None else {"counts": counts.document}
    kept = {"reserved": True} if reserved else {}
    return canonical({"where": where.document} | about | filled | along | alone | counted | kept)


def key_apart(where: Predicate, mechanism: str) -> str:
    """Name the rows of a condition where answers of a mechanism each read one step of a series alone."""
    return canonical({"where": where.document, "apart": mechanism})


def are_apart(parts: Iterable[Part]) -> bool:
    """Whether all that was charged is one mechanism whose answers each read one step of a series alone.

    Then losses were fixed before anything was seen, and what is shown of different steps composes. With anything else
    charged beside it, what came later may have been chosen by what was seen, and that is no longer said.
    """
    named = {place_of(part.key).apart for part in parts}
    return len(named) == 1 and "" not in named


@lru_cache(maxsize=4096)
def place_of(key: str) -> PartPlace:
    """Read the name of a part."""
    try:
        given: Any = json.loads(key)
        return PartPlace(
            given.get("column", ""),
            predicate_from(given["where"]),
            tuple(given.get("together", ())),
            tuple(map(int, given.get("filling", ()))),
            given.get("distance", ""),
            OneNumber.from_document(given["number"]) if "number" in given else None,
            given.get("reserved") is True,
            str(given.get("apart", "")),
            MovedByOne.from_document(given["counts"]) if "counts" in given else None,
        )
    except (BadQuery, ValueError, KeyError, TypeError, AttributeError):
        raise LedgerDamaged(
            f"The ledger has the part {key[:80]!r}, which no release named. Restore it."
        ) from None
