"""⊕ of many pairs of profiles at once, in whichever order is worse.

f(γ₁) + γ₁ g(γ/γ₁) is convex in γ₁ where f and g are, and its lowest place grows with γ. So it is halved in for some γ,
and sought near the line between those for the others. Every choice of γ₁ is valid, found or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from entwined.bounds.profiles.profile import UP, Grid, PrivacyProfile, both_sides, growth_of
from entwined.numbers import FloatArray, IntArray

APART: Final = 8  # every so many points of the grid the best choice is sought everywhere
NEARER: Final = (2, 1)


def in_either_order(one: PrivacyProfile, other: PrivacyProfile) -> PrivacyProfile:
    """max(f ⊕ g, g ⊕ f) of each pair of two stacks."""
    both = (Splits.of(one, other).least(), Splits.of(other, one).least())
    return PrivacyProfile(one.grid, np.minimum(np.maximum(*both) * UP, 1.0))


@dataclass(frozen=True, eq=False, slots=True)
class Splits:
    """f and g of each pair on both sides of γ = 1; a choice of γ₁ is a place there, counted from the left end."""

    grid: Grid
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, one: PrivacyProfile, other: PrivacyProfile) -> Self:
        """One change and then the other."""
        return cls(one.grid, both_sides(one), both_sides(other))

    def least(self) -> FloatArray:
        """The least that is found at each point of the grid."""
        size = self.grid.size
        some = np.append(np.arange(0, size, APART), size)
        steps = [2**power for power in range(size.bit_length() - 1, -1, -1)]
        start = np.broadcast_to(size + some // 2, (len(self.first), some.size))
        found, _ = self.nearer(some, start, steps)
        points = np.arange(size + 1)
        left = np.minimum(points // APART, some.size - 2)
        share = (points - some[left]) / (some[left + 1] - some[left])
        between = np.rint((1 - share) * found[:, left] + share * found[:, left + 1]).astype(np.int64)
        return self.nearer(points, between, NEARER)[1]

    def nearer(self, points: IntArray, start: IntArray, steps: Sequence[int]) -> tuple[IntArray, FloatArray]:
        """Go to the lower side by ever smaller steps; give the places and what is there."""
        best, least = start, self.at(points, start)
        for step in steps:
            centre = best
            for way in (-step, step):
                place = np.clip(centre + way, points, 2 * self.grid.size)
                there = self.at(points, place)
                best, least = np.where(there < least, place, best), np.minimum(there, least)
        return best, least

    def at(self, points: IntArray, place: IntArray) -> FloatArray:
        """f(γ₁) + γ₁ g(γ/γ₁), where γ₁ is so large that the grid has γ/γ₁."""
        starts = np.arange(len(self.first))[:, None] * self.first.shape[1]
        rest = points + 2 * self.grid.size - place
        return np.asarray(
            self.first.take(starts + place) + growth_of(self.grid)[place] * self.second.take(starts + rest)
        )
