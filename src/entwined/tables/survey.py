"""Survey files: SPSS .sav and Stata .dta, with their labels and missing codes."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from entwined.errors import BadTable
from entwined.schema import Coded, Column
from entwined.schema.raw import number_not_text, number_of
from entwined.tables.duck import Duck, opened
from entwined.tables.engine import Kind, Shown
from entwined.tables.files import checked_path
from entwined.tables.frames import NAME, checked_names, coded, open_pandas, places
from entwined.tables.origin import Origin, in_files
from entwined.tables.propose import Labels
from entwined.tables.scales import code_text

if TYPE_CHECKING:
    import pandas as pd

SURVEY_ENDS: Final = (".sav", ".zsav", ".dta", ".por")
LONGEST_RANGE: Final = 100  # codes of a range of missing ones that are all listed


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
    read: list[str] = []
    place, folder, version, now, digest, parts = in_files(f"{path.suffix[1:].lower()} {path}", path)
    _, about = read_survey(path, only_names=True)
    names = checked_names(about.column_names)
    kinds: list[Kind] = ["code" if isinstance(declared.get(name), Coded) else "text" for name in names]

    def load() -> Mapping[str, Any]:
        import pyarrow as pa

        frame, _ = read_survey(path)
        read[:] = [now()]  # the file may change from now on
        made = [coded(frame.iloc[:, at], declared.get(name)) for at, name in enumerate(names)]
        return {NAME: pa.table(made, names=places(len(names)))}

    columns = {
        name: Shown(kind, f"c{at}", "survey value")
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }
    origin = Origin(place, folder, version, lambda: read[0] if read else now(), digest, parts)
    return Duck(NAME, columns, opened(), origin, load)


def survey_engine(given: str | os.PathLike[str]) -> tuple[Duck, dict[str, Labels]]:
    """Open a survey file for the holder's description of it, without what is declared missing; and its labels."""
    frame, about = read_survey(given)
    labels = {name: _labels(name, about) for name in checked_names(about.column_names)}
    there = {
        name: frame[name].mask(_is_missing(frame[name], one.missing, about.missing_ranges.get(name, [])))
        for name, one in labels.items()
    }
    return open_pandas(type(frame)(there), {}), labels


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
