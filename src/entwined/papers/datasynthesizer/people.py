"""Adult in the lecture's four columns: from a folder, from a package of PyPI, or drawn from the lecture's tables."""

import csv
import gzip
import os
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from entwined.errors import BadTable
from entwined.learning.codes import Codes
from entwined.numbers import FloatArray, IntArray

FOLDER: Final = "ENTWINED_DATA"
FILE: Final = "adult/adult_train.csv.gz"
PACKAGE: Final = "fairness"  # of PyPI; its wheel has the training part and COMPAS
PACKED: Final = "data/raw/adult.csv"
COMPAS: Final = "data/raw/propublica-recidivism.csv"
COMPAS_SIZES: Final = {"sex": 2, "age": 3, "race": 2, "score": 3, "again": 2}
AGES: Final = ("Less than 25", "25 - 45", "Greater than 45")
SCORES: Final = ("Low", "Medium", "High")
ROWS: Final = 32_561
SEX, AGE, EDU, INCOME = range(4)
VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "sex": ("female", "male"),
    "age": ("≤30", "31–50", ">50"),
    "edu": ("college", "non-college"),
    "income": ("≤50K", ">50K"),
}
COLLEGE: Final = ("Bachelors", "Masters", "Doctorate")

SLIDE: Final[Mapping[str, FloatArray]] = {
    "sex": np.array([0.33, 0.67]),
    "age": np.array([[0.40, 0.43, 0.17], [0.29, 0.59, 0.21]]),
    "edu": np.array(
        [
            [[0.18, 0.82], [0.16, 0.84]],
            [[0.25, 0.75], [0.28, 0.72]],
            [[0.17, 0.83], [0.25, 0.75]],
        ]
    ),
    "income": np.array(
        [
            [[0.83, 0.17], [0.45, 0.55], [0.41, 0.59]],
            [[0.96, 0.04], [0.76, 0.24], [0.75, 0.25]],
        ]
    ),
}
MISPRINT: Final = ("age", (1, 1))
"""The slide has 0.59 for men of 31 to 50, in a row that adds up to 1.09; the data say 0.50."""


class FourColumns(NamedTuple):
    """People as codes, and where they are from."""

    source: str
    codes: Codes


def four_columns() -> FourColumns:
    """Read Adult where it is at hand; else draw people from the lecture's own tables, and say so."""
    named = os.environ.get(FOLDER)
    if named and (Path(named) / FILE).is_file():
        with gzip.open(Path(named) / FILE, "rt", encoding="utf-8") as file:
            return FourColumns(f"Adult ({FILE})", coded(csv.DictReader(file)))
    packed = _packed(PACKED)
    if packed is not None:
        with packed.open(encoding="utf-8") as file:
            return FourColumns(f"Adult (from the package {PACKAGE})", coded(csv.DictReader(file)))
    return FourColumns(
        "generated: people drawn from the slide's own tables, so they cannot tell whether these are right",
        made_up(np.random.default_rng(7), ROWS),
    )


def compas() -> Codes | None:
    """Read COMPAS (ProPublica, two years), if the package that has it is installed: five columns."""
    packed = _packed(COMPAS)
    if packed is None:
        return None
    with packed.open(encoding="utf-8") as file:
        found = [
            [
                row["sex"] == "Male",
                AGES.index(row["age_cat"]),
                row["race"] == "African-American",
                SCORES.index(row["score_text"]),
                row["two_year_recid"] == "1",
            ]
            for row in csv.DictReader(file)
            if row["score_text"] in SCORES and row["age_cat"] in AGES
        ]
    return Codes.of(COMPAS_SIZES, np.array(found, np.int64))


def _packed(file: str) -> Path | None:
    """Find a table inside of an installed package without importing it."""
    found = find_spec(PACKAGE)
    places = [] if found is None else [Path(place) / file for place in found.submodule_search_locations or []]
    return next((place for place in places if place.is_file()), None)


def coded(rows: Iterable[Mapping[str, str]]) -> Codes:
    """Cut ages at 30 and 50, and take Bachelors, Masters and Doctorate for college."""
    found = []
    for row in rows:
        one = {name.strip().replace("_", "-"): (value or "").strip() for name, value in row.items() if name}
        try:
            years = int(one["age"])
            income = one.get("income", one.get("income-per-year", ""))
            school = one["education"] in COLLEGE
            found.append(
                [one["sex"] == "Male", (years > 30) + (years > 50), not school, income.startswith(">")]  # noqa: PLR2004
            )
        except (KeyError, ValueError):
            raise BadTable(
                "The Adult table lacks age, education, sex or income, or an age is no number. Give the table of UCI."
            ) from None
    return Codes.of({name: len(values) for name, values in VALUES.items()}, np.array(found, np.int64))


def made_up(generator: np.random.Generator, rows: int) -> Codes:
    """Draw people from the slide's network, its misprint put right."""
    ages = SLIDE["age"].copy()
    ages[MISPRINT[1]] = 0.50
    sex = _drawn(np.tile(SLIDE["sex"], (rows, 1)), generator)
    age = _drawn(ages[sex], generator)
    edu = _drawn(SLIDE["edu"][age, sex], generator)
    income = _drawn(SLIDE["income"][edu, age], generator)
    return Codes.of(
        {name: len(values) for name, values in VALUES.items()}, np.stack([sex, age, edu, income], axis=1)
    )


def _drawn(laws: FloatArray, generator: np.random.Generator) -> IntArray:
    ends = np.cumsum(laws / laws.sum(axis=1, keepdims=True), axis=1)
    return np.asarray((generator.random(len(laws))[:, None] > ends[:, :-1]).sum(axis=1), np.int64)
