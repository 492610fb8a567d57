"""Run the command as a terminal would, but in this process, and look at everything it leaves."""

import contextlib
import io
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from entwined.cli.app import main
from entwined.errors import NoLedger
from entwined.ledger import Book


@dataclass(frozen=True)
class Done:
    """What a command said and took."""

    code: int
    out: str
    err: str
    seconds: float


def run(arguments: list[str], folder: Path) -> Done:
    """Run `entwined` with these arguments in a folder."""
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


def charges(place: str | Path) -> int:
    """Say how many charges a ledger holds; none if it is not there."""
    book = Book(str(place))
    try:
        return sum(entry.kind.value == "charge" for entry in book.history())
    except NoLedger:
        return 0
    finally:
        book.close()
