"""Made-up rows whose columns count what was told of them: a few cells are changed, where a law minds it least.

A law is fitted to all tables at once, and gives a little of each column up for the sake of the others; rows that follow
it are rounded on top of that. So of a value that comes too often some rows get one that comes too seldom. Which rows
those are is drawn by how much likelier the new value is than the old one, given all other columns: so rows that get a
value look like the rows that had it, and none becomes one that cannot be.
"""

from typing import Final

import numpy as np

from entwined.mechanisms.marginals.law import CellLaw
from entwined.numbers import FloatArray, IntArray

LOOKED_AT: Final = 20  # rows for each that is changed, from which it is drawn


def put_right(law: CellLaw, cells: IntArray, luck: np.random.Generator) -> None:
    """Change cells of rows until every column counts what it should, column by column."""
    for column in luck.permutation(len(law.alone)).tolist():
        wanted = rounded(law.alone[column] * len(cells), luck.random())
        over = np.bincount(cells[:, column], minlength=wanted.size) - wanted
        if over.any():
            rows = _looked_at(cells[:, column], over, luck)
            logs = _logs(law, cells[rows], column)
            changed, values = _moved(cells[rows, column], over, logs, luck)
            cells[rows[changed], column] = values


def rounded(counts: FloatArray, start: float) -> IntArray:
    """Round counts that make up a whole number to whole ones, each up or down, by one number in [0, 1).

    >>> rounded(np.array([1.5, 0.25, 2.25]), 0.5).tolist()
    [2, 0, 2]
    """
    ends = np.floor(np.cumsum(counts) + start)
    ends[-1] = round(float(counts.sum()))
    return np.asarray(np.diff(np.minimum(ends, ends[-1]), prepend=0.0), np.int64)


def _looked_at(values: IntArray, over: IntArray, luck: np.random.Generator) -> IntArray:
    """Draw rows of values that come too often, some for each that must change."""
    found = []
    for value in np.nonzero(over > 0)[0]:
        rows = np.nonzero(values == value)[0]
        found.append(luck.permutation(rows)[: LOOKED_AT * int(over[value])])
    return np.concatenate(found)


def _logs(law: CellLaw, rows: IntArray, column: int) -> FloatArray:
    """Say how likely each value of a column is beside the others of a row, as logs."""
    tree, groups = law.tree, np.empty_like(rows)
    for at, mine in enumerate(law.groups):
        groups[:, at] = mine[rows[:, at]]
    logs = np.zeros((len(rows), tree.sizes[column]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for at, clique in enumerate(tree.cliques):
            if column in clique:
                logs += _given(np.log(law.tables[at]), clique, groups, column, tree.sizes)
            shared = tree.shared(at) if at else ()
            if column in shared:
                table = np.log(tree.added_up(law.tables[at], at, shared))
                logs -= _given(table, shared, groups, column, tree.sizes)
        logs = logs[:, law.groups[column]] + np.log(law.within[column])
    return np.where(np.isnan(logs), -np.inf, logs)


def _given(
    table: FloatArray, scope: tuple[int, ...], groups: IntArray, column: int, sizes: tuple[int, ...]
) -> FloatArray:
    """Look up a table along one column, for what rows say in the others."""
    others = [at for at in scope if at != column]
    laid = np.moveaxis(table, scope.index(column), -1).reshape(-1, sizes[column])
    if not others:
        return laid
    places = np.ravel_multi_index(groups[:, others].T, [sizes[at] for at in others])
    return np.asarray(laid[places], np.float64)


def _moved(
    values: IntArray, over: IntArray, logs: FloatArray, luck: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Choose which of some rows change, and to what: those that gain most by it, and by chance."""
    left = np.maximum(over, 0)
    old = logs[np.arange(len(values)), values]
    free = np.isfinite(old)
    changed: list[IntArray] = []
    for value in luck.permutation(np.nonzero(over < 0)[0]).tolist():
        gain = np.where(
            free & np.isfinite(logs[:, value]), logs[:, value] - np.where(free, old, 0.0), -np.inf
        )
        order = np.argsort(-(gain + luck.gumbel(size=len(values))), kind="stable")
        order = order[: int(np.isfinite(gain).sum())]
        allowed = order[_places(values[order]) < left[values[order]]][: -int(over[value])]
        left = left - np.bincount(values[allowed], minlength=left.size)
        free[allowed] = False
        changed.append(np.stack([allowed, np.full_like(allowed, value)]))
    rows, new = np.concatenate(changed, axis=1)
    return rows, new


def _places(values: IntArray) -> IntArray:
    """Say of each in a line how many before it have the same value.

    >>> _places(np.array([3, 1, 3, 3, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(values, kind="stable")
    counts = np.bincount(values)
    found = np.empty_like(order)
    found[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found
