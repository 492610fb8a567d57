"""How numbers, tables, progress and failures look on a terminal."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer

from entwined.canonical import Document
from entwined.progress import listening

PATIENCE = 1.0  # seconds of silence before a progress bar is shown
NUMBERS = "#"
LONGEST = 1000  # signs of a failure
WIDE = 120  # columns of a table that is printed into a pipe


def as_json(document: Document) -> None:
    """Print one JSON document on stdout."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    # half a character, as in some file names, is written as JSON escapes it
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def fail(message: str) -> None:
    """Say on stderr what went wrong, in one line; of a very long one the middle is left out."""
    line = plain(message)
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    sys.stderr.write(f"entwined: {line}\n")


def say(line: str = "") -> None:
    """Print a line on stdout; no name in it can move the cursor or colour the screen."""
    sys.stdout.write(plain(line) + "\n")


def note(line: str) -> None:
    """Print a line on stderr that a person should read before going on."""
    sys.stderr.write(f"{plain(line)}\n")


def plain(text: str) -> str:
    """Keep a text on its line: signs that are not printed become a question mark, line ends a space."""
    return "".join(sign if sign.isprintable() else " " if sign in "\n\r\t" else "?" for sign in text)


def show_hints(hints: Iterable[str]) -> None:
    """Print what further knowledge would help, if anything would."""
    said = [f"  {hint}" for hint in hints]
    for line in ["", "What would help, by examples that were worked out:", *said] if said else ():
        say(line)


def number(value: float) -> str:
    """Write a number with six digits."""
    return f"{value:.6g}"


def about(value: float | None) -> str:
    """Write a number with three digits, a large one with all before the point; a dash for none.

    >>> about(123456.7), about(0.012345), about(None)
    ('123,457', '0.0123', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004  (where three digits end)


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a small table on stdout; columns whose heading starts with a number sign hold numbers."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=plain(title), title_justify="left", show_edge=False, pad_edge=False)
    for column in columns:
        numbers = column.startswith(NUMBERS)
        shown.add_column(
            plain(column.removeprefix(NUMBERS)), overflow="fold", justify="right" if numbers else "left"
        )
    for row in rows:
        shown.add_row(*map(plain, row))
    wide = None if sys.stdout.isatty() else WIDE
    Console(soft_wrap=False, markup=False, highlight=False, emoji=False, width=wide).print(shown)


@contextmanager
def progress() -> Iterator[None]:
    """Show a progress bar on stderr once the work has taken over a second; nothing in pipes."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("working", total=None)
    clock = Timer(PATIENCE, bar.start)
    clock.daemon = True
    clock.start()
    try:
        with listening(
            lambda what, done, total: bar.update(task, description=what, completed=done, total=total)
        ):
            yield
    finally:
        clock.cancel()
        clock.join()
        bar.stop()
