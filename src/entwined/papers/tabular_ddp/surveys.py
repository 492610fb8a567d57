"""The surveys that the figures are drawn from: the paper's own where a copy is at hand, else ones from PyPI."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np

from entwined.errors import BadTable
from entwined.numbers import IntArray

FOLDER: Final = "ENTWINED_DATA"
FEWEST, MOST = (
    2,
    12,
)  # a question has this many different answers, "no answer" included; else it is an id or a text


class DataPlace(NamedTuple):
    """Where a survey lies below the data folder, and how many questions and responses the paper reports of it."""

    name: str
    path: str
    reported: tuple[int, int] | None


PLACES: Final = (
    DataPlace("ANES Pilot 2006", "anes_pilot_2006/anes_pilot_2006.csv", (72, 675)),
    DataPlace("ANES Pilot 2020", "anes_pilot_2020/anes_pilot_2020ets.csv.gz", (153, 3080)),
    DataPlace("GSS 2012", "gss_2012/gss2012.csv.gz", None),
)


@dataclass(frozen=True, slots=True, eq=False)
class PaperSurvey:
    """Answers as integer codes, one row a respondent; what they stand for plays no part."""

    name: str
    columns: tuple[str, ...]
    codes: IntArray
    sizes: tuple[int, ...]
    source: str
    reported: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        columns: Iterable[tuple[str, Any]],
        source: str,
        reported: tuple[int, int] | None = None,
    ) -> Self:
        """Keep the columns that are questions and number the answers of each."""
        numbered: dict[str, tuple[int, IntArray]] = {}
        for column, answers in columns:
            values, codes = np.unique(answers, return_inverse=True)
            if FEWEST <= len(values) <= MOST:
                numbered[column] = len(values), codes.astype(np.int64)
        if not numbered:
            raise BadTable(
                f"{source} has no column with {FEWEST} to {MOST} different answers. Give a survey."
            )
        table = np.stack([codes for _, codes in numbered.values()], axis=1)
        sizes = tuple(size for size, _ in numbered.values())
        return cls(name, tuple(numbered), table, sizes, source, reported)

    @property
    def questions(self) -> int:
        """How many columns there are."""
        return len(self.sizes)

    @property
    def responses(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def cells(self) -> int:
        """How many counts the histograms of all questions have."""
        return sum(self.sizes)


def surveys() -> list[PaperSurvey]:
    """The surveys below the folder that ENTWINED_DATA names, or without it two from a PyPI package."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return list(packaged_surveys())
    there = [place for place in PLACES if (Path(folder) / place.path).is_file()]
    if not there:
        raise BadTable(
            f"{FOLDER}={folder} has none of {', '.join(place.path for place in PLACES)}. "
            f"Put one there, or unset {FOLDER} to use surveys from a package."
        )
    return [read(place, Path(folder)) for place in there]


def read(place: DataPlace, folder: Path) -> PaperSurvey:
    """Read a CSV file, every answer as text, an empty one as an answer of its own."""
    import pyarrow as pa
    from pyarrow import csv

    path = folder / place.path
    try:
        with csv.open_csv(path) as opened:
            types = dict.fromkeys(opened.schema.names, pa.string())
        table = csv.read_csv(
            path, convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        )
    except (pa.ArrowException, OSError) as reason:
        raise BadTable(f"{path} cannot be read as CSV: {str(reason)[:200]}. Fetch it again.") from None
    answers = (
        (name, np.asarray(column.to_numpy(zero_copy_only=False), dtype=str))
        for name, column in zip(table.column_names, table.columns, strict=True)
    )
    return PaperSurvey.of(place.name, answers, place.path, place.reported)


def packaged_surveys() -> Iterator[PaperSurvey]:
    """Two small surveys that come with statsmodels."""
    try:
        from statsmodels.datasets import anes96, fair
    except ImportError:
        raise BadTable(
            f"No survey is at hand: {FOLDER} is not set and statsmodels is not installed. "
            "Run: pip install 'entwined[papers]'."
        ) from None
    for name, module in (("ANES 1996", anes96), ("Fair's affairs", fair)):
        frame: Any = module.load_pandas().data
        answers = ((str(column), frame[column].to_numpy()) for column in frame)
        yield PaperSurvey.of(name, answers, f"statsmodels.datasets.{module.__name__.rpartition('.')[2]}")
