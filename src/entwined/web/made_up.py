"""Synthetic data of a project: what a description would cost, what was made, and how good it is."""

import re
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from entwined.bounds import Verdict
from entwined.bounds.certificate import read_certificate
from entwined.canonical import canonical, sha256
from entwined.errors import BadInput, Refused
from entwined.mechanisms.marginals.synthesis import MODES, Synthesis
from entwined.numbers import positive_fraction
from entwined.report.inspection_page import inspection_page
from entwined.report.public_word_page import public_word_page
from entwined.report.synthetic_folder import WantedRows, describe_into
from entwined.request.funds import require_funds
from entwined.request.published import verify_published
from entwined.request.request_file import read_with_task
from entwined.request.tasks import Task
from entwined.request.tasks_outlook import TasksOutlook, tasks_outlook
from entwined.schema import read_schema
from entwined.synthetic import read_description
from entwined.synthetic.description import NAME
from entwined.synthetic.error_bars import word_of
from entwined.synthetic.files import write_rows
from entwined.synthetic.inspection import DESCRIPTION, SCHEMA, compared
from entwined.synthetic.reading import making
from entwined.web.projects import REQUEST, Project

FOLDER: Final = re.compile(r"synthetic-(\d{1,6})")
MOST_ROWS: Final = 1_000_000
WAYS: Final = {
    "adaptive": "adaptive: what is told worst is counted next",
    "correlated": "correlated: a network of columns",
    "independent": "independent: each column on its own",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What a description may leak, how it is made, and how many rows are made up of it."""

    leakage: Fraction
    mode: str
    rows: int | None

    @classmethod
    def of(cls, leakage: str, mode: str, rows: str) -> "Wish":
        """Read the fields of a form."""
        if mode not in WAYS or mode not in MODES:
            raise BadInput(f"{mode!r:.40} is no way to describe a table. Choose one of the list.")
        return cls(positive_fraction(leakage[:40], "Leakage"), mode, counted(rows) if rows.strip() else None)


def counted(rows: str) -> int:
    """Read how many rows are wanted."""
    text = rows.strip().replace("_", "").replace(",", "")
    if not text.isdecimal() or not 1 <= int(text[:12]) <= MOST_ROWS:
        raise BadInput(
            f"{rows!r:.40} rows. Give a number from 1 to {MOST_ROWS:,}; the command line makes more."
        )
    return int(text)


@dataclass(frozen=True, slots=True)
class MadeUp:
    """The synthetic data of one project."""

    project: Project

    def ahead(self, wish: Wish) -> TasksOutlook:
        """Look ahead: what a description would cost; no row is read."""
        self.project.write_request()
        task = Task(NAME, Synthesis, {"mode": wish.mode}, wish.leakage)
        request = read_with_task(self.project.folder / REQUEST, lambda _: task)
        return tasks_outlook(self.project.reachable(request))

    def describe(self, wish: Wish, seen: str) -> int:
        """Charge and write the description that was seen, with rows made up of it; its number is given."""
        ahead = self.ahead(wish)
        if seen_before(ahead) != seen:
            raise Refused(
                "The description is not the one that was shown: something changed. Nothing was charged. Look again."
            )
        require_funds(ahead.funds)
        number = max(self.numbers, default=0) + 1
        describe_into(self._named(number), ahead, WantedRows(wish.rows))
        return number

    @property
    def numbers(self) -> list[int]:
        """The numbers of what was described."""
        names = (FOLDER.fullmatch(path.name) for path in self.project.folder.iterdir())
        return sorted(int(found[1]) for found in names if found)

    def folder(self, number: int) -> Path:
        """Find the folder of a description."""
        if number not in self.numbers:
            raise BadInput("There is no such synthetic table. Choose one from the list.")
        return self._named(number)

    def files(self, number: int) -> list[str]:
        """The files of a description."""
        return sorted(path.name for path in self.folder(number).iterdir() if path.is_file())

    def file(self, number: int, name: str) -> Path:
        """Find one file by its name in the list."""
        if name not in self.files(number):
            raise BadInput("There is no such file. Choose one from the list.")
        return self.folder(number) / name

    def verdict(self, number: int) -> Verdict:
        """Derive the certificate again, and hold the files beside it against it."""
        place = self.folder(number)
        return verify_published(read_certificate(place / DESCRIPTION), read_schema(place / SCHEMA), place)

    def more(self, number: int, rows: str) -> bytes:
        """Make up more rows of a description, as CSV: it was paid for."""
        found = read_description(self.folder(number) / DESCRIPTION)
        with tempfile.TemporaryDirectory() as name:
            (path,) = write_rows(Path(name), making(found)(counted(rows)), ("csv",))
            return path.read_bytes()

    def in_public(self, number: int) -> str:
        """Say what may be said of it in public, from the released noise alone."""
        document = read_certificate(self.folder(number) / DESCRIPTION)
        return public_word_page(word_of(document), document["certificate"])

    def beside_the_rows(self, number: int) -> str:
        """Compare it with the real table, for the holder's eyes alone."""
        return inspection_page(compared(self.folder(number), self.project.source))

    def _named(self, number: int) -> Path:
        return self.project.folder / f"synthetic-{number}"


def seen_before(ahead: TasksOutlook) -> str:
    """Name a description by its mechanism, its noise and the promise that it is under."""
    documents = [dict(one.document) for one in ahead.request.mechanisms]
    return sha256(canonical([documents, ahead.request.promise.identity]))
