"""Survey files: SPSS .sav and Stata .dta, with their labels and missing codes."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from entwined.errors import BadTable
from entwined.schema import Coded, Column
from entwined.tables.duck import Duck, opened
from entwined.tables.engine import Kind, Shown
from entwined.tables.files import checked_path
from entwined.tables.frames import NAME, checked_names, coded, places

SURVEY_ENDS: Final = (".sav", ".zsav", ".dta", ".por")


def read_survey(given: str | os.PathLike[str], *, only_names: bool = False) -> tuple[Any, Any]:
    """Read a survey file: its rows, none of them with `only_names`, and what it says about its columns."""
    path = checked_path(given)
    try:
        import pyreadstat
    except ImportError:
        raise BadTable(
            "Survey files need the package pyreadstat. Run: pip install 'entwined[survey]'."
        ) from None
    readers: dict[str, Callable[..., tuple[Any, Any]]] = {
        ".dta": pyreadstat.read_dta,
        ".por": pyreadstat.read_por,
    }
    options = {} if path.suffix.lower() == ".por" else {"user_missing": True}
    try:
        read = readers.get(path.suffix.lower(), pyreadstat.read_sav)
        rows, about = read(str(path), metadataonly=only_names, **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError):
        raise BadTable(f"{path} cannot be read as a survey file. Save it again from SPSS or Stata.") from None
    return rows, about


def open_survey(given: str | os.PathLike[str], declared: Mapping[str, Column]) -> Duck:
    """Open a survey file: its names now, its rows, coded by the declared columns, at the first answer."""
    path = checked_path(given)
    _, about = read_survey(path, only_names=True)
    names = checked_names(about.column_names)
    kinds: list[Kind] = ["code" if isinstance(declared.get(name), Coded) else "text" for name in names]

    def load() -> Mapping[str, Any]:
        import pyarrow as pa

        frame, _ = read_survey(path)
        made = [coded(frame.iloc[:, at], declared.get(name)) for at, name in enumerate(names)]
        return {NAME: pa.table(made, names=places(len(names)))}

    columns = {
        name: Shown(kind, f"c{at}", "survey value")
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }
    return Duck(NAME, columns, opened(), load)
