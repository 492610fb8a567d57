"""`entwined survey`: all questions of a survey at once, planned with what a public pilot shows."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.cli import survey_init
from entwined.cli.arguments import JsonOption, Knowledge, KnowledgeOption
from entwined.cli.init import seen_from
from entwined.cli.learn_and_check import CheckOption, KeepTreeOption, show_check
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadInput, EntwinedError, Refused
from entwined.writing import write_whole

if TYPE_CHECKING:
    from entwined.schema import Schema
    from entwined.survey.survey import Survey, SurveyPlan
    from entwined.survey.working_out import WorkedOut
    from entwined.survey.worth import Worth

app = typer.Typer(
    name="survey",
    help="Release all questions of a survey, with noise shared by what depends on what.",
    no_args_is_help=True,
)
LARGEST_RELEASE = 512_000_000
UNIT = (
    'A survey is planned for single answers. Say unit = {kind = "cells"} in the schema, and approve it again.'
)
app.command("init")(survey_init.command)


@app.command("propose")
def propose(
    pilot: Annotated[
        Path,
        typer.Argument(
            metavar="PILOT", help="A public table: an earlier wave, a pilot. Not the private one."
        ),
    ],
    schema: Annotated[Path, typer.Option("--schema", help="The schema of the private table.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the proposals.")],
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Find skip logic, forms and columns that others decide in a public pilot, for the holder to confirm."""
    from entwined.schema import read_schema
    from entwined.survey.proposals import Proposals

    require_new(output)
    with progress():
        found = Proposals.of(pilot, read_schema(schema))
    write_whole(output, found.text(relative(pilot, output), relative(schema, output)))
    if as_document:
        counts = {"forms": len(found.forms), "decided": len(found.decided), "missing": len(found.missing)}
        as_json({"proposals": str(output), **counts, "warning": found.why_none or None})
        return
    if found.why_none:
        say(f"WARNING: {found.why_none}")
    say(
        f"{len(found.forms)} forms and {len(found.decided)} columns that others decide are proposed in {output}."
    )
    say(
        "Confirm what holds by design, then: entwined survey request "
        + str(output)
        + " --table TABLE -o release.toml"
    )


ProposalsOption = Annotated[
    Path, typer.Argument(metavar="SURVEY.toml", help="Proposals that you went through.")
]
PrivateOption = Annotated[
    str | None, typer.Option("--table", help="The private table; the one that the proposals name.")
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write release.toml; a model goes beside it.")
]
RowsOption = Annotated[
    int | None,
    typer.Option("--rows", min=1, help="About how many respondents it has; as many as the schema says."),
]
LeakageOption = Annotated[float, typer.Option("--leakage", help="The most that all of it may leak.")]
DeltaOption = Annotated[
    str | None, typer.Option("--delta", help="Gaussian noise: leakages are ε at this δ, such as 1e-6.")
]
RulesOption = Annotated[
    bool,
    typer.Option("--check-rules", help="Also count the rows that contradict what others are said to decide."),
]
CapOption = Annotated[float, typer.Option("--cap", help="The most that everything ever released may leak.")]
LedgerOption = Annotated[str, typer.Option("--ledger", help="Where the ledger is or will be.")]


