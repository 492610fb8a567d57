"""Figures 4, 5, 7 and 10: guessing where somebody is from noisy centroids, with and without knowing their friends.

The release is what centroids are made of, noisy sums and counts of the patterns in eight fixed clusters. The adversary
knows a share of the other people, and everything about the target but the cell of the place visited most. The paper's
"leaked information" (Equation 11) is the entropy of a prior *without* friends minus that of a posterior *with* them.
It is split here: what friends' values said before anything was released, and what the release added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from entwined.learning.checkins import distances
from entwined.numbers import FloatArray, IntArray
from entwined.papers.dependent_dp.closeness import CLUSTERS, assigned, centroids
from entwined.papers.dependent_dp.noise_factors import NoiseMethod, kernel
from entwined.papers.dependent_dp.towns import CITIES, PLACES, Town, from_city, grid

EPSILONS: Final = (0.1, 0.5, 1.0, 1.5, 2.0)
SHARES: Final = (0.25, 0.5, 0.75, 1.0)
WEIGHT: Final = 0.5 * (2 * PLACES) ** (
    1 / 3
)  # of a count beside coordinates of at most ½: least noise in centroids
SENSITIVITY: Final = 2 * (2 * PLACES * 0.5 + WEIGHT)  # a pattern leaves one cluster and another enters one


class Guessed(NamedTuple):
    """What adversaries who know a share of the others learn on average: kilometres they miss by, and nats."""

    mechanism: str
    friends: bool
    epsilon: float
    known: float
    kilometres: float
    leaked: float
    before: float
    added: float
    largest_shift: float


class Prior(NamedTuple):
    """Figure 4: what is believed of one person's cell without and with friends, and the true cell."""

    independent: FloatArray
    dependent: FloatArray
    truth: int


@dataclass(frozen=True, slots=False, eq=False)
class Attackable:
    """A town, its clusters, and those who are attacked."""

    town: Town
    middles: FloatArray
    targets: IntArray

    @classmethod
    def of(cls, town: Town, targets: int, generator: np.random.Generator) -> "Attackable":
        """Attack so many people, drawn among those who have a friend."""
        some = np.flatnonzero(town.degrees > 0)
        chosen = generator.permutation(some)[:targets]
        return cls(town, centroids(town.vectors, CLUSTERS, generator), chosen)

    @cached_property
    def degrees(self) -> FloatArray:
        """Where the cells of each city are: city, cell, latitude and longitude."""
        cells = grid().cells
        return np.stack([from_city(grid().centres, np.full(cells, city)) for city in range(len(CITIES))])

    @cached_property
    def first_places(self) -> FloatArray:
        """The same in the units of the vectors."""
        flat = self.town.patterns[:, 0]
        low, high = flat.min(axis=0), flat.max(axis=0)
        return np.asarray(np.clip((self.degrees - low) / np.where(high > low, high - low, 1.0), 0, 1))

    def prior(self, target: int, known: IntArray, *, friends: bool) -> FloatArray:
        """Equations 8 and 9: how many known people of the city are in each cell, weighted by friends' places."""
        town = self.town
        here = known[town.city[known] == town.city[target]]
        belief = np.bincount(town.cells[here], minlength=grid().cells) + 1 / grid().cells
        if friends:
            near = town.adjacency.indices[town.adjacency.indptr[target] : town.adjacency.indptr[target + 1]]
            tied = np.intersect1d(near, here)
            weights = np.log(kernel()[:, town.cells[tied]]).sum(axis=1)
            belief = belief * np.exp(weights - weights.max())
        return np.asarray(belief / belief.sum())

    def contributions(self, target: int) -> tuple[FloatArray, IntArray, FloatArray, int]:
        """What the target adds to which cluster: for every cell, and in truth."""
        own = self.town.vectors[target]
        vectors = np.repeat(own[None], grid().cells, axis=0)
        vectors[:, :2] = self.first_places[self.town.city[target]]
        ones = np.full((len(vectors), 1), WEIGHT)
        there = assigned(vectors, self.middles)
        added = np.concatenate([vectors - 0.5, ones], axis=1)
        return added, there, np.append(own - 0.5, WEIGHT), int(assigned(own[None], self.middles)[0])


