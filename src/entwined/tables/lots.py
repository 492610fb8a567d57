"""Lots: pseudo-random numbers that every engine draws alike for a row, a person or an edge, from what it holds alone.

A lot is 60 bits of the MD5 of a text in UTF-8: a public key, then the parts it is drawn for, joined by commas. Nothing
rests on MD5 being secret or hard to invert. What is proved holds for any fixed function; only that a sample resembles
its group takes the function for a random one.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from entwined.tables.engine import Dialect, Kind

MOST_ARGUMENTS: Final = 50  # of one call; PostgreSQL takes 100
DIGITS: Final = 15  # hexadecimal, so that a lot is a whole number of 64 bits with a sign in every engine
LARGEST: Final = 2**53  # from here on every double is whole
PARTS: Final = 2**52
TEXT: Final[dict[Dialect, str]] = {"duckdb": "VARCHAR", "postgres": "TEXT", "pyspark": "STRING"}
LOT: Final[dict[Dialect, str]] = {
    "duckdb": "CAST('0x' || SUBSTR(MD5({text}), 1, {digits}) AS BIGINT)",
    "postgres": "CAST(CAST('x' || SUBSTR(MD5(CONVERT_TO({text}, 'UTF8')), 1, {digits}) AS BIT(60)) AS BIGINT)",
    "pyspark": "CAST(CONV(SUBSTR(MD5({text}), 1, {digits}), 16, 10) AS BIGINT)",
}


def lot(parts: Sequence[str]) -> int:
    """Draw the lot of parts that are spelled already.

    >>> lot(["key", "h1", "3", "1"])
    732097761200124313
    """
    return int(hashlib.md5(",".join(parts).encode(), usedforsecurity=False).hexdigest()[:DIGITS], 16)


def lot_of(parts: Sequence[str], dialect: Dialect) -> str:
    """Write the lot of SQL expressions that are texts, none of them NULL."""
    return LOT[dialect].format(text=_joined(parts), digits=DIGITS)


def _joined(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    if len(parts) > MOST_ARGUMENTS:
        starts = range(0, len(parts), MOST_ARGUMENTS)
        return _joined([_joined(parts[start : start + MOST_ARGUMENTS]) for start in starts])
    return f"CONCAT_WS(',', {', '.join(parts)})"


def spelled(value: str, kind: Kind, dialect: Dialect) -> str:
    """Spell what is compared of an id, one of a file of texts as the same one among numbers; '' where there is none.

    Ids that are called the same are spelled the same. Two that differ may share a spelling, if they are numbers beyond
    2^53: their groups then draw the same lots, which favours no row.
    """
    text = TEXT[dialect]
    if kind == "number":
        whole, size = f"FLOOR({value})", f"ABS({value})"
        rest = f"CAST(FLOOR(({value} - {whole}) * {PARTS}) AS BIGINT)"
        spelling = (
            f"CASE WHEN {size} >= {LARGEST} THEN 'far' "
            f"WHEN {value} = {whole} THEN CAST(CAST({whole} AS BIGINT) AS {text}) "
            f"ELSE CONCAT(CAST(CAST({whole} AS BIGINT) AS {text}), '.', CAST({rest} AS {text})) END"
        )
    elif kind == "text":
        spelling = (
            f"CASE WHEN {value} LIKE '%.0' THEN SUBSTR({value}, 1, LENGTH({value}) - 2) ELSE {value} END"
        )
    else:
        spelling = f"CAST({value} AS {text})"
    return f"COALESCE({spelling}, '')"


def whole_text(number: str, dialect: Dialect) -> str:
    """Spell an integer that is never NULL."""
    return f"CAST({number} AS {TEXT[dialect]})"


def quoted(text: str) -> str:
    """Write a plain text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def spelled_id(value: str | int | None) -> str:
    """Spell what is compared of an id, as `spelled` does in SQL."""
    return "" if value is None else str(value).removesuffix(".0")
