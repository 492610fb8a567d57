"""Where tables disagree on what they have in common: how far each is from what all of them say of it.

A table is the sum of what each set of its columns says that no smaller set does (its effects: what is left of sums over
the other columns once means along every column are taken off). What several tables say of one effect is averaged by how
sure they are of it. The difference is at right angles to all that any law of rows could say (Hoeffding 1948).
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from entwined.mechanisms.marginals.domain import Scope
from entwined.numbers import FloatArray

MOST_COLUMNS: Final = 6  # of a table whose effects are looked at


class Said(NamedTuple):
    """A table of some columns, and the variance of each of its cells."""

    scope: Scope
    table: FloatArray
    variance: float


def disagreement(tables: Sequence[Said]) -> list[FloatArray]:
    """Give what each table says beyond what all together say of it.

    >>> one, two = np.array([[4.0, 2.0], [2.0, 0.0]]), np.array([4.0, 4.0])
    >>> [left.tolist() for left in disagreement([Said((0, 1), one, 1.0), Said((0,), two, 2.0)])]
    [[[0.5, 0.5], [-0.5, -0.5]], [-1.0, 1.0]]
    """
    sums: dict[Scope, FloatArray] = {}
    weights: dict[Scope, float] = {}
    for one in tables:
        for part in _parts(one.scope):
            weight = 1 / (one.variance * _others(one, part))
            sums[part] = sums.get(part, 0.0) + weight * _effect(one, part)
            weights[part] = weights.get(part, 0.0) + weight
    return [_left(one, {part: sums[part] / weights[part] for part in _parts(one.scope)}) for one in tables]


def _left(one: Said, effects: dict[Scope, FloatArray]) -> FloatArray:
    found = one.table.copy()
    for part, effect in effects.items():
        found -= (effect / _others(one, part)).reshape(
            [size if at in part else 1 for at, size in zip(one.scope, one.table.shape, strict=True)]
        )
    return found


def _parts(scope: Scope) -> Iterable[Scope]:
    return (part for many in range(len(scope) + 1) for part in combinations(scope, many))


def _others(one: Said, part: Scope) -> int:
    """How many cells of a table are added up to each cell of some of its columns."""
    kept = [size for at, size in zip(one.scope, one.table.shape, strict=True) if at in part]
    return one.table.size // int(np.prod(kept, dtype=np.int64))


def _effect(one: Said, part: Scope) -> FloatArray:
    sides = tuple(side for side, at in enumerate(one.scope) if at not in part)
    found = np.asarray(one.table.sum(axis=sides))
    for side in range(found.ndim):
        found = found - found.mean(axis=side, keepdims=True)
    return found
