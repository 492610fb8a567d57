"""`entwined learn`: a dependence model over columns, from a public table of the same questions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption, Knowledge, KnowledgeOption, YesOption
from entwined.cli.learn_with_budget import learn_with_budget, require_free
from entwined.cli.show import as_json, number, progress, say, table
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.bounds.curve import Point


PublicTable = Annotated[
    str,
    typer.Argument(
        metavar="PUBLIC|RELEASE.toml",
        help="A public table: an earlier wave, a pilot. Not the private one; with --budget its release.toml.",
    ),
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write the model, .json or .toml.")
]
SchemaOption = Annotated[
    Path | None, typer.Option("--schema", help="The schema of the private table, with a public table.")
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="Learn from the private rows of a release.toml, charging this loss."),
]
ParentsOption = Annotated[
    int, typer.Option("--parents", min=1, max=4, help="Parents of a column; 1 is a tree.")
]
SmoothingOption = Annotated[str, typer.Option("--smoothing", help="What is added to every count.")]
ConfidenceOption = Annotated[
    str | None, typer.Option("--confidence", help="Instead of smoothing: intervals of this confidence.")
]


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    public: PublicTable,
    output: OutputOption,
    schema: SchemaOption = None,
    budget: BudgetOption = None,
    parents: ParentsOption = 1,
    smoothing: SmoothingOption = "1",
    confidence: ConfidenceOption = None,
    knowledge: KnowledgeOption = Knowledge.any,
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Learn what depends on what between columns: from a public table for nothing, or with a budget from the rows."""
    if budget is not None:
        if schema is not None:
            raise BadInput("--schema is given, and the request says that. Leave it out with --budget.")
        learn_with_budget(
            Path(public),
            budget,
            output,
            parents=parents,
            smoothing=smoothing,
            confidence=confidence,
            as_document=as_document,
            yes=yes,
        )
        return
    if schema is None:
        raise BadInput(
            "--schema is missing: a public table is coded by the schema of the private one. Give it."
        )
    learn_publicly(public, schema, output, parents, smoothing, confidence, knowledge, as_document=as_document)


def learn_publicly(  # noqa: PLR0913, PLR0917  (options of one command)
    public: str,
    schema: Path,
    output: Path,
    parents: int,
    smoothing: str,
    confidence: str | None,
    knowledge: Knowledge,
    *,
    as_document: bool,
) -> None:
    """Learn from a public table; nothing is charged, and its name is kept."""
    from entwined.bounds import calibrate
    from entwined.bounds.curve import curve
    from entwined.dependence import write_model
    from entwined.learning import learn, learn_with_margin, public_codes
    from entwined.schema import read_schema

    require_free(output)
    with progress():
        codes = public_codes(public, read_schema(schema))
        found = (
            learn(codes, Path(public).name, parents=parents, smoothing=smoothing)
            if confidence is None
            else learn_with_margin(codes, Path(public).name, confidence, parents=parents)
        )
        allowed = calibrate(found.model, 1.0, knowledge.value)
        points = () if confidence else curve(found.model, allowed.exposure, knowledge.value).points
    write_model(found.model, output)
    if as_document:
        told = {"model": str(output), "learned": found.title, "columns": found.model.units}
        shown = {f"{point.share:g}": point.leakage for point in points}
        as_json({**told, "loss_of_leakage_1": allowed.multiple, "curve": shown})
        return
    say(f"A model of {found.model.units} columns, {found.title}, is in {output}.")
    say(f"Equal losses of {number(allowed.multiple)} a column leak at most 1 by it.")
    if points:
        show(points)


def show(points: "tuple[Point, ...]") -> None:
    """Print the sensitivity curve."""
    say()
    rows = [[f"{point.share:+.0%}", number(point.leakage)] for point in points]
    table("What the same losses leak if every log odds were larger", ["log odds", "#leakage"], rows)
