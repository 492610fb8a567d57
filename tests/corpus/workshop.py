"""A folder with a private table, its approved schema and a request, in which one thing is then made bad."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

from entwined.ledger import Ledger
from entwined.promise.promise import Promise
from entwined.schema import Categorical, Integer, Real, Schema, Text, read_schema
from entwined.schema.files import text_of
from support.other_rows import forget_rows

SECRET = "Zq7secret"  # noqa: S105  (a mark to look for)
NUMBER = "739135713"
"""Every cell of the private table holds one of the two, and no message may."""
PASSWORD = "Tr0ubador"  # noqa: S105  (another)
HEADER = b"region,age,income,who\n"
ROW = f"{SECRET} north,{NUMBER},{NUMBER}.5,{SECRET}\n".encode()
ROWS = HEADER + ROW * 20
COLUMNS = (
    Categorical("region", ("north", "south")),
    Integer("age", 0, 120),
    Real("income", 0, 1000, "0.5"),
    Text("who", compare="exact"),
)
COUNT = {"kind": "count"}


@cache
def schema_text(most_rows: int = 1000) -> str:
    """The text of the approved schema."""
    return text_of(Schema(COLUMNS, neighbours="add_remove", most_rows=most_rows).approve())


class Workshop:
    """One case's own folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        forget_rows()  # every case has the same ones
        self.file("survey.csv", ROWS)
        self.file("schema.toml", schema_text())

    def file(self, name: str, data: bytes | str) -> str:
        """Write a file and give its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return name

    def request(
        self, *, drop: tuple[str, ...] = (), query: object = COUNT, models: str = "", **changed
    ) -> str:
        """Write release.toml: the usual one, with fields changed, dropped or added."""
        fields = {
            "table": "survey.csv",
            "schema": "schema.toml",
            "ledger": "ledger.sqlite",
            "cap": 2,
            "loss": 1,
        }
        fields |= changed
        lines = [f"{key} = {_toml(value)}" for key, value in fields.items() if key not in drop]
        queries = query if isinstance(query, list) else [query]
        for one in queries:
            lines += ["[[query]]", *(f"{key} = {_toml(value)}" for key, value in one.items())]
        return self.file("release.toml", "\n".join(lines) + "\n" + models)

    def release(self, **changed) -> list[str]:
        """Release the usual request with something changed."""
        return ["release", self.request(**changed), "-o", "out", "--yes"]

    def ledger(self, cap: int = 2) -> str:
        """Begin the ledger of the usual request; nothing is charged."""
        schema = read_schema(self.folder / "schema.toml")
        Ledger.create(str(self.folder / "ledger.sqlite"), Fraction(cap), Promise.of(schema)).close()
        return "ledger.sqlite"

    def plan(self, **changed) -> list[str]:
        """Plan the usual request with something changed."""
        return ["plan", self.request(**changed)]

    def sql(self, text: str, *more: str) -> list[str]:
        """Ask in SQL."""
        return ["sql", "--yes", text, "--request", self.request(), "--loss", "0.5", *more]

    def model(self, document: object, name: str = "model.json") -> str:
        """Write a model."""
        return self.file(name, document if isinstance(document, str | bytes) else json.dumps(document))


class Raw(str):
    """TOML that is written as it is."""

    __slots__ = ()


def _toml(value: object) -> str:
    return (
        value if isinstance(value, Raw) else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    )
