"""Table I and figures 2 and 3: whether friends visit the same places."""

from typing import Final, NamedTuple

import numpy as np

from entwined.learning.checkins import Spot, distances
from entwined.numbers import FloatArray, IntArray
from entwined.papers.dependent_dp.towns import CITIES, RADIUS, Town

CLUSTERS: Final = 8
ROUNDS: Final = 30
PAIRS: Final = 4000  # of each kind
REGIONS: Final = (  # of Table I: the region, its city, and what the paper says of its users, check-ins and locations
    (Spot("Manhattan", 40.7831, -73.9712), 0, (997, 11277, 1641)),
    (Spot("Brooklyn", 40.6782, -73.9442), 0, (507, 7116, 1680)),
    (Spot("Queens", 40.7282, -73.7949), 0, (811, 9344, 2392)),
    (Spot("San Jose", 37.3382, -121.8863), 1, (1228, 16347, 2066)),
    (Spot("Oakland", 37.8044, -122.2712), 1, (862, 12647, 2319)),
    (Spot("Pasadena", 34.1478, -118.1445), 2, (656, 13114, 1803)),
    (Spot("Beverly Hills", 34.0736, -118.4004), 2, (1083, 19848, 4383)),
    (Spot("Long Beach", 33.7701, -118.1937), 2, (825, 9109, 1486)),
)


class Region(NamedTuple):
    """A line of Table I: what is here, what the paper has, and how far the region is from its city."""

    name: str
    kilometres: float
    people: int
    visits: int
    places: int
    paper: tuple[int, int, int]


def regions(town: Town) -> list[Region]:
    """People, visits and places nearest to each region of Table I."""
    middles = np.array([(spot.latitude, spot.longitude) for spot, _, _ in REGIONS])
    nearest = distances(town.patterns[:, 0][:, None], middles).argmin(axis=1)
    entries = town.checkins
    there = distances(entries.degrees[:, None], middles)
    at, close = there.argmin(axis=1), there.min(axis=1) <= RADIUS
    found = []
    for number, (spot, city, paper) in enumerate(REGIONS):
        here = (at == number) & close
        centre = CITIES[city].latitude, CITIES[city].longitude
        found.append(
            Region(
                spot.name,
                float(distances(middles[number], centre)),
                int((nearest == number).sum()),
                int(entries.visits[here].sum()),
                len(np.unique(entries.places[here])),
                paper,
            )
        )
    return found


def centroids(vectors: FloatArray, clusters: int, generator: np.random.Generator) -> FloatArray:
    """k-means without privacy: Lloyd's rounds from starts drawn far apart."""
    chosen = [vectors[generator.integers(len(vectors))]]
    for _ in range(clusters - 1):
        apart = ((vectors[:, None] - np.array(chosen)) ** 2).sum(axis=2).min(axis=1)
        chosen.append(vectors[generator.choice(len(vectors), p=apart / apart.sum())])
    middles = np.array(chosen)
    for _ in range(ROUNDS):
        middles = moved(vectors, middles)
    return middles


def moved(vectors: FloatArray, middles: FloatArray) -> FloatArray:
    """One round: each centroid goes to the mean of the vectors that are nearest to it."""
    own = assigned(vectors, middles)
    counts = np.bincount(own, minlength=len(middles))
    sums = np.zeros_like(middles)
    np.add.at(sums, own, vectors)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], middles)


def assigned(vectors: FloatArray, middles: FloatArray) -> IntArray:
    """The nearest centroid of each vector."""
    squares = (middles**2).sum(axis=1) - 2 * vectors @ middles.T
    return np.asarray(squares.argmin(axis=1))


class Colours(NamedTuple):
    """Figure 2 in numbers: the share of friendships inside a cluster, and that of random pairs."""

    clusters: IntArray
    inside: float
    by_chance: float


def colours(town: Town, generator: np.random.Generator) -> Colours:
    """Colour people by the cluster of their pattern."""
    own = assigned(town.vectors, centroids(town.vectors, CLUSTERS, generator))
    shares = np.bincount(own, minlength=CLUSTERS) / len(own)
    one, other = own[town.friends].T
    return Colours(own, float((one == other).mean()), float((shares**2).sum()))


def pair_distances(town: Town, generator: np.random.Generator) -> dict[str, FloatArray]:
    """Figure 3: kilometres between the patterns of friends, friends of friends and strangers (Equation 5)."""
    twice = (town.adjacency @ town.adjacency).tolil()
    twice.setdiag(0)
    second = twice.tocsr()
    second.data[:] = 1
    behind = second - second.multiply(town.adjacency)
    behind.eliminate_zeros()
    further = np.argwhere(np.triu(behind.toarray(), 1) > 0)
    pairs = generator.integers(0, town.size, (4 * PAIRS, 2))
    near = np.asarray(town.adjacency[pairs[:, 0], pairs[:, 1]] + second[pairs[:, 0], pairs[:, 1]]).reshape(-1)
    strangers = pairs[(near == 0) & (pairs[:, 0] != pairs[:, 1])][:PAIRS]
    kinds = {"friends": town.friends, "friends of friends": further, "strangers": strangers}
    return {
        kind: apart(town, pairs[generator.permutation(len(pairs))[:PAIRS]]) for kind, pairs in kinds.items()
    }


def apart(town: Town, pairs: IntArray) -> FloatArray:
    """The mean distance of the places of two people, rank by rank."""
    one, other = (town.patterns[ends] for ends in pairs.T)
    return np.asarray(distances(one, other).mean(axis=1))


def layout(town: Town, generator: np.random.Generator, rounds: int = 60) -> FloatArray:
    """Where figure 2 draws those who hang together: friends pull, all push (Fruchterman and Reingold)."""
    members = town.hanging_together
    adjacency = town.adjacency[members][:, members]
    places = generator.normal(size=(len(members), 2))
    wanted = 1 / np.sqrt(len(members))
    for step in range(rounds):
        gaps = places[:, None] - places
        lengths = np.sqrt((gaps**2).sum(axis=2)) + 1e-6
        push = (gaps * (wanted**2 / lengths**2)[..., None]).sum(axis=1)
        weights = adjacency.multiply(lengths / wanted).tocsr()
        pull = weights @ places - np.asarray(weights.sum(axis=1)).reshape(-1, 1) * places
        force = push + pull
        size = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        places = places + force / size * np.minimum(size, 0.1 * (1 - step / rounds))
    return places
