"""⊗: what several independent parts of a release show together, as a product of privacy loss laws.

A profile stands for two laws P and Q on the points of its grid: P has the mass

    p_k = (e^h D_{k−1} − D_k) / (e^h − 1),   D_k = δ_k − δ_{k+1},

at the loss ε = kh > 0, Q = e^{−ε} P, the same the other way round below 0, and P has δ_n at infinity (Doroshenko,
Ghazi, Kamath, Kumar, Manurangsi 2022: connect the dots). Parts compose by convolving P. Atoms that are too many
only add to Σ (p − γq)₊, so everything that is cut off, wrapped around or lost to rounding is put at infinity.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from entwined.bounds.profiles.curves import TINY
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.numbers import ULP, FloatArray

ROOM: Final = 2  # the window of sums is so many times that of the parts
TILTS: Final = np.array(
    [5.0, 10.0, 20.0, 40.0, 80.0, 160.0]
)  # orders of Chernoff's bound on what leaves the window
TRANSFORM: Final = 8 * ULP  # the error of a transform is at most so much a doubling, in the mean square


@dataclass(frozen=True, eq=False, slots=True)
class Composition:
    """Parts composed so far, or a stack of such: the transform of their law, and what is kept to bound its errors.

    `moments` are logs of E e^{sε} at the tilts, `infinity` the mass there, `total` all mass, `spread` the norms.
    """

    grid: Grid
    spectrum: NDArray[np.complex128]
    moments: FloatArray
    infinity: FloatArray
    total: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, profile: PrivacyProfile) -> Self:
        """One part; what shows nothing is none."""
        grid, deltas = profile.grid, profile.deltas
        shows = np.asarray(deltas.any(axis=-1))
        masses = masses_of(profile)
        lacking = np.max(deltas - deltas[..., -1:] - tails_of(masses, grid, 0.0), axis=-1, initial=0.0)
        both = np.empty((*shows.shape, 2 * grid.size + 1))
        both[..., grid.size :] = masses
        np.multiply(masses[..., :0:-1], falling_of(grid)[grid.size : 0 : -1], out=both[..., : grid.size])
        law = np.zeros((*shows.shape, 2 * ROOM * grid.size))
        law[..., : grid.size + 1] = masses
        law[..., -grid.size :] = both[..., : grid.size]
        infinity = deltas[..., -1] + lacking + 4 * grid.size * ULP
        total, spread = both.sum(axis=-1) + infinity, np.sqrt(np.einsum("...k,...k->...", both, both))
        tilted = np.log(both @ tilts_of(grid).T + TINY)
        return cls(
            grid,
            np.fft.rfft(law),
            np.where(shows[..., None], tilted, 0.0),
            np.where(shows, infinity, 0.0),
            np.where(shows, total, 1.0),
            np.where(shows, spread, 0.0),
        )

    @classmethod
    def nothing(cls, grid: Grid) -> Self:
        """No part at all."""
        return cls.of(PrivacyProfile(grid, np.zeros(grid.size + 1)))

    @classmethod
    def stacked(cls, parts: Sequence["Composition"]) -> Self:
        """Put several on top of each other; they share a grid."""
        rows = [(one.spectrum, one.moments, one.infinity, one.total, one.spread) for one in parts]
        return cls(parts[0].grid, *map(np.stack, zip(*rows, strict=True)))

    def split(self) -> list["Composition"]:
        """Take a stack apart."""
        rows = zip(self.spectrum, self.moments, self.infinity, self.total, self.spread, strict=True)
        return [Composition(self.grid, *row) for row in rows]

    @classmethod
    def concatenated(cls, stacks: Sequence["Composition"]) -> "Composition":
        """Put stacks on top of each other; they share a grid."""
        if len(stacks) == 1:
            return stacks[0]
        rows = [(one.spectrum, one.moments, one.infinity, one.total, one.spread) for one in stacks]
        return cls(stacks[0].grid, *map(np.concatenate, zip(*rows, strict=True)))

    def __len__(self) -> int:
        """How many there are in a stack."""
        return len(self.total)

    def rows(self, which: slice | Sequence[int]) -> "Composition":
        """Some of a stack."""
        at = which if isinstance(which, slice) else np.asarray(which, np.int64)
        return Composition(
            self.grid,
            self.spectrum[at],
            self.moments[at],
            self.infinity[at],
            self.total[at],
            self.spread[at],
        )

    def with_rows(self, which: Sequence[int], others: "Composition") -> "Composition":
        """The same stack with others in these rows."""
        order = np.arange(len(self))
        order[np.asarray(which, np.int64)] = len(self) + np.arange(len(others))
        return Composition.concatenated([self, others]).rows(order.tolist())

    @property
    def is_nothing(self) -> NDArray[np.bool_]:
        """Whether there is no part; one that shows everything has all its mass at infinity."""
        return np.asarray((self.spread == 0) & (self.infinity == 0))

    def join(self, other: "Composition") -> "Composition":
        """Both, with independent noise."""
        return Composition(
            self.grid,
            self.spectrum * other.spectrum,
            self.moments + other.moments,
            self.infinity * other.total + other.infinity * self.total,
            self.total * other.total,
            self.spread * other.total + other.spread * self.total,
        )

    def profile(self) -> PrivacyProfile:
        """Read the whole as one profile."""
        grid, window = self.grid, ROOM * self.grid.size
        masses = np.maximum(np.fft.irfft(self.spectrum, 2 * window)[..., : window + 1], 0.0)
        away = np.exp(np.minimum(np.min(self.moments - TILTS * ROOM, axis=-1) + 1e-9, 0.0))
        blurred = math.sqrt(2 * window) * TRANSFORM * math.log2(2 * window) * 3 * self.spread
        more = np.asarray(self.infinity + away + blurred)[..., None]
        deltas = tails_of(masses, grid, 8 * window * ULP) + more
        shown = np.minimum(deltas * (1 + 8 * ULP), 1.0)
        return PrivacyProfile(grid, np.where(self.is_nothing[..., None], 0.0, shown))


def masses_of(profile: PrivacyProfile) -> FloatArray:
    """P at the losses 0, h, … of the grid."""
    deltas, step = profile.deltas, profile.grid.step
    drops = np.zeros(deltas.shape)
    drops[..., :-1] = deltas[..., :-1] - deltas[..., 1:]
    masses = np.empty(deltas.shape)
    masses[..., 1:] = (math.exp(step) * drops[..., :-1] - drops[..., 1:]) / math.expm1(step)
    masses[..., 0] = 1 - deltas[..., 0] - 2 * drops[..., 0] / math.expm1(step)
    return np.maximum(masses, 0.0)


def tails_of(masses: FloatArray, grid: Grid, slack: float) -> FloatArray:
    """Σ_{j>k} p_j (1 − e^{(k−j)h}) at each k of the grid, larger by a share `slack` of what was added up."""
    falling = falling_of(grid)[: masses.shape[-1]]
    above = beyond(masses, grid.size)
    return (
        np.maximum(above - beyond(masses * falling, grid.size) / falling[: grid.size + 1], 0.0)
        + slack * above
    )


def beyond(masses: FloatArray, last: int) -> FloatArray:
    """Σ_{j>k} p_j at each k up to the last that is wanted."""
    sums = np.empty((*masses.shape[:-1], last + 1))
    sums[..., 0] = masses[..., last + 1 :].sum(axis=-1)
    sums[..., 1:] = masses[..., last:0:-1]
    return np.cumsum(sums, axis=-1, out=sums)[..., ::-1]


@lru_cache(maxsize=16)
def falling_of(grid: Grid) -> FloatArray:
    """e^{−kh} for k = 0, 1, … to the end of the window."""
    return np.asarray(np.exp(-np.arange(ROOM * grid.size + 1) * grid.step))


@lru_cache(maxsize=16)
def tilts_of(grid: Grid) -> FloatArray:
    """e^{sε} at the losses −nh … nh, a row a tilt s; s is counted in units of 1/(nh)."""
    places = np.arange(-grid.size, grid.size + 1) / grid.size
    return np.asarray(np.exp(TILTS[:, None] * places))
