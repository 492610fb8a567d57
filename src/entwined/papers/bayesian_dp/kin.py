"""People who belong together and a number of each: Galton's families and Danish twins, else made-up ones."""

import csv
import os
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from entwined.numbers import FloatArray
from entwined.papers.bayesian_dp.series import FOLDER

GALTON: Final = "family_HistData_GaltonFamilies/GaltonFamilies.csv"
TWINS: Final = "family_twinbmi_mets/twinbmi.csv"
SEED: Final = 13


@dataclass(frozen=True, eq=False, slots=True)
class Kin:
    """Groups of numbers that are clipped to public bounds."""

    name: str
    source: str
    bounds: tuple[float, float]
    groups: tuple[FloatArray, ...]

    @property
    def people(self) -> int:
        """How many there are."""
        return sum(map(len, self.groups))

    @property
    def most(self) -> int:
        """How many the largest group has."""
        return max(map(len, self.groups))

    @property
    def width(self) -> float:
        """How far the bounds are apart."""
        return self.bounds[1] - self.bounds[0]

    @property
    def correlation(self) -> float:
        """The correlation of two of a group, over all such pairs in both orders, rounded up to hundredths."""
        pairs = np.array([pair for one in self.groups for pair in combinations(one.tolist(), 2)])
        both = np.concatenate([pairs, pairs[:, ::-1]])
        return float(np.ceil(100 * np.corrcoef(both.T)[0, 1]) / 100)


def kin_at_hand() -> list[Kin]:
    """Give families and twins below the folder that ENTWINED_DATA names; what is not there is made up."""
    folder = Path(os.environ.get(FOLDER, "."))
    galton, twins = folder / GALTON, folder / TWINS
    return [
        Kin("heights of siblings", GALTON, (50.0, 85.0), _read(galton, "family", "childHeight"))
        if os.environ.get(FOLDER) and galton.is_file()
        else Kin("heights of siblings", "generated families", (50.0, 85.0), _made_up(200, 15, 67.0, 0.35)),
        Kin("body mass of twins", TWINS, (10.0, 60.0), _read(twins, "tvparnr", "bmi"))
        if os.environ.get(FOLDER) and twins.is_file()
        else Kin("body mass of twins", "generated pairs", (10.0, 60.0), _made_up(2000, 2, 25.0, 0.6)),
    ]


def _read(path: Path, by: str, value: str) -> tuple[FloatArray, ...]:
    found: dict[str, list[float]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row[value]:
                found.setdefault(row[by], []).append(float(row[value]))
    return tuple(np.array(one) for one in found.values())


def _made_up(families: int, most: int, mean: float, correlation: float) -> tuple[FloatArray, ...]:
    """Numbers of deviation 3.6 that have a correlation inside of their family."""
    generator = np.random.default_rng(SEED)
    found = []
    for _ in range(families):
        shared = generator.normal() * np.sqrt(correlation)
        own = generator.normal(size=int(generator.integers(1, most + 1))) * np.sqrt(1 - correlation)
        found.append(np.asarray(mean + 3.6 * (shared + own)))
    return tuple(found)
