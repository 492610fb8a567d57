"""Check-ins of people: who was where how often, and the pattern of places that each person has."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from entwined.dependence.contents import read_bytes, refuse_binary
from entwined.dependence.edges import MOST_BYTES, inflated
from entwined.dependence.snap_edges import columns_of
from entwined.errors import BadInput
from entwined.numbers import FloatArray, IntArray

EARTH: Final = 6371.0  # kilometres from its middle
FARTHEST: Final = 90.0, 180.0  # degrees


class Spot(NamedTuple):
    """A named place on earth, in degrees."""

    name: str
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True, eq=False)
class Checkins:
    """Entries of one person at one place, with how many visits each stands for."""

    people: IntArray
    places: IntArray
    degrees: FloatArray
    visits: IntArray

    def __post_init__(self) -> None:
        entries = len(self.people)
        if self.degrees.shape != (entries, 2) or {len(self.places), len(self.visits)} != {entries}:
            raise BadInput(
                "Check-ins need a person, a place, two degrees and visits each. Check their lengths."
            )
        if entries and not (
            np.isfinite(self.degrees).all()
            and (np.abs(self.degrees) <= FARTHEST).all()
            and self.visits.min() > 0
        ):
            raise BadInput("A check-in is not on earth, or stands for no visit. Remove it.")

    def within(self, centre: Spot, kilometres: float) -> "Checkins":
        """Keep what lies at most so far from a place."""
        return self.only(distances(self.degrees, (centre.latitude, centre.longitude)) <= kilometres)

    def only(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> "Checkins":
        """Keep some entries."""
        return Checkins(self.people[kept], self.places[kept], self.degrees[kept], self.visits[kept])

    def regulars(self, least: int) -> IntArray:
        """Who has at least so many visits, in rising order."""
        who, place = np.unique(self.people, return_inverse=True)
        return who[np.bincount(place, self.visits, len(who)) >= least]

    def patterns(self, people: IntArray, most: int) -> FloatArray:
        """The degrees of each person's `most` most visited places; who has fewer has them again in turn."""
        kept = self.only(np.isin(self.people, people))
        spots, first, entry = np.unique(
            np.stack([kept.people, kept.places], axis=1), axis=0, return_index=True, return_inverse=True
        )
        visits = np.bincount(entry.reshape(-1), kept.visits, len(spots))
        order = np.lexsort((spots[:, 1], -visits, spots[:, 0]))
        who, start, count = np.unique(spots[order, 0], return_index=True, return_counts=True)
        if not np.array_equal(who, np.sort(people)):
            raise BadInput("Somebody has no check-in, so no pattern. Ask for people who have.")
        chosen = start[:, None] + np.arange(most) % np.minimum(count, most)[:, None]
        found = kept.degrees[first[order[chosen]]]
        return np.asarray(found[np.searchsorted(who, people)])


def distances(one: ArrayLike, other: ArrayLike) -> FloatArray:
    """Kilometres on the surface of the earth between degrees of latitude and longitude.

    >>> distances((40.7128, -74.0060), (34.0522, -118.2437)).round().item()
    3936.0
    """
    a, b = np.radians(np.asarray(one, np.float64)), np.radians(np.asarray(other, np.float64))
    across = np.sin((b - a) / 2) ** 2
    chord = across[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * across[..., 1]
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.minimum(chord, 1.0))))


def read_snap_checkins(path: Path) -> Checkins:
    """Read check-ins as SNAP publishes them: `user time latitude longitude place` a row, one visit each."""
    import pyarrow as pa

    types = {0: pa.int64(), 2: pa.float64(), 3: pa.float64(), 4: pa.int64()}
    people, latitude, longitude, places = columns_of(_contents(path), types, 5)
    return Checkins(people, places, np.stack([latitude, longitude], axis=1), np.ones(len(people), np.int64))


def read_place_visits(visits: Path, coordinates: Path) -> Checkins:
    """Read visits as `user,poi,visits,part` a row, and where each place is as `poi,lat,lon` in a second file."""
    import pyarrow as pa

    whole, real = pa.int64(), pa.float64()
    places, latitude, longitude = columns_of(_contents(coordinates), {0: whole, 1: real, 2: real}, 3)
    people, there, often = columns_of(_contents(visits), dict.fromkeys(range(3), whole), 4)
    order = np.argsort(places)
    at = order[np.minimum(np.searchsorted(places, there, sorter=order), len(order) - 1)]
    if not np.array_equal(places[at], there):
        raise BadInput(
            f"{visits.name}: a visited place is not in {coordinates.name}. Give the files of one data set."
        )
    return Checkins(people, there, np.stack([latitude[at], longitude[at]], axis=1), often)


def _contents(path: Path) -> bytes:
    data = read_bytes(path, MOST_BYTES)
    data = inflated(data) if path.suffix == ".gz" else data
    refuse_binary(data)
    return data
