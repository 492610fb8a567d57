"""`entwined release`: plan, charge, read, add noise, and write what may be published into a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.canonical import Document
from entwined.cli.arguments import (
    EarlierOption,
    JsonOption,
    KeyFile,
    ReceiptOption,
    RequestFile,
    YesOption,
    confirmed,
)
from entwined.cli.plan import periods_left, worst
from entwined.cli.show import as_json, number, progress, say

if TYPE_CHECKING:
    from entwined.mechanisms.batch import Batch
    from entwined.request.fulfil import Fulfilled
    from entwined.request.funds import Funds
    from entwined.signing import Key


OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="A new or empty folder for what comes out.")
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    request_file: RequestFile,
    output: OutputOption,
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
        require_free(output, models := [one.model for one in request.dependence])
        ahead = outlook(request)
    confirm_price(ahead.planned, ahead.funds, yes=yes)
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
    if as_document:
        told = {"folder": str(output), "files": [path.name for path in files]}
        as_json({**told, "no_report": no_charts() or None, "budget": done.funds.document})
        return
    _say(output, files, done, key)


def confirm_price(planned: "Batch", funds: "Funds", *, yes: bool) -> None:
    """Ask before spending; what will be refused anyway is not asked about."""
    if funds.refused is not None:
        return
    cost, left = number(float(planned.price.worst)), number(funds.left or 0)
    periods = "; ".join(f"in {one.name}: {number(one.left)}" for one in funds.periods)
    if funds.again:
        confirmed("The same was answered before of the same rows, and is not charged again. Go on?", yes=yes)
    else:
        confirmed(f"Spend {cost}, after which {left} is left{f' ({periods})' if periods else ''}?", yes=yes)


def _say(output: Path, files: "list[Path]", done: "Fulfilled", key: "Key | None") -> None:
    """Say what was written, what it cost, and how to check it."""
    from entwined.report import no_charts

    names = ", ".join(path.name for path in files)
    say(f"Released {len(done.release.answers)} statistics into {output}: {names}.")
    if lacking := no_charts():
        say(f"There is no report.html: {lacking} The same request then gives it, and is not charged again.")
    say(spent(done.funds.document, stored=done.was_stored))
    say(f"receipt {done.funds.receipt}")
    if key is not None:
        say(f"The certificate is signed with the key {key.public.fingerprint}.")
    say(f"Check the promise with: entwined verify {output / 'certificate.json'}")


def spent(budget: Document, *, stored: bool) -> str:
    """Say in a line what the ledger says now."""
    paid = "Asked before: nothing new was charged. " if stored else ""
    return (
        f"{paid}Spent so far: {number(worst(budget['after']))} of {number(budget['cap'])}; "
        f"{number(budget['left'])} is left.{periods_left(budget)}"
    )
