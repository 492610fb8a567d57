"""Which tables a law explains worst: candidates, how far each is off, and choices that nobody's row decides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.grain import Grains, coarse
from entwined.mechanisms.marginals.law import CellLaw
from entwined.mechanisms.marginals.made_up import made_up
from entwined.mechanisms.marginals.relations import LARGEST_LAW, NOISE_OF_A_CELL, size_of
from entwined.noise import ExponentialChoice
from entwined.numbers import IntArray

LARGEST_TABLE: Final = 20_000
LEFT_BY_A_FIT: Final = 0.6 * NOISE_OF_A_CELL  # a law that fits all tables evens noise out
MOST_CANDIDATES: Final = 400
MOST_PAIRS: Final = 5000
PAIR: Final = 2
MOST_MADE_UP: Final = 50_000


@dataclass(frozen=True, slots=True)
class Unexplained:
    """By how many rows candidates are off, less what noise would leave of each: scores of a choice."""

    scores: Mapping[Scope, int]
    grains: Grains
    taken: tuple[Scope, ...]

    def chosen(self, choices: Iterable[ExponentialChoice]) -> list[Scope]:
        """Choose one after another; none at all is a choice too, and no two share two columns.

        What a law would be too large for is left out, by sizes that are public.
        """
        found: list[Scope] = []
        for choice in choices:
            apart = [one for one in self.scores if all(len(set(one) & set(two)) < PAIR for two in found)]
            found += self._first_that_fits(choice, apart, found)
        return found

    def _first_that_fits(
        self, choice: ExponentialChoice, apart: list[Scope], found: Sequence[Scope]
    ) -> list[Scope]:
        """Draw until something fits. To ask only of what was drawn whether it fits saves most of the time.

        What is drawn among all that is left is, if it fits, drawn among what fits as if there were nothing else; and
        what does not fit is forgotten. So the first that fits has the law of one choice among all that fit.
        """
        left = list(apart)
        while place := choice.choose([0, *(self.scores[one] for one in left)]):
            scope = left.pop(place - 1)
            if size_of([*self.taken, *found, scope], self.grains.sizes) <= LARGEST_LAW:
                return [scope]
        return []


def candidates(domain: Domain, distances: Mapping[Scope, int]) -> tuple[Scope, ...]:
    """Pairs, the furthest apart if they are many, and threes that seem to have most to do with each other."""
    pairs = sorted(distances, key=distances.__getitem__, reverse=True)[:MOST_PAIRS]
    left = max(MOST_CANDIDATES - len(pairs), 0)
    every = combinations(range(len(domain.axes)), 3) if left else ()
    threes = [
        (sum(distances.get(pair, 0) for pair in combinations(scope, 2)), scope)
        for scope in every
        if domain.cells(scope) <= LARGEST_TABLE
    ]
    return (*pairs, *(scope for _, scope in sorted(threes, reverse=True)[:left]))


def scored(
    exact: Mapping[Scope, IntArray], law: CellLaw, domain: Domain, grains: Grains, deviation: float
) -> dict[Scope, int]:
    """Say by how many rows each table is further off than noise of a deviation would leave it."""
    people = made_up(law, min(max(round(law.rows), 1), MOST_MADE_UP))
    return {
        scope: distance(table, _expected(people, scope, domain, law.rows), grains, scope)
        - round(LEFT_BY_A_FIT * deviation * grains.cells(scope))
        for scope, table in exact.items()
    }


def distance(exact: IntArray, public: IntArray, grains: Grains, scope: Scope) -> int:
    """How far a table of groups is from one that is public, in rows: no unit moves it by more than the table."""
    return int(np.abs(coarse(exact - public, grains.grain(scope))).sum())


def _expected(people: IntArray, scope: Scope, domain: Domain, rows: float) -> IntArray:
    """What a law says of a table, by people who are made up from it."""
    places = np.ravel_multi_index(people[:, scope].T, [domain.sizes[at] for at in scope])
    counts = np.bincount(places, minlength=domain.cells(scope))
    return np.asarray(np.rint(counts * (rows / len(people))), np.int64)


def blurred(grains: Grains, column: int, deviation: float) -> float:
    """By how many rows noise of a deviation in the cells of a column puts its groups off."""
    many = np.bincount(grains.columns[column])
    return LEFT_BY_A_FIT * deviation * float(np.sqrt(many).sum())
