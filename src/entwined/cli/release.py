"""`entwined release`: plan, charge, read, add noise, and write what may be published into a folder."""

from collections.abc import Sequence
from dataclasses import replace
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
from entwined.cli.left_out import show_counted, show_left_out
from entwined.cli.plan import counted_whole, periods_left, show_sheet, unguarded, worst
from entwined.cli.show import as_json, note, number, progress, say, table

if TYPE_CHECKING:
    from entwined.estimate.answers import Release
    from entwined.estimate.compared import ComparedNumbers
    from entwined.forecast.prospects import Prospects
    from entwined.report.formats import Format
    from entwined.request.bill import Bill
    from entwined.request.computed import Computation
    from entwined.request.fulfil import Fulfilled
    from entwined.request.funds import Funds
    from entwined.request.outlook import Outlook
    from entwined.request.request import Request
    from entwined.signing import Key


OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="A new or empty folder for what comes out.")
]
FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format", help="A further file of the numbers, beside CSV and Parquet: xlsx or r. Repeat it."
    ),
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    request_file: RequestFile,
    output: OutputOption,
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
    receipt: ReceiptOption = None,
    key_file: KeyFile = None,
    with_earlier: EarlierOption = False,  # noqa: FBT002
    format_names: FormatOption = None,
) -> None:
    """Release the statistics of a request: the ledger is charged first, and what is written may be published."""
    from entwined.report import require_free, wanted_formats
    from entwined.request.request_file import read_request
    from entwined.signing import Key

    require_free(output)
    also = wanted_formats(format_names or ())
    key = None if key_file is None else Key.read(key_file)
    with progress():
        request = read_request(request_file)
        require_free(output, [one.model for one in request.dependence])
    if not request.questions:
        release_computed(request, output, key, receipt, as_document=as_document, yes=yes)
        return
    ahead, done, computed = _fulfilled(request, receipt, yes=yes, with_earlier=with_earlier)
    files = written(output, request, ahead, done, key, also, computed)
    if as_document:
        more = {"outputs": outputs(computed)} if computed else {}
        as_json(told(output, files, done, ahead.prospects) | more)
    else:
        show_computed(computed)
        _say(output, files, done, key, ahead.prospects)
        show_left_out(request_file, request)


def _fulfilled(
    request: "Request", receipt: str | None, *, yes: bool, with_earlier: bool
) -> "tuple[Outlook, Fulfilled, Sequence[Computation]]":
    """Plan, confirm, charge and answer the questions, and then the mechanisms beside them."""
    from entwined.request.bill import bill_of
    from entwined.request.computed import compute
    from entwined.request.fulfil import fulfil
    from entwined.request.funds import require_funds
    from entwined.request.outlook import outlook

    with progress():
        ahead = outlook(request, decided=True)
        bill = bill_of(request, ahead.planned)
    if request.tasks:
        require_funds(ahead.funds)
    confirm_price(bill, ahead.funds, yes=yes)
    with progress():
        done = fulfil(request, ahead.planned, receipt, with_earlier=with_earlier)
        if not request.tasks:
            return ahead, done, ()
        computed = compute(request)
    funds = replace(computed.funds, spent=done.funds.spent)
    stored = done.was_stored and computed.was_stored
    return ahead, replace(done, funds=funds, was_stored=stored), computed.found


def release_computed(
    request: "Request", output: Path, key: "Key | None", receipt: str | None, *, as_document: bool, yes: bool
) -> None:
    """Release what mechanisms give, where no question is asked beside them."""
    from entwined.promise.counted_rows import counted_rows
    from entwined.report import write_computed
    from entwined.request.bill import bill_of
    from entwined.request.computed import compute
    from entwined.request.tasks_outlook import tasks_outlook

    with progress():
        ahead = tasks_outlook(request)
    confirm_price(bill_of(request), ahead.funds, yes=yes)
    with progress():
        done = compute(request, receipt)
        files = write_computed(
            output,
            computed=done.found,
            schema=request.schema,
            outlook=ahead.document,
            budget=done.funds.document,
            models=[one.model for one in request.dependence],
            key=key,
        )
    names = [path.name for path in files]
    if as_document:
        there = {"folder": str(output), "files": names, "outputs": outputs(done.found)}
        as_json({**there, "budget": done.funds.document})
        return
    show_computed(done.found)
    show_counted(counted_rows(request.promise))
    say(f"Released {', '.join(one.name for one in done.found)} into {output}: {', '.join(names)}.")
    rows = request.promise.protects_individuals
    say(spent(done.funds.document, stored=done.was_stored, protected=rows))
    say(f"receipt {done.funds.receipt}")
    say(f"Check the promise with: entwined verify {output / done.found[0].stem}.json")


def outputs(computed: "Sequence[Computation]") -> Document:
    """What mechanisms gave, as JSON by their names."""
    return {one.name: one.sheet.document for one in computed}


