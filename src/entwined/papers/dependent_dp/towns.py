"""People, their friends and the places that they visit: Gowalla by the paper's rule if at hand, else made up."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from entwined.dependence.places import CityGrid
from entwined.dependence.snap_edges import read_pairs
from entwined.errors import BadTable
from entwined.learning.checkins import Checkins, Spot, read_place_visits
from entwined.numbers import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CITIES: Final = (
    Spot("New York", 40.7128, -74.0060),
    Spot("San Francisco", 37.7749, -122.4194),
    Spot("Los Angeles", 34.0522, -118.2437),
)
RADIUS: Final = 25.0  # kilometres
LEAST_VISITS: Final = 10
PLACES: Final = 6  # q
SIDE: Final = 20  # cells of a city across and down
KILOMETRES: Final = 111.195  # a degree of latitude
FOLDER: Final = "gowalla_lbsn"
FILES: Final = ("user_poi_visits.csv.gz", "poi_coordinates.csv", "social_edges.csv")


@dataclass(frozen=True, slots=False, eq=False)
class Town:
    """People of three cities: the city of each, the degrees of the places that they visit most, and who is friends."""

    source: str
    checkins: Checkins
    people: IntArray
    city: IntArray
    patterns: FloatArray
    friends: IntArray

    @property
    def size(self) -> int:
        """How many people there are."""
        return len(self.people)

    @cached_property
    def adjacency(self) -> "csr_array":
        """Who is a friend of whom, both ways."""
        from scipy.sparse import csr_array

        one, other = self.friends.T
        ends = np.concatenate([one, other]), np.concatenate([other, one])
        return csr_array((np.ones(len(ends[0])), ends), shape=(self.size, self.size))

    @cached_property
    def degrees(self) -> IntArray:
        """How many friends each has."""
        return np.bincount(self.friends.reshape(-1), minlength=self.size)

    @cached_property
    def hanging_together(self) -> IntArray:
        """The largest group of people in which everyone is reached through friends."""
        from scipy.sparse.csgraph import connected_components

        labels = connected_components(self.adjacency, directed=False)[1]
        return np.flatnonzero(labels == np.bincount(labels).argmax())

    @property
    def component(self) -> int:
        """How many they are."""
        return len(self.hanging_together)

    @cached_property
    def vectors(self) -> FloatArray:
        """Patterns as rows of 2q numbers, each between 0 and 1 over all people, as in the paper."""
        flat = self.patterns.reshape(self.size, -1)
        low, high = flat.min(axis=0), flat.max(axis=0)
        return np.asarray((flat - low) / np.where(high > low, high - low, 1.0))

    @cached_property
    def cells(self) -> IntArray:
        """In which cell of their city the place lies that each visits most."""
        return grid().cells_of(self.squares)

    @cached_property
    def squares(self) -> FloatArray:
        """That place in the unit square of the city, east and north."""
        return in_city(self.patterns[:, 0], self.city)


def grid() -> CityGrid:
    """The cells of a city."""
    return CityGrid(SIDE, SIDE)


def in_city(degrees: FloatArray, city: IntArray) -> FloatArray:
    """Degrees as east and north in the square around a city."""
    centres = np.array([(one.latitude, one.longitude) for one in CITIES])[city]
    north, east = (degrees - centres).T * KILOMETRES
    east = east * np.cos(np.radians(centres[:, 0]))
    return np.asarray(np.stack([east, north], axis=1) / (2 * RADIUS) + 0.5)


def from_city(squares: FloatArray, city: IntArray) -> FloatArray:
    """East and north in the square around a city as degrees."""
    centres = np.array([(one.latitude, one.longitude) for one in CITIES])[city]
    east, north = ((squares - 0.5) * 2 * RADIUS / KILOMETRES).T
    return np.asarray(np.stack([north, east / np.cos(np.radians(centres[:, 0]))], axis=1) + centres)


def selected(checkins: Checkins, friends: IntArray, source: str) -> Town:
    """Section IV-A: who has at least ten visits within 25 km of one of the cities, and the six places visited most.

    Who qualifies in two cities counts in the one with more visits; who has fewer places has them again in turn.
    """
    near = [checkins.within(city, RADIUS) for city in CITIES]
    people = np.unique(np.concatenate([one.regulars(LEAST_VISITS) for one in near]))
    if len(people) < SIDE:
        raise BadTable(
            f"{source}: {len(people)} people have {LEAST_VISITS} visits in a city. Check the files."
        )
    kept = [one.only(np.isin(one.people, people)) for one in near]
    visits = [np.bincount(np.searchsorted(people, one.people), one.visits, len(people)) for one in kept]
    city = np.argmax(visits, axis=0)
    patterns = np.empty((len(people), PLACES, 2))
    for number, one in enumerate(kept):
        here = people[city == number]
        if here.size:
            patterns[city == number] = one.patterns(here, PLACES)
    ends = np.searchsorted(people, friends[np.isin(friends, people).all(axis=1)])
    local = checkins.only(np.isin(checkins.people, people))
    return Town(source, local, people, city, patterns, ends)


def gowalla(folder: Path) -> Town:
    """The check-ins below the data folder."""
    visits, places, edges = (folder / FOLDER / name for name in FILES)
    return selected(read_place_visits(visits, places), read_pairs(edges)[0], f"{FOLDER} (Gowalla)")


def made_up(people: int = 240, seed: int = 5) -> Town:
    """People of three cities around some homes, friends mostly near by: for who has no data."""
    generator = np.random.default_rng(seed)
    city = generator.integers(0, len(CITIES), people)
    middles = generator.uniform(0.15, 0.85, (len(CITIES), 3, 2))
    homes = middles[city, generator.integers(0, 3, people)] + generator.normal(0, 0.07, (people, 2))
    squares = np.clip(homes[:, None] + generator.normal(0, 0.03, (people, 8, 2)), 0.05, 0.95)
    degrees = from_city(squares.reshape(-1, 2), np.repeat(city, 8))
    places = np.arange(people * 8)
    visits = np.tile([6, 5, 4, 3, 2, 1, 1, 1], people)
    checkins = Checkins(np.repeat(np.arange(people), 8), places, degrees, visits)
    apart = np.abs(homes[:, None] - homes).sum(axis=2) + 3.0 * (city[:, None] != city)
    near = np.triu(generator.random((people, people)) < 0.25 * np.exp(-6 * apart), 1)
    near[0, 1:40] |= generator.integers(0, 2, 39) == 1  # one person has many friends
    return selected(checkins, np.argwhere(near), "generated people")
