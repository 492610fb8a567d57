"""`entwined learn covariance`: how columns of numbers vary together, with a budget from the rows."""

import json
from pathlib import Path
from typing import Annotated

import typer

from entwined.cli.arguments import JsonOption, YesOption, confirmed
from entwined.cli.learn import OutputOption
from entwined.cli.learn_with_budget import require_free
from entwined.cli.show import as_json, number, progress, say

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


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    request_file: RequestFile,
    output: OutputOption,
    columns: ColumnsOption,
    budget: SpendOption,
    confidence: SureOption = "0.95",
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Learn how columns vary together, by intervals: for a secret of another table of such rows, as `covariance`."""
    from entwined.learning.covariance import covariance_on_request, settled_moments
    from entwined.noise.lattice import probability
    from entwined.request.request_file import read_request

    require_free(output)
    probability(confidence, "Confidence")
    with progress():
        request = read_request(request_file)
        mechanism, price = settled_moments(request, [one.strip() for one in columns.split(",")], budget)
    confirmed(f"Spend up to {number(float(price.worst))} on learning?", yes=yes)
    with progress():
        done = covariance_on_request(request, mechanism, price, confidence)
    output.write_text(json.dumps(done.learned.document, ensure_ascii=False, indent=1) + "\n")
    spent, cap = float(done.after.worst), float(done.cap)
    told = {
        "covariance": str(output),
        "learned": done.learned.words,
        "columns": list(done.learned.columns),
        "loss": float(mechanism.loss),
        "spent": spent,
        "cap": cap,
        "left": max(cap - spent, 0.0),
    }
    if as_document:
        as_json(told)
        return
    say(f"The covariance of {', '.join(done.learned.columns)}, {done.learned.words}, is in {output}.")
    say(f"Spent so far: {number(spent)} of {number(cap)}; {number(max(cap - spent, 0.0))} is left.")
