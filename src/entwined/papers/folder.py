"""The folder of a paper's reproduction: text, tables as CSV, everything as JSON."""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from entwined.canonical import Document
from entwined.errors import BadInput


@contextmanager
def made(folder: Path) -> Iterator[Path]:
    """Make the folder for what is written to it; say so if it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except OSError as reason:
        raise BadInput(
            f"{folder} cannot be written: {reason.strerror}. Give a folder you may write to."
        ) from None


def write_text(path: Path, text: str) -> Path:
    """Write a page and say where."""
    path.write_text(text, encoding="utf-8")
    return path


def write_document(path: Path, document: Document) -> Path:
    """Write everything as JSON."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    return write_text(path, text + "\n")


def write_table(path: Path, rows: Sequence[Document]) -> Path:
    """Write rows of the same columns."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
