"""A synthetic table as a folder: described under a budget, made up, and covered by one certificate."""

from dataclasses import dataclass
from pathlib import Path

from entwined.report.folder import write_computed
from entwined.request.computed import Computed, compute
from entwined.request.tasks_outlook import TasksOutlook
from entwined.signing import Key
from entwined.synthetic.files import FORMATS, write_dictionary, write_rows
from entwined.synthetic.reading import Making, described, making


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


def describe_into(
    output: Path, ahead: TasksOutlook, wanted: WantedRows, key: Key | None = None, receipt: str | None = None
) -> tuple[list[Path], Computed]:
    """Charge, describe, make up rows, and write both with their certificate."""
    request = ahead.request
    done = compute(request, receipt)
    (mechanism,) = request.mechanisms
    found = described(mechanism, str(done.found[0].numbers["drawn"]), request.schema)
    files = write_computed(
        output,
        computed=done.found,
        schema=request.schema,
        outlook=ahead.document,
        budget=done.funds.document,
        models=[one.model for one in request.dependence],
        key=key,
        also=lambda draft: wanted.write(draft, making(found)),
    )
    return files, done
