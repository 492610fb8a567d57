"""A profile: a curve that is known at the points of a grid and joined by chords, so never below the truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from entwined.bounds.profiles.curves import LARGEST_EPSILON, ProfileCurve, read_at
from entwined.bounds.profiles.sway import Sway, further_on
from entwined.errors import BadInput
from entwined.numbers import ULP, FloatArray, IntArray, float_below

SHADE: Final = 1 - 4096 * ULP  # how far to the left a curve is asked, above what rounding can move a place
UP: Final = 1 + 64 * ULP
STRIDE: Final = 8
APART: Final = 16  # how far apart the rows are in which the best choice is sought everywhere
BEYOND: Final = 8


@dataclass(frozen=True, slots=True)
class Grid:
    """The points ε = 0, step, 2 step, … `size` step."""

    step: float
    size: int

    def __post_init__(self) -> None:
        if not (self.step > 0 and self.size > 0 and self.reach <= LARGEST_EPSILON):
            raise BadInput(
                f"A grid of {self.size} steps of {self.step}. Let it end at {LARGEST_EPSILON:g} or before."
            )

    @classmethod
    def up_to(cls, epsilon: float, size: int) -> Self:
        """So many equal steps to ε."""
        return cls(min(epsilon, LARGEST_EPSILON * (1 - 4 * ULP)) / size, size)

    @property
    def reach(self) -> float:
        """The last point."""
        return self.step * self.size

    @property
    def excess(self) -> FloatArray:
        """e^ε − 1 at the points, rounded down."""
        return excess_of(self)


@lru_cache(maxsize=16)
def excess_of(grid: Grid) -> FloatArray:
    """Compute the points of a grid once."""
    points: FloatArray = np.expm1(np.arange(grid.size + 1) * grid.step) * (1 - 16 * ULP)
    points.flags.writeable = False
    return points


@dataclass(frozen=True, eq=False, slots=True)
class PrivacyProfile:
    """At least δ(γ) at every point of the grid, or a stack of such; chords, and the last value ever after.

    >>> from entwined.bounds.profiles.curves import GaussianCurve
    >>> grid = Grid.up_to(8.0, 2000)
    >>> round(PrivacyProfile.of(GaussianCurve(1.0), grid).epsilon(Fraction(1, 10**6)), 4)
    4.8866
    """

    grid: Grid
    deltas: FloatArray

    @classmethod
    def of(cls, curve: ProfileCurve, grid: Grid) -> Self:
        """Read a curve at the points."""
        return cls(grid, curve.at(grid.excess))

    @classmethod
    def of_each(cls, curves: Sequence[ProfileCurve], grid: Grid) -> Self:
        """Read several curves, and put them on top of each other."""
        return cls(grid, read_at(curves, grid.excess))

    @classmethod
    def stacked(cls, profiles: Sequence["PrivacyProfile"]) -> Self:
        """Put several on top of each other; they share a grid."""
        return cls(profiles[0].grid, np.stack([one.deltas for one in profiles]))

    def split(self) -> list["PrivacyProfile"]:
        """Take a stack apart."""
        return [PrivacyProfile(self.grid, row) for row in self.deltas]

    def at(self, excess: FloatArray) -> FloatArray:
        """The chord at γ = 1 + excess."""
        return Chords.of(self.grid, np.asarray(excess)).read(self.deltas)

    def through(self, sway: Sway) -> "PrivacyProfile":
        """S_t: what is left of it a neighbour further."""
        return PrivacyProfile(self.grid, passage(self.grid, sway).read(self.deltas))

    def through_each(self, sways: Sequence[Sway]) -> "PrivacyProfile":
        """S_t of each of a stack, by a sway of its own."""
        each = [passage(self.grid, sway) for sway in sways]
        chords = Chords(
            *map(np.stack, zip(*((one.cell, one.share, one.weight) for one in each), strict=True))
        )
        return PrivacyProfile(self.grid, chords.read(self.deltas))

    def beside(self, other: "PrivacyProfile") -> "PrivacyProfile":
        """⊕, one change after another in one mechanism: the least of f(γ₁) + γ₁ g(γ₂) over γ₁γ₂ = γ."""
        size = self.grid.size
        growth = growth_of(self.grid)
        there, back = both_sides(self), both_sides(other)[::-1]
        padded = np.concatenate([np.full(size, np.inf), back, np.full(size, np.inf)])
        # entry m of row k holds g at k − i for i = m − size
        rows = sliding_window_view(padded, 2 * size + 1)[size::-1]
        best = STRIDE * lowest_in_rows(there[::STRIDE], growth[::STRIDE], rows[:, ::STRIDE])
        near = np.clip(best[:, None] + np.arange(-STRIDE, STRIDE + 1), 0, 2 * size)
        found = there[near] + growth[near] * np.take_along_axis(rows, near, axis=1)
        return PrivacyProfile(self.grid, np.minimum(found.min(axis=1) * UP, 1.0))

    def least(self, other: "PrivacyProfile") -> "PrivacyProfile":
        """The smaller of two bounds at each point."""
        return PrivacyProfile(self.grid, np.minimum(self.deltas, other.deltas))

    def convex(self) -> "PrivacyProfile":
        """The largest convex curve below the points: what it bounds is convex, so no higher."""
        kept: list[tuple[float, float]] = []
        for point in zip(self.grid.excess.tolist(), self.deltas.tolist(), strict=True):
            while len(kept) > 1 and above_chord(kept[-2], kept[-1], point):
                kept.pop()
            kept.append(point)
        corners = np.array(kept)
        chords = np.interp(self.grid.excess, corners[:, 0], corners[:, 1]) * UP
        return PrivacyProfile(self.grid, np.minimum(chords, self.deltas))

    def below(self, other: "PrivacyProfile") -> bool:
        """Whether it is nowhere above the other."""
        return bool((self.deltas <= other.deltas).all())

    def raised(self, share: float, more: float) -> "PrivacyProfile":
        """A little more everywhere."""
        return PrivacyProfile(self.grid, np.minimum(self.deltas * (1 + share) + more, 1.0))

    def epsilon(self, delta: Fraction | float) -> float:
        """The ε at δ, rounded up; infinite where the grid ends before it."""
        return float(self.epsilons(delta))

    def epsilons(self, delta: Fraction | float) -> FloatArray:
        """The ε of each of a stack."""
        allowed = float_below(Fraction(delta))
        within = self.deltas <= allowed
        place = np.argmax(within, axis=-1)
        last = np.maximum(place - 1, 0)
        before, here = (np.take_along_axis(self.deltas, at[..., None], -1)[..., 0] for at in (last, place))
        low, high = (np.expm1(at * self.grid.step) for at in (last, place))
        drop = np.where(place > 0, before - here, 1.0)
        share = np.minimum((before - allowed) / drop * (1 + 8 * ULP), 1.0)
        found = np.where(place > 0, np.log1p((low + share * (high - low)) * UP) * UP, 0.0)
        return np.where(within.any(axis=-1), found, math.inf)


@dataclass(frozen=True, eq=False, slots=True)
class Chords:
    """Where a profile is read: `share` of the way from point `cell` to the next, times `weight`."""

    cell: NDArray[np.int32]
    share: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, grid: Grid, excess: FloatArray, weight: FloatArray | None = None) -> Self:
        """Read at γ = 1 + excess, a little to the left of it."""
        left = excess * SHADE
        cell = np.minimum(np.log1p(left) / grid.step, grid.size - 1).astype(np.int32)
        start = grid.excess[cell]
        width = np.maximum(grid.excess[cell + 1] - start, ULP)
        share = np.clip((left - start) / width, 0.0, 1.0)
        return cls(cell, share, np.full(np.shape(excess), UP) if weight is None else weight * UP)

    def read(self, deltas: FloatArray) -> FloatArray:
        """Read a profile there, or each of a stack."""
        if deltas.ndim == 1:
            first, second = deltas[self.cell], deltas[self.cell + 1]
        else:
            flat = self.cell + np.arange(0, deltas.size, deltas.shape[-1])[:, None]
            first, second = deltas.ravel()[flat], deltas.ravel()[1:][flat]
        return np.asarray(((1 - self.share) * first + self.share * second) * self.weight)

    def read_each(self, deltas: FloatArray) -> FloatArray:
        """Read each of a stack at all these places."""
        first, second = deltas[:, self.cell], deltas[:, 1:][:, self.cell]
        return np.asarray(((1 - self.share) * first + self.share * second) * self.weight)

    def rows(self, which: Sequence[int] | IntArray) -> "Chords":
        """Some of a stack."""
        at = np.asarray(which, np.int64)
        return Chords(self.cell[at], self.share[at], self.weight[at])


def above_chord(start: tuple[float, float], middle: tuple[float, float], end: tuple[float, float]) -> bool:
    """Say whether the middle point lies on or over the line from start to end."""
    return (middle[1] - start[1]) * (end[0] - start[0]) >= (end[1] - start[1]) * (middle[0] - start[0])


@lru_cache(maxsize=2048)
def passage(grid: Grid, sway: Sway) -> Chords:
    """S_t on a grid: t(γ) times the profile at 1 + (γ − 1)/t(γ)."""
    weight, further = further_on(sway.at(grid.excess), grid.excess)
    return Chords.of(grid, further, weight)


def lowest_in_rows(there: FloatArray, growth: FloatArray, rows: FloatArray) -> IntArray:
    """Where `there + growth * row` is lowest in each row, or nearly: every choice of γ₁ is valid.

    The best one grows with γ where curves are convex. So it is sought everywhere in some rows, and in those between
    them where it was found there and a little beyond.
    """
    some = np.union1d(np.arange(0, len(rows), APART), len(rows) - 1)
    found = np.argmin(there + growth * rows[some], axis=1)
    place = np.searchsorted(some, np.arange(len(rows)))
    ends = found[np.maximum(place - 1, 0)], found[place]
    first = np.maximum(np.minimum(*ends) - BEYOND, 0)
    width = int((np.maximum(*ends) - first).max()) + BEYOND
    tried = np.minimum(first[:, None] + np.arange(width + 1), there.size - 1)
    sums = there[tried] + growth[tried] * np.take_along_axis(rows, tried, axis=1)
    return np.asarray(np.take_along_axis(tried, np.argmin(sums, axis=1)[:, None], axis=1)[:, 0])


@lru_cache(maxsize=16)
def growth_of(grid: Grid) -> FloatArray:
    """γ at ε = −size … size steps, rounded up."""
    return np.asarray(np.exp(np.arange(-grid.size, grid.size + 1) * grid.step) * UP)


@lru_cache(maxsize=16)
def shrinking_of(grid: Grid) -> FloatArray:
    """γ at ε = −size … −1 steps."""
    return np.asarray(np.exp(-np.arange(grid.size, 0, -1) * grid.step))


def both_sides(profile: PrivacyProfile) -> FloatArray:
    """δ at ε = −size … size steps: on the left 1 − γ + γ δ(1/γ)."""
    falling = shrinking_of(profile.grid)
    left = 1 - falling + falling * profile.deltas[..., :0:-1]
    return np.concatenate([np.minimum(left * UP, 1.0), profile.deltas], axis=-1)
