"""The names of the parts of a table that charges fall on."""

import json
from functools import lru_cache
from typing import Any

from entwined.canonical import canonical
from entwined.errors import BadQuery, LedgerDamaged
from entwined.queries import Predicate, predicate_from


def key_of(where: Predicate, column: str | None) -> str:
    """Name the part of a table that a charge falls on; equal parts have equal names."""
    return canonical({"where": where.document} | ({} if column is None else {"column": column}))


@lru_cache(maxsize=4096)
def place_of(key: str) -> tuple[str, Predicate]:
    """Read the name of a part: its column, empty for rows, and its condition."""
    try:
        given: Any = json.loads(key)
        return given.get("column", ""), predicate_from(given["where"])
    except (BadQuery, ValueError, KeyError, TypeError, AttributeError):
        raise LedgerDamaged(
            f"The ledger has the part {key[:80]!r}, which no release named. Restore it."
        ) from None
