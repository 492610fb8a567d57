"""Series of states: what a person does, how much power a house draws; where none is at hand, from statsmodels."""

import csv
import gzip
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.dependence import Box, MarkovChain
from entwined.errors import BadTable
from entwined.numbers import FloatArray, IntArray

FOLDER: Final = "ENTWINED_DATA"
ADL: Final = "activity_ordonez_adl/adl_minutes.csv"
HAR: Final = "activity_uci_har/har_labels.csv"
POWER: Final = "power_household_min/household_power_minutes.csv.gz"
POWER_LEVELS: Final = 51


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """Sequences of states, numbered from 0, of one or several people."""

    name: str
    source: str
    states: int
    sequences: tuple[IntArray, ...]

    @property
    def length(self) -> int:
        """How many steps the longest sequence has."""
        return max(map(len, self.sequences))

    @property
    def counts(self) -> FloatArray:
        """How often each state followed each."""
        found = np.zeros((self.states, self.states))
        for each in self.sequences:
            np.add.at(found, (each[:-1], each[1:]), 1.0)
        return found

    def chain(self, *, smoothed: bool, length: int | None = None) -> MarkovChain:
        """The stationary chain of the transition counts, raw over the states that go on, or all plus 1 / states."""
        counts = self.counts
        if smoothed:
            counts = counts + 1 / self.states
        else:
            kept = recurrent(counts > 0)
            counts = counts[np.ix_(kept, kept)]
        step = counts / counts.sum(axis=1, keepdims=True)
        return MarkovChain(length or self.length, Box.exact(step), stationary_law(step))


def recurrent(follows: np.ndarray[Any, np.dtype[np.bool_]]) -> IntArray:
    """Give the states that the series comes back to: the largest set from each of which all others are reached."""
    reach = follows | np.eye(len(follows), dtype=bool)
    for _ in range(len(follows).bit_length()):
        reach = reach.astype(float) @ reach > 0
    together = reach & reach.T
    return np.flatnonzero(together[int(together.sum(axis=1).argmax())])


def stationary_law(step: FloatArray) -> FloatArray:
    """Give the law that one step leaves as it is."""
    states = len(step)
    system = np.vstack([step.T - np.eye(states), np.ones(states)])
    law = np.linalg.lstsq(system, np.append(np.zeros(states), 1.0), rcond=None)[0]
    return np.asarray(np.maximum(law, 0.0) / np.maximum(law, 0.0).sum())


def series_at_hand() -> list[Series]:
    """Give the series below the folder that ENTWINED_DATA names, or three from statsmodels."""
    named = os.environ.get(FOLDER)
    readers: dict[str, Callable[[Path], Series]] = {ADL: activities, HAR: exercises, POWER: power}
    found = [
        reader(Path(named) / file)
        for file, reader in readers.items()
        if named and (Path(named) / file).is_file()
    ]
    if named and not found:
        raise BadTable(
            f"{FOLDER}={named} has none of {', '.join(readers)}. Put one there, or unset {FOLDER} to use series from "
            "a package."
        )
    return found or packaged_series()


def activities(path: Path) -> Series:
    """What one person did, minute by minute for two weeks."""
    with path.open(newline="") as file:
        states, codes = np.unique([row["activity"] for row in csv.DictReader(file)], return_inverse=True)
    return Series("activities of a day, by minute", ADL, len(states), (codes.astype(np.int64),))


def exercises(path: Path) -> Series:
    """How thirty people moved, each a sequence of its own."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    states, codes = np.unique([row["label"] for row in rows], return_inverse=True)
    person = np.array([row["subject"] for row in rows])
    each = tuple(codes[person == one].astype(np.int64) for one in np.unique(person))
    return Series("exercises of 30 people", HAR, len(states), each)


def power(path: Path) -> Series:
    """Household power minute by minute in 51 levels of equal width."""
    with gzip.open(path, "rt", newline="") as file:
        drawn = np.array([float(row["Global_active_power"]) for row in csv.DictReader(file)])
    levels = np.minimum((drawn / drawn.max() * POWER_LEVELS).astype(np.int64), POWER_LEVELS - 1)
    return Series("household power, by minute", POWER, POWER_LEVELS, (levels,))


def packaged_series() -> list[Series]:
    """The sea's temperature by month, the sunspots by year and the Nile by year, each in levels of equal share."""
    try:
        from statsmodels.datasets import elnino, nile, sunspots
    except ImportError:
        raise BadTable(
            f"No series is at hand: {FOLDER} is not set and statsmodels is not installed. "
            "Run: pip install 'entwined[papers]'."
        ) from None
    months: Any = elnino.load_pandas().data.iloc[:, 1:].to_numpy().ravel()
    spots: Any = sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()
    river: Any = nile.load_pandas().data["volume"].to_numpy()
    return [
        levelled("temperature of the sea, by month", "statsmodels.datasets.elnino", months, 6),
        levelled("sunspots, by year", "statsmodels.datasets.sunspots", spots, 4),
        levelled("the Nile, by year", "statsmodels.datasets.nile", river, 2),
    ]


def levelled(name: str, source: str, values: Sequence[float], levels: int) -> Series:
    """Cut numbers into levels that are met about equally often."""
    numbers = np.asarray(values, dtype=np.float64)
    cuts = np.quantile(numbers, np.arange(1, levels) / levels)
    return Series(name, source, levels, (np.searchsorted(cuts, numbers, side="right").astype(np.int64),))
