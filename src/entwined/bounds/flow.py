"""What moves what on a forest: how much of each unit's loss gets to another, along the pairs of values that decide."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from entwined.bounds.kernel import ROOT, Forest, Link
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Flow:
    """How much of what links take more they give more, for each pair of values, and by whose pair it is decided.

    A single entry stands for all pairs; a link that is not there gives nothing.
    """

    forest: Forest
    gain: Mapping[Link, FloatArray]
    origin: Mapping[Link, IntArray]

    def slopes(self, nodes: IntArray, pairs: IntArray) -> FloatArray:
        """How what a pair of each node holds moves with the loss of every node, a row each."""
        wanted = self._wanted(nodes, pairs)
        known: dict[tuple[Link, int], FloatArray] = {}
        for link in self._in_order:
            for pair in sorted(wanted[link]):
                known[link, pair] = self._moved(link[0], link[1], pair, known)
        each = zip(nodes.tolist(), pairs.tolist(), strict=True)
        return np.array([self._moved(node, ROOT, pair, known) for node, pair in each])

    def _wanted(self, nodes: IntArray, pairs: IntArray) -> dict[Link, set[int]]:
        """The pairs of the sources of links that anything hangs on."""
        found: dict[Link, set[int]] = {link: set() for link in self._in_order}
        for node, pair in zip(nodes.tolist(), pairs.tolist(), strict=True):
            for link, _, origin in self._heard(node, ROOT, pair):
                found[link].add(origin)
        for source, target in reversed(self._in_order):
            for pair in found[source, target]:
                for link, _, origin in self._heard(source, target, pair):
                    found[link].add(origin)
        return found

    def _moved(
        self, node: int, but: int, pair: int, known: Mapping[tuple[Link, int], FloatArray]
    ) -> FloatArray:
        """By its own loss, and by what comes from all neighbours but one."""
        found = np.zeros(len(self.forest.order))
        found[node] = 1.0
        for link, gain, origin in self._heard(node, but, pair):
            found += gain * known[link, origin]
        return found

    def _heard(self, node: int, but: int, pair: int) -> Iterator[tuple[Link, float, int]]:
        """The links that give a pair of a node something, how much, and by whose pair."""
        for other in self._beside[node]:
            link = (other, node)
            if other != but and link in self.gain:
                at = min(pair, self.gain[link].size - 1)
                if self.gain[link][at] > 0:
                    yield link, float(self.gain[link][at]), int(self.origin[link][at])

    @cached_property
    def _in_order(self) -> list[Link]:
        """Links, each after those that it hangs on."""
        parent = self.forest.parent
        up = [(node, parent[node]) for node in reversed(self.forest.order) if parent[node] != ROOT]
        return [*up, *((above, node) for node, above in reversed(up))]

    @cached_property
    def _beside(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.forest.order]
        for node, above in enumerate(self.forest.parent):
            if above != ROOT:
                found[node].append(above)
                found[above].append(node)
        return found
