"""Who is tied to whom, from files as SNAP publishes them, made into what a model of people is read from.

Who is left out may still tie others together: two people with a common friend depend on each other, be the friend in
the table or not. So ties are taken whole groups at a time: all people that can be reached from anyone who is wanted.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from entwined.dependence.snap_edges import read_pairs
from entwined.errors import BadInput
from entwined.learning.checkins import Checkins
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTies:
    """Ties between people by their published numbers, each tie once."""

    pairs: IntArray

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read an edge list: two ends a row, each tie once or in both directions."""
        return cls(read_pairs(path)[0])

    @property
    def people(self) -> IntArray:
        """Who has a tie, in rising order."""
        return np.unique(self.pairs)

    @property
    def most(self) -> int:
        """How many ties anyone has at most."""
        return int(np.unique(self.pairs, return_counts=True)[1].max(initial=0))

    def reaching(self, wanted: IntArray) -> "PublishedTies":
        """Keep the ties of everyone who can be reached from those wanted, so that nobody in between is left out."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        people, ends = np.unique(self.pairs, return_inverse=True)
        one, other = ends.reshape(-1, 2).T
        linked = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(people), len(people)))
        group = connected_components(linked, directed=False)[1]
        touched = np.isin(group, group[np.isin(people, wanted)])
        return PublishedTies(self.pairs[touched[one]])

    @property
    def csv(self) -> bytes:
        """The ties as a file of edges has them."""
        text = io.StringIO()
        np.savetxt(text, self.pairs, fmt="%d", delimiter=",", header="source,target", comments="")
        return text.getvalue().encode()


@dataclass(frozen=True, slots=True, eq=False)
class Regulars:
    """People who are often somewhere, and the place that each visits most."""

    people: IntArray
    degrees: FloatArray

    @classmethod
    def of(cls, checkins: Checkins, least: int) -> Self:
        """Take who has at least so many visits."""
        people = checkins.regulars(least)
        if not len(people):
            raise BadInput(f"Nobody has {least:,} visits there. Ask for fewer, or for a wider circle.")
        return cls(people, checkins.patterns(people, 1)[:, 0])

    @property
    def csv(self) -> bytes:
        """A table of them: who, and where they are most."""
        lines = zip(self.people.tolist(), self.degrees.tolist(), strict=True)
        rows = (f"{who},{north:.6f},{east:.6f}" for who, (north, east) in lines)
        return "\n".join(("who,latitude,longitude", *rows, "")).encode()
