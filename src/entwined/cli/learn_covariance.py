"""`entwined learn covariance`: how columns of numbers vary together, with a budget from the rows."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.cli.arguments import JsonOption, YesOption, confirmed
from entwined.cli.learn import OutputOption
from entwined.cli.learn_with_budget import require_free
from entwined.cli.show import as_json, number, progress, say
from entwined.errors import BadModel, Refused

if TYPE_CHECKING:
    from entwined.bounds.attributes.learned_covariance import LearnedCovariance
    from entwined.learning.covariance import CovarianceSpending

RequestFile = Annotated[
    Path, typer.Argument(metavar="RELEASE.toml", help="Whose table is learned from, and charged.")
]
ColumnsOption = Annotated[
    str, typer.Option("--columns", help="Columns of numbers, with commas between them.")
]
SpendOption = Annotated[str, typer.Option("--budget", help="The loss that is charged.")]
SureOption = Annotated[
    str, typer.Option("--confidence", help="How sure the intervals are, by noise and sample.")
]
MembersOption = Annotated[
    int | None,
    typer.Option(
        "--members",
        help="Take the columns for members of a family, and write a model of so many of them, any two equally alike.",
    ),
]
AtMostOption = Annotated[
    bool,
    typer.Option(
        "--at-most", help="Members may differ in how alike they are: bound every correlation alone."
    ),
]


SpreadOption = Annotated[
    str, typer.Option("--spread", help="The standard deviation to plan for, as a part of a column's range.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Only say what would be learned and what it would cost.")
]


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    request_file: RequestFile,
    output: OutputOption,
    columns: ColumnsOption,
    budget: SpendOption,
    confidence: SureOption = "0.95",
    members: MembersOption = None,
    at_most: AtMostOption = False,  # noqa: FBT002
    spread: SpreadOption = "0.25",
    plan: PlanOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Learn how columns vary together, by intervals: for a secret of another table of such rows, as `covariance`.

    With --members for a model of families: rows are families, columns their members, and a release of persons by family
    takes the file as its model.
    """
    from entwined.dependence.files import require_folder, require_model_file
    from entwined.learning.covariance import covariance_on_request, settled_moments
    from entwined.learning.expected import expected_covariance, require_family
    from entwined.noise.lattice import probability
    from entwined.numbers import positive_fraction
    from entwined.request.request_file import read_terms

    require_free(output)
    sure, names = probability(confidence, "Confidence"), [name.strip() for name in columns.split(",")]
    require_folder(output) if members is None else require_model_file(output, members**2)
    require_family(members, at_most=at_most)
    with progress():
        request = read_terms(request_file)
        mechanism, price = settled_moments(request, names, budget)
        part = positive_fraction(spread, "Spread")
        expected = expected_covariance(request.promise, mechanism, sure, part, members)
    if plan:
        cost = {"loss": float(mechanism.loss), "price": float(price.worst), "expected": expected.document}
        as_json(cost) if as_document else say(f"{expected.words} It would cost {number(float(price.worst))}.")
        return
    confirmed(f"{expected.words} Spend up to {number(float(price.worst))} on learning?", yes=yes)
    with progress():
        done = covariance_on_request(request, mechanism, price, confidence)
    written = _written(done.learned, members, output, at_most=at_most)
    more = {"loss": float(mechanism.loss), "expected": expected.document}
    _told(done, written | more, output, as_document=as_document)


def _told(done: "CovarianceSpending", written: dict[str, Any], output: Path, *, as_document: bool) -> None:
    """Say what was learned and spent, as JSON or in sentences."""
    learned, spent, cap = done.learned, float(done.after.worst), float(done.cap)
    left = max(cap - spent, 0.0)
    if as_document:
        told = {
            "learned": learned.words,
            "columns": list(learned.columns),
            "spent": spent,
            "cap": cap,
            "left": left,
        }
        as_json(written | told)
        return
    named = ", ".join(learned.columns)
    if "model" in written:
        say(
            f"Two of {named} have a correlation from {number(written['low'])} to {number(written['high'])}; the model "
            f"takes {number(written['taken'])}."
        )
    what = "A model of members like" if "model" in written else "The covariance of"
    say(f"{what} {named}, {learned.words}, is in {output}.")
    say(f"Spent so far: {number(spent)} of {number(cap)}; {number(left)} is left.")


def _written(
    learned: "LearnedCovariance", members: int | None, output: Path, *, at_most: bool
) -> dict[str, Any]:
    """Write the covariance, or the model of a family of so many with how alike two of them are."""
    from entwined.dependence import write_model
    from entwined.learning.kin import alike, equal_members, members_at_most

    if members is None:
        output.write_text(json.dumps(learned.document, ensure_ascii=False, indent=1) + "\n")
        return {"covariance": str(output)}
    try:
        found = alike(learned)
    except BadModel as reason:
        kept = output.with_name(f"{output.stem}.covariance.json")
        kept.write_text(json.dumps(learned.document, ensure_ascii=False, indent=1) + "\n")
        raise Refused(f"{reason} What was learned of the columns is in {kept}.") from None
    make = members_at_most if at_most else equal_members
    model = make(found, members, learned.learned_from)
    write_model(model, output)
    taken = float(model.strengths.max())
    return {"model": str(output), "low": found.low, "high": found.high, "taken": taken}
