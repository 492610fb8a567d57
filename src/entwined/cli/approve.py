"""`entwined approve`: the holder's signature under a schema that was reviewed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption, KeyFile, YesOption, ask
from entwined.cli.show import as_json, say, table
from entwined.errors import BadSchema

if TYPE_CHECKING:
    from entwined.schema import Schema
    from entwined.schema.unit import Unit

LARGEST_FILE = 50_000_000


def command(
    schema_file: Annotated[
        Path, typer.Argument(metavar="SCHEMA.toml", help="A schema that you have reviewed.", readable=False)
    ],
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
    key_file: KeyFile = None,
) -> None:
    """Approve a schema: from then on everything in it is public, and releases may rest on it."""
    from entwined.schema import approve
    from entwined.signing import Key

    key = None if key_file is None else Key.read(key_file)
    if not as_document:
        show(reviewed(schema_file))
    if not yes:
        ask("Is all of this public, and true whatever the rows hold?")
    approved = approve(schema_file, key)
    signer = None if key is None else key.public.fingerprint
    if as_document:
        said = {"schema": str(schema_file), "digest": approved.digest, "columns": len(approved.columns)}
        as_json(said | {"key": signer})
        return
    by = f" with the key {signer}" if signer else ""
    say(f"Approved. {schema_file} is signed{by}; changing any line of it undoes the approval.")


def reviewed(path: Path) -> "Schema":
    """Read a schema whatever approval it bears, perhaps one that its changes undid."""
    from entwined.schema.files import schema_of

    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            raise BadSchema(f"{path} is not a file of at most {LARGEST_FILE:,} bytes. Give a schema file.")
        return schema_of(path.read_bytes().decode(), signed=False)
    except (OSError, ValueError) as failed:
        raise BadSchema(f"{path} cannot be read as UTF-8 text: {failed}. Check its name.") from None


def show(schema: "Schema") -> None:
    """Print what is being approved."""
    from entwined.schema import Coded

    say(f"Protected: {schema.unit.words}{_which(schema.unit)}.")
    most = schema.declared_most_rows
    limit = "How many rows there are at most is not declared" if most is None else f"At most {most:,} rows"
    say(f"Neighbouring tables: {schema.neighbours}. {limit}.")
    if schema.rows is not None:
        say(f"The number of rows is public: {schema.rows:,}.")
    rows = []
    for column in schema.columns:
        fields = {
            key: value for key, value in column.document.items() if key not in ("name", "type", "label")
        }
        said = ", ".join(f"{key} {_short(value)}" for key, value in fields.items())
        levels = f"{column.levels:,}" if isinstance(column, Coded) else "–"
        rows.append([column.name, column.kind, levels, said])
    table("Public columns", ["column", "type", "#values", "declared"], rows)


def _short(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 200 else text[:199] + "…"  # noqa: PLR2004  (a few lines of a table)


def _which(unit: "Unit") -> str:
    """Say which column names a person."""
    if unit.id_column is None:
        return ""
    return f" (named by {unit.id_column}, of whom at most {unit.most_rows} are used)"
