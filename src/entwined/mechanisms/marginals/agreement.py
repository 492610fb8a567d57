"""What a law of groups is fitted by: agreement with noisy tables against evenness, and its slope.

Of n rows with the law p, the table of the columns S has the counts n·p_S. Let y_S be the noisy counts with the
deviation σ_S. The law that minimises Σ ‖n p_S − y_S‖² / 2u_S − n H(p), H its entropy, is ∝ exp(Σ θ_S(x_S)), and θ
minimises n ln Z(θ) − Σ ⟨θ_S, y_S⟩ + Σ u_S ‖θ_S‖² / 2, which is smooth and convex in θ and has the gradient
n p_S − y_S + u_S θ_S. A junction tree gives Z and all p_S at once. With u_S in proportion to σ_S, and small, a count is
given up by a small part of its deviation for the sake of an even law, however strong the noise is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from entwined.mechanisms.marginals.descent import inner
from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.grain import Grain, groups_in, places
from entwined.mechanisms.marginals.junction import Junction
from entwined.numbers import FloatArray, IntArray

EVENNESS: Final = 0.12  # u_S in deviations: a weight of 1 may be bought by so many of them
FAINT: Final = 1e-6  # rows; counts are whole
LEAST: Final = 0.5  # rows, below which a direction is taken to be no flatter

Key: TypeAlias = tuple[Scope, Grain | None]
Weights: TypeAlias = Mapping[Key, FloatArray]
"""θ of each table, by its columns and groups; of a column alone by its cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A table of some columns as it was released: counts with noise of a deviation, the last column fastest.

    It counts cells, or what `grain` puts together.
    """

    scope: Scope
    counts: IntArray | FloatArray
    deviation: float
    grain: Grain | None = None

    def __post_init__(self) -> None:
        """Take noise that is next to none for a little: its square, or one over it, is no number."""
        object.__setattr__(self, "deviation", max(self.deviation, FAINT))

    @property
    def key(self) -> Key:
        """What it counts."""
        return self.scope, self.grain


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """One table as a law of groups is held against it; `where` says in which of its cells each cell of the law lies."""

    key: Key
    home: int
    where: IntArray | None
    counts: FloatArray
    deviations: FloatArray

    def laid(self, weights: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Lay weights of the table on the cells of the law."""
        return (weights if self.where is None else weights[self.where]).reshape(shape)

    def added(self, law: FloatArray) -> FloatArray:
        """Add cells of the law up to those of the table."""
        if self.where is None:
            return law.reshape(-1)
        added = np.bincount(self.where, weights=law.reshape(-1), minlength=self.counts.size)
        return np.asarray(added, np.float64)


