"""Figure 9(c): the degree distribution of a graph with noise.

Who lists whom is each person's own row, as in Task and Clifton (2012): replacing a row moves one person from one count
to another, which changes the distribution by 2. Where a tie counts for both of its ends a row moves up to 2D + 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from entwined.dependence.snap_edges import read_published_edges
from entwined.numbers import IntArray
from entwined.papers.dependent_dp.noise_factors import NoiseMethod
from entwined.papers.dependent_dp.utility import Utility, averaged

TASK: Final = "degree distribution"
FILE: Final = "graph_musae_facebook/edges.csv.gz"
SENSITIVITY: Final = 2.0


@dataclass(frozen=True, slots=False, eq=False)
class SocialGraph:
    """People and their ties."""

    source: str
    people: int
    ties: IntArray

    @cached_property
    def degrees(self) -> IntArray:
        """How many ties each person has."""
        return np.bincount(self.ties.reshape(-1), minlength=self.people)

    @cached_property
    def component(self) -> int:
        """The largest group in which everyone is reached through ties."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        one, other = self.ties.T
        graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(self.people, self.people))
        return int(np.bincount(connected_components(graph, directed=False)[1]).max())


def facebook(folder: Path) -> SocialGraph:
    """Pages and their likes."""
    found = read_published_edges(folder / FILE)
    return SocialGraph(f"{FILE} (pages of Facebook)", found.nodes, found.ends)


def made_up(people: int = 500, seed: int = 7) -> SocialGraph:
    """Each newcomer ties to some who have many ties already: for who has no data."""
    generator = np.random.default_rng(seed)
    ends, ties = [0, 1], [(0, 1)]
    for new in range(2, people):
        for other in set(generator.choice(ends, size=min(3, new)).tolist()):
            ties.append((other, new))
            ends += [other, new]
    return SocialGraph("generated graph", people, np.array(ties, np.int64))


def degree_counts(
    network: SocialGraph, methods: Sequence[NoiseMethod], runs: int, generator: np.random.Generator
) -> list[Utility]:
    """1 − ‖C − C′‖₁ / ‖C + C′‖₁ for every method at every ε; counts below 0 are 0."""
    exact = np.bincount(network.degrees).astype(np.float64)

    def measure(factor: float, drawn: np.random.Generator) -> float:
        noisy = np.maximum(exact + drawn.laplace(0, SENSITIVITY * factor, len(exact)), 0)
        return float(1 - np.abs(exact - noisy).sum() / (exact + noisy).sum())

    return averaged(TASK, methods, runs, measure, generator)