def likelihoods(noisy: FloatArray, added: FloatArray, there: IntArray, scale: float) -> FloatArray:
    """Log likelihood of noisy sums for each cell, if all others are known."""
    sizes = np.abs(noisy).sum(axis=1)
    moved = np.abs(noisy[there] - added).sum(axis=1)
    return np.asarray(-(sizes.sum() - sizes[there] + moved) / scale)


def blurred(noisy: FloatArray, added: FloatArray, there: IntArray, variance: FloatArray) -> FloatArray:
    """The same where unknown people blur the sums, nearly normally and whoever they are friends with."""
    sizes = (noisy**2 / variance).sum(axis=1)
    moved = ((noisy[there] - added) ** 2 / variance[there]).sum(axis=1)
    return np.asarray(-(sizes.sum() - sizes[there] + moved) / 2)


def entropy(law: FloatArray) -> float:
    """In nats."""
    return float(-(law * np.log(np.where(law > 0, law, 1.0))).sum())


def guess(
    place: Attackable,
    method: NoiseMethod,
    epsilon: float,
    known: float,
    *,
    friends: bool,
    generator: np.random.Generator,
) -> Guessed:
    """Attack every target once and average."""
    scale = method.factor * SENSITIVITY / epsilon
    rows = [
        _one(place, int(target), scale, known, friends=friends, generator=generator)
        for target in place.targets
    ]
    kilometres, leaked, before, added = np.mean([row[:4] for row in rows], axis=0).tolist()
    return Guessed(
        method.name, friends, epsilon, known, kilometres, leaked, before, added, max(row[4] for row in rows)
    )


def _one(
    place: Attackable,
    target: int,
    scale: float,
    known: float,
    *,
    friends: bool,
    generator: np.random.Generator,
) -> tuple[float, float, float, float, float]:
    town = place.town
    others = np.delete(np.arange(town.size), target)
    some = generator.permutation(others)[: round(known * len(others))]
    plain, prior = place.prior(target, others, friends=False), place.prior(target, some, friends=friends)
    added, there, own, home = place.contributions(target)
    noisy = generator.laplace(0, scale, (CLUSTERS, added.shape[1]))
    noisy[home] += own
    if known < 1:
        unknown = np.setdiff1d(others, some)
        spread = unknown_variance(place, unknown)
        noisy += generator.normal(0, np.sqrt(spread))
        logs = blurred(noisy, added, there, spread + 2 * scale**2)
    else:
        logs = likelihoods(noisy, added, there, scale)
    posterior = prior * np.exp(logs - logs.max())
    posterior /= posterior.sum()
    missed = distances(place.degrees[town.city[target], int(posterior.argmax())], town.patterns[target, 0])
    first, second, last = entropy(plain), entropy(prior), entropy(posterior)
    return float(missed), first - last, first - second, second - last, float(np.ptp(logs))


def unknown_variance(place: Attackable, unknown: IntArray) -> FloatArray:
    """How much the sums of each cluster vary with people who are not known."""
    vectors = np.concatenate([place.town.vectors[unknown] - 0.5, np.full((len(unknown), 1), WEIGHT)], axis=1)
    own = assigned(place.town.vectors[unknown], place.middles)
    squares = np.zeros((CLUSTERS, vectors.shape[1]))
    np.add.at(squares, own, vectors**2)
    return squares + 1e-9


def guesses(
    place: Attackable, methods: Sequence[NoiseMethod], generator: np.random.Generator
) -> list[Guessed]:
    """Figures 5, 7 and 10: without friends, with friends for every method, and with a part of the others known."""
    plain, *protected = methods
    found = []
    for epsilon in EPSILONS:
        found.append(guess(place, plain, epsilon, 1.0, friends=False, generator=generator))
        found += [guess(place, one, epsilon, 1.0, friends=True, generator=generator) for one in methods]
        for share in SHARES[:-1]:
            found += [
                guess(place, one, epsilon, share, friends=True, generator=generator)
                for one in (plain, protected[0])
            ]
    return found


def prior_of_one(place: Attackable) -> Prior:
    """Figure 4 for the target with the most friends."""
    target = int(place.targets[place.town.degrees[place.targets].argmax()])
    others = np.delete(np.arange(place.town.size), target)
    return Prior(
        place.prior(target, others, friends=False),
        place.prior(target, others, friends=True),
        int(place.town.cells[target]),
    )
