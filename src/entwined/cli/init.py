"""`entwined init`: from a table to a commented release.toml, ready to be reviewed and planned."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.approve import reviewed
from entwined.cli.arguments import JsonOption, YesOption
from entwined.cli.min_units import MinUnitsOption, UnitOption, minimum_of
from entwined.cli.show import as_json, progress, say
from entwined.errors import BadInput
from entwined.writing import write_whole

if TYPE_CHECKING:
    from entwined.schema import Schema

FEW = 12  # values of which each has a bar of its own
MOST_QUERIES = 4
BINS = 10
GROUPING = (
    "household",
    "family",
    "class",
    "school",
    "ward",
    "hospital",
    "firm",
    "company",
    "village",
    "group",
)
HEAD = """\
# What to release. `entwined plan` tells what it would cost and give, and reads no rows;
# `entwined release` spends it. Every key is explained here; one that is not known is refused.

title = {title}
table = {table}            # a path from here, or a URL such as postgresql://host/base?table=name
schema = {schema}          # what is public about the table; approve it before a release
ledger = {ledger}          # what has been spent; begun by the first release. Or a postgresql:// URL
cap = 3.0                  # the most that everything ever released from this table may leak
leakage = 1.0              # the most that this release may leak. Or loss = 0.5, its nominal ε;
                           # or neither, if every query says `within`
knowledge = "any"          # an adversary who may know any other values, or parts of them; "model": one who knows none
# delta = 1e-9             # Gaussian instead of Laplace noise, for many queries: every promise but for this chance
consistent = true          # counts that add up and are not negative; it costs nothing
# expected_rows = 1000     # about how many rows there are, only to predict the errors of means and medians
"""
DEPENDENCE = """
# What depends on what. Without a [[dependence]] rows are taken to be independent of each other, and an
# adversary who knows better learns more than the leakage above.
{mark}[[dependence]]
{mark}name = {name}
{mark}model = {{ kind = "groups", largest = {largest} }}   # or a file: model = "model.json"
{mark}by = {by}   # rows that share its value are one group, which counts for at most `largest` of them
"""
QUERIES = """
# The questions: count, total, mean, variance, quantile, median, histogram, marginal, group_by,
# or sql = "SELECT sex, count(*) FROM {table} GROUP BY sex". Optional for each: a name, a condition
# where = "age > 20 and sex = 'f'", and within = 30: the 95 % interval is to be ± 30.
"""


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, Parquet, DuckDB, SPSS or Stata file, or a URL.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the request.")] = Path(
        "release.toml"
    ),
    schema: Annotated[
        Path | None, typer.Option("--schema", help="The schema; proposed from the rows if it is not there.")
    ] = None,
    min_units: MinUnitsOption = None,
    unit: UnitOption = None,
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Write a commented release.toml for a table, and propose its schema if there is none."""
    from entwined.tables.describe import describe, notes_beside

    schema_file = output.parent / "schema.toml" if schema is None else schema
    if output.exists():
        raise BadInput(f"{output} is there already. Give another name with -o, so that it is not lost.")
    proposed = not schema_file.exists()
    everywhere, by_column = minimum_of(min_units, yes=yes)
    with progress():
        if proposed:
            describe(source, min_units=everywhere, min_units_of=by_column, unit=unit).write(schema_file)
        found = schema_for(source, schema_file)
        group = next((name for name in found.names if any(word in name.lower() for word in GROUPING)), None)
        measure_groups(source, schema_file, found, group)
    write_whole(output, request_text(source, schema_file, output, found, group))
    if as_document:
        notes = str(notes_beside(schema_file)) if proposed else None
        as_json({"request": str(output), "schema": str(schema_file), "proposed": proposed, "notes": notes})
    else:
        show_next(source, output, schema_file, proposed=proposed)


