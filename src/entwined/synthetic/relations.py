"""How columns hang together in two tables: mutual information in nats, and correlations of numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from entwined.learning.codes import Codes
from entwined.learning.pairs import PairCounts
from entwined.numbers import FloatArray


class Related(NamedTuple):
    """Two columns, with how they hang together in the real and in the synthetic table."""

    columns: tuple[str, str]
    real: float
    synthetic: float

    @property
    def off(self) -> float:
        """By how much they differ."""
        return abs(self.real - self.synthetic)


def informations(real: PairCounts, synthetic: PairCounts) -> list[Related]:
    """Give the mutual information of every two columns, the most different first."""
    names = real.codes.names
    return _pairs(names, range(len(names)), real.information, synthetic.information)


def correlations(real: Codes, synthetic: Codes, ordered: Sequence[int]) -> list[Related]:
    """Give the correlation of every two columns of numbers or times, the most different first."""
    return _pairs(real.names, ordered, *(correlation(codes, ordered) for codes in (real, synthetic)))


def correlation(codes: Codes, ordered: Sequence[int]) -> FloatArray:
    """Correlate the cells of columns among the rows that have both; none where a column does not vary.

    The last cell of a column is that of missing values.
    """
    there = np.stack([codes.values[:, at] < codes.sizes[at] - 1 for at in ordered], axis=1).astype(float)
    values = codes.values[:, list(ordered)] * there
    count, first, cross = there.T @ there, values.T @ there, values.T @ values
    square = (values**2).T @ there
    spread = np.sqrt(np.maximum(count * square - first**2, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (count * cross - first * first.T) / (spread * spread.T)
    return np.asarray(np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0))


def _pairs(names: Sequence[str], places: Sequence[int], one: FloatArray, other: FloatArray) -> list[Related]:
    found = [
        Related((names[a], names[b]), float(one[i, j]), float(other[i, j]))
        for i, a in enumerate(places)
        for j, b in enumerate(places)
        if i < j
    ]
    return sorted(found, key=lambda pair: -pair.off)
