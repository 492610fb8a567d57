"""A holder's work on one table, as files in a folder of its own: a draft, a schema, a request file, what was released.

The draft is what the page edits, with what it was before, so that every step can be undone. The request file is
written from it, and it is the one that the command line reads: the page plans and releases nothing else.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from entwined.bounds import Verdict
from entwined.bounds.certificate import read_certificate
from entwined.canonical import Document, canonical, sha256
from entwined.dependence.syntax import toml_value
from entwined.door.certificate import CERTIFICATE
from entwined.errors import BadInput, Refused
from entwined.report import write_release
from entwined.report.formats import FORMATS
from entwined.request.fulfil import fulfil
from entwined.request.funds import require_funds
from entwined.request.outlook import Outlook, outlook
from entwined.request.published import verify_published
from entwined.request.request import Request
from entwined.request.request_file import read_request
from entwined.request.words import table_name
from entwined.schema import Schema, approve, read_schema
from entwined.schema.files import schema_of, write_schema
from entwined.tables import describe
from entwined.tables.describe import measure_sizes, notes_beside
from entwined.tables.group_sizes import read_sizes
from entwined.tables.units import MIN_UNITS
from entwined.web.addresses import Addresses, is_address
from entwined.web.places import below
from entwined.writing import write_whole

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
DRAFT: Final = "draft.json"
SCHEMA: Final = "schema.toml"
REQUEST: Final = "release.toml"
LEDGER: Final = "ledger.sqlite"
RELEASED: Final = re.compile(r"released-(\d{1,6})")
MOST_UNDONE: Final = 50
AMOUNTS: Final = ("cap", "leakage")
EMPTY: Final[Mapping[str, Any]] = {
    "title": "",
    "cap": "3",
    "leakage": "1",
    "knowledge": "any",
    "expected_rows": "",
    "dependence": [],
    "queries": [],
}


@dataclass(frozen=True, slots=True)
class Project:
    """One folder inside the folder of the service."""

    top: Path
    name: str
    addresses: Addresses = field(default_factory=Addresses, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise BadInput("A project is called by letters, digits, _ and -, at most 40. Choose such a name.")

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.top / self.name

    @classmethod
    def begin(
        cls,
        top: Path,
        name: str,
        table: str,
        addresses: Addresses | None = None,
        *,
        min_units: int = MIN_UNITS,
        unit: str | None = None,
    ) -> "Project":
        """Look at a table and propose its schema, which is private until it is approved.

        A table is a file below the folder, or an address that is known. No value is proposed that fewer than
        `min_units` units have: rows, or the values of the column `unit`.
        """
        made = cls(top, name, addresses or Addresses())
        if made.folder.exists():
            raise BadInput(f"There is a project or a folder {name!r} already. Choose another name.")
        where = table if is_address(table) else str(below(top, table).relative_to(top.resolve()))
        found = describe(made._source(where), min_units=min_units, unit=unit)
        made.folder.mkdir(mode=0o700)
        found.write(made.folder / SCHEMA)
        made._write({"table": where, "title": table_name(where), **_usual()}, [])
        return made

    @classmethod
    def found(cls, top: Path, name: str, addresses: Addresses | None = None) -> "Project":
        """Find a project that was begun."""
        known = cls(top, name, addresses or Addresses())
        if not (known.folder / DRAFT).is_file() or known.folder.is_symlink():
            raise BadInput("There is no such project. Choose one from the list.")
        return known

    @classmethod
    def all(cls, top: Path) -> list["Project"]:
        """List the projects of a folder."""
        names = sorted(path.parent.name for path in top.glob(f"*/{DRAFT}"))
        return [cls(top, name) for name in names if NAME.fullmatch(name)]

    @property
    def draft(self) -> Document:
        """What is being worked at."""
        return {**EMPTY, **self._versions()[0]}

    @property
    def can_undo(self) -> bool:
        """Whether there is a version before this one."""
        return bool(self._versions()[1])

    @property
    def schema(self) -> Schema:
        """The schema, approved or not; one whose approval was undone by a change counts as not approved."""
        text = (self.folder / SCHEMA).read_text(encoding="utf-8")
        try:
            return schema_of(text)
        except BadInput:
            return schema_of(text, signed=False)

    def proposed_bound(self, column: str) -> int:
        """Propose how many rows of a group count, from the groups that the table has by a column."""
        found = measure_sizes(self._source(self.draft["table"]), self.folder / SCHEMA, self.schema, [column])
        if column not in found:
            raise BadInput(
                f"Column {column!r:.60} names no groups for sure. Say how many rows of a group count."
            )
        return found[column].proposed

    def sizes_in_words(self, column: str | None) -> str:
        """Say how many rows groups have by a column and what bounds leave out, if it was counted."""
        found = read_sizes(self.folder / SCHEMA).get(column or "")
        return "" if found is None else found.words

    @property
    def notes(self) -> str:
        """What was counted when the schema was proposed, for the holder alone."""
        try:
            return notes_beside(self.folder / SCHEMA).read_text(encoding="utf-8")
        except OSError:
            return ""

    def change(self, **changed: Any) -> None:
        """Change the draft; what it was can be brought back."""
        now, before = self._versions()
        self._write({**now, **changed}, [*before[1 - MOST_UNDONE :], now])

    def undo(self) -> None:
        """Bring back the draft as it was before the last change."""
        _, before = self._versions()
        if before:
            self._write(before[-1], before[:-1])

    def change_schema(self, schema: Schema) -> None:
        """Write another schema, which has to be approved anew."""
        write_schema(schema, self.folder / SCHEMA)

    def approve(self) -> None:
        """Approve the schema as it stands, by the holder's word."""
        approve(self.folder / SCHEMA)

    def request(self, leakage: str | None = None) -> Request:
        """Read the draft as the command line reads a request file, which is written where nothing is changed in it."""
        if leakage is None:
            self.write_request()
        return self.read(self.drafted({} if leakage is None else {"leakage": leakage}))

    def drafted(self, changed: Mapping[str, Any]) -> str:
        """Give the request file that the draft says, under a schema that is approved."""
        read_schema(self.folder / SCHEMA).require_approval()
        return request_text(self.draft | dict(changed))

    def read(self, text: str) -> Request:
        """Read a request of this project; other visits may write another one meanwhile."""
        return self.reachable(read_request(self.folder / REQUEST, text))

    def write_request(self) -> None:
        """Write the request file as the draft says."""
        write_whole(self.folder / REQUEST, self.drafted({}))

    def reachable(self, request: Request) -> Request:
        """Give a request the password of its table, which no file holds."""
        return replace(request, table=self.addresses.full(request.table))

    def outlook(self, leakage: str | None = None, *, brief: bool = False) -> Outlook:
        """Look ahead: what the draft would cost and give."""
        return outlook(self.request(leakage), brief=brief)

    def release(self, leakage: str, seen: str) -> int:
        """Release the plan that was seen, and write the folder of it; the number of the release is given."""
        charged = self.drafted({"leakage": leakage})
        ahead = outlook(self.read(charged))
        if seen_as(ahead) != seen:
            raise Refused(
                "The plan is not the one that was shown: something changed. Nothing was charged. Look again."
            )
        require_funds(ahead.funds)
        self.change(leakage=leakage)
        self.write_request()
        request = ahead.request
        number = max(self.released, default=0) + 1
        done = fulfil(request, ahead.planned)
        write_release(
            self._folder_of(number),
            release=done.release,
            names=[question.name for question in request.questions],
            schema=request.schema,
            outlook=ahead.document,
            budget=done.funds.document,
            models=[one.model for one in request.dependence],
            also=[one for one in FORMATS.values() if not one.lacking()],
        )
        write_whole(self._folder_of(number) / REQUEST, charged)
        return number

    @property
    def released(self) -> list[int]:
        """The numbers of what was released."""
        names = (RELEASED.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(found[1]) for found in names if found)

    def files(self, number: int) -> list[str]:
        """The files of a release."""
        if number not in self.released:
            raise BadInput("There is no such release. Choose one from the list.")
        return sorted(path.name for path in self._folder_of(number).iterdir() if path.is_file())

    def file(self, number: int, name: str) -> Path:
        """Find one file of a release by its name in the list."""
        if name not in self.files(number):
            raise BadInput("There is no such file. Choose one from the list.")
        return self._folder_of(number) / name

    def verdict(self, number: int) -> Verdict:
        """Derive the certificate of a release again, and hold the files beside it against it."""
        place = self._folder_of(number)
        return verify_published(read_certificate(place / CERTIFICATE), read_schema(place / SCHEMA), place)

    @property
    def source(self) -> str:
        """Where the rows are, with the password of an address; it is written nowhere."""
        return self._source(self.draft["table"])

    def _source(self, table: str) -> str:
        return self.addresses.full(table) if is_address(table) else str(self.top / table)

    def _folder_of(self, number: int) -> Path:
        return self.folder / f"released-{number}"

    def _versions(self) -> tuple[Document, list[Document]]:
        try:
            given = json.loads((self.folder / DRAFT).read_bytes())
            return dict(given["now"]), list(given["before"])
        except (OSError, ValueError, KeyError, TypeError):
            raise Refused(
                "The draft of this project cannot be read. Bring back an earlier copy of it."
            ) from None

    def _write(self, now: Document, before: list[Document]) -> None:
        write_whole(self.folder / DRAFT, json.dumps({"now": now, "before": before}))


