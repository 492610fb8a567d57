"""LearnNetwork of Algorithm 1: the Bayesian network of least description length over one chunk, exactly.

The paper leaves the score, the limit on parents and the search to a library, and reports a time that grows
exponentially with the chunk. That library's exact search maximises log likelihood − ln(rows)/2 · parameters, so this
one does too. It finds the same optimum sooner, because a set of parents whose penalty alone is above the whole
cost of one of its subsets can be passed over, and so can every larger set (no likelihood is above 1).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log, prod
from typing import Self

import numpy as np

from entwined.errors import BadTable
from entwined.numbers import FloatArray, IntArray

MOST_COLUMNS = 20  # the search keeps a score for every set of columns


@dataclass(frozen=True, slots=True)
class Network:
    """Columns with their parents; `sizes` says how many answers each column has."""

    sizes: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Refuse a network with a cycle or with a parent that is not there."""
        done: set[int] = set()
        while len(done) < len(self.sizes):
            ready = {one for one, above in enumerate(self.parents) if done.issuperset(above)} - done
            if not ready or len(self.parents) != len(self.sizes):
                raise BadTable(
                    f"Parents {self.parents} do not order {len(self.sizes)} columns. Remove cycles."
                )
            done |= ready

    @property
    def edges(self) -> Iterator[tuple[int, int]]:
        """Every pair (parent, child)."""
        return ((parent, child) for child, above in enumerate(self.parents) for parent in above)


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each combination of answers occurs, over integer codes."""

    codes: IntArray
    sizes: tuple[int, ...]
    _sums: dict[tuple[int, ...], float] = field(default_factory=dict)

    @classmethod
    def of(cls, codes: IntArray, sizes: Sequence[int]) -> Self:
        """Check that there are rows and that every code is one of its column's answers."""
        if codes.ndim != 2 or codes.shape[1] != len(sizes) or not codes.shape[0]:  # noqa: PLR2004  (rows, columns)
            raise BadTable(
                f"Codes of shape {codes.shape} do not fit {len(sizes)} columns. Give rows × columns."
            )
        if (codes < 0).any() or (codes >= np.asarray(sizes)).any():
            raise BadTable("A code is outside its column's answers. Number the answers from 0.")
        return cls(np.asfortranarray(codes), tuple(sizes))

    def table(self, columns: Sequence[int]) -> IntArray:
        """The counts of all combinations of answers, one axis a column."""
        place = np.zeros(len(self.codes), np.int64)
        for column in columns:
            place *= self.sizes[column]
            place += self.codes[:, column]
        shape = [self.sizes[column] for column in columns]
        return np.bincount(place, minlength=prod(shape)).reshape(shape)

    def count_log_count(self, columns: tuple[int, ...]) -> float:
        """Σ c ln c over the counts; remembered, since many scores share it."""
        if columns not in self._sums:
            counts = self.table(columns).ravel()
            counts = counts[counts > 1]
            self._sums[columns] = float(counts @ np.log(counts))
        return self._sums[columns]


def learn_network(counts: Counts) -> Network:
    """Find the network of least description length by dynamic programming over sets of columns."""
    width = len(counts.sizes)
    if not 0 < width <= MOST_COLUMNS:
        raise BadTable(f"A chunk of {width} columns is outside 1 to {MOST_COLUMNS}. Use smaller chunks.")
    families = [_family_scores(counts, child) for child in range(width)]
    return Network(counts.sizes, _best_parents(families, width))


def description_length(counts: Counts, network: Network) -> float:
    """What the search minimises: − log likelihood + ln(rows)/2 · parameters."""
    return sum(_cost(counts, child, parents) for child, parents in enumerate(network.parents))


def _penalty(counts: Counts, child: int, parents: Sequence[int]) -> float:
    rows_of_table = prod(counts.sizes[parent] for parent in parents)
    return log(len(counts.codes)) / 2 * (counts.sizes[child] - 1) * rows_of_table


def _cost(counts: Counts, child: int, parents: Sequence[int]) -> float:
    family, above = tuple(sorted((*parents, child))), tuple(sorted(parents))
    likelihood = counts.count_log_count(family) - counts.count_log_count(above)
    return _penalty(counts, child, parents) - likelihood


def _family_scores(counts: Counts, child: int) -> dict[int, float]:
    """The cost of every set of parents (as bits) that can be part of the best network."""
    others = [one for one in range(len(counts.sizes)) if one != child]
    costs = {0: _cost(counts, child, ())}
    least = dict(costs)  # the least cost among a kept set and its subsets
    for size in range(1, len(others) + 1):
        grown = {}
        for parents in combinations(others, size):
            bits = sum(1 << parent for parent in parents)
            below = [least.get(bits ^ (1 << parent)) for parent in parents]
            known = [cost for cost in below if cost is not None]
            if len(known) == size and _penalty(counts, child, parents) < min(known):
                costs[bits] = _cost(counts, child, parents)
                grown[bits] = min(costs[bits], *known)
        if not grown:
            break
        least = grown
    return costs


def _best_parents(families: Sequence[dict[int, float]], width: int) -> tuple[tuple[int, ...], ...]:
    """Order the columns so that each takes its best parents among those before it."""
    sets = np.arange(1 << width)
    members = np.array([one.bit_count() for one in range(1 << width)])
    chosen = [_best_within(family, width) for family in families]
    total: FloatArray = np.full(1 << width, np.inf)
    total[0], last = 0.0, np.zeros(1 << width, np.int64)
    for size in range(1, width + 1):
        level = sets[members == size]
        for child in range(width):
            here = level[level >> child & 1 == 1]
            before = here ^ (1 << child)
            cost = total[before] + chosen[child][0][before]
            better = cost < total[here]
            total[here[better]], last[here[better]] = cost[better], child
    parents: list[tuple[int, ...]] = [()] * width
    left = (1 << width) - 1
    while left:
        child = int(last[left])
        left ^= 1 << child
        bits = int(chosen[child][1][left])
        parents[child] = tuple(one for one in range(width) if bits >> one & 1)
    return tuple(parents)


def _best_within(family: dict[int, float], width: int) -> tuple[FloatArray, IntArray]:
    """For every set of columns, the least cost of parents among them, and those parents."""
    cost: FloatArray = np.full(1 << width, np.inf)
    cost[list(family)] = list(family.values())
    best = np.arange(1 << width)
    for column in range(width):
        halves, picks = (array.reshape(-1, 2, 1 << column) for array in (cost, best))
        better = halves[:, 0] < halves[:, 1]
        halves[:, 1][better], picks[:, 1][better] = halves[:, 0][better], picks[:, 0][better]
    return cost, best
