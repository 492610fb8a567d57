"""Leakage messages on a forest of pairwise factors: one sweep to the roots, one back."""

from dataclasses import dataclass

import numpy as np

from entwined.bounds.contraction import contract, contract_one
from entwined.dependence import Couplings
from entwined.numbers import ULP, FloatArray, IntArray, round_up

WIDE = 16  # levels with fewer nodes than this on average are walked node by node


@dataclass(frozen=True, eq=False, slots=True)
class Rooted:
    """A forest in breadth-first order under one added root: `parent[k] < k`, levels are contiguous."""

    order: IntArray
    parent: IntArray
    log_odds: FloatArray
    levels: IntArray


def tree_leakage(losses: FloatArray, couplings: Couplings) -> FloatArray:
    """ε_i plus the messages from all neighbours, each settled after one sweep up and one down."""
    forest = rooted(couplings)
    local = np.append(losses, 0.0)[forest.order]
    sweep = sweep_levels if forest.levels.size * WIDE < local.size else sweep_nodes
    leakage = np.empty(local.size)
    leakage[forest.order] = sweep(local, forest)
    return leakage[:-1]


def rooted(couplings: Couplings) -> Rooted:
    """Hang every component of the forest under one root that binds nothing."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    graph, units = couplings.binding, couplings.units
    ends = graph.unit.reshape(-1, 2)
    representatives = np.unique(couplings.components, return_index=True)[1]
    rows = np.concatenate([ends[:, 0], np.full(representatives.size, units)])
    columns = np.concatenate([ends[:, 1], representatives])
    shape = (units + 1, units + 1)
    links = csr_array((np.ones(rows.size, np.int8), (rows, columns)), shape=shape)
    order, before = breadth_first_order(links, units, directed=False)
    place = np.empty(units + 1, np.int64)
    place[order] = np.arange(units + 1)
    parent = np.zeros(units + 1, np.int64)
    parent[1:] = place[before[order[1:]]]
    strength = np.zeros(units + 1)
    strength[np.maximum(place[ends[:, 0]], place[ends[:, 1]])] = graph.log_odds[::2]
    return Rooted(order.astype(np.int64), parent, strength, level_starts(parent))


def level_starts(parent: IntArray) -> IntArray:
    """Where each level begins; a level ends where a node's parent is no longer in the level before."""
    starts = [0, 1]
    while starts[-1] < parent.size:
        starts.append(
            int(np.searchsorted(parent, starts[-1], side="left"))
            if starts[-1] > 1
            else first_grandchild(parent)
        )
    return np.array(starts)


def first_grandchild(parent: IntArray) -> int:
    """The first node below the root's own children."""
    return 1 + int(np.searchsorted(parent[1:], 1, side="left"))


def sweep_levels(losses: FloatArray, forest: Rooted) -> FloatArray:
    """Both sweeps, a level at a time."""
    from_children = np.zeros(losses.size)
    upward, downward = np.zeros(losses.size), np.zeros(losses.size)
    bounds = list(zip(forest.levels[:-1], forest.levels[1:], strict=True))
    degree = np.bincount(forest.parent, minlength=losses.size) + 3.0
    for start, stop in reversed(bounds[1:]):
        level = slice(start, stop)
        collected = (losses[level] + from_children[level]) * (1 + ULP * degree[level])
        upward[level] = contract(collected, forest.log_odds[level])
        np.add.at(from_children, forest.parent[level], upward[level])
    for start, stop in bounds[1:]:
        level, above = slice(start, stop), forest.parent[start:stop]
        total = (losses[above] + from_children[above] + downward[above]) * (1 + ULP * degree[above])
        downward[level] = contract(total - upward[level], forest.log_odds[level])
    return round_up(losses + from_children + downward, float(degree.max()))


def sweep_nodes(losses: FloatArray, forest: Rooted) -> FloatArray:
    """Both sweeps, a node at a time: for forests that are long rather than wide."""
    own, parent, strength = losses.tolist(), forest.parent.tolist(), forest.log_odds.tolist()
    children = np.bincount(forest.parent, minlength=losses.size).astype(np.float64)
    slack = (1 + ULP * (children + 3)).tolist()
    collected, upward, downward = own.copy(), [0.0] * len(own), [0.0] * len(own)
    for node in range(len(own) - 1, 0, -1):
        upward[node] = contract_one(collected[node] * slack[node], strength[node])
        collected[parent[node]] += upward[node]
    for node in range(1, len(own)):
        above = parent[node]
        total = (collected[above] + downward[above]) * slack[above]
        downward[node] = contract_one(total - upward[node], strength[node])
    return round_up(np.array(collected) + np.array(downward), float(children.max() + 4))
