"""`entwined describe`: propose a schema for a table, for the holder to review and approve."""

from pathlib import Path
from typing import Annotated

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.show import as_json, progress
from entwined.errors import BadInput


def command(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, Parquet, DuckDB, SPSS or Stata file, or a URL.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the proposed schema.")],
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Propose a schema from the rows; it is private, and nothing is released before the holder approves it."""
    from entwined.tables import describe

    if output.exists():
        raise BadInput(
            f"{output} is there already. Give another name, so that a reviewed schema is not lost."
        )
    with progress():
        found = describe(table)
    try:
        found.write(output)
    except OSError as reason:
        raise BadInput(
            f"{output} cannot be written: {reason.strerror}. Give a path you may write to."
        ) from None
    if as_document:
        as_json({"schema": str(output), "columns": len(found.schema.columns), "hints": list(found.hints)})
        return
    typer.echo(
        f"Proposed {len(found.schema.columns)} columns in {output}. It tells about the rows: keep it private,"
    )
    typer.echo("review every line, and approve it before anything is released.")
