"""Tables that overlap, arranged as a tree: what is shared along a branch is all that its two sides have in common."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Scope
from entwined.numbers import FloatArray, IntArray

LOWEST: Final = -1e30  # so that what cannot be, of weight −∞, is never taken from itself


@dataclass(frozen=True, slots=True)
class Junction:
    """Cliques of columns in an order in which each hangs on an earlier one, by the columns that they share.

    >>> tree = Junction.of([(0, 1), (1, 2), (2, 3)], (2, 3, 2, 4))
    >>> tree.cliques, tree.parents, tree.cells
    (((0, 1), (1, 2), (2, 3)), (-1, 0, 1), 20)
    """

    sizes: tuple[int, ...]
    cliques: tuple[Scope, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, scopes: Iterable[Scope], sizes: Sequence[int]) -> Self:
        """Join tables so that every one of them lies inside a clique, and every column in one."""
        found = cliques_of(scopes, sizes)
        order, parents = [0], [-1]
        overlap = [len(set(found[0]) & set(one)) for one in found]
        nearest = [0] * len(found)
        left = set(range(1, len(found)))
        while left:
            best = max(left, key=lambda at: (overlap[at], -at))
            parents.append(order.index(nearest[best]))
            order.append(best)
            left.discard(best)
            for at in left:
                shared = len(set(found[best]) & set(found[at]))
                if shared > overlap[at]:
                    overlap[at], nearest[at] = shared, best
        return cls(tuple(sizes), tuple(found[at] for at in order), tuple(parents))

    @property
    def cells(self) -> int:
        """How many cells all cliques have together."""
        return sum(math.prod(self.shape(one)) for one in self.cliques)

    def shape(self, scope: Scope) -> tuple[int, ...]:
        """The sizes of some columns."""
        return tuple(self.sizes[at] for at in scope)

    def blank(self, scope: Scope) -> FloatArray:
        """Give a table of zeros, along its largest column without a gap: it is soonest added up so."""
        order = sorted(range(len(scope)), key=lambda side: self.sizes[scope[side]])
        table = np.zeros([self.sizes[scope[side]] for side in order])
        return table.transpose(np.argsort(order).tolist())

    def shared(self, clique: int) -> Scope:
        """The columns that a clique has in common with the one it hangs on."""
        above = self.cliques[self.parents[clique]]
        return tuple(at for at in self.cliques[clique] if at in above)

    def home(self, scope: Scope) -> int:
        """The smallest clique that holds all of some columns."""
        holding = (at for at, one in enumerate(self.cliques) if set(scope) <= set(one))
        return min(holding, key=lambda at: math.prod(self.shape(self.cliques[at])))

    def spread(self, table: FloatArray, scope: Scope, clique: int) -> FloatArray:
        """Lay a table of some columns along the sides of a clique."""
        shape = [self.sizes[at] if at in scope else 1 for at in self.cliques[clique]]
        return table.reshape(shape)

    def barring(self, barred: Mapping[Scope, FloatArray], groups: Sequence[IntArray]) -> list[FloatArray]:
        """Give the weights of rules, clique by clique: cells of a group are alike to all of them."""
        logs = [self.blank(one) for one in self.cliques]
        for scope, table in barred.items():
            home = self.home(scope)
            first = [np.unique(groups[at], return_index=True)[1] for at in scope]
            logs[home] += self.spread(table[np.ix_(*first)], scope, home)
        return logs

    def added_up(self, table: FloatArray, clique: int, scope: Scope) -> FloatArray:
        """Add a clique's table up to one of some of its columns."""
        return np.asarray(table.sum(axis=self._others(clique, scope)))

    def _others(self, clique: int, scope: Scope) -> tuple[int, ...]:
        return tuple(side for side, at in enumerate(self.cliques[clique]) if at not in scope)

    def beliefs(self, weights: Sequence[FloatArray]) -> tuple[list[FloatArray], float]:
        """Give the law ∝ exp(sum of all weights), clique by clique, and the log of what it was divided by.

        One pass from the leaves to the root and one back.
        """
        gathered, sums = list(weights), list(weights)
        for at in range(len(self.cliques) - 1, 0, -1):
            above, sides = self.parents[at], self._others(at, self.shared(at))
            gathered[at], sums[at], told = added_exponentials(gathered[at], sides)
            gathered[above] = gathered[above] + self.spread(told, self.shared(at), above)
        root, total, log_total = added_exponentials(gathered[0], tuple(range(gathered[0].ndim)))
        if float(log_total.max()) == -math.inf:
            raise BadQuery("The rules leave no row that could be. Loosen one of them.")
        laws = [np.divide(root, total, out=root)]
        for at in range(1, len(self.cliques)):
            shared, above = self.shared(at), self.parents[at]
            held = self.spread(self.added_up(laws[above], above, shared), shared, at)
            times = np.divide(held, sums[at], out=np.zeros_like(held), where=sums[at] > 0)
            laws.append(np.multiply(gathered[at], times, out=gathered[at]))
        return laws, float(log_total.max())


def added_exponentials(logs: FloatArray, sides: tuple[int, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give exponentials, in parts of the largest along some sides, their sums along these, and the sums' logs."""
    peak = np.maximum(logs.max(axis=sides, keepdims=True), LOWEST)
    parts = np.subtract(logs, peak)
    np.exp(parts, out=parts)
    sums = parts.sum(axis=sides, keepdims=True)
    with np.errstate(divide="ignore"):
        return parts, sums, np.log(sums) + peak


def cliques_of(scopes: Iterable[Scope], sizes: Sequence[int]) -> list[Scope]:
    """Give the cliques that arise if columns are taken out one after the other, the smallest table first."""
    near: dict[int, set[int]] = {at: set() for at in range(len(sizes))}
    for scope in scopes:
        for at in scope:
            near[at].update(scope)
    for at, around in near.items():
        around.discard(at)
    found: list[Scope] = []
    last: dict[int, list[set[int]]] = {at: [] for at in near}
    cost = {at: sizes[at] * math.prod(sizes[one] for one in around) for at, around in near.items()}
    while near:
        first = min(near, key=cost.__getitem__)
        around = near.pop(first)
        clique = {first, *around}
        if not any(clique <= one for one in last[first]):
            found.append(tuple(sorted(clique)))
            for at in around:
                last[at].append(clique)
        for at in around:
            near[at] |= around
            near[at] -= {at, first}
            cost[at] = sizes[at] * math.prod(sizes[one] for one in near[at])
    return found
