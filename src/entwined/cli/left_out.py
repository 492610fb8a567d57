"""Which rows the numbers of a request are about, and, for the holder alone, how many its bounds leave out."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from entwined.cli.show import say

if TYPE_CHECKING:
    from entwined.request.request import Request


def show_counted(sentences: Sequence[str]) -> None:
    """Print which rows numbers are about, where not every row counts once."""
    if sentences:
        say(f"Rows that count: {' '.join(sentences)}")


def show_left_out(request_file: Path, request: "Request") -> None:
    """Print the share of rows beyond each bound, where `init` counted it; it is no part of any document."""
    for sentence in left_out(request_file, request):
        say(f"HOLDER ONLY: {sentence}")


def left_out(request_file: Path, request: "Request") -> Iterator[str]:
    """Say for each bound on the rows of a person or a group which share of the counted rows is beyond it."""
    from entwined.tables.group_sizes import read_sizes, sizes_beside

    schema_file = request_file.parent / str(tomllib.loads(request_file.read_text("utf-8"))["schema"])
    counted = read_sizes(schema_file)
    for column, most, group in bounds_of(request):
        if column in counted:
            share = 100 * counted[column].left_out(most)
            yield (
                f"{share:.3g} % of the rows that init counted are beyond the bound of {most:,} rows of a {group} "
                f"({sizes_beside(schema_file).name})."
            )


def bounds_of(request: "Request") -> Iterator[tuple[str, int, str]]:
    """List the bounds on rows: the column, how many rows of a value count, and what a value names."""
    person, kept = request.schema.unit.person, request.promise.kept
    if person is not None:
        yield person.column, person.most, person.name
    elif kept is not None and kept.by is not None and kept.order is None:
        yield kept.by, kept.most, "group"
