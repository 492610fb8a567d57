"""⊗ for the far tails of a profile: laws of privacy losses convolved by plain sums, so that small chances keep digits.

A transform is quick and blurs all chances by what it loses of the largest; sums of numbers that are not negative lose
nothing but a share of each. So grids are short here, and what leaves them is put at infinity above, and at the last
point below, where it counts for more.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from entwined.bounds.profiles.composition import falling_of, masses_of, tails_of
from entwined.bounds.profiles.passing import Algebra
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.numbers import ULP, FloatArray

POINTS: Final = 160


@dataclass(frozen=True, eq=False, slots=True)
class TailLaw:
    """The law of a privacy loss at −nh … nh, or a stack of such, and what is at infinity."""

    grid: Grid
    law: FloatArray
    infinity: FloatArray

    @classmethod
    def of(cls, profile: PrivacyProfile) -> Self:
        """One part: its dots connected (see composition), each mass larger by what rounding can hide."""
        grid, deltas = profile.grid, profile.deltas
        masses = masses_of(profile) + deltas * (8 * ULP / math.expm1(grid.step))
        masses[..., 0] += 8 * ULP
        below = (masses[..., 1:] * falling_of(grid)[1 : grid.size + 1])[..., ::-1]
        return cls(grid, np.concatenate([below, masses], axis=-1) * (1 + 8 * ULP), deltas[..., -1])

    @classmethod
    def stacked(cls, parts: Sequence["TailLaw"]) -> Self:
        """Put several on top of each other; they share a grid."""
        return cls(
            parts[0].grid, np.stack([one.law for one in parts]), np.stack([one.infinity for one in parts])
        )

    def split(self) -> list["TailLaw"]:
        """Take a stack apart."""
        return [TailLaw(self.grid, *row) for row in zip(self.law, self.infinity, strict=True)]

    def join(self, other: "TailLaw") -> "TailLaw":
        """Both, with independent noise; not of stacks. What shows nothing adds nothing."""
        if self.is_nothing or other.is_nothing:
            return self if other.is_nothing else other
        size = self.grid.size
        sums = np.convolve(self.law, other.law) * (1 + 8 * size * ULP)
        law = sums[size : 3 * size + 1].copy()
        law[0] += sums[:size].sum() * (1 + size * ULP)
        away = sums[3 * size + 1 :].sum() + self.infinity * other.total + other.infinity * self.total
        return TailLaw(self.grid, law, np.asarray(away * (1 + size * ULP)))

    @property
    def is_nothing(self) -> bool:
        """Whether there is no part."""
        return not self.infinity and not self.law[self.grid.size + 1 :].any()

    @property
    def total(self) -> float:
        """All mass."""
        return float(self.law.sum() + self.infinity) * (1 + 4 * self.grid.size * ULP)

    def profile(self) -> PrivacyProfile:
        """Read the whole as one profile."""
        size = self.grid.size
        deltas = (
            tails_of(self.law[..., size:], self.grid, 8 * size * ULP) + np.asarray(self.infinity)[..., None]
        )
        return PrivacyProfile(self.grid, np.minimum(deltas * (1 + 8 * ULP), 1.0))


IN_TAILS: Final = Algebra(
    TailLaw.of,
    TailLaw.join,
    TailLaw.profile,
    TailLaw.stacked,
    TailLaw.split,
    lambda held: held.is_nothing,
    POINTS,
)
"""⊗ where small chances decide."""
