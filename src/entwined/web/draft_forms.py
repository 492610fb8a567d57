"""What the holder's forms say: what depends on what, and what is asked, as the entries of a request file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.numbers import positive_fraction
from entwined.web.places import below

ASKED: Final = {
    "count": "How many rows",
    "histogram": "How many rows have each value",
    "marginal": "How many rows have each pair of values",
    "mean": "The mean",
    "total": "The total",
    "median": "The median",
}
ONE_COLUMN: Final = ("histogram", "mean", "total", "median")
LONGEST: Final = 5000


def dependence_from(top: Path, given: Mapping[str, str]) -> list[Document]:
    """Read what depends on what: nothing, groups by a column, or a model file below the folder."""
    kind = given.get("kind", "none")
    about = {key: given[key] for key in ("by", "order") if given.get(key)}
    if kind == "none":
        return []
    if kind == "groups":
        largest = given.get("largest", "").strip()
        if not largest.isdecimal() or len(largest) > 9:  # noqa: PLR2004  (more than any group has)
            raise BadInput(
                f"The largest group: {largest!r:.60} is no whole number. Give how many rows share a value."
            )
        if "by" not in about:
            raise BadInput("Groups need the column that says who belongs together. Choose it.")
        return [{"model": {"kind": "groups", "largest": int(largest)}, "by": about["by"]}]
    if kind == "file":
        file = below(top, given.get("file", ""))
        return [{"model": os.path.join(os.pardir, str(file.relative_to(top.resolve()))), **about}]  # noqa: PTH118
    raise BadInput(f"{kind!r:.60} is no kind of dependence. Choose one of the list.")


def question_from(given: Mapping[str, str]) -> Document:
    """Read one question, picked from the columns or typed as SQL."""
    found: Document = {}
    if name := given.get("name", "").strip():
        found["name"] = name
    if sql := given.get("sql", "").strip():
        return {**found, "sql": sql[:LONGEST]}
    kind = given.get("kind", "")
    if kind not in ASKED:
        raise BadInput(f"{kind!r:.60} is no kind of question. Choose one of the list, or type SQL.")
    found["kind"] = kind
    if kind == "marginal":
        found["of"] = [given.get("column", ""), given.get("other", "")]
    elif kind in ONE_COLUMN:
        found["column"] = given.get("column", "")
    if where := given.get("where", "").strip():
        found["where"] = where[:LONGEST]
    bins = given.get("bins", "").strip()
    if bins and kind == "histogram":
        if not bins.isdecimal() or len(bins) > 6:  # noqa: PLR2004  (a table of counts has no more)
            raise BadInput(f"Bins: {bins!r:.60} is no whole number. Give how many, or nothing.")
        found["bins"] = int(bins)
    return found


def terms_from(given: Mapping[str, str]) -> Document:
    """Read the title, the cap, the leakage and what is expected."""
    found: Document = {}
    for key, words in (("cap", "Cap"), ("leakage", "Leakage")):
        if key in given:
            positive_fraction(given[key], words)
            found[key] = given[key].strip()
    if "title" in given:
        found["title"] = given["title"].strip()[:200]
    if given.get("knowledge") in ("any", "model"):
        found["knowledge"] = given["knowledge"]
    if "expected_rows" in given:
        rows = given["expected_rows"].strip()
        if rows and not (rows.isdecimal() and len(rows) < 16):  # noqa: PLR2004  (below 2^53)
            raise BadInput(
                f"Rows expected: {rows!r:.60} is no whole number. Give about how many, or nothing."
            )
        found["expected_rows"] = rows
    return found
