"""Run the command as a terminal would, but in this process, and look at everything it leaves."""

import contextlib
import io
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from corpus.workshop import NUMBER, PASSWORD, SECRET
from entwined.cli.app import main
from entwined.errors import EntwinedError, NoLedger
from entwined.ledger import Book

SECONDS = 2.0
LONGEST = 1100


@dataclass(frozen=True)
class Done:
    """What a command said and took."""

    code: int
    out: str
    err: str
    seconds: float


def run(arguments: list[str], folder: Path) -> Done:
    """Run `entwined` with these arguments in a folder; the time is that of the processor."""
    out, err = io.StringIO(), io.StringIO()
    before, code = Path.cwd(), 0
    os.chdir(folder)
    start = time.process_time()
    try:
        with (
            mock.patch.object(sys, "argv", ["entwined", *arguments]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    finally:
        seconds = time.process_time() - start
        os.chdir(before)
    return Done(code, out.getvalue(), err.getvalue(), seconds)


def charges(folder: Path) -> int | str:
    """Say how many charges the usual ledger holds, or why that cannot be told; none if it is not there."""
    try:
        book = Book(str(folder / "ledger.sqlite"))
        try:
            return sum(entry.kind.value == "charge" for entry in book.history())
        finally:
            book.close()
    except NoLedger:
        return 0
    except EntwinedError as reason:
        return type(reason).__name__


def unlike_a_refusal(done: Done, says: str = "", *, verdict: bool = False) -> Iterator[str]:
    """Say how an end of the command differs from a refusal in one line; a verdict stands on stdout."""
    told = done.out + done.err
    if done.code not in {1, 2}:
        yield f"exit code {done.code}"
    if verdict and done.code == 1:
        if not done.out.startswith("NOT valid. ") or done.out.count("\n") != 1 or done.err:
            yield "no verdict"
    elif done.out:
        yield "something on stdout"
    elif not done.err.startswith("entwined: ") or done.err.count("\n") != 1:
        yield "not one line on stderr"
    if len(told) > LONGEST:
        yield f"{len(told)} signs"
    if says not in told:
        yield f"no word of {says!r}"
    yield from indiscreet(told)
    if done.seconds > SECONDS:
        yield f"{done.seconds:.1f} s"


def indiscreet(told: str) -> Iterator[str]:
    """Say what a text gives away."""
    if any(secret in told for secret in (SECRET, NUMBER, PASSWORD)):
        yield "a word of the rows, or a password"
    if "Traceback" in told or "Error" in told.replace("OperationalError", ""):
        yield "a traceback"
