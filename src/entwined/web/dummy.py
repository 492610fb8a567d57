"""Rows drawn from the schema alone, for trying code: they look like the table's and say nothing about it."""

import secrets
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from entwined.canonical import Document
from entwined.schema import Coded, Column, Schema

MOST: Final = 10_000
NAMES: Final = 1000  # so many different texts


def dummy_rows(schema: Schema, rows: int) -> Document:
    """Draw rows whose cells are independent and evenly spread over what the schema declares, missing included."""
    return {
        "columns": list(schema.names),
        "rows": [[_cell(column) for column in schema.columns] for _ in range(rows)],
    }


def _cell(column: Column) -> Any:
    if not isinstance(column, Coded):
        return f"{column.name} {secrets.randbelow(NAMES)}"
    value = column.value(secrets.randbelow(column.size))
    match value:
        case Fraction():
            return float(value)
        case datetime():
            return value.isoformat()
    return value
