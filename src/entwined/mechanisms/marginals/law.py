"""One law for all noisy tables: as even as it may be while it agrees with them as well as their noise lets it.

Of n rows with the law p, the table of the columns S has the counts n·p_S. Let y_S be the noisy counts with the
deviation σ_S. The law that minimises Σ ‖n p_S − y_S‖² / 2u_S − n H(p), H its entropy, is ∝ exp(Σ θ_S(x_S)), and θ
minimises n ln Z(θ) − Σ ⟨θ_S, y_S⟩ + Σ u_S ‖θ_S‖² / 2, which is smooth and convex in θ and has the gradient
n p_S − y_S + u_S θ_S. A junction tree gives Z and all p_S at once. With u_S in proportion to σ_S, and small, a count is
given up by a small part of its deviation for the sake of an even law, however strong the noise is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.mechanisms.marginals.descent import inner, lowest
from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.junction import Junction
from entwined.numbers import FloatArray, IntArray

EVENNESS: Final = 0.12  # u_S in deviations: a weight of 1 may be bought by so many of them
MOST_STEPS: Final = 150
NEAR: Final = 0.02  # of the root of a count, by which it may be off in the end

Weights = Mapping[Scope, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A table of some columns as it was released: counts with noise of a deviation, the last column fastest."""

    scope: Scope
    counts: IntArray | FloatArray
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class CellLaw:
    """A law of rows of cells, by the tables of the cliques of a tree, and about how many rows it was fitted to."""

    tree: Junction
    tables: tuple[FloatArray, ...]
    rows: float
    weights: Weights

    def marginal(self, scope: Scope) -> FloatArray:
        """Give the law of columns that one clique holds."""
        home = self.tree.home(scope)
        return self.tree.added_up(self.tables[home], home, scope)


def fitted(
    counted: Sequence[Counted],
    sizes: Sequence[int],
    *,
    near: Weights | None = None,
    never: Mapping[Scope, FloatArray] | None = None,
    steps: int = MOST_STEPS,
) -> CellLaw:
    """Fit one law to noisy tables, beginning where an earlier one ended; cells that `never` marks are left empty."""
    barred = {scope: np.where(marked > 0, -np.inf, 0.0) for scope, marked in (never or {}).items()}
    tree = Junction.of([*(one.scope for one in counted), *barred], sizes)
    rows = total_of(counted)
    start = [(near or {}).get(one.scope, np.zeros(one.counts.size)) for one in _merged(counted)]
    problem = _Problem.of(tree, _merged(counted), rows, barred)
    begin = np.concatenate([one.reshape(-1) for one in start]) * problem.scales
    found = lowest(problem.value_and_slope, begin, steps, NEAR / rows)
    weights = problem.weights(found / problem.scales)
    tables, _ = tree.beliefs(problem.logs(weights))
    return CellLaw(tree, tuple(tables), rows, weights)


def total_of(counted: Sequence[Counted]) -> float:
    """Say how many rows there are, from all noisy tables; at least one."""
    precisions = [1 / (one.deviation**2 * one.counts.size) for one in counted]
    sums = [float(one.counts.sum()) for one in counted]
    return max(float(np.dot(precisions, sums)) / sum(precisions), 1.0)


def _merged(counted: Sequence[Counted]) -> list[Counted]:
    """Average tables of the same columns by how precise they are."""
    found: dict[Scope, Counted] = {}
    for one in counted:
        if one.scope in found:
            other = found[one.scope]
            mine, theirs = one.deviation**-2, other.deviation**-2
            mean = (mine * one.counts + theirs * other.counts) / (mine + theirs)
            found[one.scope] = Counted(one.scope, mean, (mine + theirs) ** -0.5)
        else:
            found[one.scope] = one
    return list(found.values())


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """What is minimised, in units in which it is about as steep in every direction."""

    tree: Junction
    scopes: tuple[Scope, ...]
    homes: tuple[int, ...]
    ends: IntArray
    counts: FloatArray
    variances: FloatArray
    scales: FloatArray
    rows: float
    barred: Weights

    @classmethod
    def of(cls, tree: Junction, counted: Sequence[Counted], rows: float, barred: Weights) -> "_Problem":
        """Lay all tables end to end."""
        counts = np.concatenate([one.counts for one in counted]).astype(np.float64)
        variances = np.concatenate([np.full(one.counts.size, EVENNESS * one.deviation) for one in counted])
        scales = np.sqrt(np.maximum(counts, variances / EVENNESS) + variances)
        scopes = tuple(one.scope for one in counted)
        ends = np.cumsum([0, *(one.counts.size for one in counted)])
        homes = tuple(map(tree.home, scopes))
        return cls(tree, scopes, homes, ends, counts, variances, scales, rows, barred)

    def weights(self, flat: FloatArray) -> dict[Scope, FloatArray]:
        """Cut what was laid end to end."""
        pieces = zip(self.scopes, self.ends, self.ends[1:], strict=False)
        return {scope: flat[a:b].reshape(self.tree.shape(scope)) for scope, a, b in pieces}

    def logs(self, weights: Weights) -> list[FloatArray]:
        """Add weights up, clique by clique."""
        logs = [np.zeros(self.tree.shape(one)) for one in self.tree.cliques]
        homes = dict(zip(self.scopes, self.homes, strict=True))
        for scope, table in (*weights.items(), *self.barred.items()):
            home = homes[scope] if scope in homes else self.tree.home(scope)
            logs[home] += self.tree.spread(table, scope, home)
        return logs

    def value_and_slope(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        """Give what is minimised, and its slope."""
        flat = scaled / self.scales
        laws, log_total = self.tree.beliefs(self.logs(self.weights(flat)))
        expected = np.concatenate(
            [
                self.tree.added_up(laws[home], home, scope).reshape(-1)
                for scope, home in zip(self.scopes, self.homes, strict=True)
            ]
        )
        drawn = self.variances * flat
        value = self.rows * log_total - inner(flat, self.counts) + inner(drawn, flat) / 2
        slope = (self.rows * expected - self.counts + drawn) / self.scales
        return value / self.rows, slope / self.rows
