"""For whom a synthetic table is worst: people of one cell, and how another column is spread among them."""

from typing import Final, NamedTuple

import numpy as np

from entwined.learning.pairs import PairCounts
from entwined.synthetic.likeness import MEAN_OF_A_NORMAL

FEWEST_PEOPLE: Final = 30  # of the real table: smaller groups are off by chance alone


class Subgroup(NamedTuple):
    """The people of a cell of one column, and how far another column is off among them."""

    column: str
    cell: int
    other: str
    people: int
    synthetic_people: int
    distance: float
    by_chance: float

    @property
    def excess(self) -> float:
        """How much farther it is off than chance explains."""
        return self.distance - self.by_chance


def subgroups(real: PairCounts, synthetic: PairCounts) -> list[Subgroup]:
    """Give every group of enough people with the column that is worst in it, the worst first."""
    names, found = real.codes.names, list[Subgroup]()
    for column in range(len(names)):
        worst: dict[int, Subgroup] = {}
        for other in range(len(names)):
            if other != column:
                for group in _within(real, synthetic, column, other):
                    if group.cell not in worst or group.excess > worst[group.cell].excess:
                        worst[group.cell] = group
        found.extend(worst.values())
    return sorted(found, key=lambda group: -group.excess)


def _within(real: PairCounts, synthetic: PairCounts, column: int, other: int) -> list[Subgroup]:
    one, two = (pairs.between(column, other).astype(float) for pairs in (real, synthetic))
    many, some = one.sum(axis=1), two.sum(axis=1)
    first, second = (table / np.maximum(table.sum(axis=1, keepdims=True), 1) for table in (one, two))
    distance = np.where(some > 0, np.abs(first - second).sum(axis=1) / 2, 1.0)
    pooled = (one + two) / np.maximum(many + some, 1)[:, None]
    spread = np.sqrt(pooled * (1 - pooled)).sum(axis=1) / 2 * MEAN_OF_A_NORMAL
    chance = spread * np.sqrt(1 / np.maximum(many, 1) + 1 / np.maximum(some, 1))
    names = real.codes.names
    return [
        Subgroup(
            names[column],
            int(cell),
            names[other],
            int(many[cell]),
            int(some[cell]),
            float(distance[cell]),
            float(chance[cell]),
        )
        for cell in np.flatnonzero(many >= FEWEST_PEOPLE)
    ]
