"""A class of networks of parameters: chances known to lie between two ends, and the members that show most.

**Theorem.** Let the law of a secret parameter and of all that cause it be known exactly, or let it have no causes and
be read by its worst points. Then over all networks whose rows of chances lie in their boxes and sum to 1, the largest
log p(x_Q | a)/p(x_Q | b) is that of a network whose rows are all corners of what they may be.
*Proof.* p(x_Q, a) is a sum of products with one row of each variable, so it is linear in each row. p(a) is known, or
cancels. So the ratio is linear-fractional in each row while the others stay, and largest at a corner of it. ∎

Where the secret has causes of which the law is not known the ratio is not linear-fractional, and it is refused.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Final

import numpy as np

from entwined.dependence import BayesNet
from entwined.dependence.box import Box
from entwined.errors import DoesNotApply
from entwined.numbers import FloatArray

MOST_MEMBERS: Final = 4096
CLOSE: Final = 1e-12


@lru_cache(maxsize=64)
def members(
    network: BayesNet, place: int, shown: tuple[int, ...], *, averaged: bool = False
) -> tuple[BayesNet, ...]:
    """The networks of a class whose shown columns can show most of a parameter; of a known law itself.

    Tables of what causes neither these columns nor the parameter sum out, and stay in the middle.
    """
    if is_known(network):
        return (network,)
    counted = {place, *shown}.union(*(_causes(network, one) for one in (place, *shown)))
    choices = [
        _choices(network, place, child, table, averaged=averaged) if child in counted else [table.middle]
        for child, table in _tables(network)
    ]
    if prod(map(len, choices)) > MOST_MEMBERS:
        raise DoesNotApply(
            f"The chances of this network can be at more than {MOST_MEMBERS:,} corners. Declare fewer intervals."
        )
    return tuple(_with(network, chosen) for chosen in product(*choices))


def is_known(network: BayesNet) -> bool:
    """Whether the class has one member."""
    return all(block.table.is_exact for block in network.blocks)


def _tables(network: BayesNet) -> Iterator[tuple[int, Box]]:
    """Each variable's place and its table, a row for each joint value of its parents."""
    for block in network.blocks:
        for at, child in enumerate(block.scope[:, -1].tolist()):
            shape = (-1, block.table.shape[-1])
            yield child, Box(block.table.low[at].reshape(shape), block.table.high[at].reshape(shape))


def _choices(network: BayesNet, place: int, child: int, table: Box, *, averaged: bool) -> list[FloatArray]:
    """The tables of one variable that have to be tried."""
    if table.is_exact:
        return [table.low]
    if child == place and not network.parents[place] and not averaged:
        return [table.middle]  # it cancels
    if child == place or child in _causes(network, place):
        raise DoesNotApply(
            f"The law of {network.names[place]!r:.60} or of what causes it is known by intervals alone, and what "
            "others show of it is proved where that is known. Give exact chances there, or make it a cause of them."
        )
    return [np.array(rows) for rows in product(*map(_corners, table.low, table.high))]


def _causes(network: BayesNet, place: int) -> set[int]:
    """All that a variable descends from."""
    found: set[int] = set()
    left = list(network.parents[place])
    while left:
        cause = left.pop()
        if cause not in found:
            found.add(cause)
            left += network.parents[cause]
    return found


def _corners(low: FloatArray, high: FloatArray) -> list[FloatArray]:
    """The corners of the chances between two ends that sum to 1: all but one of them at an end."""
    found: dict[tuple[float, ...], FloatArray] = {}
    for free in range(len(low)):
        others = [sorted({low[at], high[at]}) if at != free else [0.0] for at in range(len(low))]
        for chosen in product(*others):
            row = np.array(chosen)
            row[free] = 1.0 - row.sum()
            if low[free] - CLOSE <= row[free] <= high[free] + CLOSE:
                row = np.maximum(row, 0.0)
                found.setdefault(tuple(row.round(15).tolist()), row)
    return list(found.values())


def _with(network: BayesNet, tables: tuple[FloatArray, ...] | list[FloatArray]) -> BayesNet:
    """The network with these tables, in the order of its blocks."""
    left = iter(tables)
    blocks = []
    for block in network.blocks:
        stacked = [next(left).reshape(block.table.shape[1:]) for _ in block.scope]
        blocks.append(replace(block, table=Box.exact(np.stack(stacked))))
    return replace(network, blocks=tuple(blocks))
