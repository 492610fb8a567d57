"""Crossings: what is shown of each pair of values of a unit by what is shown of each pair of a neighbour's.

A sway takes the worst of all values at once. Where it is known which values have a bearing on which, each pair of
values has a profile of its own: F_ab of a unit's values a and b, by D_uv of its neighbour's values u and v.

Pairs are in the order of `itertools.combinations`. Those that show alike share a row, and where many differ, those
that show nearly as much.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from entwined.bounds.profiles.curves import LARGEST_EPSILON, TINY
from entwined.bounds.profiles.profile import Chords, Grid, PrivacyProfile, passage
from entwined.bounds.profiles.sway import Sway, TiltSway, further_on
from entwined.numbers import ULP, FloatArray, IntArray

UP: Final = 1 + 128 * ULP
DOWN: Final = 1 - 128 * ULP
BENT: Final = 1e-6  # of the steepest slope: how much steeper a curve may become that is as good as convex

Flags: TypeAlias = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64)


class PairProfiles(NamedTuple):
    """Profiles on a grid, a row each, and which of them each pair has; a single entry stands for all pairs.

    `origin` is the neighbour's pair that decides most about each pair, for who wants to know what moves it.
    """

    deltas: FloatArray
    row: IntArray
    origin: IntArray

    @classmethod
    def of_all(cls, deltas: FloatArray, origin: int) -> Self:
        """The same of every pair."""
        return cls(deltas[None], np.zeros(1, np.int64), np.array([origin]))

    @property
    def loudest(self) -> int:
        """The pair of which most is shown."""
        return int(np.argmax(self.deltas.sum(axis=1)[self.row]))


@lru_cache
def two_of(values: int) -> tuple[IntArray, IntArray]:
    """The values of each pair."""
    one, other = np.triu_indices(values, 1)
    return one, other


class Crossover(Protocol):
    """What gets from the pairs of values of a unit to those of its neighbour."""

    def through(self, shown: PairProfiles, grid: Grid) -> PairProfiles:
        """What is shown of the neighbour's pairs."""


@dataclass(frozen=True, slots=True)
class Swayed:
    """S_t of the worst pair, the same for all pairs of the neighbour."""

    sway: Sway

    def through(self, shown: PairProfiles, grid: Grid) -> PairProfiles:
        """By one t for all."""
        return PairProfiles.of_all(passage(grid, self.sway).read(shown.deltas.max(axis=0)), shown.loudest)


@dataclass(frozen=True, eq=False)
class TiltLevels:
    """Different log odds, the least first, by whose places crossings name them."""

    odds: FloatArray

    def chords(self, grid: Grid) -> Chords:
        """S_t of each on a grid, a row each."""
        return tilt_chords(self, grid)


@lru_cache(maxsize=8)
def tilt_chords(levels: TiltLevels, grid: Grid) -> Chords:
    """Work out S_t of all levels once."""
    sways = np.stack([TiltSway(odds).at(grid.excess) for odds in levels.odds.tolist()])
    weight, further = further_on(sways, grid.excess)
    return Chords.of(grid, further, weight)


@dataclass(frozen=True, eq=False, slots=True)
class TiltCrossing:
    """Any tilt of a unit's law: F_ab = max over u, v of S_t D_uv, with t of the log odds of a, b against u, v.

    `level` has a row for each group of pairs of the neighbour, their largest log odds as places among the levels, and
    a column a pair of the unit.
    """

    levels: TiltLevels
    level: IntArray
    group: IntArray

    @classmethod
    def of(cls, levels: TiltLevels, odds: FloatArray, group: IntArray) -> Self:
        """Put the pairs (rows) of each group together."""
        return cls(levels, highest(np.searchsorted(levels.odds, odds), group), group)

    def through(self, shown: PairProfiles, grid: Grid) -> PairProfiles:
        """By a t for each two, but for those that others outdo."""
        first, level = self._at_rows(shown)
        pair, row = np.nonzero(telling(level, shown.deltas))
        found = self.levels.chords(grid).rows(level[pair, row]).read(shown.deltas[row])
        starts = np.searchsorted(pair, np.arange(len(level)))
        told = found.sum(axis=1)
        loudest = [at + int(np.argmax(told[at:end])) for at, end in pairwise([*starts.tolist(), len(pair)])]
        origin = first[row[loudest]][self.group]
        return PairProfiles(np.maximum.reduceat(found, starts), self.group, origin)

    def _at_rows(self, shown: PairProfiles) -> tuple[IntArray, IntArray]:
        """The first pair of each row, and the largest log odds of each pair against those of a row."""
        if len(shown.deltas) == 1:
            return np.zeros(1, np.int64), self.level.max(axis=1, keepdims=True)
        return np.unique(shown.row, return_index=True)[1], highest(self.level.T, shown.row).T


