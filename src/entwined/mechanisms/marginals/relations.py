"""Which columns belong together, from noisy distances of pairs to independence: nothing here looks at rows."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Self, TypeAlias

from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.grain import Grains
from entwined.mechanisms.marginals.junction import cliques_of

MOST_TOGETHER: Final = 4
LARGEST_LAW: Final = 300_000
LARGEST_READ: Final = 5_000_000
"""Cells of all tables that a law is fitted to, in groups, and of one table before they are put together."""

NOISE_OF_A_CELL: Final = math.sqrt(2 / math.pi)  # the mean of |Z| in deviations


Join: TypeAlias = tuple[float, Scope]
"""What a column gains by joining others, and the table that it then is in with them."""
NOWHERE: Final[Join] = (0.0, ())


@dataclass(frozen=True, slots=True)
class Relations:
    """How far the table of each two columns seems to be from independence, in rows: below none by noise alone.

    `sizes` are the groups of every column, `largest` the most cells of a table of more than two columns,
    `deviation` is that of the noise of a table, and `most` how many tables there may be.
    """

    sizes: tuple[int, ...]
    read: tuple[int, ...]
    """How many cells every column has before they are put together."""
    distances: Mapping[Scope, float]
    largest: float
    deviation: float
    most: int

    @classmethod
    def of(
        cls, grains: Grains, distances: Mapping[Scope, float], largest: float, deviation: float, most: int
    ) -> Self:
        """Take the sizes of groups."""
        return cls(grains.sizes, tuple(map(len, grains.columns)), distances, largest, deviation, most)

    def grown(self) -> tuple[Scope, ...]:
        """Grow tables of related columns that form a tree, none but pairs too large, all together no larger than a law.

        Each column joins those that it has most to do with among the columns of one table, as long as that is more
        than noise would hide. Where no column outside does, two of them begin anew.
        """
        grown: list[Scope] = []
        joins: dict[int, Join] = dict.fromkeys(range(len(self.sizes)), NOWHERE)
        starts = iter(sorted(self._starts(), reverse=True))
        while joins:
            room = LARGEST_LAW - sum(map(self._cells, grown))
            column = max(joins, key=joins.__getitem__)
            scope = joins[column][1]
            if scope and not self._fits(scope, room):
                joins[column] = self._best(column, grown, room)
                continue
            begun = (pair for _, pair in starts if joins.keys() >= set(pair) and self._fits(pair, room))
            scope = scope or next(begun, ())
            kept = [one for one in grown if not set(one) <= set(scope)]
            if not scope or len(kept) == self.most:
                break
            grown = [*kept, scope]
            joins = {
                one: max(best, self._best(one, [scope], room))
                for one, best in joins.items()
                if one not in scope
            }
        return tuple(grown)

    def _fits(self, scope: Scope, room: int) -> bool:
        return self._cells(scope) <= room and math.prod(self.read[at] for at in scope) <= LARGEST_READ

    def _cells(self, scope: Scope) -> int:
        return math.prod(self.sizes[at] for at in scope)

    def _starts(self) -> Iterator[Join]:
        """Pairs that have more to do with each other than noise would hide."""
        gains = ((far - self._hidden(pair), pair) for pair, far in self.distances.items())
        return (one for one in gains if one[0] > 0)

    def _best(self, column: int, tables: Iterable[Scope], room: int) -> Join:
        """The table that a column gains most by, of those that there is room for."""
        steps = (step for table in tables for step in self._steps(column, table))
        return max((one for one in steps if one > NOWHERE and self._fits(one[1], room)), default=NOWHERE)

    def _steps(self, column: int, table: Scope) -> Iterator[Join]:
        """Every way in which one more column joins some of a table."""
        for many in range(1, min(len(table), MOST_TOGETHER - 1) + 1):
            for given in combinations(table, many):
                scope = tuple(sorted((*given, column)))
                if many == 1 or self._cells(scope) <= self.largest:
                    yield self._together(column, given) - (self._hidden(scope) if many == 1 else 0.0), scope

    def _together(self, column: int, others: Iterable[int]) -> float:
        """How much a column has to do with others."""
        return sum(max(self.distances.get(_pair(column, one), 0.0), 0.0) for one in others)

    def _hidden(self, pair: Scope) -> float:
        return NOISE_OF_A_CELL * self.deviation * self._cells(pair)


def _pair(one: int, two: int) -> Scope:
    return (one, two) if one < two else (two, one)


def size_of(scopes: Iterable[Scope], sizes: Sequence[int]) -> int:
    """How many cells the cliques of some tables have together."""
    return sum(math.prod(sizes[at] for at in clique) for clique in cliques_of(scopes, sizes))
