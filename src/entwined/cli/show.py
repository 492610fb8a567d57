"""How numbers, tables, progress and failures look on a terminal."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from entwined.progress import listening

PATIENCE = 1.0  # seconds of silence before a progress bar is shown


def as_json(document: dict[str, Any]) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def fail(message: str) -> None:
    """Say on stderr what went wrong."""
    sys.stderr.write(f"entwined: {message}\n")


def number(value: float) -> str:
    """Write a number with six digits."""
    return f"{value:.6g}"


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a small table on stdout."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*row)
    Console(soft_wrap=False).print(shown)


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
