"""The nodes of a level of a forest: what reached each of them, and for which pairs of its values it is the same.

The state of a node is all that decides what it sends: its own part and what reached it from others. Where a node has
the same state in several cases, it is worked out once, and so are pairs of values to which the same came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from entwined.bounds.kernel import ROOT
from entwined.bounds.profiles.composition import Composition
from entwined.numbers import IntArray

Place: TypeAlias = tuple[int, int]  # a case and a node
Rows: TypeAlias = dict[Place, int]


class Sent(NamedTuple):
    """What links gave: compositions, a row each, and for each link which row each pair of values has."""

    stack: Composition
    rows: Sequence[IntArray]


@dataclass(frozen=True, slots=True)
class State:
    """A node, its own part, and which message reached it from above (or none) and which did from below."""

    unit: int
    own: int
    above: int
    below: tuple[int, ...]


class Pairs(NamedTuple):
    """The different rows that came to the pairs of a node, a column a message, and which of them each pair has."""

    came: IntArray
    row: IntArray

    @classmethod
    def of(cls, messages: Sequence[IntArray]) -> "Pairs":
        """Put pairs together to which the same came."""
        if all(one.size == 1 for one in messages):
            return cls(np.array([[one[0] for one in messages]], np.int64), np.zeros(1, np.int64))
        came = np.stack(np.broadcast_arrays(*messages), axis=1)
        first, row = alike(came)
        return cls(came[first], row)

    def without(self, column: int) -> tuple[IntArray, IntArray]:
        """Rows that differ in what came but for one message, and which of them each pair has."""
        rest = np.delete(self.came, column, axis=1)
        if rest.shape[1] == 0:
            return np.zeros(1, np.int64), np.zeros(1, np.int64)
        first, row = alike(rest)
        return first, row[self.row]


@dataclass(frozen=True, eq=False)
class Level:
    """Different states of the nodes of a level, those with the most below first, and whose they are.

    Each state has as many rows as there are different pairs.
    """

    states: Sequence[State]
    rows: Rows
    pairs: Sequence[Pairs]

    @classmethod
    def of(cls, found: Mapping[Place, State], above: Sent | None, below: Sent | None) -> "Level":
        """Put equal states together."""
        states = sorted(dict.fromkeys(found.values()), key=lambda state: -len(state.below))
        row = {state: at for at, state in enumerate(states)}
        heard = ([above.rows[one.above]] if above is not None and one.above != ROOT else [] for one in states)
        under = ([below.rows[at] for at in one.below] if below is not None else [] for one in states)
        pairs = [Pairs.of([*one, *other]) for one, other in zip(heard, under, strict=True)]
        return cls(states, {place: row[state] for place, state in found.items()}, pairs)

    @cached_property
    def cases(self) -> list[list[int]]:
        """The cases that have each state."""
        found: list[list[int]] = [[] for _ in self.states]
        for (case, _), at in self.rows.items():
            found[at].append(case)
        return found

    @cached_property
    def starts(self) -> list[int]:
        """Where the rows of each state begin, and where the last end."""
        return [0, *np.cumsum([len(one.came) for one in self.pairs]).tolist()]

    def span(self, at: int) -> range:
        """The rows of a state."""
        return range(self.starts[at], self.starts[at + 1])

    @property
    def own(self) -> list[int]:
        """The part of each row."""
        return [state.own for state, pairs in zip(self.states, self.pairs, strict=True) for _ in pairs.came]

    @property
    def above(self) -> list[int]:
        """What came to each row from above; to all of a level something does, or to none."""
        return [at for pairs in self.pairs for at in pairs.came[:, 0].tolist()]

    @cached_property
    def below(self) -> list[list[int]]:
        """What came first, second, … to rows from below, of as many as got so many."""
        most = len(self.states[0].below)
        heard = [(len(state.below), pairs.came) for state, pairs in zip(self.states, self.pairs, strict=True)]
        return [
            [at for many, came in heard if many > k for at in came[:, k - many].tolist()] for k in range(most)
        ]


def alike(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The first of each rows that are the same, and which of them each is."""
    first, row = np.zeros(1, np.int64), np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, first, row = np.unique(row * (column.max() + 1) + column, return_index=True, return_inverse=True)
    return first, row
