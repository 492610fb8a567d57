"""The files that a release holds beside values.csv and values.parquet when they are asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from entwined.errors import BadInput
from entwined.report.findings import Finding
from entwined.report.r_script import write_r_script
from entwined.report.workbook import no_workbooks, write_workbook


@dataclass(frozen=True, slots=True)
class Format:
    """A file: its name, how it is written, and what is lacking for that, or nothing."""

    file: str
    write: Callable[[Sequence[Finding], Path], None]
    lacking: Callable[[], str] = str


FORMATS: Final[Mapping[str, Format]] = {
    "xlsx": Format("values.xlsx", write_workbook, no_workbooks),
    "r": Format("values.R", write_r_script),
}


def wanted_formats(names: Iterable[str]) -> tuple[Format, ...]:
    """Find formats by their names; refuse, before anything is charged, one that could not be written."""
    found = []
    for name in dict.fromkeys(names):
        if name not in FORMATS:
            raise BadInput(f"There is no format {name!r:.60}. Give one of {', '.join(FORMATS)}.")
        if lacking := FORMATS[name].lacking():
            raise BadInput(lacking)
        found.append(FORMATS[name])
    return tuple(found)
