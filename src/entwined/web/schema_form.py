"""A schema as an editable table of text fields, and back; what has no field there stays as it was."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import BadSchema
from entwined.schema import Schema
from entwined.schema.columns import KINDS, column_from
from entwined.schema.unit import unit_from

RANGED: Final = ("integer", "real", "moment")
LISTS: Final = ("values", "labels", "missing_codes", "not_asked", "no_answer")
OF_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "categorical": ("values", "labels", "missing", "missing_codes", "not_asked", "no_answer"),
    "boolean": ("missing",),
    "integer": ("low", "high", "mean", "outside", "missing", "missing_codes"),
    "real": ("low", "high", "step", "mean", "outside", "missing", "missing_codes"),
    "moment": ("low", "high", "step", "outside", "missing", "missing_codes"),
    "text": ("compare",),
}
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "missing": ("value", "drop", "never"),
    "outside": ("clamp", "missing"),
    "compare": ("", "loose", "exact"),
}
KEPT_ALWAYS: Final = ("bands", "public")


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """One line of the table: a column's fields as texts."""

    place: int
    name: str
    kind: str
    label: str
    fields: Mapping[str, str]

    @property
    def lists(self) -> dict[str, str]:
        """The fields with one text a line."""
        return {key: value for key, value in self.fields.items() if key in LISTS}

    @property
    def choices(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The fields with a few choices."""
        return {key: (value, CHOICES[key]) for key, value in self.fields.items() if key in CHOICES}

    @property
    def plain(self) -> dict[str, str]:
        """All other fields."""
        return {key: value for key, value in self.fields.items() if key not in LISTS and key not in CHOICES}


def forms_of(schema: Schema) -> list[ColumnForm]:
    """Write each column as texts."""
    found = []
    for place, column in enumerate(schema.columns):
        document = column.document
        fields = {key: _written(key, document.get(key, "")) for key in OF_KIND[column.kind]}
        found.append(ColumnForm(place, column.name, column.kind, column.label, fields))
    return found


def schema_from(before: Schema, given: Mapping[str, str]) -> Schema:
    """Make the schema that a form says; a column that is not kept is left out."""
    columns = [
        column_from(_column(column.document, given, place))
        for place, column in enumerate(before.columns)
        if given.get(f"keep-{place}")
    ]
    kind = given.get("unit", "rows")
    unit: Document = {"kind": kind}
    if kind in ("person", "household"):
        unit |= {
            "column": given.get("person", ""),
            "most": _whole(given, "person_most", "most rows of a person"),
            "beyond": given.get("beyond", "sample"),
        }
    rows = given.get("rows", "").strip()
    return Schema(
        tuple(columns),
        unit_from(unit),
        given.get("neighbours", "replace"),  # type: ignore[arg-type]  # a schema refuses any other
        _whole(given, "most_rows", "most rows"),
        _whole(given, "rows", "number of rows") if rows else None,
    )


def _column(document: Document, given: Mapping[str, str], place: int) -> Document:
    kind = given.get(f"kind-{place}", document["type"])
    if kind not in KINDS:
        raise BadSchema(f"Column {document['name']!r:.60} has the type {kind!r:.60}. Choose one of the list.")
    found: Document = {"name": document["name"], "type": kind}
    if label := given.get(f"label-{place}", "").strip():
        found["label"] = label
    if kind == document["type"]:
        found |= {key: document[key] for key in KEPT_ALWAYS if key in document}
    found |= dict(_fields(kind, given, place))
    return found


def _fields(kind: str, given: Mapping[str, str], place: int) -> Iterator[tuple[str, Any]]:
    for key in OF_KIND[kind]:
        text = given.get(f"{key}-{place}", "")
        if key in LISTS:
            listed = _lines(text)
            if listed or key == "values":
                yield key, listed
        elif text.strip():
            whole = kind == "integer" and key in ("low", "high")
            yield key, _whole(given, f"{key}-{place}", key) if whole else text.strip()


def _written(key: str, value: Any) -> str:
    """Write a field; lists one a line, or as JSON where lines would not give them back."""
    if key not in LISTS:
        return str(value)
    texts = list(value or ())
    lines = "\n".join(texts)
    return lines if _lines(lines) == texts else json.dumps(texts, ensure_ascii=False)


def _lines(text: str) -> list[str]:
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return found
    return [line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def _whole(given: Mapping[str, str], key: str, words: str) -> int:
    text = given.get(key, "").strip().replace("_", "")
    if not text.removeprefix("-").isdecimal() or len(text) > 20:  # noqa: PLR2004  (more than any column holds)
        raise BadSchema(f"{words}: {text!r:.60} is no whole number. Give one.")
    return int(text)
