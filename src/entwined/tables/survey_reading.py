"""Survey files as pyreadstat reads them: names, labels, missing codes and rows. It runs in a process of its own.

The reader is C code that a broken file may end or fill the memory with, so nothing here runs where a ledger is open:
`SurveyProcess` starts it, and `served` is all that it does. Rows are handed over as an Arrow file in a private folder.
"""

import dataclasses
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entwined.canonical import Document
from entwined.schema.columns import column_from
from entwined.schema.raw import number_not_text, number_of
from entwined.tables.frames import arrow_column, checked_names, coded, places
from entwined.tables.propose import Labels
from entwined.tables.scales import code_text

if TYPE_CHECKING:
    import pandas as pd

LONGEST_RANGE: Final = 100  # codes of a range of missing ones that are all listed
MEMORY: Final = 8 << 30  # bytes that a reader may take, beside
TIMES_ITS_SIZE: Final = 50


def served() -> None:
    """Carry out each job that comes in on a line, in a fork with limits, and say how the fork ended."""
    import pandas as pd  # noqa: F401  (imported once, for all forks)
    import pyarrow.ipc  # noqa: F401
    import pyreadstat  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            _alone(job)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _alone(job: Document) -> None:
    """Do a job within its limits, write its reply, and end."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # what the reader says may come from private rows
            os.dup2(nothing, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # and so may what it leaves
        most = MEMORY + TIMES_ITS_SIZE * Path(job["path"]).stat().st_size
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        signal.setitimer(signal.ITIMER_REAL, job["seconds"])  # ends it wherever it is
        Path(job["reply"]).write_text(json.dumps(JOBS[job["kind"]](job)), encoding="utf-8")
        code = 0
    finally:
        os._exit(code)


def _read(path: str, *, only_names: bool = False) -> tuple[Any, Any]:
    """Read a survey file: its rows, none of them with `only_names`, and what it says about its columns."""
    import pyreadstat

    readers: dict[str, Callable[..., tuple[Any, Any]]] = {
        ".dta": pyreadstat.read_dta,
        ".por": pyreadstat.read_por,
    }
    end = Path(path).suffix.lower()
    options = {} if end == ".por" else {"user_missing": True}
    frame, about = readers.get(end, pyreadstat.read_sav)(path, metadataonly=only_names, **options)
    return frame, about


def _names(job: Document) -> Document:
    """Read the names of the columns."""
    _, about = _read(job["path"], only_names=True)
    return {"names": list(about.column_names)}


def _rows(job: Document) -> Document:
    """Write the rows, coded by the declared columns."""
    frame, about = _read(job["path"])
    declared = {name: column_from(fields) for name, fields in job["columns"].items()}
    names = checked_names(about.column_names)
    columns = [coded(frame.iloc[:, at], declared.get(name)) for at, name in enumerate(names)]
    return _written(job, columns, names)


def _labelled(job: Document) -> Document:
    """Write the rows as they are, without what is declared missing, and give the labels of their columns."""
    frame, about = _read(job["path"])
    names = checked_names(about.column_names)
    labels = {name: _labels(name, about) for name in names}
    made = []
    for place, (name, found) in zip(places(len(names)), labels.items(), strict=True):
        cells = frame[name]
        absent = _is_missing(cells, found.missing, about.missing_ranges.get(name, []))
        made.append(arrow_column(cells.mask(absent), place))
    return _written(job, [column for _, column in made], names) | {
        "shown": [dataclasses.asdict(shown) for shown, _ in made],
        "labels": [dataclasses.asdict(found) for found in labels.values()],
    }


def _written(job: Document, columns: Sequence[Any], names: Sequence[str]) -> Document:
    import pyarrow as pa

    table = pa.table(columns, names=places(len(columns)))
    with pa.OSFile(job["rows"], "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return {"names": list(names)}


JOBS: Final[Mapping[str, Callable[[Document], Document]]] = {
    "names": _names,
    "rows": _rows,
    "labelled": _labelled,
}


def _is_missing(
    cells: "pd.Series[Any]", codes: tuple[str, ...], ranges: list[dict[str, Any]]
) -> "pd.Series[bool]":
    """Find the cells that stand for missing: those with a declared code, and all numbers of a declared range."""
    numbers = [number for code in codes if (number := number_of(code)) is not None]
    found = cells.isin([*codes, *numbers])
    for part in ranges:
        if part["lo"] != part["hi"]:
            found |= cells.map(lambda raw, part=part: _is_inside(raw, part))
    return found


def _is_inside(raw: object, part: Mapping[str, float]) -> bool:
    number = number_not_text(raw)
    return number is not None and part["lo"] <= number <= part["hi"]


def _labels(name: str, about: Any) -> Labels:
    """Give a column's label, its values with their labels, and the codes that are declared to stand for missing.

    All of it is what the file declares of the column, whatever its rows hold.
    """
    values = {
        code_text(value): str(label) for value, label in about.variable_value_labels.get(name, {}).items()
    }
    ranges = [part for part in about.missing_ranges.get(name, []) if part["lo"] != part["hi"]]
    codes = [code_text(part["lo"]) for part in about.missing_ranges.get(name, []) if part["lo"] == part["hi"]]
    codes += map(code_text, about.missing_user_values.get(name, []))
    if about.readstat_variable_types.get(name) != "string":  # Stata's .a to .z, which may have labels
        codes += [code for code in values if number_of(code) is None]
    codes += [code for part in ranges for code in _inside(part, values)]
    return Labels(
        str(about.column_names_to_labels.get(name) or ""),
        values or None,
        tuple(dict.fromkeys(codes)),
        open_range=any(not _is_listed(part) for part in ranges),
    )


def _inside(part: Mapping[str, float], labelled: Mapping[str, str]) -> list[str]:
    """List the codes of a range: those that have a label, and all whole numbers if they are not too many."""
    numbers = {number for code in labelled if (number := number_of(code)) is not None}
    if _is_listed(part):
        numbers |= {float(number) for number in range(int(part["lo"]), int(part["hi"]) + 1)}
    return [code_text(number) for number in sorted(numbers) if part["lo"] <= number <= part["hi"]]


def _is_listed(part: Mapping[str, float]) -> bool:
    whole = all(float(part[end]).is_integer() for end in ("lo", "hi"))
    return whole and part["hi"] - part["lo"] <= LONGEST_RANGE
