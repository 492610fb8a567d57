"""The files of what mechanisms gave: a table as CSV, and a document that holds its certificate."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from entwined.door.certificate import covering, signed
from entwined.request.computed import Computation
from entwined.request.published import file_digests
from entwined.signing import Key
from entwined.writing import harmless


def write_sheets(folder: Path, computed: Sequence[Computation]) -> None:
    """Write the table of each as CSV, which a spreadsheet takes for texts and numbers, never for formulas."""
    for one in computed:
        with (folder / f"{one.stem}.csv").open(
            "w", encoding="utf-8", errors="backslashreplace", newline=""
        ) as file:
            writer = csv.writer(file)
            writer.writerow(map(harmless, one.sheet.headings))
            writer.writerows([harmless(_text(cell)) for cell in row] for row in one.sheet.rows)


def write_certified(folder: Path, computed: Sequence[Computation], key: Key | None) -> None:
    """Write each document with a certificate that covers it and all files that are there by now."""
    there = file_digests(folder)
    for one in computed:
        proof = covering(one.certificate, published=there)
        certificate = dict(proof if key is None else signed(proof, key))
        write_json(folder / f"{one.stem}.json", one.numbers | {"certificate": certificate})


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document for people and programs."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace", newline="\n")


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "" if cell is None else str(cell)
