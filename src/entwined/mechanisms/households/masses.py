"""What a household adds to a table: one part in all, spread evenly over its members of a kind where these are counted.

Theorem. Let each household add a vector of numbers ≥ 0 whose sum is at most F. One household more or less moves their
sum over all households by at most F in L1 and F² in squared L2, one household that is another by at most 2F and 2F².

Proof. One vector u ≥ 0 has ‖u‖₁ ≤ F and ‖u‖₂² ≤ ‖u‖₁². For two of them ‖u − v‖₁ ≤ ‖u‖₁ + ‖v‖₁ ≤ 2F, and as u·v ≥ 0,
‖u − v‖₂² ≤ ‖u‖₂² + ‖v‖₂² ≤ 2F². So noise is that of one person a household, however many it has; counting every member
by itself would need it k − 1 times as large.

A household with n members of a kind adds F/n to the cell of each, F divisible by every n that can be, and nothing
where it has none; to a table of its own it adds F to one cell.
"""

import math
from fractions import Fraction

import numpy as np

from entwined.mechanisms.households.seating import COMPOSITION, HOME, TYPE, Seating, Sides
from entwined.numbers import IntArray
from entwined.queries import HomesOf, Sensitivity, Statistic, everything
from entwined.queries.seats import HEAD, HomeTable


def parts_of(seating: Seating) -> int:
    """F: in how many parts a household is counted."""
    return math.lcm(*range(1, seating.seats.most))


def asked(seating: Seating, sides: Sides) -> HomesOf:
    """What an engine is asked for."""
    member = max((kind for kind, _ in sides if kind != HOME), default=HEAD)
    composed = any(place in (COMPOSITION, TYPE) for place in sides)
    axes = tuple((kind, seating.domain.axes[at]) for kind, at in sides if kind != HOME)
    return HomesOf(HomeTable(seating.seats, axes, member, composed), everything())


def masses(seating: Seating, sides: Sides, counts: IntArray) -> IntArray:
    """Make a table of households, in parts, of what an engine gave."""
    whole = parts_of(seating)
    member = max((kind for kind, _ in sides if kind != HOME), default=HEAD)
    if member != HEAD:
        many = seating.seats.capacity(member)
        weights = np.array([whole // n for n in range(1, many + 1)], np.int64)
        return np.asarray(weights @ counts.reshape(many, -1), np.int64)
    if not {COMPOSITION, TYPE} & set(sides):
        return counts * whole
    composed = counts.reshape(seating.seats.compositions, -1)[seating.compositions]
    if TYPE in sides:
        by_type = np.zeros((seating.size(TYPE), composed.shape[1]), np.int64)
        np.add.at(by_type, seating.types, composed)
        composed = by_type
    return composed.reshape(-1) * whole


def counted(seating: Seating) -> Statistic:
    """A table of households, and how far one moves it: a row's figures are its share of what all rows do together."""
    each = Fraction(parts_of(seating), seating.seats.most)
    spread = Sensitivity(Fraction(1), Fraction(1, 2))
    return Statistic(
        asked(seating, (COMPOSITION,)), Sensitivity(each, 2 * each), agrees=False, concentration=spread
    )


def distance(seating: Seating) -> Statistic:
    """How far a table is from a public one in L1: it moves by no more than the table does."""
    each = Fraction(parts_of(seating), seating.seats.most)
    return Statistic(asked(seating, (COMPOSITION,)), Sensitivity(each, 2 * each), agrees=False)
