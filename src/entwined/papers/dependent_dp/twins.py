"""Twins: how the body mass of one goes with that of the other, where the Danish twins are at hand, else made up."""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from entwined.errors import BadTable
from entwined.numbers import FloatArray

FILE: Final = "family_twinbmi_mets/twinbmi.csv"
OVERWEIGHT: Final = 25.0
KINDS: Final = {"MZ": "identical twins", "DZ": "fraternal twins"}


class Twins(NamedTuple):
    """Whether the other twin is overweight (columns) given whether one is (rows)."""

    kind: str
    pairs: int
    law: FloatArray


def twins(folder: Path) -> list[Twins]:
    """Pairs of which both were measured; both orders count, for neither is the first."""
    from pyarrow import csv

    table = csv.read_csv(folder / FILE)
    pair, kind = np.asarray(table["tvparnr"]), np.array(table["zyg"].to_pylist())
    heavy = (np.asarray(table["bmi"], np.float64) >= OVERWEIGHT).astype(np.int64)
    numbers, first, counts = np.unique(pair, return_index=True, return_counts=True)
    there = numbers[counts == 2]  # noqa: PLR2004  (both were measured)
    kept = np.isin(pair, there)
    order = np.argsort(pair[kept], kind="stable")
    both = heavy[kept][order].reshape(-1, 2)
    kinds = kind[first][counts == 2]  # noqa: PLR2004
    return [_law(words, both[kinds == short]) for short, words in KINDS.items()]


def made_up(pairs: int = 2000, seed: int = 4) -> list[Twins]:
    """Pairs whose body mass has the correlations 0.75 and 0.45."""
    generator = np.random.default_rng(seed)
    found = []
    for words, correlation in zip(KINDS.values(), (0.75, 0.45), strict=True):
        cause = generator.normal(size=(pairs, 1)) * np.sqrt(correlation)
        body = cause + generator.normal(size=(pairs, 2)) * np.sqrt(1 - correlation)
        found.append(_law(words, (body > 1 / 2).astype(np.int64)))
    return found


def _law(kind: str, both: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> Twins:
    counts = np.zeros((2, 2))
    np.add.at(counts, tuple(both.T), 1)
    counts = counts + counts.T
    if not counts.min() > 0:
        raise BadTable(f"{kind}: a pair of values never occurs. Give more pairs.")
    return Twins(kind, len(both), counts / counts.sum(axis=1, keepdims=True))
