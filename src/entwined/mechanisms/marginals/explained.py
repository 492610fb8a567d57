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
MOST_PAIRS: Final = 1500
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

        What a law would be too large for, beside what was chosen or the first few of it, is left out, by sizes that are
        public. To ask that only of what was drawn, and to draw again if it does not fit, saves most of the time: what
        is drawn among all that is left is, if it fits, drawn among what fits as if there were nothing else, and what
        does not fit is forgotten. So the first that fits has the law of one choice among all that fit.
        """
        found: list[Scope] = []
        too_large: set[Scope] = set()
        for choice in choices:
            left = [one for one in self.scores if one not in too_large and _is_apart(one, found)]
            while place := choice.choose([0, *(self.scores[one] for one in left)]):
                scope = left.pop(place - 1)
                if self._fits(scope, found):
                    found.append(scope)
                    break
                too_large.add(scope)
        return found

    def _fits(self, scope: Scope, found: Sequence[Scope]) -> bool:
        """What does not fit once does not later either: so it need not be drawn again."""
        firsts = (found[:many] for many in range(len(found), -1, -1))
        sizes = self.grains.sizes
        return all(size_of([*self.taken, *first, scope], sizes) <= LARGEST_LAW for first in firsts)


def _is_apart(scope: Scope, found: Sequence[Scope]) -> bool:
    return all(len(set(scope) & set(one)) < PAIR for one in found)


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
    places = people[:, scope[0]]
    for at in scope[1:]:
        places = places * domain.sizes[at] + people[:, at]
    counts = np.bincount(places, minlength=domain.cells(scope))
    return np.asarray(np.rint(counts * (rows / len(people))), np.int64)


def blurred(grains: Grains, column: int, deviation: float) -> float:
    """By how many rows noise of a deviation in the cells of a column puts its groups off."""
    many = np.bincount(grains.columns[column])
    return LEFT_BY_A_FIT * deviation * float(np.sqrt(many).sum())