def highest(rows: NDArray[Number], group: IntArray) -> NDArray[Number]:
    """The highest of the rows of each group."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    return np.asarray(np.maximum.reduceat(rows[order], starts))


def telling(odds: IntArray, deltas: FloatArray) -> Flags:
    """Which rows may tell most of a pair somewhere: no other has as large odds and is nowhere below."""
    rows = np.arange(len(deltas))
    below = (deltas[:, None] <= deltas[None]).all(axis=2)
    first = below & below.T & (rows[:, None] < rows)  # of equal ones the first stays
    outdo = below & ~first & (rows[:, None] != rows)
    return np.asarray(~(outdo & (odds[:, :, None] <= odds[:, None])).any(axis=2))


@dataclass(frozen=True, eq=False, slots=True)
class LawCrossing:
    """A known law P of a unit given its neighbour: x = P(·|a) − γ P(·|b) falls into x⁺ and x⁻, of sums t and t + γ − 1.

    Any pairs of what is in x⁺ with what is in x⁻ bound it; here all with all, in proportion:
    F_ab = Σ over u, v of x⁺_u x⁻_v D_uv(1 + (γ − 1)/t) / (t + γ − 1), and the larger of that and F_ba.
    `law` has a row a value of the neighbour, its entries right up to e^±error; pairs of a `group` share the
    highest, and so do pairs of the unit that are together in `behind`.
    """

    law: FloatArray
    error: float
    group: IntArray
    behind: IntArray

    def through(self, shown: PairProfiles, grid: Grid) -> PairProfiles:
        """By the two parts of each two rows."""
        one, other = two_of(len(self.law))
        several = len(shown.deltas) > 1 and self.behind.size > 1
        rows = highest(shown.deltas[shown.row], self.behind) if several else shown.deltas.max(axis=0)[None]
        both = self._apart(np.append(one, other), np.append(other, one), rows, grid)
        found = highest(np.maximum(both[: one.size], both[one.size :]), self.group)
        return PairProfiles(convex(found, grid), self.group, np.full(self.group.size, shown.loudest))

    def _apart(self, one: IntArray, other: IntArray, rows: FloatArray, grid: Grid) -> FloatArray:
        """F of values `one` against values `other`; the value that is mixed comes first."""
        above = (self.law.T * (math.exp(self.error) * UP))[:, one, None]
        below = (self.law.T * (math.exp(-self.error) * DOWN))[:, other, None] * (1 + grid.excess)
        gap = above - below
        gain, lost = np.maximum(gap, 0.0), np.maximum(-gap, 0.0)
        most, least = gain.sum(axis=0) * UP, lost.sum(axis=0) * DOWN
        with np.errstate(over="ignore"):
            further = np.clip(least / np.maximum(most, TINY) * DOWN - 1, 0.0, math.exp(LARGEST_EPSILON))
        each = Chords.of(grid, further).read_each(rows)
        if len(rows) == 1:
            mixed = most * each[0]
        else:
            mixed = np.zeros(most.shape)
            for u, v, at in zip(*two_of(len(gain)), self.behind.tolist(), strict=True):
                mixed += (gain[u] * lost[v] + gain[v] * lost[u]) * each[at]
            mixed /= np.maximum(least, TINY)
        return np.asarray(np.minimum((mixed + np.maximum(most - least, 0.0)) * UP, 1.0))


def convex(deltas: FloatArray, grid: Grid) -> FloatArray:
    """The largest convex curves below, for what is bounded is convex; most are already."""
    slopes = np.diff(deltas, axis=1) / np.diff(grid.excess)
    bent = (np.diff(slopes, axis=1) < -BENT * np.abs(slopes).max(axis=1, keepdims=True)).any(axis=1)
    for row in np.flatnonzero(bent):
        deltas[row] = PrivacyProfile(grid, deltas[row]).convex().deltas
    return deltas
