"""Who shares a factor with whom, and how strongly: all that message passing needs of a model."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

import numpy as np

from entwined.numbers import FloatArray, IntArray, round_up

FEW: Final = (
    20_000  # nodes and links that are walked here: to load what walks many of them takes a tenth of a second
)


@dataclass(frozen=True, eq=False)
class Couplings:
    """The incidences of a factor graph: entry k says that `unit[k]` is in `factor[k]` with Δ = `log_odds[k]`.

    Entries are sorted by factor, and every factor couples at least two units.
    """

    units: int
    factor: IntArray
    unit: IntArray
    log_odds: FloatArray

    @classmethod
    def pairs(cls, units: int, ends: IntArray, log_odds: FloatArray) -> Self:
        """Pairwise factors: row e of `ends` holds the two units of factor e, `log_odds[e]` its strength."""
        count = len(ends)
        return cls(units, np.repeat(np.arange(count), 2), ends.reshape(-1), np.repeat(log_odds, 2))

    @classmethod
    def stack(cls, units: int, scopes: list[IntArray], log_odds: list[FloatArray]) -> Self:
        """Factors of several arities: each block has one row a factor, one column a unit in it."""
        factor, unit, strength, first = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)], 0
        for scope, odds in zip(scopes, log_odds, strict=True):
            count, arity = scope.shape
            factor.append(np.repeat(np.arange(first, first + count), arity))
            unit.append(scope.reshape(-1))
            strength.append(odds.reshape(-1))
            first += count
        return cls(units, np.concatenate(factor), np.concatenate(unit), np.concatenate(strength))

    @cached_property
    def sizes(self) -> IntArray:
        """How many units each factor holds."""
        return np.bincount(self.factor).astype(np.int64)

    @property
    def pairwise(self) -> bool:
        """Whether every factor holds exactly two units."""
        return self.sizes.size == 0 or bool((self.sizes == 2).all())  # noqa: PLR2004

    @cached_property
    def binding(self) -> "Couplings":
        """The same without what binds nothing: Δ = 0 means that the factor splits into the unit and the
        rest.
        """
        kept = self.log_odds > 0
        if kept.all():
            return self
        renumbered = np.unique(self.factor[kept], return_inverse=True)[1].astype(np.int64)
        return Couplings(self.units, renumbered, self.unit[kept], self.log_odds[kept])

    @cached_property
    def components(self) -> IntArray:
        """For each unit, the number of its connected component."""
        graph = self.binding
        if graph.pairwise:
            ends, nodes = graph.unit.reshape(-1, 2), self.units
        else:
            ends, nodes = (
                np.stack([graph.unit, self.units + graph.factor], axis=1),
                self.units + graph.sizes.size,
            )
        return (few_labelled if nodes + len(ends) <= FEW else labelled)(nodes, ends)[: self.units]

    def component_totals(self, values: FloatArray) -> FloatArray:
        """For each unit, the sum of `values` over its component."""
        labels = self.components
        sizes = np.bincount(labels)
        totals = round_up(np.bincount(labels, weights=values).astype(np.float64), int(sizes.max()))
        return np.where(sizes[labels] == 1, values, totals[labels])

    @cached_property
    def acyclic(self) -> bool:
        """Whether the factor graph is a forest."""
        graph = self.binding
        nodes, links = self.units + graph.sizes.size, graph.unit.size
        return links == nodes - np.unique(self.components).size


def labelled(nodes: int, ends: IntArray) -> IntArray:
    """Number the connected components of a graph in the order of their first nodes."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    return np.asarray(connected_components(csr_array(links), directed=False)[1].astype(np.int64))


def few_labelled(nodes: int, ends: IntArray) -> IntArray:
    """Do the same for few links, where to load what does it for many would take longest."""
    first = list(range(nodes))

    def first_of(node: int) -> int:
        while first[node] != node:
            first[node] = first[first[node]]
            node = first[node]
        return node

    for one, other in ends.tolist():
        low, high = sorted((first_of(one), first_of(other)))
        first[high] = low
    return np.unique([first_of(node) for node in range(nodes)], return_inverse=True)[1].astype(np.int64)
