"""Lay the demo out in a folder: the survey, its schema, who may influence whom, and a request.

The study interviewed people in small areas, a few in each. Which area somebody lived in is not in the file, so
the model only says how areas look: four people each, any two of whom may raise each other's odds of an answer by
a factor of e^0.5. Every row has the same loss, so it does not matter which row is in which area.
"""

import csv
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from entwined.canonical import Document
from entwined.door.witnessed import witness_of
from entwined.errors import BadInput
from entwined.ledger import Book
from entwined.schema import read_schema
from entwined.tables import open_table

LEANING: Final = (
    "extremely liberal",
    "liberal",
    "slightly liberal",
    "moderate",
    "slightly conservative",
    "conservative",
    "extremely conservative",
)
PARTY: Final = (
    "strong Democrat",
    "weak Democrat",
    "independent Democrat",
    "independent",
    "independent Republican",
    "weak Republican",
    "strong Republican",
)
SCHOOL: Final = (
    "up to 8 grades",
    "some high school",
    "high school",
    "some college",
    "college degree",
    "master's degree",
    "doctorate",
)
VOTE: Final = ("Clinton", "Dole")
AREA: Final = 4  # people interviewed in one place
LEDGER: Final = "ledger.sqlite"  # as the request names it
FILES: Final = ("schema.toml", "release.toml", "model.json")
MISSING: Final = (
    "The demo needs the survey inside the package statsmodels. Install it: pip install 'entwined[demo]'."
)


def write_demo(folder: Path) -> None:
    """Write everything that a release needs; what is there already stays, so that changes are not lost."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "survey.csv").exists():
        people = list(respondents())
        _write(folder / "survey.csv", people[0].keys(), (person.values() for person in people))
        _write(folder / "neighbours.csv", ("source", "target"), neighbours(len(people)))
    for name in FILES:
        if not (folder / name).exists():
            (folder / name).write_text(files("entwined.demo").joinpath(name).read_text())
    if not (folder / LEDGER).exists():
        _spend_anew(folder)


def _spend_anew(folder: Path) -> None:
    """Let the survey be released as if it never was: it is public."""
    Book(folder / LEDGER).anchor.forget()
    with open_table(folder / "survey.csv", read_schema(folder / "schema.toml")) as table:
        guard = witness_of(table)
        if guard is not None:
            guard.forget()


def respondents() -> Iterator[Document]:
    """Give the answers in words, one respondent at a time."""
    try:
        from statsmodels.datasets import anes96
    except ImportError:
        raise BadInput(MISSING) from None
    for row in anes96.load_pandas().data.itertuples():
        yield {
            "age": int(row.age),
            "education": SCHOOL[int(row.educ) - 1],
            "income": int(row.income),
            "tv_news": int(row.TVnews),
            "leaning": LEANING[int(row.selfLR) - 1],
            "party": PARTY[int(row.PID)],
            "vote": VOTE[int(row.vote)],
        }


def neighbours(people: int) -> Iterator[tuple[int, int]]:
    """Link everybody in an area with everybody else in it."""
    for first in range(people):
        for second in range(first + 1, min(first - first % AREA + AREA, people)):
            yield first, second


def _write(path: Path, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
