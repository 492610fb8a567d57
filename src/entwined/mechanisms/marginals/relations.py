"""Which columns belong together, from noisy distances of pairs to independence: nothing here looks at rows."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.grain import Grains
from entwined.mechanisms.marginals.junction import cliques_of

MOST_TOGETHER: Final = 4
LARGEST_LAW: Final = 300_000
LARGEST_READ: Final = 5_000_000
"""Cells of all tables that a law is fitted to, in groups, and of one table before they are put together."""

NOISE_OF_A_CELL: Final = math.sqrt(2 / math.pi)  # the mean of |Z| in deviations


@dataclass(frozen=True, slots=True)
class Relations:
    """How far the table of each two columns seems to be from independence, in rows: below none by noise alone."""

    grains: Grains
    distances: Mapping[Scope, float]

    def together(self, column: int, others: Iterable[int]) -> float:
        """How much a column has to do with others."""
        return sum(max(self.distances.get(_pair(column, one), 0.0), 0.0) for one in others)

    def grown(self, largest: float, deviation: float) -> tuple[Scope, ...]:
        """Grow tables of related columns, none but pairs with more than `largest` cells, so that they form a tree.

        Each column joins those that it has most to do with among the columns of one table, as long as that is more
        than noise of this deviation would hide.
        """
        grown: list[Scope] = []
        inside: set[int] = set()
        while len(inside) < len(self.grains.columns):
            room = LARGEST_LAW - sum(map(self.grains.cells, grown))
            steps = self._steps(grown, inside, largest, deviation)
            gain, scope = max((one for one in steps if self._fits(one[1], room)), default=(0.0, ()))
            if gain <= 0:
                fresh = self._begun(inside, deviation, room)
                if not fresh:
                    break
                scope = fresh
            grown = [one for one in grown if not set(one) <= set(scope)] + [scope]
            inside |= set(scope)
        return tuple(grown)

    def _fits(self, scope: Scope, room: int) -> bool:
        read = math.prod(len(self.grains.columns[at]) for at in scope)
        return self.grains.cells(scope) <= room and read <= LARGEST_READ

    def _begun(self, inside: set[int], deviation: float, room: int) -> Scope:
        """Two columns outside that have most to do with each other."""
        outside = [
            (far - self._hidden(pair, deviation), pair)
            for pair, far in self.distances.items()
            if not inside & set(pair) and self._fits(pair, room)
        ]
        gain, pair = max(outside, default=(0.0, ()))
        return pair if gain > 0 else ()

    def _steps(
        self, grown: Sequence[Scope], inside: set[int], largest: float, deviation: float
    ) -> Iterable[tuple[float, Scope]]:
        """Every way in which one more column joins."""
        for column in sorted(set(range(len(self.grains.columns))) - inside):
            for table in grown:
                for many in range(1, min(len(table), MOST_TOGETHER - 1) + 1):
                    for given in combinations(table, many):
                        scope = tuple(sorted((*given, column)))
                        if many == 1 or self.grains.cells(scope) <= largest:
                            gain = self.together(column, given)
                            hidden = self._hidden(_pair(column, given[0]), deviation) if many == 1 else 0.0
                            yield gain - hidden, scope

    def _hidden(self, scope: Scope, deviation: float) -> float:
        return NOISE_OF_A_CELL * deviation * self.grains.cells(scope)


def _pair(one: int, two: int) -> Scope:
    return (one, two) if one < two else (two, one)


def size_of(scopes: Iterable[Scope], sizes: Sequence[int]) -> int:
    """How many cells the cliques of some tables have together."""
    return sum(math.prod(sizes[at] for at in clique) for clique in cliques_of(scopes, sizes))
