"""One law for all noisy tables: as even as it may be while it agrees with them as well as their noise lets it.

Cells that no table of several columns tells apart are one group, whose rows are spread over its cells as the columns
alone say, whatever the other columns are. So the law is one of groups (`agreement`), and one of cells in each group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.errors import BadQuery
from entwined.mechanisms.marginals.agreement import Agreement, Counted, Weights
from entwined.mechanisms.marginals.columns_alone import columns_alone
from entwined.mechanisms.marginals.descent import lowest
from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.grain import alike, fine, refined
from entwined.mechanisms.marginals.junction import Junction
from entwined.numbers import FloatArray, IntArray

FITTING: Final = "fitting a law"
MOST_STEPS: Final = 150
NEAR: Final = 0.02  # of the root of a count, by which it may be off in the end
MOST_CELLS_OF_RULES: Final = 2_000_000
TINY: Final = 1e-300  # so that no group is without any cell


@dataclass(frozen=True, slots=True, eq=False)
class CellLaw:
    """A law of rows of cells, by the tables of the cliques of a tree, and about how many rows it was fitted to.

    The tree is one of groups; `within` is the chance of each cell in its group. `alone` is the law of each column by
    itself that all tables together tell best: rows follow it exactly, the tree's nearly.
    """

    tree: Junction
    tables: tuple[FloatArray, ...]
    rows: float
    weights: Weights
    groups: tuple[IntArray, ...]
    within: tuple[FloatArray, ...]
    alone: tuple[FloatArray, ...]

    def marginal(self, scope: Scope) -> FloatArray:
        """Give the law of columns that one clique holds."""
        home = self.tree.home(scope)
        table = self.tree.added_up(self.tables[home], home, scope)
        for side, at in enumerate(scope):
            chances = self.within[at].reshape([-1 if one == side else 1 for one in range(len(scope))])
            table = np.take(table, self.groups[at], axis=side) * chances
        return table


def fitted(
    counted: Sequence[Counted],
    sizes: Sequence[int],
    *,
    near: Weights | None = None,
    never: Mapping[Scope, FloatArray] | None = None,
    steps: int = MOST_STEPS,
) -> CellLaw:
    """Fit one law to noisy tables, beginning where an earlier one ended; cells that `never` marks are left empty."""
    merged, rows = _merged(counted), total_of(counted)
    barred = _barred(never or {})
    groups = _told_apart(merged, barred, sizes)
    within = _within(merged, rows, groups)
    grouped = [int(one.max()) + 1 for one in groups]
    tree = Junction.of([*(one.scope for one in merged), *barred], grouped)
    problem = Agreement.of(tree, merged, groups, rows, barred)
    found = lowest(problem.value_and_slope, problem.begun(near or {}), steps, NEAR / rows, FITTING)
    tables, _ = tree.beliefs(problem.logs(found / problem.scales))
    alone = columns_alone(merged, sizes, rows)
    return CellLaw(tree, tuple(tables), rows, problem.weights(found), groups, within, alone)


def require_possible(never: Mapping[Scope, FloatArray], sizes: Sequence[int]) -> None:
    """Refuse cells left empty among which no row could be, or that tie too many columns together for any law."""
    if not never:
        return
    barred = _barred(never)
    groups = _told_apart((), barred, sizes)
    tree = Junction.of(barred, [int(one.max()) + 1 for one in groups])
    if tree.cells > MOST_CELLS_OF_RULES:
        raise BadQuery(
            f"The rules tie columns together in {tree.cells:,} cells; the most is {MOST_CELLS_OF_RULES:,}. Leave some "
            "of them out."
        )
    tree.beliefs(tree.barring(barred, groups))


def total_of(counted: Sequence[Counted]) -> float:
    """Say how many rows there are, from all noisy tables; at least one."""
    precisions = [1 / (one.deviation**2 * one.counts.size) for one in counted]
    sums = [float(one.counts.sum()) for one in counted]
    return max(float(np.dot(precisions, sums)) / sum(precisions), 1.0)


def _barred(never: Mapping[Scope, FloatArray]) -> dict[Scope, FloatArray]:
    """Weigh the cells that are left empty so that nothing is drawn there."""
    return {scope: np.where(marked > 0, -np.inf, 0.0) for scope, marked in never.items()}


def _merged(counted: Sequence[Counted]) -> list[Counted]:
    """Average tables of the same columns and groups by how precise they are."""
    found: dict[object, Counted] = {}
    for one in counted:
        if one.key in found:
            other = found[one.key]
            mine, theirs = one.deviation**-2, other.deviation**-2
            mean = (mine * one.counts + theirs * other.counts) / (mine + theirs)
            found[one.key] = Counted(one.scope, mean, (mine + theirs) ** -0.5, one.grain)
        else:
            found[one.key] = one
    return list(found.values())


def _told_apart(
    counted: Sequence[Counted], barred: Mapping[Scope, FloatArray], sizes: Sequence[int]
) -> tuple[IntArray, ...]:
    """Number the groups of cells of each column that some table of several columns, or a rule, tells apart."""
    several = [one for one in counted if len(one.scope) > 1]
    asked = [(one.scope, one.grain or fine([sizes[at] for at in one.scope])) for one in several]
    asked += [(scope, alike(marks)) for scope, marks in barred.items()]
    return tuple(
        np.array(refined([grain[scope.index(at)] for scope, grain in asked if at in scope], size))
        for at, size in enumerate(sizes)
    )


def _within(counted: Sequence[Counted], rows: float, groups: Sequence[IntArray]) -> tuple[FloatArray, ...]:
    """Say how rows are spread over the cells of each group, by the columns alone; evenly where nothing is known."""
    known = {one.scope[0]: one for one in counted if len(one.scope) == 1 and one.grain is None}
    found = []
    for at, mine in enumerate(groups):
        single = int(mine.max()) + 1 == len(mine)
        law = np.ones(len(mine)) if single or at not in known else _alone(known[at], rows)
        found.append(law / np.bincount(mine, weights=law)[mine])
    return tuple(found)


def _alone(one: Counted, rows: float) -> FloatArray:
    """Fit the law of a column to its own table."""
    cells = np.arange(one.counts.size)
    tree = Junction((one.counts.size,), ((0,),), (-1,))
    problem = Agreement.of(tree, [Counted((0,), one.counts, one.deviation)], [cells], rows, {})
    found = lowest(problem.value_and_slope, problem.begun({}), MOST_STEPS, NEAR / rows)
    (law,), _ = tree.beliefs(problem.logs(found / problem.scales))
    return np.maximum(law, TINY)
