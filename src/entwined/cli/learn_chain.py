"""`entwined learn chain`: the chain of a state over steps, from public series or with a budget."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption, YesOption, confirmed
from entwined.cli.learn import BudgetOption, ConfidenceOption, OutputOption, PublicTable, SmoothingOption
from entwined.cli.learn_with_budget import require_free
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.learning.chains import CountedMoves, LearnedChain, SecondStep
    from entwined.request.request import Request

SURE = "0.95"
StateOption = Annotated[str, typer.Option("--state", help="The column whose values are the states.")]
OrderOption = Annotated[
    str | None,
    typer.Option("--order", help="The column of steps; with --budget by default that of the request."),
]
ByOption = Annotated[
    str | None, typer.Option("--by", help="The column that says whose rows they are; without it one series.")
]
SchemaOption = Annotated[
    Path | None, typer.Option("--schema", help="The schema of the private table, with a public table.")
]


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    public: PublicTable,
    output: OutputOption,
    state: StateOption,
    order: OrderOption = None,
    by: ByOption = None,
    schema: SchemaOption = None,
    budget: BudgetOption = None,
    smoothing: SmoothingOption = "1",
    confidence: ConfidenceOption = None,
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Learn the chain of a state: from public series for nothing, or with a budget from the rows."""
    from entwined.dependence import write_model

    require_free(output)
    if budget is not None:
        if schema is not None:
            raise BadInput("--schema is given, and the request says that. Leave it out with --budget.")
        wanted = ChainWanted(budget, output, smoothing, confidence)
        moves, length, told = _privately(Path(public), wanted, state=state, order=order, by=by, yes=yes)
        second = None
    else:
        moves, length, second = _publicly(public, schema, state=state, order=order, by=by)
        told = {}
    found = moves.smoothed(length, smoothing) if confidence is None else moves.with_margin(length, confidence)
    write_model(found.model, output)
    told = _document(found, output, second) | told
    as_json(told) if as_document else _say(told, found)


def _publicly(
    public: str, schema: Path | None, *, state: str, order: str | None, by: str | None
) -> "tuple[CountedMoves, int, SecondStep]":
    """Read public series; nothing is charged."""
    from entwined.learning.chains import CountedMoves, second_step
    from entwined.learning.series import public_series
    from entwined.schema import read_schema

    if schema is None or order is None:
        missing = "--schema" if schema is None else "--order"
        raise BadInput(
            f"{missing} is missing: a public table is coded by the schema of the private one, and a column of it "
            "orders the steps. Give both."
        )
    with progress():
        declared = read_schema(schema)
        series = public_series(public, declared, state=state, order=order, by=by)
        moves, second = CountedMoves.of(series, Path(public).name), second_step(series)
    return moves, declared.coded(order).levels, second


class ChainWanted(NamedTuple):
    """What may be spent on a chain, how it is made of its counts, and where it is written."""

    budget: str
    output: Path
    smoothing: str
    confidence: str | None


def _privately(
    request_file: Path,
    wanted: ChainWanted,
    *,
    state: str,
    order: str | None,
    by: str | None,
    yes: bool,
) -> "tuple[CountedMoves, int, Document]":
    """Spend a loss on noisy transition counts."""
    from entwined.dependence.files import require_model_file
    from entwined.learning.chain_on_request import counts_on_request, settled_counts
    from entwined.learning.expected import rehearsed_chain
    from entwined.request.request_file import read_terms

    with progress():
        request = read_terms(request_file)
        series, steps = _columns(request, by, order)
        mechanism, price = settled_counts(request, series, steps, state, wanted.budget)
        length, states = request.schema.coded(steps).levels, request.schema.coded(state).size
        rehearsed_chain(mechanism, request.promise, length, wanted.smoothing, wanted.confidence)
        require_model_file(wanted.output, states**2 * 2)
    within = mechanism.noise.half_width(SURE)
    spending = f"Spend up to {number(float(price.worst))} on learning?"
    confirmed(f"Each of {states**2:,} counts would be learned within ± {within:,}. {spending}", yes=yes)
    with progress():
        done = counts_on_request(request, mechanism, price)
    spent, cap = float(done.after.worst), float(done.cap)
    told = {"loss": float(mechanism.loss), "spent": spent, "cap": cap, "left": max(cap - spent, 0.0)}
    return done.moves, length, told | {"count_within": within}


def _columns(request: "Request", by: str | None, order: str | None) -> tuple[str, str]:
    """Name series and steps, by default as the models of the request do."""
    series = by or next((one.by for one in request.dependence if one.by), None)
    steps = order or next((one.order for one in request.dependence if one.order), None)
    if series is None or steps is None:
        raise BadInput("No model of the request names series and steps. Give --by and --order.")
    return series, steps


def _document(found: "LearnedChain", output: Path, second: "SecondStep | None") -> Document:
    told = {
        "model": str(output),
        "learned": found.title,
        "states": found.model.states,
        "steps": found.model.length,
    }
    if second is None:
        return told
    check = {"steps": second.steps, "one": second.one, "two": second.two, "error": second.error}
    return told | {"check": check | {"needed": second.is_needed, "words": second.words}}


def _say(told: Document, found: "LearnedChain") -> None:
    """Print it; whether the check was passed stands first."""
    if "check" in told:
        say(told["check"]["words"])
    say(
        f"A chain of {told['states']} states over {told['steps']} steps, {told['learned']}, is in {told['model']}."
    )
    if found.model.source == "learned":
        say(
            f"Each transition count was learned within ± {told['count_within']:,} (95 %). Spent so far: "
            f"{number(told['spent'])} of {number(told['cap'])}; {number(told['left'])} is left."
        )
        say("Whether a second step back says more was not checked: that would read rows for nothing.")
