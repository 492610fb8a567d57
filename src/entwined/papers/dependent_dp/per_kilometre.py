"""What places leak for each kilometre, where log odds over a whole city are those of the group."""

from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.distance_loss import DistanceLoss
from entwined.bounds.places import places_messages_bound
from entwined.dependence.city import City
from entwined.dependence.places import NEARNESS, CityGrid
from entwined.papers.dependent_dp.towns import RADIUS, SIDE, Town

LOSSES: Final = (0.01, 0.1, 1.0, 10.0)


class PerKilometre(NamedTuple):
    """A loss for each kilometre, the largest leakage, and how many times the loss that is: worst, median, group."""

    loss: float
    leaked: float
    times: float
    median: float
    group: float


def per_kilometre(town: Town) -> list[PerKilometre]:
    """Bound a release that loses so much for each kilometre that a person moves."""
    side = 2 * RADIUS
    city = City.of(town.size, town.friends, CityGrid(SIDE, SIDE, side, side), nearness=NEARNESS * side)
    found = []
    for loss in LOSSES:
        leaked = places_messages_bound(DistanceLoss.uniform(loss, town.size), city).per_unit
        worst, median = float(leaked.max()), float(np.median(leaked))
        found.append(PerKilometre(loss, worst, worst / loss, median / loss, float(town.component)))
    return found