def show_next(source: str, output: Path, schema_file: Path, *, proposed: bool) -> None:
    """Say what was written and what comes next."""
    from entwined.request.words import without_password
    from entwined.tables.describe import notes_beside
    from entwined.tables.group_sizes import sizes_beside

    say(f"Wrote {output}." + f" Proposed a schema in {schema_file}, private until approved." * proposed)
    if proposed:
        say(
            f"What was counted on the way is in {notes_beside(schema_file)}, for you alone: never publish it."
        )
    if sizes_beside(schema_file).exists():
        say(f"How many rows groups have is in {sizes_beside(schema_file)}, for you alone too.")
    if without_password(source) != source:
        say("The password is not written down: put it into ~/.pgpass or the variable PGPASSWORD.")
    say(f"1. Review every line of {schema_file}, then: entwined approve {schema_file}")
    say(f"2. Say in {output} what depends on what and what you want to know, then: entwined plan {output}")
    say(f"3. When the plan is right: entwined release {output} -o out")


def schema_for(source: str, path: Path) -> "Schema":
    """Read the schema of a table; a table that lacks a declared column is refused."""
    from entwined.tables import open_table

    found = reviewed(path)
    open_table(source, found).close()
    return found


def measure_groups(source: str, schema_file: Path, schema: "Schema", group: str | None) -> None:
    """Count how many rows persons and the proposed groups have, into the holder's own file beside the schema."""
    from entwined.tables.describe import measure_sizes
    from entwined.tables.group_sizes import read_sizes

    wanted = [name for name in (schema.unit.id_column, group) if name is not None]
    known = read_sizes(schema_file)
    if missing := [name for name in wanted if name not in known]:
        measure_sizes(source, schema_file, schema, missing)


def request_text(
    source: str, schema_file: Path, output: Path, schema: "Schema", group: str | None = None
) -> str:
    """Make the text of a request for a table, with groups as large as most that were counted."""
    from entwined.dependence.syntax import toml_value
    from entwined.request.words import table_name
    from entwined.tables.group_sizes import read_sizes

    named = table_name(source) or "table"
    sizes = read_sizes(schema_file).get(group or "")
    parts = [
        HEAD.format(
            title=toml_value(named),
            table=toml_value(seen_from(source, output.parent)),
            schema=toml_value(seen_from(str(schema_file), output.parent)),
            ledger=toml_value("ledger.sqlite"),
        ),
        DEPENDENCE.format(
            mark="" if group else "# ",
            name=toml_value(f"{group}s" if group else "households"),
            by=toml_value(group or "household"),
            largest=5 if sizes is None else sizes.proposed,
        ),
        QUERIES.format(table=named if named.isidentifier() else "t"),
        *proposed_queries(schema),
    ]
    return "".join(parts)


def seen_from(place: str, folder: Path) -> str:
    """Give a path as the request sees it; absolute paths stay, and URLs but for a password."""
    from entwined.request.words import without_password

    path, mark, table = place.partition("::")
    if "://" in place or Path(path).is_absolute():
        return without_password(place)
    return os.path.relpath(path, folder) + mark + table


def proposed_queries(schema: "Schema") -> Iterator[str]:
    """Propose a few questions: how many rows have each value, and means of numbers."""
    from entwined.dependence.syntax import toml_value
    from entwined.schema import Coded, Numeric

    columns = [column for column in schema.columns if isinstance(column, Coded)]
    few = [column for column in columns if 1 < column.levels <= FEW]
    numbers = [column for column in columns if isinstance(column, Numeric) and column.levels > FEW]
    asked = [("histogram", column, "") for column in few[:MOST_QUERIES]]
    asked += [("histogram", column, f"bins = {BINS}\n") for column in numbers[: MOST_QUERIES // 2]]
    if not schema.unit.by_column:
        asked += [("mean", column, "") for column in numbers[: MOST_QUERIES // 2]]
    for kind, column, more in asked or [("histogram", column, "") for column in columns[:1]]:
        yield f"\n[[query]]\nkind = {toml_value(kind)}\ncolumn = {toml_value(column.name)}\n{more}"
