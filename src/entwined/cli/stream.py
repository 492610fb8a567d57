"""`entwined stream`: an answer at every step, charged once before the first row is read."""

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from entwined.cli.arguments import RequestFile, YesOption, confirmed
from entwined.cli.show import as_json, number, progress, say, table
from entwined.writing import write_whole

if TYPE_CHECKING:
    from entwined.canonical import Document
    from entwined.series.following import Streaming, ToldStep

STDIN = "-"
HEADER = "step,value,within"


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    request_file: RequestFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the answers to this file, not to the terminal."),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="Where answers are kept; beside the release file if not said."),
    ] = None,
    as_document: Annotated[bool, typer.Option("--json", help="Lines of JSON instead of CSV.")] = False,  # noqa: FBT002
    plan: Annotated[  # noqa: FBT002
        bool, typer.Option("--plan", help="Say what it costs and gives, and read nothing.")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", help="With --plan: write it as a page, too.")] = None,
    after: Annotated[int, typer.Option("--after", help="Leave out the answers up to this step.")] = 0,
    keep_open: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--keep-open", help="Do not end the last step with the input: more of it may come."),
    ] = False,
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Answer at every step of a stream. The ledger is charged once; after a crash the same command goes on."""
    from entwined.request.request_file import read_request
    from entwined.series.following import Streaming

    with progress():
        streaming = Streaming.of(read_request(request_file))
    if plan:
        _plan(streaming, html, as_document=as_document)
        return
    place = journal or request_file.with_name(f"{streaming.request.tasks[0].stem}.journal")
    if not place.exists():
        confirmed(f"The stream {streaming.name!r} is charged now, for all its steps.", yes=yes)
    with _writing(output) as file:
        _follow(streaming, place, file, after, as_document=as_document, ends=not keep_open)


def _follow(
    streaming: "Streaming", place: Path, file: TextIO, after: int, *, as_document: bool, ends: bool
) -> None:
    """Show what was answered before, and then what comes in."""
    from entwined.series.following import followed
    from entwined.series.journal import StepJournal

    kept = StepJournal(place)
    with (
        _incoming(streaming) as (descriptor, again),
        followed(streaming, descriptor, kept, again=again, ends=ends) as following,
    ):
        write_whole(place.with_suffix(".json"), json.dumps(following.certificate, indent=2) + "\n")
        if not as_document:
            file.write(HEADER + "\n")
        shown = 0
        for _ in following.blocks:
            _show(streaming.told(kept.answers[shown:]), file, after, as_document=as_document)
            shown = len(kept.answers)
        _show(streaming.told(kept.answers[shown:]), file, after, as_document=as_document)


def _show(answers: "Iterable[ToldStep]", file: TextIO, after: int, *, as_document: bool) -> None:
    for one in answers:
        if one.step > after:
            file.write(one.json if as_document else one.csv)
            file.write("\n")
    file.flush()


@contextmanager
def _incoming(streaming: "Streaming") -> Iterator[tuple[int, bool]]:
    """Open what comes in, and say whether answered lines come in again, as those of a file do."""
    if streaming.request.table == STDIN:
        yield sys.stdin.fileno(), False
        return
    descriptor = os.open(streaming.request.source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor, stat.S_ISREG(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)


@contextmanager
def _writing(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with output.open("w", encoding="utf-8") as file:
        yield file


def _plan(streaming: "Streaming", html: Path | None, *, as_document: bool) -> None:
    from entwined.series.horizon import planned

    with progress():
        document = planned(streaming)
        if html is not None:
            from entwined.report import stream_page

            write_whole(html, stream_page(document))
    if as_document:
        as_json(document)
        return
    show(document)
    if html is not None:
        say(f"The page is in {html}.")


def show(document: "Document") -> None:
    """Print what a stream costs and gives, for people."""
    say(document["says"])
    say(f"Charged once: ε {number(document['nominal'])}, leakage {number(document['leakage'])}.")
    for line in options_words(document["noise_options"], document.get("delta")):
        say(line)
    rows = [
        [f"{one['step']:,}", number(one["deviation"]), number(one["within"])] for one in document["errors"]
    ]
    table("Errors", ["#step", "#standard deviation", "#95 % within ±"], rows)
    for model in document["models"]:
        rows = [[f"{one['steps']:,}", number(one["leakage"])] for one in model["horizon"]]
        limit = model["limit"]
        rows.append(["without an end", "no bound" if limit is None else number(limit)])
        table(f"{model['name']}: what leaks of a step after so many", ["#steps", "#leakage"], rows)


def options_words(options: "Sequence[Document]", used: float | None) -> "Iterator[str]":
    """Say which noise was chosen where a δ was given, and what the other would give."""
    for option in options:
        noise = "without a δ" if option["delta"] is None else f"with δ = {number(option['delta'])}"
        if "why_not" in option:
            yield f"Noise {noise} cannot be had: {option['why_not']}"
        else:
            chosen = "Chosen" if option["delta"] == used else "Not chosen"
            error = number(option["rms_error"])
            yield f"{chosen}: noise {noise}, {option['strategy']}; root mean squared error {error}."
