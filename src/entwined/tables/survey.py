"""Survey files: SPSS .sav and Stata .dta, with their labels and missing codes."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from entwined.errors import BadTable
from entwined.schema import Coded, Column
from entwined.schema.raw import number_of
from entwined.tables.duck import Duck, opened
from entwined.tables.engine import Kind, Shown
from entwined.tables.files import checked_path
from entwined.tables.frames import NAME, checked_names, coded, open_pandas, places
from entwined.tables.origin import Origin, in_files

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
    read: list[str] = []
    place, folder, version, now, digest = in_files(f"{path.suffix[1:].lower()} {path}", path)
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
    origin = Origin(place, folder, version, lambda: read[0] if read else now(), digest)
    return Duck(NAME, columns, opened(), origin, load)


def survey_engine(given: str | os.PathLike[str]) -> tuple[Duck, Any]:
    """Open a survey file as it is, for the holder's description of it."""
    frame, about = read_survey(given)
    return open_pandas(frame, {}), about


def survey_labels(about: Any) -> dict[str, tuple[str, dict[str, str] | None, tuple[str, ...]]]:
    """Give each column's label, its values with their labels, and the codes that stand for missing."""
    found = {}
    for name in about.column_names:
        labels = {
            _code_text(value): str(label)
            for value, label in about.variable_value_labels.get(name, {}).items()
        }
        label = about.column_names_to_labels.get(name) or ""
        found[name] = (str(label), labels or None, _missing_codes(name, about, labels))
    return found


def _missing_codes(name: str, about: Any, labels: Mapping[str, str]) -> tuple[str, ...]:
    """List single codes, and of a range the codes that have a label: a schema names each of them."""
    codes: dict[str, None] = {}
    for part in about.missing_ranges.get(name, []):
        if part["lo"] == part["hi"]:
            codes[_code_text(part["lo"])] = None
        else:
            inside = (
                code
                for code in labels
                if (number := number_of(code)) is not None and part["lo"] <= number <= part["hi"]
            )
            codes |= dict.fromkeys(inside)
    codes |= dict.fromkeys(map(_code_text, about.missing_user_values.get(name, [])))
    return tuple(codes)


def _code_text(value: Any) -> str:
    """Write 1.0 as 1, as people know the codes of a survey."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
