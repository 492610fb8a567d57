"""Survey files: SPSS .sav and Stata .dta, with their labels and missing codes.

A process of its own reads them: their names when they are opened, and their rows, coded by the declared columns, before
anything is charged. What it cannot read is refused then, whatever becomes of the process.
"""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entwined.canonical import Document
from entwined.errors import BadTable, HolderError
from entwined.schema import Coded, Column
from entwined.tables.duck import Duck, Place, opened
from entwined.tables.engine import Kind, Shown
from entwined.tables.files import checked_path
from entwined.tables.frames import NAME, checked_names
from entwined.tables.origin import IN_MEMORY, Origin, in_files
from entwined.tables.propose import Labels
from entwined.tables.survey_process import asked

if TYPE_CHECKING:
    import pyarrow as pa

SURVEY_ENDS: Final = (".sav", ".zsav", ".dta", ".por")


def open_survey(given: str | os.PathLike[str], declared: Mapping[str, Column]) -> Duck:
    """Open a survey file: its names now, its rows, coded by the declared columns, when they are first needed."""
    path = _found(given)
    read: list[str] = []
    place, folder, version, now, digest, parts = in_files(f"{path.suffix[1:].lower()} {path}", path)
    here = opened()
    try:
        names = checked_names(_asked(here, "names", path)["names"])
    except BaseException:
        here.close()
        raise
    kinds: list[Kind] = ["code" if isinstance(declared.get(name), Coded) else "text" for name in names]
    wanted = {name: column.document for name in names if (column := declared.get(name)) is not None}

    def load() -> Mapping[str, "pa.Table"]:
        try:
            _asked(here, "rows", path, columns=wanted)
        except BadTable as reason:
            raise HolderError(f"{reason} Nothing was charged.") from None
        rows = {NAME: _rows(here)}
        read[:] = [now()]  # the file may change from now on
        return rows

    columns = {
        name: Shown(kind, f"c{at}", "survey value")
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }
    origin = Origin(place, folder, version, lambda: read[0] if read else now(), digest, parts)
    return Duck(NAME, columns, here, origin, load)


def survey_engine(given: str | os.PathLike[str]) -> tuple[Duck, dict[str, Labels]]:
    """Open a survey file for the holder's description of it, without what is declared missing; and its labels."""
    path, here = _found(given), opened()
    try:
        reply = _asked(here, "labelled", path)
        rows = _rows(here)
    except BaseException:
        here.close()
        raise
    names = reply["names"]
    columns = {name: Shown(**shown) for name, shown in zip(names, reply["shown"], strict=True)}
    labels = {
        name: Labels(**{**fields, "missing": tuple(fields["missing"])})
        for name, fields in zip(names, reply["labels"], strict=True)
    }
    return Duck(NAME, columns, here, IN_MEMORY, lambda: {NAME: rows}), labels


def _found(given: str | os.PathLike[str]) -> Path:
    path = checked_path(given)
    if importlib.util.find_spec("pyreadstat") is None:
        raise BadTable("Survey files need the package pyreadstat. Run: pip install 'entwined[survey]'.")
    if not os.access(path, os.R_OK):
        raise BadTable(f"{path} may not be read. Ask for the right to read it.")
    return path


def _asked(here: Place, kind: str, path: Path, **more: Any) -> Document:
    """Have a file read; its rows go to the private folder of the engine."""
    reply = asked({"kind": kind, "path": str(path), "rows": str(_spilled(here)), **more}, here.spill.rows)
    if reply is None:
        raise BadTable(f"{path} cannot be read as a survey file. Save it again from SPSS or Stata.")
    return reply


def _spilled(here: Place) -> Path:
    return here.spill.rows / "survey.arrow"


def _rows(here: Place) -> "pa.Table":
    """Take the rows that were handed over, and leave no copy of them."""
    import pyarrow as pa

    with pa.OSFile(str(_spilled(here)), "rb") as source, pa.ipc.open_file(source) as file:
        rows = file.read_all()
    _spilled(here).unlink()
    return rows