def seen_as(ahead: Outlook) -> str:
    """Name a plan by what it asks, the noise that it has and the promise that it is under."""
    return sha256(canonical([ahead.planned.document, ahead.planned.promise.identity]))


def beside(path: str) -> str:
    """Give a path below the folder of the service as a project's files say it."""
    return os.path.join(os.pardir, path)  # noqa: PTH118  (a path as the file says it)


def _usual() -> Document:
    return {key: value for key, value in EMPTY.items() if key != "title"}


def request_text(draft: Mapping[str, Any]) -> str:
    """Write a draft as a request file, for the folder that it lies in."""
    fields: Document = {
        "title": draft["title"],
        "table": draft["table"] if is_address(draft["table"]) else beside(draft["table"]),
        "schema": SCHEMA,
        "ledger": LEDGER,
        **{key: draft[key] for key in AMOUNTS if draft[key]},
        "knowledge": draft["knowledge"],
    }
    if str(draft["expected_rows"]).isdecimal():
        fields["expected_rows"] = int(draft["expected_rows"])
    blocks = ["".join(f"{key} = {toml_value(value)}\n" for key, value in fields.items())]
    for heading in ("dependence", "queries"):
        for one in draft[heading]:
            lines = "".join(f"{key} = {toml_value(value)}\n" for key, value in one.items())
            blocks.append(f"[[{heading.replace('queries', 'query')}]]\n{lines}")
    return "\n".join(blocks)
