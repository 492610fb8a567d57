"""`entwined learn ties`: a model of people from edge lists and check-ins as SNAP and others publish them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption
from entwined.cli.learn_with_budget import require_free
from entwined.cli.show import as_json, progress, say
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.learning.checkins import Checkins
    from entwined.learning.published_ties import PublishedTies, Regulars

EdgesFile = Annotated[
    Path,
    typer.Argument(
        metavar="EDGES", help="Who is tied to whom: two whole numbers a row, perhaps .gz.", readable=False
    ),
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write the model, .json; its ties go beside it.")
]
LogOddsOption = Annotated[
    float | None,
    typer.Option("--log-odds", help="A graph: the most that a tie may change odds by, as a log."),
]
CoefficientOption = Annotated[
    float | None, typer.Option("--coefficient", help="Ties: the share of a loss that a tie passes on.")
]
MostOption = Annotated[
    int | None,
    typer.Option(
        "--most-ties", help="No more than so many of anyone's ties say anything; which ones is left open."
    ),
]
CheckinsOption = Annotated[
    Path | None,
    typer.Option("--checkins", help="Check-ins, `user time latitude longitude place` a row.", readable=False),
]
NearOption = Annotated[str | None, typer.Option("--near", help="With --checkins: LATITUDE,LONGITUDE.")]
WithinOption = Annotated[float, typer.Option("--within", help="Kilometres around --near.", min=0)]
LeastOption = Annotated[int, typer.Option("--least", help="Visits that a person needs there.", min=1)]
TableOption = Annotated[
    Path | None, typer.Option("--table", help="With --checkins: where to write who is most at which place.")
]


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    edges: EdgesFile,
    output: OutputOption,
    log_odds: LogOddsOption = None,
    coefficient: CoefficientOption = None,
    most_ties: MostOption = None,
    checkins: CheckinsOption = None,
    near: NearOption = None,
    within: WithinOption = 25.0,
    least: LeastOption = 10,
    table: TableOption = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Make a model of people from a published edge list; how strong ties are is for you to say."""
    from entwined.learning.published_ties import PublishedTies
    from entwined.writing import write_whole

    strength = _strength(log_odds, coefficient, most_ties)
    listed = output.with_suffix(".ties.csv")
    for path in (output, listed, *([] if table is None else [table])):
        require_free(path)
    if checkins is None and (near is not None or table is not None):
        raise BadInput("--near and --table say what to take from check-ins. Give --checkins as well.")
    with progress():
        ties = PublishedTies.read(edges)
        found = None if checkins is None else _regulars(checkins, near, within, least)
        kept = ties if found is None else ties.reaching(found.people)
        if not len(kept.pairs):
            raise BadInput(f"{edges}: none of those wanted has a tie. Take others, or no model.")
        write_whole(listed, kept.csv)
        write_whole(output, (json.dumps(strength | {"edges": listed.name}) + "\n").encode())
        if table is not None and found is not None:
            write_whole(table, found.csv)
    told = _document(kept, output, listed, found)
    as_json(told) if as_document else _say(told)


def _strength(log_odds: float | None, coefficient: float | None, most_ties: int | None) -> Document:
    """Say what a tie may do, by the fields of the model."""
    if (log_odds is None) == (coefficient is None):
        raise BadInput("How strong a tie may be is for you to say: give --log-odds, or --coefficient.")
    capped = {} if most_ties is None else {"most_ties": most_ties}
    if log_odds is not None:
        return {"kind": "graph", "log_odds": log_odds} | capped
    return {"kind": "ties", "coefficient": coefficient} | capped


def _regulars(path: Path, near: str | None, within: float, least: int) -> "Regulars":
    from entwined.learning import read_snap_checkins
    from entwined.learning.published_ties import Regulars

    return Regulars.of(_around(read_snap_checkins(path), near, within), least)


def _around(checkins: "Checkins", near: str | None, within: float) -> "Checkins":
    """Keep the check-ins around a place, or all of them."""
    from entwined.learning.checkins import Spot

    if near is None:
        return checkins
    try:
        latitude, longitude = map(float, near.split(","))
    except ValueError:
        raise BadInput(f"--near = {near!r:.60}. Give LATITUDE,LONGITUDE, such as 40.71,-74.01.") from None
    return checkins.within(Spot(near, latitude, longitude), within)


def _document(ties: "PublishedTies", output: Path, listed: Path, found: "Regulars | None") -> Document:
    told: Document = {
        "model": str(output),
        "ties_file": str(listed),
        "people": len(ties.people),
        "ties": len(ties.pairs),
        "most_ties_of_anyone": ties.most,
    }
    return told if found is None else told | {"regulars": len(found.people)}


def _say(told: Document) -> None:
    say(
        f"{told['people']:,} people with {told['ties']:,} ties, nobody with more than "
        f"{told['most_ties_of_anyone']:,}, are in {told['model']} and {told['ties_file']}."
    )
    if "regulars" in told:
        say(
            f"{told['regulars']:,} are there often enough. Who is tied to them, by others too, is in the model: two "
            "with a common friend depend on each other."
        )
    say(
        f"What it costs: entwined bound {told['model']} --loss 0.1. The file must be public, as ties tell of both."
    )
