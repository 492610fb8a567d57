"""What one step of a person tells of two places of a friend: the largest log odds by how far these are apart."""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from entwined.bounds.carried import streets_of
from entwined.dependence.city import City
from entwined.dependence.places import CityGrid, friends_places
from entwined.numbers import ULP, FloatArray


class StreetOdds(NamedTuple):
    """For steps of one length: distances of two places of a friend, and the most that a step changes their log odds."""

    length: float
    distances: FloatArray
    log_odds: FloatArray


def street_odds(city: City) -> tuple[StreetOdds, ...]:
    """For steps across and steps down, wherever in the city they are taken."""
    return _found(city.grid, city.nearness, city.fall)


@lru_cache(maxsize=16)
def _found(grid: CityGrid, nearness: float, fall: float) -> tuple[StreetOdds, ...]:
    logs = np.log(friends_places(grid.distances(), nearness=nearness, fall=fall))
    slack = 8 * ULP * float(np.abs(logs).max())
    streets = streets_of(grid)
    taken = streets.steps[streets.told]
    gaps = (logs[taken[:, 1]] - logs[taken[:, 0]]).reshape(-1, grid.down, grid.across)
    is_across = np.abs(taken[:, 1] - taken[:, 0]) == 1 if grid.across > 1 else np.zeros(len(taken), bool)
    sides = (grid.width / grid.across, is_across), (grid.height / grid.down, ~is_across)
    if grid.across == grid.down and grid.width == grid.height:  # a mirror makes one of the other
        sides = ((grid.width / grid.across, np.ones(len(taken), bool)),) * 2
    return tuple(_of_side(grid, length, gaps[chosen], slack) for length, chosen in sides if chosen.any())


def _of_side(grid: CityGrid, length: float, gaps: FloatArray, slack: float) -> StreetOdds:
    """The largest gap for every way that two places can lie to each other."""
    found: dict[float, float] = {}
    for right, below in product(range(grid.across), range(1 - grid.down, grid.down)):
        if (right, below) <= (0, 0):
            continue
        first = gaps[:, max(0, -below) : grid.down - max(0, below), : grid.across - right]
        second = gaps[:, max(0, below) : grid.down + min(0, below), right:]
        apart = right * (grid.width / grid.across) + abs(below) * (grid.height / grid.down)
        found[apart] = max(found.get(apart, 0.0), float(np.abs(second - first).max()) + slack)
    return StreetOdds(length, np.array(list(found)), np.array(list(found.values())))
