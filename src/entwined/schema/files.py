"""Schema files: TOML that people review, with the approval beside the content it signs."""

import json
import re
import stat
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import BadInput, BadKey, BadSchema
from entwined.schema.columns import column_from
from entwined.schema.schema import Schema
from entwined.schema.unit import unit_from
from entwined.signing import Key, Signature
from entwined.writing import write_whole

LARGEST_FILE: Final = 50_000_000
WIDEST: Final = 100
PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
LONG_KEY: Final = re.compile(
    rf"(?:^|[{{,])[ \t]*+\[{{0,2}}[ \t]*+{PART}(?:[ \t]*+\.[ \t]*+{PART}){{6}}", re.MULTILINE
)
PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
SIGNED: Final = ("approved_key", "approved_signature")
TOP: Final = {"unit", "neighbours", "most_rows", "rows", "approved", "approved_digest", "column", *SIGNED}
HEAD: Final = """\
# What is public about a table. Review every line: nothing is learned from rows later.
# unit: what is protected: {kind = "rows"}, {kind = "cells"}, {kind = "person", column = "id", most = 5},
#   {kind = "household", column = "home", most = 5} or, for the degrees of a graph alone,
#   {kind = "nodes", columns = ["from", "to"], most = 50}
# neighbours: "replace" (a unit's value changes, their number is public) or "add_remove" (it may be absent)
# most_rows: no table under this schema has more rows
# outside: where a value beyond the bounds goes: "clamp" (the nearest end) or "missing"
# compare: when two texts that name a person or a group are the same: "loose" (spaces, the case of A to Z and zeros
#   before a number do not count) or "exact"
# bands: coarser looks at a column, each with a name: {stage = {child = 0, adult = 18}, decade = 10}, {month = "month"}
# missing: "value" (missing has a cell of its own in tables of counts), "drop" (such rows are left out) or "never" (no
#   row lacks a value)
# not_asked, no_answer: the values of those who were not asked, or gave no answer, "" for missing: shares leave them out
"""


def read_schema(path: str | Path) -> Schema:
    """Read a schema file; one that changed after it was approved is refused."""
    given = Path(path)
    try:
        return schema_of(_text_in(given))
    except BadSchema as wrong:
        raise BadSchema(f"{given}: {wrong}") from None


def _text_in(path: Path) -> str:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            raise BadSchema("It is not a regular file of at most 50 MB. Give a schema file.")
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise BadSchema(
            "There is no such file. Check its name and folder; `entwined describe` proposes one."
        ) from None
    except (OSError, ValueError) as failed:
        raise BadSchema(f"It cannot be read as UTF-8 text: {failed}. Check its name and contents.") from None


def schema_of(text: str, *, signed: bool = True) -> Schema:
    """Read the text of a schema file; with `signed` off, whatever approval it bears is left out."""
    if LONG_KEY.search(text):  # they take the parser very long
        raise BadSchema("A key has more than six parts joined by dots. A schema needs no more than two.")
    try:
        fields = tomllib.loads(text, parse_float=Decimal)
    except (RecursionError, ValueError, ArithmeticError) as failed:
        raise BadSchema(f"This is not TOML: {failed}. Correct it there.") from None
    unknown = sorted(fields.keys() - TOP)
    if unknown:
        raise BadSchema(f"There is the field {unknown[0]!r}. A schema has {', '.join(sorted(TOP))}.")
    columns = fields.get("column", [])
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise BadSchema("column is not a list of tables. Start each column with [[column]].")
    return Schema(
        columns=tuple(column_from(column) for column in columns),
        unit=unit_from(_needed(fields, "unit")),
        neighbours=_needed(fields, "neighbours"),
        approved_digest=_approval(fields) if signed else "",
        signature=_signature(fields) if signed else None,
        **{key: fields[key] for key in ("most_rows", "rows") if key in fields},
    )


def _needed(fields: Document, key: str) -> Any:
    if key not in fields:
        raise BadSchema(f"{key} is not declared. Say what is protected: see the head of a described schema.")
    return fields[key]


def _signature(fields: Document) -> Signature | None:
    given = [fields[key] for key in SIGNED if key in fields]
    if not given:
        return None
    if len(given) < len(SIGNED):
        raise BadSchema("A signature needs its key, and a key its signature. Approve with `entwined --key`.")
    try:
        return Signature.of_texts(*given)
    except BadKey as wrong:
        raise BadSchema(f"The approval is not signed as it says. {wrong} Approve the schema again.") from None


def _approval(fields: Document) -> str:
    approved, digest = fields.get("approved", False), fields.get("approved_digest", "")
    if not isinstance(approved, bool) or not isinstance(digest, str) or approved != bool(digest):
        raise BadSchema(
            "approved and approved_digest do not belong together. Approve with `entwined`, not by hand."
        )
    return digest


def write_schema(schema: Schema, path: str | Path) -> None:
    """Write a schema so that people can review it and `read_schema` gives the same one back."""
    _write(text_of(schema), Path(path))


def _write(text: str, path: Path) -> None:
    try:
        write_whole(path, text)
    except BadInput as wrong:
        raise BadSchema(str(wrong)) from None


def approve(path: str | Path, key: Key | None = None) -> Schema:
    """Approve the content of a schema file in place, whatever was approved before; comments stay if they can."""
    given = Path(path)
    text = _text_in(given)
    signed = schema_of(text, signed=False).approve(key)
    kept = [line for line in text.splitlines(keepends=True) if not line.startswith("approved")]
    mark = _lines(_approved(signed))
    at = next((at for at, line in enumerate(kept) if line.startswith("[")), len(kept))
    with_comments = "".join([*kept[:at], mark, *kept[at:]])
    _write(with_comments if _says(with_comments, signed) else text_of(signed), given)
    return signed


def _says(text: str, schema: Schema) -> bool:
    try:
        return schema_of(text) == schema
    except BadSchema:
        return False


def text_of(schema: Schema) -> str:
    """Give the text of a schema file."""
    fields = schema.document
    columns = fields.pop("columns")
    blocks = [HEAD + _lines(fields | _approved(schema))]
    blocks += ["[[column]]\n" + _lines(column) for column in columns]
    return "\n".join(blocks)


def _approved(schema: Schema) -> Document:
    """The fields of an approval."""
    if not schema.approved:
        return {}
    approval: Document = {"approved": True, "approved_digest": schema.approved_digest}
    signature = schema.signature
    if signature is None:
        return approval
    return approval | dict(zip(SIGNED, (signature.key.text, signature.text), strict=True))


def _lines(fields: Document) -> str:
    return "".join(f"{key} = {_literal(value)}\n" for key, value in fields.items())


def _literal(value: Any) -> str:
    """Write a value as TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _quoted(value)
        case list():
            parts = [_literal(part) for part in value]
            in_line = f"[{', '.join(parts)}]"
            return (
                in_line if len(in_line) <= WIDEST else "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
            )
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_literal(part)}" for key, part in value.items()) + "}"
    raise BadSchema(f"{value!r} has no place in a schema file. Give texts, integers and lists.")


def _key(name: str) -> str:
    return name if PLAIN.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """Write a text as JSON does, but for the delete sign, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
