"""Conditions in the values that their codes stand for, and what was asked, in words."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from entwined.errors import BadInput
from entwined.queries.documents import as_written
from entwined.schema import Boolean, Categorical, Coded, Ordered, Schema
from entwined.schema.exact import number_text

MOST_RANGES: Final = 6
MOST_ASKED: Final = 20
CODES: Final = re.compile(r'("(?:[^"\\]|\\.)*") in ([0-9.,]+) of ([0-9]+)')


def condition(text: str, schema: Schema) -> str:
    """Put conditions, which are written in codes, into the values that the codes stand for.

    >>> from entwined.schema import Categorical, Integer
    >>> people = Schema((Integer("age", 0, 99), Categorical("sex", ("f", "m"), missing="drop")))
    >>> condition('"age" in 21..99 of 101 and "sex" in 0 of 3', people)
    'age from 21 to 99 and sex f'
    """
    return CODES.sub(lambda found: _ranges(found, schema), text)


def asked_in_words(mechanism: Mapping[str, Any], schema: Schema) -> tuple[str, ...]:
    """Say what a batch asks, of many questions the first; nothing of what is no batch."""
    asked = mechanism.get("asked", ())
    said = [in_values(one["query"], schema) for one in asked[:MOST_ASKED]]
    return (*said, f"and {len(asked) - MOST_ASKED} more") if len(asked) > MOST_ASKED else tuple(said)


def in_values(document: Mapping[str, Any], schema: Schema) -> str:
    """Say what a query that was written down asks, with its conditions in values; its kind where the schema is another.

    >>> from entwined.queries import Count
    >>> from entwined.queries.documents import written
    >>> from entwined.schema import Moment
    >>> days = Schema((Moment("month", datetime(2026, 1, 1), datetime(2026, 12, 31)),))
    >>> in_values(written(Count(where="month between '2026-02-01' and '2026-02-28'").bound(days)), days)
    'Number of rows, of the rows with month from 2026-02-01 to 2026-02-28'
    """
    try:
        query = as_written(document)
        asked = json.loads(query.fingerprint)
        inside = {
            name: "" if asked[name] == "all" else condition(asked[name], schema) for name in query.conditions
        }
        return query.question(lambda name: titled(name, schema), inside)
    except (BadInput, KeyError, IndexError, ValueError):
        return str(document.get("query", "question"))


def titled(column: str, schema: Schema) -> str:
    """Name a column by its label, if it has one, and bands with their column."""
    bands = schema.side(column)
    if not isinstance(bands, str):
        return f"{column} of {titled(bands.column, schema)}"
    label = schema.label(column)
    return f"{label} ({column})" if label and label != column else column


def _ranges(found: re.Match[str], schema: Schema) -> str:
    column = schema.coded(json.loads(found[1]))
    pieces: list[str] = []
    for one in found[2].split(","):
        low, _, high = one.partition("..")
        pieces += _piece(int(low), int(high or low), column)
    return f"{column.name} {_listed(pieces)}"


def _piece(low: int, high: int, column: Coded) -> list[str]:
    """Name a range of codes; the last code, for missing, is named by itself."""
    missing = ["missing"] if high == column.missing_code else []
    high -= len(missing)
    if low > high:
        return missing
    if (low, high) == (0, column.levels - 1):
        return ["not missing", *missing]
    said = labels_of(column)
    first, last = (text_of(column.value(code), said) for code in (low, high))
    if low == high:
        return [first, *missing]
    between = f"from {first} to {last}" if isinstance(column, Ordered) else f"{first} … {last}"
    return [between, *missing]


def _listed(pieces: list[str]) -> str:
    return ", ".join([*pieces[:MOST_RANGES], "…"]) if len(pieces) > MOST_RANGES else " or ".join(pieces)


def labels_of(column: Coded) -> dict[Any, str]:
    """Name the values of a column that have names of their own."""
    if isinstance(column, Categorical):
        return dict(zip(column.values, column.labels or column.values, strict=True))
    return {False: "no", True: "yes"} if isinstance(column, Boolean) else {}


def text_of(value: Any, said: dict[Any, str]) -> str:
    """Write a value by its name, or as it is."""
    if value in said:
        return said[value]
    match value:
        case Fraction():
            return number_text(value)
        case datetime():
            return moment(value)
    return str(value)


def moment(value: datetime) -> str:
    """Write a time, without its clock where that is midnight.

    >>> moment(datetime(2020, 1, 31)), moment(datetime(2020, 1, 31, 12, 30))
    ('2020-01-31', '2020-01-31 12:30')
    """
    if value.time() == datetime.min.time():
        return f"{value:%Y-%m-%d}"
    return f"{value:%Y-%m-%d %H:%M:%S}" if value.second else f"{value:%Y-%m-%d %H:%M}"
