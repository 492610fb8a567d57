"""A synthetic table as a folder: described under a budget, made up, and covered by one certificate."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.report.folder import write_computed
from entwined.request.computed import Computed, compute
from entwined.request.request import Request
from entwined.request.tasks_outlook import TasksOutlook
from entwined.signing import Key
from entwined.synthetic import DescribedTable, MadeUpRows
from entwined.synthetic.files import FORMATS, write_dictionary, write_rows

Making: TypeAlias = Callable[[int | None], MadeUpRows]
"""How so many rows are made; about as many as there are, unless a number is given."""


@dataclass(frozen=True, slots=True)
class WantedRows:
    """What is to be written: how many rows, how many tables, in which formats."""

    rows: int | None = None
    copies: int = 1
    formats: tuple[str, ...] = FORMATS

    def write(self, folder: Path, made: Making) -> None:
        """Write all tables with their dictionary."""
        for turn in range(1, self.copies + 1):
            stem = "synthetic" if self.copies == 1 else f"synthetic_{turn}"
            write_rows(folder, made(self.rows), self.formats, stem)
        write_dictionary(folder, made(self.rows))


def rows_of(found: DescribedTable) -> Making:
    """Make rows of a description."""
    return lambda many: MadeUpRows(found.schema, found.size if many is None else many, found)


def describe_into(
    output: Path, ahead: TasksOutlook, wanted: WantedRows, key: Key | None = None, receipt: str | None = None
) -> tuple[list[Path], Computed]:
    """Charge, describe, make up rows, and write both with their certificate."""
    request = ahead.request
    done = compute(request, receipt)
    described = _description(request, done.found[0].numbers)
    files = write_computed(
        output,
        computed=done.found,
        schema=request.schema,
        outlook=ahead.document,
        budget=done.funds.document,
        models=[one.model for one in request.dependence],
        key=key,
        also=lambda draft: wanted.write(draft, rows_of(described)),
    )
    return files, done


def _description(request: Request, numbers: Document) -> DescribedTable:
    (mechanism,) = request.mechanisms
    if not isinstance(mechanism, Synthesis):
        raise BadInput("The request is for no synthetic table. Give a [[mechanism]] of kind synthesis.")
    return DescribedTable.of(mechanism, mechanism.output(str(numbers["drawn"]).encode()), request.schema)
