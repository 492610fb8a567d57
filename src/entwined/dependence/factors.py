"""Factors of one shape, stacked, so that a million of them are one array."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.odds import log_odds
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Factors:
    """Row g couples the units `scope[g]` through the table `table[g]`, one axis a unit.

    A conditional table holds the law of its last unit given the others.
    """

    scope: IntArray
    table: Box
    conditional: bool

    @cached_property
    def log_odds(self) -> FloatArray:
        """Δ of each factor (rows) for each of its units (columns)."""
        return log_odds(self.table, conditional=self.conditional)

    def raised(self, power: float) -> "Factors":
        """Raise what couples units to a power; the law of a single unit stays."""
        if self.scope.shape[1] == 1:
            return self
        table = self.table.laws_raised(power) if self.conditional else self.table.weights_raised(power)
        return replace(self, table=table)

    def raised_at(self, place: int, power: float) -> "Factors":
        """Raise one of the tables to a power, the others as they are."""
        low, high = self.table.low.copy(), self.table.high.copy()
        one = replace(self, scope=self.scope[[place]], table=Box(low[[place]], high[[place]])).raised(power)
        low[place], high[place] = one.table.low[0], one.table.high[0]
        return replace(self, table=Box(low, high))

    def pair_log_odds(self, first: int, second: int) -> FloatArray:
        """Δ between two of the axes of each factor while all the others are held fixed, at their worst
        values.
        """
        count = len(self.scope)
        low, high = (
            np.moveaxis(end, (first + 1, second + 1), (-2, -1)).reshape(
                -1, end.shape[first + 1], end.shape[second + 1]
            )
            for end in (self.table.low, self.table.high)
        )
        slices = Box.exact(low) if self.table.is_exact else Box(low, high)
        one_law = self.conditional and second == self.scope.shape[1] - 1
        strengths: FloatArray = log_odds(slices, conditional=one_law)[:, 0].reshape(count, -1).max(axis=1)
        return strengths


def factors_of(blocks: tuple[Factors, ...], unit: int) -> Iterator[tuple[int, int]]:
    """Say which tables hold a unit beside others, by block and place."""
    for number, block in enumerate(blocks):
        if block.scope.shape[1] > 1:
            for place in np.flatnonzero((block.scope == unit).any(axis=1)).tolist():
                yield number, place


def raised_in(blocks: tuple[Factors, ...], number: int, place: int, power: float) -> tuple[Factors, ...]:
    """Raise one table of one block to a power."""
    return (*blocks[:number], blocks[number].raised_at(place, power), *blocks[number + 1 :])


def pairs_of(blocks: tuple[Factors, ...]) -> tuple[IntArray, FloatArray]:
    """All pairs that share a factor, with the sum of their Δ over the factors that hold both."""
    ends, strengths = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for block in blocks:
        for first, second in combinations(range(block.scope.shape[1]), 2):
            ends.append(np.sort(block.scope[:, [first, second]], axis=1))
            strengths.append(block.pair_log_odds(first, second))
    pairs, place = np.unique(np.concatenate(ends), axis=0, return_inverse=True)
    summed = np.bincount(place.reshape(-1), weights=np.concatenate(strengths), minlength=len(pairs))
    return pairs, summed.astype(np.float64)


def couplings_of(units: int, blocks: tuple[Factors, ...]) -> Couplings:
    """Gather blocks of factors into one factor graph; factors of a single unit couple nothing."""
    coupled = [block for block in blocks if block.scope.shape[1] > 1]
    return Couplings.stack(units, [block.scope for block in coupled], [block.log_odds for block in coupled])
