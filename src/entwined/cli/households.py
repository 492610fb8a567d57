"""`entwined households`: persons or households, compared at equal leakage before anything is spent."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import DeltaOption, JsonOption
from entwined.cli.household_options import (
    ChildOption,
    HeadOption,
    HouseholdOption,
    HouseholdWish,
    LargestOption,
    PartnerOption,
    RoleOption,
    SharedOption,
)
from entwined.cli.inspect import holders_files
from entwined.cli.show import as_json, progress, say
from entwined.cli.show import table as printed
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.synthetic.household_comparison import HouseholdComparison

MOST_RUNS = 100
TableOption = Annotated[
    str | None,
    typer.Option("--table", help="The real table, to rehearse both ways on it: for its holder only."),
]
RunsOption = Annotated[int, typer.Option("--runs", help="How often both ways are rehearsed.")]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    schema_file: Annotated[
        Path, typer.Argument(metavar="SCHEMA.toml", help="The approved schema of the table.", readable=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, such as page.html.")],
    leakage: Annotated[str, typer.Option("--leakage", help="What either way may leak, at most.")] = "1",
    delta: DeltaOption = None,
    household: HouseholdOption = None,
    largest: LargestOption = None,
    role: RoleOption = None,
    head: HeadOption = None,
    partner: PartnerOption = None,
    child: ChildOption = None,
    shared: SharedOption = None,
    rows: TableOption = None,
    runs: RunsOption = 3,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Compare, at equal leakage, the release of persons and that of whole households: what noise each takes."""
    from entwined.report.households_page import households_page
    from entwined.schema import read_schema
    from entwined.synthetic.household_comparison import compared_ways
    from entwined.writing import write_whole

    if not 1 <= runs <= MOST_RUNS:
        raise BadInput(f"--runs {runs}. Give 1 to {MOST_RUNS}.")
    lists = {"head": head, "partner": partner, "child": child, "shared": shared}
    wish = HouseholdWish(household, largest, role, lists, None)
    with progress():
        found = compared_ways(wish.schema(read_schema(schema_file)), wish.fields, leakage, delta)
    write_whole(output, households_page(found))
    files = [output, *(() if rows is None else _rehearsed(rows, found, output, runs, quiet=as_document))]
    if as_document:
        as_json({**found.document, "files": list(map(str, files))})
    else:
        _said(found, output)


def _said(found: "HouseholdComparison", output: Path) -> None:
    for sentence in found.sentences:
        say(sentence)
    lines = [
        [
            one.title,
            f"{one.cells:,}",
            *("–" if each is None else f"± {each.half_width:,.3g}" for each in one[2:]),
        ]
        for one in found.lines
    ]
    printed("One table, asked for alone", ["table", "#cells", "#persons", "#households"], lines)
    say(f"May be published: {output}. It follows from the schema and the noise alone.")


def _rehearsed(
    rows: str, found: "HouseholdComparison", output: Path, runs: int, *, quiet: bool
) -> tuple[Path, Path]:
    """Write what the holder may see, readable for nobody else, and say so."""
    from entwined.report.households_page import rehearsal_page
    from entwined.synthetic.household_rehearsal import rehearsed
    from entwined.writing import write_whole

    with progress():
        measured = rehearsed(rows, found, runs)
    page, figures = holders_files(output)
    document = json.dumps(measured.document, ensure_ascii=False, allow_nan=False, indent=1)
    for path, text in ((page, rehearsal_page(measured)), (figures, document + "\n")):
        write_whole(path, text, only_owner=True)
    if not quiet:
        say(f"For the holder only, never to be published: {page} and {figures}.")
        for sentence in measured.sentences:
            say(f"  {sentence}")
    return page, figures
