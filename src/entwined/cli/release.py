"""`entwined release`: plan, charge, read, add noise, and write what may be published into a folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from entwined.cli.arguments import (
    EarlierOption,
    JsonOption,
    KeyFile,
    ReceiptOption,
    RequestFile,
    YesOption,
    confirmed,
)
from entwined.cli.plan import worst
from entwined.cli.show import as_json, number, progress, say


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    request_file: RequestFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="A new or empty folder for what comes out.")],
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
    receipt: ReceiptOption = None,
    key_file: KeyFile = None,
    with_earlier: EarlierOption = False,  # noqa: FBT002
) -> None:
    """Release the statistics of a request: the ledger is charged first, and what is written may be published."""
    from entwined.report import no_charts, require_free, write_release
    from entwined.request.fulfil import fulfil
    from entwined.request.outlook import outlook
    from entwined.request.request_file import read_request
    from entwined.signing import Key

    require_free(output)
    key = None if key_file is None else Key.read(key_file)
    with progress():
        request = read_request(request_file)
        models = [one.model for one in request.dependence]
        require_free(output, models)
        ahead = outlook(request)
    if ahead.funds.refused is None:
        cost = float(ahead.planned.price.worst)
        confirmed(f"Spend {number(cost)}, after which {number(ahead.funds.left or 0)} is left?", yes=yes)
    with progress():
        done = fulfil(request, ahead.planned, receipt, with_earlier=with_earlier)
        files = write_release(
            output,
            release=done.release,
            names=[question.name for question in request.questions],
            schema=request.schema,
            outlook=ahead.document,
            budget=done.funds.document,
            models=models,
            key=key,
        )
    names, budget = [path.name for path in files], done.funds.document
    if as_document:
        as_json({"folder": str(output), "files": names, "no_report": no_charts() or None, "budget": budget})
        return
    say(f"Released {len(request.questions)} statistics into {output}: {', '.join(names)}.")
    if lacking := no_charts():
        say(f"There is no report.html: {lacking} The same request then gives it, and is not charged again.")
    say(spent(budget, stored=done.was_stored))
    say(f"receipt {done.funds.receipt}")
    if key is not None:
        say(f"The certificate is signed with the key {key.public.fingerprint}.")
    say(f"Check the promise with: entwined verify {output / 'certificate.json'}")


def spent(budget: dict[str, Any], *, stored: bool) -> str:
    """Say in a line what the ledger says now."""
    paid = "Asked before: nothing new was charged. " if stored else ""
    return (
        f"{paid}Spent so far: {number(worst(budget['after']))} of {number(budget['cap'])}; "
        f"{number(budget['left'])} is left."
    )