@app.command("request")
def request(  # noqa: PLR0913, PLR0917  (options of one command)
    proposals: ProposalsOption,
    output: OutputOption,
    private: PrivateOption = None,
    rows: RowsOption = None,
    leakage: LeakageOption = 1.0,
    cap: CapOption = 3.0,
    ledger: LedgerOption = "ledger.sqlite",
    knowledge: KnowledgeOption = Knowledge.any,
    delta: DeltaOption = None,
    check: CheckOption = False,  # noqa: FBT002
    keep_tree: KeepTreeOption = False,  # noqa: FBT002
    check_rules: RulesOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Learn the dependence, share the leakage among all questions, and write a request to plan and release."""
    from entwined.request.words import without_password
    from entwined.survey.asking import request_text
    from entwined.survey.checking import checked_plan
    from entwined.survey.proposals import schema_named
    from entwined.survey.worth import Worth

    model = output.with_suffix(".model.json")
    require_new(output, model)
    with progress():
        schema, survey = answers_of(proposals)
        table, size = private_table(private, proposals, output), respondents(rows, schema)
        both = plans(survey, leakage, knowledge, size, delta)
        if check:
            both = [checked_plan(both[0], keep_tree=keep_tree), *both[1:]]
        planned, pure = both[0], both[-1]
        refuse_private_pilot(table, output, schema, planned)
        require_new(*(models := [model, *beside(planned, output)]))
        places = {"schema": relative(schema_named(proposals), output), "ledger": ledger}
        places |= {"table": without_password(table), "cap": f"{cap:g}"}
        text = request_text(planned, schema, [one.name for one in models], check_rules=check_rules, **places)
        worth = Worth(planned)
        worth.proposals  # noqa: B018  (worked out while the progress bar shows)
    written(worth, text, output, models)
    show(worth, pure, output, model, as_document=as_document)


def plans(
    survey: "Survey", leakage: float, knowledge: Knowledge, rows: int, delta: str | None
) -> "list[SurveyPlan]":
    """Plan with the noise that is asked for, and with Laplace noise beside it."""
    from entwined.survey.survey import plan_survey

    return [
        plan_survey(survey, leakage, knowledge.value, rows, at_the_door=True, delta=miss)
        for miss in dict.fromkeys((delta, None))
    ]


def answers_of(proposals: Path) -> "tuple[Schema, Survey]":
    """Read what was confirmed; refuse a schema that does not protect answers."""
    from entwined.survey.proposals import read_confirmed

    schema, survey = read_confirmed(proposals)
    if not schema.unit.by_column:
        raise Refused(UNIT)
    return schema, survey


def private_table(given: str | None, proposals: Path, output: Path) -> str:
    """Take the private table that was named, or the one of the proposals, as the request sees it."""
    from entwined.survey.proposals import table_named

    if given is not None:
        return given
    named = table_named(proposals)
    if named is None:
        raise BadInput(f"{proposals} names no private table. Give it with --table.")
    return seen_from(named, output.parent)


def respondents(given: int | None, schema: "Schema") -> int:
    """Take the number of respondents that was given, or that of the schema."""
    size = schema.rows if given is None else given
    if size is None:
        raise BadInput("The schema does not say how many rows there are. Say about how many with --rows.")
    return size


def written(worth: "Worth", text: str, output: Path, models: list[Path]) -> None:
    """Write the request and the laws that it declares, below a warning where the noise drowns the answers."""
    from entwined.dependence import write_model

    for path, (_, law) in zip(models, worth.plan.laws, strict=True):
        write_model(law, path)
    warned = [worth.warning, f"Best: {worth.proposals[0].words}"] if worth.proposals else []
    write_whole(output, "".join(f"# {line}\n" for line in warned) + text)


def beside(planned: "SurveyPlan", output: Path) -> list[Path]:
    """Name a file for every law that is declared beside the tree."""
    count = len(planned.survey.beside)
    return [output.with_suffix(f".beside-{turn + 1}.json") for turn in range(count)]


def show_checked(planned: "SurveyPlan", output: Path, *, as_document: bool) -> None:
    """Say first whether the tree passed its check, if it was checked."""
    found = planned.survey.checked
    if found is not None and not as_document:
        show_check(found.figures, planned.survey.learned.title, beside(planned, output))
        say()


def refuse_private_pilot(private: str, output: Path, schema: "Schema", planned: "SurveyPlan") -> None:
    """Refuse a pilot whose rows are those of the private table; one that cannot be opened now is asked at the door."""
    from entwined.door.own_rows import refuse_own_rows
    from entwined.promise.declared import Declared
    from entwined.tables import open_table

    source = private if "://" in private else str(output.parent / private)
    try:
        table = open_table(source, schema)
    except EntwinedError:
        return
    with table:
        refuse_own_rows(table, [Declared(planned.model, name=planned.survey.learned.title)])


@app.command("derive")
def derive(
    proposals: Annotated[
        Path, typer.Argument(metavar="SURVEY.toml", help="The proposals that the release was planned with.")
    ],
    released: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `entwined release` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the histograms, as CSV.")],
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Add up the histograms of columns that others decide, and take filled blanks off; it costs nothing."""
    from entwined.estimate.answers import Release
    from entwined.report.derived import derived_text
    from entwined.survey.proposals import read_confirmed
    from entwined.survey.working_out import contradictions, filled_questions, worked_out

    require_new(output)
    with progress():
        schema, survey = read_confirmed(proposals)
        release = Release.from_document(read_release(released))
        found, filled = worked_out(survey, schema, release), filled_questions(survey, release)
        against = contradictions(survey, schema, release)
    write_whole(output, derived_text(found, schema))
    if as_document:
        told = {"file": str(output), "columns": len(survey.decided), "cells": len(found)}
        checked = {f"{one.column} by {one.answer}": [one.value, one.low, one.high] for one in against}
        as_json(
            told | ({"filled": len(filled)} if filled else {}) | ({"contradict": checked} if against else {})
        )
        return
    say(f"The histograms of {len(survey.decided)} columns that others decide are in {output}.")
    if filled:
        say(f"So are those of {len(filled)} questions whose blanks were filled, without what was filled in.")
    show_contradictions(against)


def show_contradictions(against: "list[WorkedOut]") -> None:
    """Say which columns are not decided by others after all, as far as noise lets it be seen."""
    for one in against:
        if one.low > 0:
            say(
                f"CONTRADICTED: {one.column} is not decided by {one.answer} for about {one.value} rows ({one.low} to "
                f"{one.high}). Say confirmed = false of it, and release it itself."
            )
    if against and not any(one.low for one in against):
        worst = max(one.high for one in against)
        say(
            f"{len(against)} of them were checked: none is contradicted by more than {worst} rows, with 95 % each."
        )


def read_release(folder: Path) -> Any:
    """Read the document of a release."""
    from entwined.dependence.contents import read_bytes, text_of

    try:
        return json.loads(text_of(read_bytes(folder / "release.json", LARGEST_RELEASE)))
    except (ValueError, RecursionError, EntwinedError):
        raise BadInput(
            f"{folder} holds no release.json that can be read. Give what `entwined release` wrote."
        ) from None


def show(worth: "Worth", pure: "SurveyPlan", output: Path, model: Path, *, as_document: bool) -> None:
    """Say what was written and what it is good for, beside other noise for the same promise."""
    planned = worth.plan
    show_checked(planned, output, as_document=as_document)
    error, plain = planned.squared_error**0.5, planned.plain_squared_error**0.5
    others = {noise: squared**0.5 for noise, squared in planned.plain_errors.items()}
    if pure is not planned:
        others["Laplace noise shared by what depends on what"] = pure.squared_error**0.5
    if as_document:
        told = {"request": str(output), "model": str(model), "questions": len(planned.losses)}
        checked = planned.survey.checked
        told |= {} if checked is None else {"check": checked.figures.document}
        told |= {"gain": planned.gain, "l2": error, "plain_l2": plain, "l2_beside": others}
        as_json({**told, "quality": worth.document})
        return
    say(f"{len(planned.losses)} histograms are asked for in {output}; the model is in {model}.")
    say(
        f"Their L2 error will be about {number(error)}, {number(planned.gain)} times less than "
        f"with {planned.plain_noise} for the same promise."
    )
    if pure is not planned:
        say("; ".join(f"{noise}: {number(each)}" for noise, each in others.items()) + ".")
    if pure.squared_error < planned.squared_error:
        say("Laplace noise is better here, and its promise has no δ. Leave out --delta.")
    say(worth.beside)
    show_worth(worth)
    say(f"Next: entwined plan {output}")


def show_worth(worth: "Worth") -> None:
    """Say that the noise drowns the answers, and what would help; nothing where it does not."""
    if worth.warning:
        say(f"WARNING: {worth.warning}")
    for turn, one in enumerate(worth.proposals):
        say(f"{'Or' if turn else 'Best'}: {one.words}")


def require_new(*paths: Path) -> None:
    """Refuse to write over what somebody went through."""
    for path in paths:
        if path.exists():
            raise BadInput(f"{path} is there already. Give another name, so that it is not lost.")


def relative(path: Path, beside: Path) -> str:
    """Name a path from the folder of another file."""
    return os.path.relpath(path, beside.parent)
