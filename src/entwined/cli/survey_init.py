"""`entwined survey init`: from a public pilot to a schema of answers and proposals about the questionnaire."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption, YesOption
from entwined.cli.init import seen_from
from entwined.cli.min_units import MinUnitsOption, minimum_of
from entwined.cli.show import as_json, progress, say
from entwined.cli.show import table as show_table
from entwined.errors import BadInput
from entwined.writing import write_whole

if TYPE_CHECKING:
    from entwined.survey.proposals import Proposals
    from entwined.survey.questionnaire import Questionnaire

ROWS = (
    "How many rows the private table has is not said, and it is public wherever answers are protected. Give it with "
    "--rows."
)


PilotFile = Annotated[
    Path,
    typer.Argument(
        metavar="PILOT",
        help="A public table of the same questions: SPSS, Stata, CSV, Parquet. Not the private one.",
    ),
]
TableArgument = Annotated[
    str | None, typer.Argument(metavar="[TABLE]", help="The private table; only its column names are read.")
]
FolderOption = Annotated[
    Path, typer.Option("--output", "-o", help="The folder for schema.toml and survey.toml.")
]
RowsOption = Annotated[int | None, typer.Option("--rows", min=1, help="How many rows the private table has.")]
MissingOption = Annotated[
    str, typer.Option("--missing", help="Codes that are no answers in any column, such as 998,999.")
]
MostOption = Annotated[
    int, typer.Option("--most-answers", min=2, help="Columns with more different answers are set aside.")
]


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    pilot: PilotFile,
    table: TableArgument = None,
    folder: FolderOption = Path(),
    rows: RowsOption = None,
    missing: MissingOption = "",
    most: MostOption = 30,
    min_units: MinUnitsOption = None,
    yes: YesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Write a schema of answers from a public pilot and its labels, and propose forms and what others decide."""
    from entwined.survey.proposals import Proposals
    from entwined.survey.questionnaire import Questionnaire, QuestionnaireSettings
    from entwined.tables.files import checked_path

    schema, proposals = folder / "schema.toml", folder / "survey.toml"
    for path in (schema, proposals):
        if path.exists():
            raise BadInput(f"{path} is there already. Give another folder with -o, so that it is not lost.")
    checked_path(pilot, folder=True)  # what is not there is said before anything is asked
    everywhere, by_column = minimum_of(min_units, yes=yes)
    there = None if table is None else columns_of(table)
    size = rows_given(rows)
    with progress():
        codes = tuple(code.strip() for code in missing.split(",") if code.strip())
        settings = QuestionnaireSettings(codes, most, everywhere, by_column)
        found = Questionnaire.of(pilot, size, settings, there=there)
        shown = Proposals.of(pilot, found.schema)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(schema, found.text)
    private = "" if table is None else seen_from(table, folder)
    write_whole(proposals, shown.text(seen_from(str(pilot), folder), schema.name, private))
    show(found, shown, schema, proposals, as_document=as_document)


def rows_given(rows: int | None) -> int:
    """Take the number of rows, or ask whoever sits at the terminal for it."""
    if rows is not None:
        return rows
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(ROWS)
    sys.stderr.write("How many rows does the private table have? ")
    sys.stderr.flush()
    said = sys.stdin.readline().strip().replace(",", "")
    if not said.isdecimal() or not int(said):
        raise BadInput(f"{said[:60]!r} is no number of rows. {ROWS}")
    return int(said)


def columns_of(table: str) -> list[str]:
    """Read the names of the private table's columns, and none of its rows."""
    from entwined.tables.source import engine_of

    engine = engine_of(table, table=None, declared={})
    try:
        return list(engine.columns)
    finally:
        engine.close()


def show(
    found: "Questionnaire", shown: "Proposals", schema: Path, proposals: Path, *, as_document: bool
) -> None:
    """Say what was written, what was set aside and why, and what comes next."""
    following = [f"entwined approve {schema}", f"entwined survey request {proposals} -o release.toml"]
    if as_document:
        counts = {"forms": len(shown.forms), "decided": len(shown.decided), "skips": len(shown.skips)}
        aside = [{"column": one.column, "reason": one.reason} for one in found.aside]
        told: dict[str, object] = {
            "schema": str(schema),
            "proposals": str(proposals),
            "questions": len(found.schema.columns),
        }
        told |= {"set_aside": aside, "left_out": dict(found.left_out)}
        as_json({**told, **counts, "warning": shown.why_none or None, "next": following})
        return
    say(
        f"{len(found.schema.columns)} questions are in {schema}; what the pilot shows of them is in {proposals}:"
    )
    say(
        f"{len(shown.forms)} forms, {len(shown.decided)} columns that others decide, {len(shown.skips)} questions that "
        "are asked of some."
    )
    if shown.why_none:
        say(f"WARNING: {shown.why_none}")
    if found.aside:
        rows = [[one.column, one.reason] for one in found.aside]
        show_table(f"{len(rows)} columns are set aside", ["column", "why"], rows)
    if found.left_out:
        say(
            f"Of {len(found.left_out)} questions, answers that too few gave are not listed: see the head of {schema}."
        )
    say(f"1. Review {schema}, then: {following[0]}")
    say(f"2. Say confirmed = true in {proposals} where it holds by design, then: {following[1]}")