def _piece(tree: Junction, one: Counted, groups: Sequence[IntArray]) -> _Piece:
    """A column alone is added up to groups; any other table is no finer than they are."""
    home, counts = tree.home(one.scope), np.asarray(one.counts, np.float64)
    if len(one.scope) == 1 and one.grain is None:
        mine = groups[one.scope[0]]
        many = np.bincount(mine)
        added = np.asarray(np.bincount(mine, weights=counts), np.float64)
        return _Piece(one.key, home, None, added, one.deviation * np.sqrt(many))
    deviations = np.full(counts.size, one.deviation)
    if one.grain is None:
        return _Piece(one.key, home, None, counts, deviations)
    first = [np.unique(groups[at], return_index=True)[1] for at in one.scope]
    labels = [np.array(grouping)[cells] for grouping, cells in zip(one.grain, first, strict=True)]
    where = places(labels, groups_in(one.grain))
    same = where.size == counts.size and bool((where == np.arange(where.size)).all())
    return _Piece(one.key, home, None if same else where, counts, deviations)


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """What is minimised, in units in which it is about as steep in every direction."""

    tree: Junction
    pieces: tuple[_Piece, ...]
    ends: IntArray
    counts: FloatArray
    variances: FloatArray
    scales: FloatArray
    rows: float
    barring: Sequence[FloatArray]
    """What rules weigh, clique by clique."""
    groups: tuple[IntArray, ...]
    inside: tuple[int, ...]

    @classmethod
    def of(
        cls,
        tree: Junction,
        counted: Sequence[Counted],
        groups: Sequence[IntArray],
        rows: float,
        barred: Mapping[Scope, FloatArray],
    ) -> "Agreement":
        """Lay all tables end to end."""
        pieces = tuple(_piece(tree, one, groups) for one in counted)
        counts = np.concatenate([one.counts for one in pieces])
        deviations = np.concatenate([one.deviations for one in pieces])
        variances = EVENNESS * deviations
        scales = np.sqrt(np.maximum(np.maximum(counts, deviations), LEAST) + variances)
        ends = np.cumsum([0, *(one.counts.size for one in pieces)])
        inside = _inside([one.key[0] for one in pieces], tree)
        weighed = tree.barring(barred, groups)
        return cls(tree, pieces, ends, counts, variances, scales, rows, weighed, tuple(groups), inside)

    def begun(self, near: Weights) -> FloatArray:
        """Begin where an earlier law ended, in the units of steps."""
        start = []
        for one in self.pieces:
            known = near.get(one.key, np.zeros(1))
            if len(one.key[0]) == 1 and one.key[1] is None and known.size > 1:
                mine = self.groups[one.key[0][0]]
                known = np.bincount(mine, weights=known) / np.bincount(mine)
            start.append(np.broadcast_to(known.reshape(-1), one.counts.size))
        return np.concatenate(start) * self.scales

    def weights(self, scaled: FloatArray) -> dict[Key, FloatArray]:
        """Cut what was laid end to end."""
        found = {}
        for one, weights in self._cut(scaled / self.scales):
            (first, *others), grain = one.key
            found[one.key] = weights if others or grain else weights[self.groups[first]]
        return found

    def _cut(self, flat: FloatArray) -> list[tuple[_Piece, FloatArray]]:
        ends = zip(self.pieces, self.ends, self.ends[1:], strict=False)
        return [(one, flat[a:b]) for one, a, b in ends]

    def logs(self, flat: FloatArray) -> list[FloatArray]:
        """Add weights up, small tables to larger ones and these clique by clique."""
        logs = [one.copy(order="K") for one in self.barring]
        tables = [one.laid(weights, self.tree.shape(one.key[0])) for one, weights in self._cut(flat)]
        for at in reversed(self._falling):
            one, inside = self.pieces[at], self.inside[at]
            scope = one.key[0]
            if inside < 0:
                logs[one.home] += self.tree.spread(tables[at], scope, one.home)
            else:
                wide = self.pieces[inside].key[0]
                tables[inside] = tables[inside] + tables[at].reshape(self._along(scope, wide))
        return logs

    def value_and_slope(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        """Give what is minimised, and its slope."""
        flat = scaled / self.scales
        laws, log_total = self.tree.beliefs(self.logs(flat))
        expected = self._expected(laws)
        drawn = self.variances * flat
        value = self.rows * log_total - inner(flat, self.counts) + inner(drawn, flat) / 2
        slope = (self.rows * expected - self.counts + drawn) / self.scales
        return value / self.rows, slope / self.rows

    def _expected(self, laws: Sequence[FloatArray]) -> FloatArray:
        """Say what a law has in every table, small ones added up from larger ones."""
        tables = [np.zeros(0)] * len(self.pieces)
        for at in self._falling:
            one, inside = self.pieces[at], self.inside[at]
            scope = one.key[0]
            if inside < 0:
                tables[at] = self.tree.added_up(laws[one.home], one.home, scope)
            else:
                wide = self.pieces[inside].key[0]
                others = tuple(side for side, each in enumerate(wide) if each not in scope)
                tables[at] = tables[inside].sum(axis=others)
        return np.concatenate([one.added(table) for one, table in zip(self.pieces, tables, strict=True)])

    @property
    def _falling(self) -> list[int]:
        """Tables of many columns before those of few."""
        return sorted(range(len(self.pieces)), key=lambda at: -len(self.pieces[at].key[0]))

    def _along(self, scope: Scope, wide: Scope) -> tuple[int, ...]:
        """Give the shape in which a table of some columns lies along a table of more."""
        return tuple(self.tree.sizes[at] if at in scope else 1 for at in wide)


def _inside(scopes: Sequence[Scope], tree: Junction) -> tuple[int, ...]:
    """Say of each table which one holds all of its columns and more, the smallest of them; −1 for none."""
    found = []
    for scope in scopes:
        wider = [at for at, one in enumerate(scopes) if set(scope) < set(one)]
        found.append(min(wider, key=lambda at: math.prod(tree.shape(scopes[at])), default=-1))
    return tuple(found)
