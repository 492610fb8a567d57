"""Which rows belong together, as SQL: by the code of a coded column, by what is compared of an id.

`Text.form` is the rule; the suite over all engines holds these expressions against it. No locale comes in.
"""

from typing import Final

from entwined.errors import BadTable
from entwined.schema import Coded, Column, Text
from entwined.schema.comparison import BLANKS, CAPITALS, DIGITS
from entwined.tables.engine import Dialect, Shown

RUNS: Final = {
    "duckdb": "regexp_replace({text}, ' +', ' ', 'g')",
    "postgres": "regexp_replace({text}, ' +', ' ', 'g')",
    "pyspark": "regexp_replace({text}, ' +', ' ')",
}


def refuse_uncertain(column: Column, shown: Shown) -> None:
    """Refuse a column whose values in the source could not be told apart, or be called the same, for sure."""
    if not is_certain(column, shown):
        raise BadTable(
            f"Column {column.name!r} is of type {shown.type} in the source, and cannot say which rows belong together. "
            "Turn it into text or whole numbers there, or declare it as another type than text."
        )


def is_certain(column: Column, shown: Shown) -> bool:
    """Say whether a column's values in the source can be told apart, and be called the same, for sure."""
    if isinstance(column, Coded) or shown.kind == "nothing":
        return True
    return shown.kind in ("text", "whole", "number") and not shown.blurs


def together(column: Column, raw: str, code: str, shown: Shown, dialect: Dialect) -> str:
    """Give what rows that belong together share, and no others; NULL for a row that names nobody."""
    if isinstance(column, Coded):
        return f"CASE WHEN {code} <> {column.missing_code} THEN {code} END"
    if shown.kind == "text":
        return _form(raw, column.compare if isinstance(column, Text) else "exact", dialect)
    if shown.kind == "number":
        nothing = f"{raw} = 'NaN'::float8" if dialect == "postgres" else f"isnan({raw})"
        zero = "CAST(0 AS DOUBLE PRECISION)" if dialect == "postgres" else "CAST(0 AS DOUBLE)"
        return f"CASE WHEN {nothing} THEN NULL ELSE {raw} + {zero} END"  # so that −0 is 0
    return raw


def _form(raw: str, compare: str, dialect: Dialect) -> str:
    bare = f"TRIM(BOTH '{BLANKS}' FROM {raw})"
    if compare != "loose":
        return f"NULLIF({bare}, '')"
    spaced = RUNS[dialect].format(text=f"TRANSLATE({bare}, '{BLANKS}', '{' ' * len(BLANKS)}')")
    low = f"TRANSLATE({spaced}, '{CAPITALS}', '{CAPITALS.lower()}')"
    digits = f"TRANSLATE({bare}, '{DIGITS}', '') = ''"
    number = f"COALESCE(NULLIF(TRIM(LEADING '0' FROM {bare}), ''), '0')"
    return f"NULLIF(CASE WHEN {bare} = '' THEN '' WHEN {digits} THEN {number} ELSE {low} END, '')"
