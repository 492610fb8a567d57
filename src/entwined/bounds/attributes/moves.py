"""Ways to carry one law into another: which mass goes how far.

Any way will do for a bound, and which one is best depends on the noise, so several are tried. `by_order` keeps the
order of quantiles and has the shortest longest way on the line. `common_first` leaves where it is what both laws have.
`near_first` carries as much as it can by at most a distance, and gives the rest up (an infinite distance).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike

from entwined.bounds.wasserstein import FiniteLaw
from entwined.errors import BadInput
from entwined.numbers import ULP, FloatArray, IntArray

MOST_NEAR: Final = 4_000  # atoms up to which as much as possible is carried by a short way
HALVINGS: Final = 60
MOST_WRONG: Final = 1e-6  # chances may miss a sum of 1 by this much


@dataclass(frozen=True, eq=False, slots=True)
class CarriedMass:
    """Masses that go so far, and the mass that rounding may have misplaced."""

    masses: FloatArray
    distances: FloatArray
    misplaced: float

    @property
    def farthest(self) -> float:
        """The longest way that any mass goes."""
        return float(np.max(self.distances, where=self.masses > 0, initial=0.0))


@dataclass(frozen=True, eq=False, slots=True)
class VectorLaw:
    """A law on finitely many points: one row of `atoms` each."""

    atoms: FloatArray
    chances: FloatArray

    @classmethod
    def of(cls, atoms: ArrayLike, chances: ArrayLike) -> Self:
        """Read a law; chances of zero are left out."""
        points, masses = np.asarray(atoms, dtype=np.float64), np.asarray(chances, dtype=np.float64)
        if points.ndim != 2 or len(points) != masses.size or not np.isfinite(points).all():  # noqa: PLR2004  (rows)
            raise BadInput("A law of vectors needs one finite row an atom and as many chances. Check both.")
        if not (masses >= 0).all() or abs(masses.sum() - 1) > MOST_WRONG:
            raise BadInput("The chances of a law are not negative and sum to 1. Check them.")
        return cls(points[masses > 0], masses[masses > 0] / masses.sum())


def ways(one: FiniteLaw, other: FiniteLaw, given_up: float) -> Iterator[CarriedMass]:
    """Give ways to carry one law of numbers into another; `given_up` is the mass that may be left behind."""
    first, second = np.exp(one.logs), np.exp(other.logs)
    sources, targets, masses = corner(first, second)
    yield CarriedMass(masses, np.abs(one.atoms[sources] - other.atoms[targets]), misplaced(first, second))
    yield common_first(one, other)
    if given_up > 0 and one.atoms.size + other.atoms.size <= MOST_NEAR:
        for share in (given_up, given_up / 2):
            yield near_first(one, other, share)


def vector_ways(one: VectorLaw, other: VectorLaw, norm: int) -> Iterator[CarriedMass]:
    """Give ways to carry one law of vectors into another: in the order of each coordinate and of their sum.

    On the line the order of quantiles is the best; here it is only some way, so that what follows is an upper bound.
    """
    if one.atoms.shape[1] != other.atoms.shape[1]:
        raise BadInput("Two laws of vectors of different lengths. Give answers to the same questions.")
    numbers = one.atoms.shape[1]
    for key in (np.ones(numbers), *np.eye(numbers)):
        orders = [np.lexsort((*law.atoms.T[::-1], law.atoms @ key)) for law in (one, other)]
        first, second = one.chances[orders[0]], other.chances[orders[1]]
        sources, targets, masses = corner(first, second)
        gaps = one.atoms[orders[0][sources]] - other.atoms[orders[1][targets]]
        yield CarriedMass(masses, np.linalg.norm(gaps, ord=norm, axis=1), misplaced(first, second))


def corner(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Carry masses into others in their order: from where, to where, how much."""
    ends = [np.cumsum(masses) for masses in (first, second)]
    cuts = np.union1d(ends[0][:-1], ends[1][:-1])
    edges = np.concatenate([[0.0], np.clip(cuts, 0.0, ends[0][-1]), [ends[0][-1]]])
    sources, targets = (np.searchsorted(end[:-1], edges[:-1], side="right") for end in ends)
    return sources, targets, np.diff(edges)


def misplaced(first: FloatArray, second: FloatArray) -> float:
    """Bound the mass that rounded chances and their sums put at a wrong place."""
    return 16.0 * ULP * (first.size + second.size + 8)


def common_first(one: FiniteLaw, other: FiniteLaw) -> CarriedMass:
    """Leave what both laws have, and carry the rest in its order."""
    atoms = np.union1d(one.atoms, other.atoms)
    each = [np.zeros(atoms.size), np.zeros(atoms.size)]
    for masses, law in zip(each, (one, other), strict=True):
        masses[np.searchsorted(atoms, law.atoms)] = np.exp(law.logs)
    common = np.minimum(*each)
    first, second = (masses - common for masses in each)
    sources, targets, moved = corner(first, second)
    masses = np.append(moved, common.sum())
    return CarriedMass(
        masses, np.append(np.abs(atoms[sources] - atoms[targets]), 0.0), misplaced(first, second)
    )


def near_first(one: FiniteLaw, other: FiniteLaw, share: float) -> CarriedMass:
    """Find the least distance within which all but a share can be carried, and carry it so."""
    low, high = 0.0, float(max(one.atoms[-1], other.atoms[-1]) - min(one.atoms[0], other.atoms[0]))
    best = within(one, other, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = within(one, other, middle)
        if math.fsum(found.masses[np.isinf(found.distances)]) + found.misplaced <= share:
            high, best = min(middle, found_farthest(found)), found
        else:
            low = middle
        if high - low <= 1e-9 * high:
            break
    return best


def found_farthest(found: CarriedMass) -> float:
    """The longest way of what is not given up."""
    return float(np.max(found.distances, where=np.isfinite(found.distances), initial=0.0))


def within(one: FiniteLaw, other: FiniteLaw, distance: float) -> CarriedMass:
    """Carry as much as possible by at most a distance, from left to right; the rest is given up.

    Who can reach nobody from here on is given up; else the leftmost two that reach each other meet, which takes
    nothing from anybody, since whoever could have met one of them can reach no one that the other could not.
    """
    left, right = np.exp(one.logs).tolist(), np.exp(other.logs).tolist()
    sources, targets = one.atoms.tolist(), other.atoms.tolist()
    masses, distances = [], []
    i = j = 0
    while i < len(left) and j < len(right):
        gap = sources[i] - targets[j]
        if abs(gap) <= distance:
            mass = min(left[i], right[j])
            masses.append(mass)
            distances.append(abs(gap))
            left[i] -= mass
            right[j] -= mass
            i, j = i + (left[i] <= 0), j + (right[j] <= 0)
        elif gap < 0:
            i += 1
        else:
            j += 1
    given_up = max(0.0, 1.0 - math.fsum(masses))
    slack = 16.0 * ULP * (len(left) + len(right) + 8)
    return CarriedMass(np.array([*masses, given_up]), np.array([*distances, math.inf]), slack)
