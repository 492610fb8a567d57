"""Which relations a loss affords, before a row is read: by public sizes, noise and about how many rows there are.

How strongly two columns are related goes from 0, independent, to 1, one tells the other: it is the part of the largest
distance from independence that their table has. For two evenly split yes-or-no columns that is their correlation.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Final

import numpy as np

from entwined.canonical import Document
from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.explained import LEFT_BY_A_FIT
from entwined.mechanisms.marginals.looked_at import LookedAt
from entwined.mechanisms.marginals.meter import Meter
from entwined.numbers import IntArray

MODERATE: Final = 0.3
PERFECT: Final = 1.0
DOUBLINGS: Final = 30
HALVINGS: Final = 8

Counting = Callable[[Meter, float], int]
"""How many pairs of columns are measured with the noise of a meter if all are related so strongly."""


@dataclass(frozen=True, slots=True)
class AffordedRelations:
    """Of so many pairs of columns, how many a loss affords if they are moderately related, and at most.

    None of both where the number of rows is not known. `enough` names by how many times the loss more are afforded.
    """

    pairs: int
    moderate: int | None = None
    most: int | None = None
    enough: tuple[tuple[int, float], ...] = ()
    unasked: bool = False
    """Whether no pair is asked about, whatever the loss."""

    @property
    def document(self) -> Document:
        """The same as JSON."""
        return {
            "pairs": self.pairs,
            "strength": MODERATE,
            "afforded": self.moderate,
            "afforded_at_most": self.most,
            "enough": [{"pairs": pairs, "times_the_loss": times} for pairs, times in self.enough],
        }

    @property
    def words(self) -> str:
        """What is afforded, in a sentence or two."""
        of = f"{self.pairs:,} pairs of columns" if self.pairs > 1 else "one pair of columns"
        if self.unasked:
            return f"Relations: none of {of} is counted, as none is named: columns will be independent of each other."
        if self.most is None:
            return (
                f"Relations: how many of {of} the loss affords depends on the number of rows, which is not public. "
                "Give expected_rows."
            )
        more = " and ".join(f"{times:.2g} times the loss for {pairs:,}" for pairs, times in self.enough)
        hint = f" It would take about {more}." if more else ""
        if not self.most:
            return (
                f"Relations: the loss affords none of {of}: columns will be independent of each other.{hint}"
            )
        return (
            f"Relations: of {of} the loss affords {self.moderate:,} if all are as strong as {MODERATE:g} (0: none, 1: "
            f"one tells the other), {self.most:,} at most.{hint}"
        )


def afforded_relations(pairs: int, wanted: int, meter: Meter, counting: Counting) -> AffordedRelations:
    """Count what is afforded, and find what loss would afford one pair, and as many as are wanted."""
    moderate, most = counting(meter, MODERATE), counting(meter, PERFECT)
    goals = [goal for goal in dict.fromkeys((1, wanted)) if moderate < goal <= pairs]
    found = [(goal, _times(goal, meter, counting)) for goal in goals]
    return AffordedRelations(pairs, moderate, most, tuple((goal, times) for goal, times in found if times))


def _times(goal: int, meter: Meter, counting: Counting) -> float | None:
    """Find by how many times the loss that many pairs are measured; none if no loss does."""

    def does(times: Fraction) -> bool:
        return counting(replace(meter, loss=meter.loss * times), MODERATE) >= goal

    high = next((Fraction(2) ** turn for turn in range(1, DOUBLINGS) if does(Fraction(2) ** turn)), None)
    if high is None:
        return None
    low = high / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if does(middle) else (middle, high)
    return float(high if meter.measure.is_pure else Fraction(float(high) ** 0.5))  # ε grows as the root of ρ


def furthest(sizes: Sequence[int], pair: Scope, rows: float) -> float:
    """By how many rows, counted twice, two columns of so many cells miss each other's table at most."""
    return 2 * rows * (1 - 1 / max(min(sizes[at] for at in pair), 1))


def is_measured(sizes: Sequence[int], pair: Scope, strength: float, rows: float, deviation: float) -> bool:
    """Whether a relation is further from independence than noise of a deviation puts its own table, by public sizes."""
    cells = math.prod(sizes[at] for at in pair)
    return strength * furthest(sizes, pair, rows) > LEFT_BY_A_FIT * deviation * cells


def smaller_sides(sizes: Sequence[int], pairs: Iterable[Scope]) -> IntArray:
    """How many cells the smaller column of each pair has."""
    return np.array([min(sizes[at] for at in pair) for pair in pairs], np.int64)


def groups_of_pairs(sizes: Sequence[int], drowned: float, rows: int | None) -> list[int]:
    """Cells of every two columns in rising order, where cells with fewer rows than noise drowns are put together."""
    groups = max(int(rows / drowned), 1) if rows is not None else max(sizes)
    return sorted(min(one, groups) * min(other, groups) for one, other in combinations(sizes, 2))


@dataclass(frozen=True, slots=True, eq=False)
class HeardPairs:
    """How many pairs are heard if all are related so strongly, in the groups of cells that serve them best.

    The most tables are sought of which each is further off than noise would put it: the rule by which they are counted
    (`Afforded`), with distances as they are, and 2, 3, … groups of cells in every column. They share `rest`.
    """

    sides: IntArray
    looked: LookedAt
    rest: Fraction
    rows: int
    most: int

    def __call__(self, meter: Meter, strength: float) -> int:
        """Count them under the noise of a meter."""
        unsure = math.sqrt(self.looked.noise(meter).variance)
        groups = np.arange(2, max(int(self.sides.max()), 2) + 1)
        reach = strength * 2 * self.rows * (1 - 1 / groups) - unsure

        def heard(many: int) -> int:
            clear = reach > LEFT_BY_A_FIT * meter.deviation(self.rest / many) * groups**2
            return int((self.sides >= groups[clear].min()).sum()) if clear.any() else 0

        low, high = 0, min(self.most, self.looked.chosen or self.sides.size)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if heard(middle) >= middle else (low, middle - 1)
        return low
