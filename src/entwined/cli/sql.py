"""`entwined sql`: one SELECT through the door, and its answer on the screen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption, Knowledge, KnowledgeOption, YesOption
from entwined.cli.plan import budget_line, show_statistics, show_warning
from entwined.cli.plan import show as show_plan
from entwined.cli.release import confirm_price, outputs, show_computed, show_warnings, spent
from entwined.cli.show import as_json, number, progress, say, table
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.request.fulfil import Fulfilled
    from entwined.request.request import Question, Request

USUAL = Path("release.toml")
MOST_LINES = 200


SelectText = Annotated[
    str, typer.Argument(metavar="SELECT", help='Such as "SELECT sex, count(*) FROM t GROUP BY sex".')
]
RequestOption = Annotated[
    Path | None,
    typer.Option("--request", help="A release.toml: its table, schema, models and ledger are used."),
]
TableOption = Annotated[str | None, typer.Option("--table", help="Else: the table, a file or a URL,")]
SchemaOption = Annotated[Path | None, typer.Option("--schema", help="its approved schema,")]
LedgerOption = Annotated[str | None, typer.Option("--ledger", help="the ledger,")]
CapOption = Annotated[str | None, typer.Option("--cap", help="the cap of a ledger that is to be begun,")]
ModelsOption = Annotated[
    list[Path] | None, typer.Option("--model", help="and dependence models, as often as needed.")
]
LeakageOption = Annotated[str | None, typer.Option("--leakage", help="The most that the answer may leak.")]
LossOption = Annotated[str | None, typer.Option("--loss", help="Or its nominal ε.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only say how exact the answer would be and what it would cost.")
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    text: SelectText,
    request: RequestOption = None,
    source: TableOption = None,
    schema: SchemaOption = None,
    ledger: LedgerOption = None,
    cap: CapOption = None,
    model: ModelsOption = None,
    leakage: LeakageOption = None,
    loss: LossOption = None,
    knowledge: KnowledgeOption = Knowledge.any,
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
    dry_run: DryRunOption = False,  # noqa: FBT002
) -> None:
    """Answer a SELECT of counts, sums, means or quantiles, with the noise that keeps it within a leakage."""
    from entwined.request.bill import Bill
    from entwined.request.fulfil import fulfil
    from entwined.request.funds import funds_of

    given = {"--table": source, "--schema": schema, "--ledger": ledger, "--cap": cap, "--model": model}
    with progress():
        if request is not None or not (source or schema or ledger):
            asked = _from_request(text, request, given, leakage, loss)
        else:
            asked = _from_options(text, given, knowledge.value, leakage, loss)
    if asked.secrets is not None:
        _keeping(asked, dry_run=dry_run, as_document=as_document, yes=yes)
        return
    if dry_run:
        _foretell(asked, as_document=as_document)
        return
    with progress():
        planned = asked.plan()
        bill = Bill.of_batch(planned)
        funds = funds_of(asked, bill)
    confirm_price(bill, funds, yes=yes)
    with progress():
        done = fulfil(asked, planned)
    _tell(asked, done, as_document=as_document)


def _tell(asked: "Request", done: "Fulfilled", *, as_document: bool) -> None:
    if as_document:
        from entwined.report.answer_records import labelled_document

        names = [question.name for question in asked.questions]
        as_json(labelled_document(done.release, names, asked.schema) | {"budget": done.funds.document})
        return
    show_warnings(done.release)
    for question, answer in zip(asked.questions, done.release.answers, strict=True):
        show(question, asked, answer)
    say(spent(done.funds.document, stored=done.was_stored))


def _foretell(asked: "Request", *, as_document: bool) -> None:
    """Say how exact the answer would be, what it would cost and what would be left; nothing is read or charged."""
    from entwined.request.outlook import outlook

    with progress():
        ahead = outlook(asked)
    if as_document:
        as_json(ahead.document)
        return
    show_warning(ahead.document["quality"])
    show_statistics(ahead.document)
    price = ahead.planned.price
    say(
        f"It would leak {number(float(price.worst))} (nominal ε {number(float(price.nominal))}). Nothing was charged."
    )
    say(budget_line(ahead.document["budget"]))


def _keeping(asked: "Request", *, dry_run: bool, as_document: bool, yes: bool) -> None:
    """Ask where secrets about whole columns are kept."""
    from entwined.request.bill import bill_of
    from entwined.request.computed import compute
    from entwined.request.tasks_outlook import tasks_outlook

    with progress():
        ahead = tasks_outlook(asked)
    if dry_run:
        as_json(ahead.document) if as_document else show_plan(ahead.document)
        return
    confirm_price(bill_of(asked), ahead.funds, yes=yes)
    with progress():
        done = compute(asked)
    if as_document:
        as_json({"outputs": outputs(done.found), "budget": done.funds.document})
        return
    show_computed(done.found)
    rows = asked.promise.protects_individuals
    say(spent(done.funds.document, stored=done.was_stored, protected=rows))


def _amounts(leakage: str | None, loss: str | None) -> tuple[Any, Any]:
    from entwined.numbers import positive_fraction

    if (leakage is None) == (loss is None):
        raise BadInput("Give either --leakage, such as 0.5, or --loss.")
    return (
        None if leakage is None else positive_fraction(leakage, "Leakage"),
        None if loss is None else positive_fraction(loss, "Loss"),
    )


def _from_request(
    text: str, path: Path | None, others: Document, leakage: str | None, loss: str | None
) -> "Request":
    """Ask the table of a request."""
    from entwined.request.request_file import read_terms, sql_questions
    from entwined.request.words import table_name

    extra = [name for name, value in others.items() if value]
    if extra:
        raise BadInput(f"{extra[0]} is given, and the request says that. Leave one of them out.")
    if path is None and not USUAL.exists():
        raise BadInput(f"There is no {USUAL} here. Give --request, or --table, --schema and --ledger.")
    found = read_terms(path or USUAL)
    questions = sql_questions(text, found.schema, table_name(found.table))
    if found.promise.protects_individuals:
        return found.asking(tuple(questions), *_amounts(leakage, loss))
    if leakage or loss:
        raise BadInput(
            "Individuals are not protected here, so no leakage or loss is asked for. Leave it out."
        )
    return found.asking(tuple(questions), None, None)


def _from_options(
    text: str, given: Document, knowledge: Any, leakage: str | None, loss: str | None
) -> "Request":
    """Ask a table that the options name."""
    from entwined.dependence import read_model
    from entwined.numbers import positive_fraction
    from entwined.promise.declared import Declared
    from entwined.request.request import Request
    from entwined.request.request_file import sql_questions
    from entwined.request.words import table_name
    from entwined.schema import read_schema

    for name in ("--table", "--schema", "--ledger"):
        if not given[name]:
            raise BadInput(f"{name} is missing. Give --table, --schema and --ledger, or --request.")
    schema = read_schema(given["--schema"])
    schema.require_approval()
    allowed = _amounts(leakage, loss)
    return Request(
        table=given["--table"],
        schema=schema,
        ledger=given["--ledger"],
        questions=tuple(sql_questions(text, schema, table_name(given["--table"]))),
        leakage=allowed[0],
        loss=allowed[1],
        cap=None if given["--cap"] is None else positive_fraction(given["--cap"], "Cap"),
        dependence=tuple(Declared(read_model(path)) for path in given["--model"] or ()),
        knowledge=knowledge,
    )


def show(question: "Question", asked: "Request", answer: Any) -> None:
    """Print an answer, cell by cell, with the interval of each."""
    from itertools import islice

    from entwined.estimate.quality import tallied, tally_words
    from entwined.queries.counts import labels

    cells = answer.value if isinstance(answer.value, tuple) else (answer.value,)
    ends, adjusted = answer.interval, answer.adjusted
    rows = []
    axes = question.query.axes(asked.schema)
    for place, (label, value) in enumerate(
        islice(zip(labels(axes, asked.schema), cells, strict=True), MOST_LINES)
    ):
        low, high = ("–", "–") if ends is None else (_cell(end, place) for end in ends)
        beside = [] if adjusted is None else [_cell(adjusted.value, place)]
        rows.append([*map(_label, label), shown(value), low, high, *beside, answer.quality.level(place)])
    beside = [] if adjusted is None else ["#adjusted"]
    sides = [axis.title for axis in axes]
    table(question.name, [*sides, "#value", "#95 % from", "#to", *beside, "quality"], rows)
    if adjusted is not None and adjusted.caveat:
        say(f"Adjusted: {adjusted.caveat}")
    if len(cells) > MOST_LINES:
        say(f"… and {len(cells) - MOST_LINES:,} cells more; --json gives all.")
    say(f"{tally_words(tallied(answer.levels))}. {answer.quality.reason}".rstrip())
    say()


def _cell(ends: Any, place: int) -> str:
    return shown(ends[place] if isinstance(ends, tuple) else ends)


def _label(value: object) -> str:
    match value:
        case None:
            return "missing"
        case (low, high):
            return f"{shown(low)} to {shown(high)}"
    return shown(value)


def shown(value: object) -> str:
    """Write a value for people."""
    from datetime import datetime
    from fractions import Fraction

    match value:
        case Fraction():
            return f"{float(value):,.6g}" if value.denominator > 1 else f"{value.numerator:,}"
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
    return str(value)
