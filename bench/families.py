"""Families: the error of a mean and a count under several beliefs about what kin share, with both noises.

Twins (`family_twinbmi_mets`) and Galton's families (`family_HistData_GaltonFamilies`) are read from ENTWINED_DATA where
they are there, else pairs and families of the same sizes are drawn.
"""

import csv
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

import entwined
from entwined.dependence import Groups
from entwined.dependence.families import equal_correlation, kinship
from entwined.mechanisms.batch import plan_batch
from entwined.promise.declared import Declared
from entwined.promise.promise import promise_of
from entwined.queries import Count, Mean, parse
from entwined.schema import Categorical, Real, Schema, Text

DELTA: Final = "1e-6"
STEP: Final = 0.1
DEVIATION: Final = 2.5  # within a family, and of families
IDENTICAL: Final = [[0.5, 0.5], [0.5, 0.5]]


@dataclass(frozen=True)
class Study:
    """A table of kin: the column that is asked about, its bounds, who belongs together, and what is believed."""

    name: str
    rows: list[dict[str, str]]
    by: str
    value: str
    bounds: tuple[str, str]
    most: int
    law: Any

    @property
    def schema(self) -> Schema:
        """What is public of the table."""
        low, high = map(Fraction, self.bounds)
        columns = (
            Text(self.by, compare="exact"),
            Real(self.value, low, high, Fraction(str(STEP))),
            Categorical("gender", ("female", "male")),
        )
        return Schema(columns, rows=len(self.rows)).approve()

    @property
    def beliefs(self) -> dict[str, tuple[Declared, ...]]:
        """Nothing shared, anything shared, and a Gaussian law."""
        gaussian = Declared(self.law, by=self.by, columns=(self.value,), missing_says_nothing=(self.value,))
        return {
            "independent": (),
            "groups": (Declared(Groups(self.most), by=self.by),),
            "gaussian": (gaussian,),
        }


def studies() -> Iterator[Study]:
    """Twins and families, real where they are at hand."""
    folder = Path(os.environ.get("ENTWINED_DATA", "."))
    twins = _read(folder / "family_twinbmi_mets" / "twinbmi.csv") or _drawn(
        5600, (1, 2), "tvparnr", "bmi", 25
    )
    law = kinship(IDENTICAL, heritability=0.75)  # identical twins: the closest that there are
    yield Study("twins", twins, "tvparnr", "bmi", ("10", "60"), 2, law)
    galton = _read(folder / "family_HistData_GaltonFamilies" / "GaltonFamilies.csv")
    children = galton or _drawn(200, (1, 15), "family", "childHeight", 67)
    yield Study("galton", children, "family", "childHeight", ("50", "85"), 15, equal_correlation(15, 0.5))


def run() -> dict[str, Any]:
    """Give the noise of a mean and a count for a leakage of 1, and what plain noise would leak."""
    found: dict[str, Any] = {}
    for study in studies():
        found[study.name] = {"rows": len(study.rows), "through the door": _released(study)} | {
            f"{belief}, {noise}": _planned(study, models, delta)
            for noise, delta in (("laplace", None), ("gaussian", DELTA))
            for belief, models in study.beliefs.items()
        }
        for name, figures in found[study.name].items():
            print(f"{study.name:8} {name:24} {figures}")
    return found


def _planned(study: Study, models: tuple[Declared, ...], delta: str | None) -> dict[str, float]:
    """Plan a mean for a leakage of 1, alone and with a count beside it; and what ε = 1 of a row would leak."""
    promise = promise_of(study.schema, models, delta=delta)
    asked = [Mean(study.value), Count(where=parse("gender = 'male'", study.schema))]
    alone, both = (plan_batch(promise, queries, leakage=1) for queries in (asked[:1], asked))
    count = next(one for one in both.statistics if "gender" in one.statistic.aggregate.reads)
    return {
        "sd_of_mean": round(alone.statistics[0].spread * STEP / len(study.rows), 5),
        "sd_of_count_beside": round(count.spread, 2),
        "epsilon_of_a_row": round(float(alone.price.nominal), 4),
        "leakage_at_epsilon_1": round(float(plan_batch(promise, asked[:1], loss=1).price.worst), 3),
    }


def _released(study: Study) -> dict[str, Any]:
    """Release the mean under the Gaussian law, from a file to a verified certificate."""
    with tempfile.TemporaryDirectory() as place:
        folder, columns = Path(place), (study.by, study.value, "gender")
        with (folder / "kin.csv").open("w", newline="") as file:
            written = csv.writer(file)
            written.writerow(columns)
            written.writerows([row[name] for name in columns] for row in study.rows)
        with entwined.open(
            folder / "kin.csv",
            study.schema,
            dependence=study.beliefs["gaussian"],
            ledger=folder / "ledger.sqlite",
            cap=1,
            other_rows=True,
        ) as door:
            found = door.release(Mean(study.value), leakage=1)
        valid = entwined.verify(found.certificate, study.schema).valid
    exact = float(np.mean([float(row[study.value]) for row in study.rows if row[study.value]]))
    return {"released": str(found.answers[0].value), "exact": round(exact, 4), "verified": valid}


def _read(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _drawn(families: int, sizes: tuple[int, int], by: str, value: str, mean: float) -> list[dict[str, str]]:
    """Families of kin whose values have a correlation of a half."""
    rng, rows = np.random.default_rng(13), []
    for family in range(families):
        home = rng.normal(mean, DEVIATION)
        for _ in range(rng.integers(sizes[0], sizes[1] + 1)):
            told = f"{rng.normal(home, DEVIATION):.1f}"
            rows.append({by: f"f{family}", value: told, "gender": str(rng.choice(["female", "male"]))})
    return rows
