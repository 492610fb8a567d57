"""The folder of a paper's reproduction: text, tables as CSV, everything as JSON."""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from entwined.canonical import Document
from entwined.errors import BadInput

STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #22303a; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; }
th, td { border-bottom: 1px solid #d6dde2; padding: .25rem .6rem; text-align: left; vertical-align: top; }
.notice { background: #fbe9df; padding: .6rem 1rem; } .wrong { color: #b3541e; } .reproduced { color: #1b6b93; }
svg { max-width: 100%; height: auto; } h2 { margin-top: 2.2rem; }
"""


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
