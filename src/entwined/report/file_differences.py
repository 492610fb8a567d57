"""Where a published file differs from the one that it should be, in words: which line, cell or phrase."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

from entwined.bounds.certificate import read_certificate
from entwined.errors import BadInput, EntwinedError
from entwined.request.rebuilding import FROM_LEDGER, Difference, difference

PHRASE: Final = re.compile(r"[^\s<>]+|[<>]")
UNREADABLE: Final = "{name} cannot be read, so it is not the file that the draws in the ledger give."


def file_difference(published: Path, rebuilt: Path) -> str | None:
    """Say where a file says something else than the one that was made again."""
    if published.read_bytes() == rebuilt.read_bytes():
        return None
    find = FINDERS.get(published.suffix, _in_text)
    try:
        wrong = find(published, rebuilt)
    except (EntwinedError, ValueError, OSError, KeyError):
        return UNREADABLE.format(name=published.name)
    return None if wrong is None else wrong.words(published.name, FROM_LEDGER)


def _in_json(published: Path, rebuilt: Path) -> Difference | None:
    return difference(read_certificate(published), read_certificate(rebuilt))


def _in_csv(published: Path, rebuilt: Path) -> Difference | None:
    """Compare cell by cell; what a text editor changed in the ends of lines counts too."""
    with (
        published.open(encoding="utf-8", newline="") as file,
        rebuilt.open(encoding="utf-8", newline="") as other,
    ):
        lines: list[list[str]]
        right: list[list[str]]
        lines, right = list(csv.reader(file)), list(csv.reader(other))
        names = right[0] if right else []
        empty: list[str] = []
        for at, (line, good) in enumerate(zip_longest(lines, right, fillvalue=empty), start=1):
            cells = zip_longest(line, good, fillvalue="nothing")
            for place, (cell, wanted) in enumerate(cells):
                if cell != wanted:
                    column = names[place] if place < len(names) else str(place + 1)
                    return Difference((f"line {at}", column), cell, wanted)
    return _in_text(published, rebuilt)


def _in_text(published: Path, rebuilt: Path) -> Difference | None:
    """Compare phrase by phrase."""
    both = zip_longest(*map(_phrases, (published, rebuilt)), fillvalue="nothing")
    for at, (phrase, wanted) in enumerate(both, start=1):
        if phrase != wanted:
            return Difference((f"phrase {at}",), phrase, wanted)
    return Difference(("spaces",), "others", "those of the original")


def _phrases(path: Path) -> Iterator[str]:
    return (found.group() for found in PHRASE.finditer(path.read_text(encoding="utf-8")))


def _in_parquet(published: Path, rebuilt: Path) -> Difference | None:
    """Compare the values; another way of packing them is none of their difference."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table, right = parquet.read_table(published), parquet.read_table(rebuilt)
    except pa.ArrowException:
        raise BadInput(UNREADABLE.format(name=published.name)) from None
    if table.schema != right.schema:
        return Difference(("columns",), ", ".join(table.schema.names), ", ".join(right.schema.names))
    for name in right.schema.names:
        wrong = difference(
            [*map(repr, table[name].to_pylist())], [*map(repr, right[name].to_pylist())], (name,)
        )
        if wrong is not None:
            return wrong
    return None


def _in_workbook(published: Path, rebuilt: Path) -> Difference | None:
    """Compare all cells of all sheets, and what they link to; the time of writing is left out."""
    return difference(_workbook(published), _workbook(rebuilt))


def _workbook(path: Path) -> dict[str, Any]:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(path)
    except (BadZipFile, InvalidFileException, TypeError, AttributeError):
        raise BadInput(UNREADABLE.format(name=path.name)) from None
    return {
        sheet.title: {
            cell.coordinate: f"{cell.value!r}{' → ' + str(cell.hyperlink.location) if cell.hyperlink else ''}"
            for line in sheet.iter_rows()
            for cell in line
        }
        for sheet in book.worksheets
    }


FINDERS: Final[Mapping[str, Callable[[Path, Path], Difference | None]]] = {
    ".json": _in_json,
    ".csv": _in_csv,
    ".parquet": _in_parquet,
    ".xlsx": _in_workbook,
}