def show_computed(computed: "Sequence[Computation]") -> None:
    """Print what mechanisms gave."""
    for one in computed:
        show_sheet(f"{one.name}: {one.says}", one.sheet.document)


def written(  # noqa: PLR0913, PLR0917  (all that goes into a folder)
    output: Path,
    request: "Request",
    ahead: "Outlook",
    done: "Fulfilled",
    key: "Key | None",
    also: "Sequence[Format]",
    computed: "Sequence[Computation]" = (),
) -> list[Path]:
    """Write the folder of a release."""
    from entwined.report import write_release

    return write_release(
        output,
        release=done.release,
        names=[question.name for question in request.questions],
        schema=request.schema,
        outlook=ahead.document,
        budget=done.funds.document,
        models=[one.model for one in request.dependence],
        key=key,
        also=also,
        computed=computed,
        compared=done.compared,
    )


def told(output: Path, files: "list[Path]", done: "Fulfilled", ahead: "Prospects") -> Document:
    """Say what was written as JSON."""
    there: Document = {"folder": str(output), "files": [path.name for path in files]}
    if done.compared:
        there["comparisons"] = [one.document for one in done.compared]
    there["warnings"] = [warning.document for warning in done.release.warnings]
    return {**there, "quality": quality(done.release, ahead), "budget": done.funds.document}


def quality(release: "Release", ahead: "Prospects") -> Document:
    """Say how many of the released numbers are in each class, and how good they are beside a uniform guess."""
    from entwined.estimate.guess import beside_guess
    from entwined.estimate.quality import tallied

    guess = beside_guess(release)
    levels = tallied(level for answer in release.answers for level in answer.levels)
    document: Document = {"levels": levels, "best": ahead.best or None}
    return document | {"beside_guess": None if guess is None else guess.document}


def show_quality(release: "Release", ahead: "Prospects") -> None:
    """Say how many numbers can be published, and warn if none of some statistic can."""
    from entwined.report.quality_note import release_note

    found = release_note(release, {"quality": ahead.document})
    say(found.summary)
    if found.warning:
        say(f"WARNING: {found.warning}")
    if found.best:
        say(f"Best: {found.best}")


def show_warnings(release: "Release") -> None:
    """Print which declarations the numbers contradict."""
    for warning in release.warnings:
        say(f"WARNING: {warning.text}")


def confirm_price(bill: "Bill", funds: "Funds", *, yes: bool) -> None:
    """Ask before spending; what will be refused anyway is not asked about."""
    if funds.refused is not None:
        return
    cost, left = number(float(bill.price.worst)), number(funds.left or 0)
    periods = "; ".join(f"in {one.name}: {number(one.left)}" for one in funds.periods)
    for line in funds.unanswered:
        note(line)
    if funds.again:
        confirmed("The same was answered before of the same rows, and is not charged again. Go on?", yes=yes)
    else:
        confirmed(f"Spend {cost}, after which {left} is left{f' ({periods})' if periods else ''}?", yes=yes)


def _say(output: Path, files: "list[Path]", done: "Fulfilled", key: "Key | None", ahead: "Prospects") -> None:
    """Say what was written, what it cost, and how to check it."""
    names = ", ".join(path.name for path in files)
    say(f"Released {len(done.release.answers)} statistics into {output}: {names}.")
    show_warnings(done.release)
    show_counted(done.release.certificate["counted_rows"])
    show_compared(done.compared)
    say(spent(done.funds.document, stored=done.was_stored))
    say(f"receipt {done.funds.receipt}")
    if key is not None:
        say(f"The certificate is signed with the key {key.public.fingerprint}.")
    say(f"Check the promise with: entwined verify {output / 'certificate.json'}")
    show_quality(done.release, ahead)


def show_compared(compared: "Sequence[ComparedNumbers]") -> None:
    """Print what numbers say about each other."""
    from entwined.report.cells import compared_line

    shown = [compared_line(one) for one in compared]
    if shown:
        columns = ["comparison", "kind", "one", "other", "#value", "#from", "#to", "#confidence"]
        keys = ("name", "kind", "one", "other", "value", "low", "high", "confidence")
        table("Comparisons", columns, [[line[key] for key in keys] for line in shown])


def spent(budget: Document, *, stored: bool, protected: bool = True) -> str:
    """Say in a line what the ledger says now."""
    paid = "Asked before: nothing new was charged. " if stored else ""
    if not protected:
        return f"{paid}No row is priced. The ledger is closed: nothing else leaves the table."
    return (
        f"{paid}Spent so far: {number(worst(budget['after']))} of {number(budget['cap'])}; "
        f"{number(budget['left'])} is left.{periods_left(budget)}{counted_whole(budget)}{unguarded(budget)}"
    )
