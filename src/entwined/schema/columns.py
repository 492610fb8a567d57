"""The column types by name, and a column from the fields of its file."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import BadSchema
from entwined.schema.categories import Boolean, Categorical, Text
from entwined.schema.column import Coded, Column
from entwined.schema.grids import Integer, Numeric, Ordered, Real
from entwined.schema.moments import Moment

KINDS: Final[Mapping[str, type[Column]]] = {
    kind.kind: kind for kind in (Categorical, Boolean, Integer, Real, Moment, Text)
}

__all__ = [
    "KINDS",
    "Boolean",
    "Categorical",
    "Coded",
    "Column",
    "Integer",
    "Moment",
    "Numeric",
    "Ordered",
    "Real",
    "Text",
    "column_from",
]


def column_from(fields: Mapping[str, Any]) -> Column:
    """Make a column of the fields of its file, refusing fields it does not have."""
    name = fields.get("name")
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadSchema(f"Column {name!r} has type {kind!r}. Give one of {', '.join(KINDS)}.")
    known = {field.name: field for field in dataclasses.fields(KINDS[kind])}
    given: Document = {key: _value(key, value, name) for key, value in fields.items() if key != "type"}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise BadSchema(
            f"Column {name!r} has the field {unknown[0]!r}. A {kind} column has {', '.join(known)}."
        )
    lacking = [
        key for key, field in known.items() if field.default is dataclasses.MISSING and key not in given
    ]
    if lacking:
        raise BadSchema(f"Column {name!r} of type {kind} has no {lacking[0]!r}. Declare it.")
    return KINDS[kind](**given)


def _value(key: str, value: object, name: object) -> object:
    if key == "bands" and not isinstance(value, dict):
        raise BadSchema(f"Column {name!r}: bands = {value!r:.60}. Give each a name: bands = {{decade = 10}}.")
    if key not in {"values", "labels", "missing_codes", "not_asked", "no_answer"}:
        return value
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise BadSchema(f'Column {name!r}: {key} is {value!r}. Give a list of texts such as ["a", "b"].')
    return tuple(value)
