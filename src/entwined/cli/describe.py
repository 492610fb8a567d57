"""`entwined describe`: propose a schema for a table, for the holder to review and approve."""

from pathlib import Path
from typing import Annotated

import typer

from entwined.cli.arguments import JsonOption, YesOption
from entwined.cli.min_units import MinUnitsOption, UnitOption, minimum_of
from entwined.cli.show import as_json, progress, say
from entwined.errors import BadInput


def command(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, Parquet, DuckDB, SPSS or Stata file, or a URL.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the proposed schema.")],
    min_units: MinUnitsOption = None,
    unit: UnitOption = None,
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Propose a schema from the rows; it is private, and nothing is released before the holder approves it."""
    from entwined.tables import describe

    if output.exists():
        raise BadInput(
            f"{output} is there already. Give another name, so that a reviewed schema is not lost."
        )
    everywhere, by_column = minimum_of(min_units, yes=yes)
    with progress():
        found = describe(table, min_units=everywhere, min_units_of=by_column, unit=unit)
    try:
        notes = found.write(output)
    except OSError as reason:
        raise BadInput(
            f"{output} cannot be written: {reason.strerror}. Give a path you may write to."
        ) from None
    aside = [proposal.column.name for proposal in found.proposals if proposal.set_aside]
    if as_document:
        counts = {"columns": len(found.schema.columns), "set_aside": aside}
        as_json({"schema": str(output), "notes": str(notes), **counts, "hints": list(found.hints)})
        return
    say(f"Proposed {len(found.schema.columns)} columns in {output}, {len(aside)} of them set aside.")
    say(f"What was counted on the way is in {notes}, for you alone: never publish it.")
    say(f"Review every line of {output}, and approve it before anything is released.")
