"""Which tables of two places are worth counting, from noisy distances to independence: nothing here looks at rows.

Every column of every kind may hang on one column of the same members and on one place outside: the type of household
for a head, the head's own column for all others. So what is counted are trees, and each table has two sides.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from entwined.mechanisms.households.seating import Place, Seating, Sides
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL

LARGEST_CLIQUE: Final = 60_000  # cells of a column with both that it hangs on
LEFT_BY_A_FIT: Final = 0.6 * NOISE_OF_A_CELL  # a law that fits all tables evens noise out


@dataclass(frozen=True, slots=True)
class Relatives:
    """How far each table of two places seems to be from independence, in parts of households."""

    seating: Seating
    distances: Mapping[Sides, float]

    def gain(self, sides: Sides, deviation: float) -> float:
        """How much further from independent a table is than noise of this deviation in every cell would take it."""
        return self.distances[sides] - LEFT_BY_A_FIT * deviation * math.prod(map(self.seating.size, sides))

    def grown(self, deviation: float) -> tuple[Sides, ...]:
        """Take tables that tell more than noise of this deviation hides, the best first, as long as they are trees."""
        gains = {sides: self.gain(sides, deviation) for sides in self.distances}
        taken: list[Sides] = []
        trees: dict[Place, Place] = {}
        for sides in sorted(gains, key=lambda one: (-gains[one], one)):
            if gains[sides] <= 0:
                break
            one, two = (_root(trees, place) for place in sides)
            if (is_within(sides) and one == two) or not self._fits(sides, taken):
                continue
            if is_within(sides):
                trees[one] = two
            taken.append(sides)
        return tuple(taken)

    def _fits(self, sides: Sides, taken: Sequence[Sides]) -> bool:
        """Whether a column stays small with both that it would hang on, whichever of its relatives that is."""
        for other in taken:
            shared = set(sides) & set(other)
            if shared and is_within(sides) != is_within(other):
                clique = set(sides) | set(other)
                if math.prod(map(self.seating.size, clique)) > LARGEST_CLIQUE:
                    return False
        return True


def is_within(sides: Sides) -> bool:
    """Whether a table is of two columns of the same members."""
    return len(sides) > 1 and sides[0][0] == sides[1][0]


def _root(trees: Mapping[Place, Place], place: Place) -> Place:
    while place in trees:
        place = trees[place]
    return place
