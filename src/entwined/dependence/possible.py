"""Which values a law leaves possible: what it calls impossible it says nothing of, and does not protect.

Each unit's values are thinned out by the zeros of the tables that hold it until nothing changes (arc consistency). What
is left out is impossible under every member of the class; without cycles that is all there is.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from entwined.dependence.factors import Factors
from entwined.numbers import BoolArray, FloatArray

MOST_STEPS: Final = 100_000  # of a chain whose states are followed


def possible_in_tables(sizes: Sequence[int], blocks: Iterable[Factors]) -> list[BoolArray]:
    """Give the possible values of each unit of a product of tables."""
    possible = [np.ones(size, dtype=np.bool_) for size in sizes]
    tables = [block for block in blocks if not (block.table.high > 0).all()]
    while max([_thinned(block, possible) for block in tables], default=False):
        pass
    return possible


def _thinned(block: Factors, possible: list[BoolArray]) -> bool:
    """Leave out values that no cell of their tables allows; say whether there were any."""
    allowed = np.asarray(block.table.high > 0)
    units = block.scope.T.tolist()
    for axis, column in enumerate(units):
        shape = [1] * allowed.ndim
        shape[0], shape[axis + 1] = len(column), allowed.shape[axis + 1]
        allowed = allowed & np.stack([possible[unit] for unit in column]).reshape(shape)
    changed = False
    for axis, column in enumerate(units):
        rest = tuple(other for other in range(1, allowed.ndim) if other != axis + 1)
        seen = np.asarray(allowed.any(axis=rest))
        for unit, row in zip(column, seen, strict=True):
            if (possible[unit] & ~row).any():
                possible[unit] = possible[unit] & row
                changed = True
    return changed


def possible_states(initial: FloatArray, steps: Sequence[FloatArray], length: int) -> Iterator[BoolArray]:
    """Give the possible states of each step of a chain that takes its transitions in turn, up to a number of steps."""
    now = np.asarray(initial > 0)
    moves = [step > 0 for step in steps]
    for at in range(min(length, MOST_STEPS)):
        yield now
        now = np.asarray(moves[at % len(moves)][now].any(axis=0))
