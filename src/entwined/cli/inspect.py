"""`entwined inspect`: what can be said of a synthetic table in public, and what its holder alone may see of it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.show import progress, say
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.synthetic.inspection import Inspection

TABLES = ("synthetic.parquet", "synthetic.csv")
MARK = "holder-only"
FOR_ONE = 0o600


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    synthetic: Annotated[
        Path,
        typer.Argument(metavar="DIR|SYNTHETIC", help="What `entwined synth` wrote, or any synthetic table."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, such as page.html.")],
    table: Annotated[
        str | None,
        typer.Option("--table", help="The real table: what is found of it is for its holder only."),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="The approved schema of both tables.", readable=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="A column that a model trained on the table foretells.")
    ] = None,
    held_out: Annotated[
        str | None, typer.Option("--held-out", help="Rows like the real ones that were not among them.")
    ] = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Say how good a synthetic table is: in public from its noise alone, to the holder beside the real table."""
    if table is None and (target or held_out):
        raise BadInput("--target and --held-out need the real rows. Give them with --table.")
    files = holders_files(output) if table is not None else ()
    with progress():
        found = None if table is None else compared(synthetic, table, schema, target, held_out)
    if found is not None:
        write_for_holder(found, *files)
    del as_document


def holders_files(output: Path) -> tuple[Path, Path]:
    """Name the files that only the holder may see: a page and its figures."""
    page = output.with_name(f"{output.stem}.{MARK}{output.suffix or '.html'}")
    return page, page.with_suffix(".json")


def table_in(place: Path) -> Path:
    """Find the table in what `entwined synth` wrote."""
    if not place.is_dir():
        return place
    there = [place / name for name in TABLES if (place / name).is_file()]
    if not there:
        raise BadInput(
            f"{place} has neither {' nor '.join(TABLES)}. Give a folder of `entwined synth`, or a table."
        )
    return there[0]


def compared(
    synthetic: Path, table: str, schema: Path | None, target: str | None, strangers: str | None
) -> "Inspection":
    """Read both tables and compare them."""
    from entwined.schema import read_schema
    from entwined.synthetic.holders_rows import held_out, side_by_side
    from entwined.synthetic.inspection import inspected

    if schema is None:
        raise BadInput("Rows are read under a schema that the holder approved. Give it with --schema.")
    both = side_by_side(table, str(table_in(synthetic)), read_schema(schema))
    return inspected(both, target, None if strangers is None else held_out(strangers, both))


def write_for_holder(found: "Inspection", page: Path, figures: Path) -> None:
    """Write what the holder may see, readable for nobody else, and say so."""
    from entwined.report.inspection_page import inspection_page
    from entwined.synthetic.summing_up import sentences
    from entwined.writing import write_whole

    document = json.dumps(found.document, ensure_ascii=False, allow_nan=False, indent=1)
    for path, text in ((page, inspection_page(found)), (figures, document + "\n")):
        write_whole(path, text)
        path.chmod(FOR_ONE)
    say(f"For the holder only, never to be published: {page} and {figures}.")
    for sentence in sentences(found):
        say(f"  {sentence}")
