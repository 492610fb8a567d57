"""Which columns depend on which: the best tree, and networks with a few parents built on it."""

from collections.abc import Iterator, Sequence
from math import log, prod
from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from entwined.errors import BadInput
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.learning.pairs import PairCounts
from entwined.mechanisms.parents import Parents
from entwined.numbers import FloatArray, IntArray

FEWEST_ASKED: Final = 30  # respondents who must have been asked both, or nothing is learned about a pair
CANDIDATES: Final = 12  # further parents that are tried for a column
MOST_ROWS_OF_TABLE: Final = 100_000  # joint values of the parents


def tree(pairs: PairCounts) -> Parents:
    """Find the tree whose law is likeliest (Chow and Liu 1968): the heaviest by mutual information.

    Columns that too few respondents were asked together are not joined, so it may be a forest.
    """
    heavy = np.where(pairs.asked >= FEWEST_ASKED, pairs.information, -1.0)
    return forest_of(heavy)


def forest_of(weights: FloatArray) -> Parents:
    """Find the heaviest forest of a symmetric table of weights, negative ones left out; roots come first."""
    columns = len(weights)
    one, other = np.triu_indices(columns, 1)
    joined = weights[one, other] >= 0
    one, other = one[joined], other[joined]
    top = 1.0 + float(weights.max(initial=0.0))
    costs = csr_array((top - weights[one, other], (one, other)), shape=(columns, columns))
    links = minimum_spanning_tree(costs)
    parents = np.full(columns, -1)
    for root in np.unique(connected_components(links, directed=False)[1], return_index=True)[1].tolist():
        order, before = breadth_first_order(links, root, directed=False)
        parents[order[1:]] = before[order[1:]]
    return tuple(() if parent < 0 else (int(parent),) for parent in parents)


def network(pairs: PairCounts, most: int) -> Parents:
    """Add to each column of the tree up to `most` parents, as long as each pays for its parameters (BIC).

    A column's parents come before it in the order of the tree, so there is no cycle. Those tried are the
    columns that it shares most information with.
    """
    if most < 1:
        raise BadInput(f"A network with {most} parents a column. Give 1 for a tree, or more.")
    begun = tree(pairs)
    if most == 1:
        return begun
    order = parents_first(begun)
    turn = {column: at for at, column in enumerate(order)}
    return tuple(
        _grown(pairs, column, begun[column], [one for one in order if turn[one] < turn[column]], most)
        for column in range(len(begun))
    )


def _grown(
    pairs: PairCounts, column: int, parents: tuple[int, ...], earlier: Sequence[int], most: int
) -> tuple[int, ...]:
    """Add the best parent again and again."""
    by_information = sorted(earlier, key=lambda one: -pairs.information[column, one])
    tried = [one for one in by_information if one not in parents][:CANDIDATES]
    best = score(pairs.codes, column, parents)
    while len(parents) < most:
        found = [(score(pairs.codes, column, (*parents, one)), one) for one in tried if one not in parents]
        top, chosen = max(found, default=(-np.inf, -1))
        if top <= best:
            break
        best, parents = top, (*parents, chosen)
    return parents


def score(codes: Codes, column: int, parents: tuple[int, ...]) -> float:
    """Give the log likelihood of a column given its parents, less half a log of rows for each parameter.

    Tables too large to be worth it have no score.
    """
    sizes = [codes.sizes[one] for one in parents]
    if prod(sizes) > MOST_ROWS_OF_TABLE:
        return -np.inf
    counts = joint_counts(codes, (*parents, column)).reshape(-1, codes.sizes[column]).astype(np.float64)
    rows = counts.sum(axis=1)
    likelihood = _sum_n_log_n(counts) - _sum_n_log_n(rows)
    used = np.count_nonzero(rows) * (np.count_nonzero(counts.sum(axis=0)) - 1)
    return likelihood - 0.5 * log(max(2.0, rows.sum())) * used


def joint_counts(codes: Codes, columns: Sequence[int]) -> IntArray:
    """Count the joint answers of some columns among the respondents asked all of them, the last fastest."""
    sizes = [codes.sizes[one] for one in columns]
    values = codes.values[:, list(columns)].astype(np.int64)
    values = values[(values != NOT_ASKED).all(axis=1)]
    return np.bincount(values @ steps(sizes), minlength=prod(sizes)).astype(np.int64).reshape(sizes)


def steps(sizes: Sequence[int]) -> IntArray:
    """Say how far apart neighbouring values of each column are in a table, the last fastest."""
    return np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)


def parents_first(parents: Parents) -> tuple[int, ...]:
    """Order the columns so that parents come before their children."""
    waiting = [len(each) for each in parents]
    children: list[list[int]] = [[] for _ in parents]
    for child, each in enumerate(parents):
        for parent in each:
            children[parent].append(child)
    order = [column for column, count in enumerate(waiting) if count == 0]
    for column in order:  # grows while it is walked
        for child in children[column]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    if len(order) < len(parents):
        raise BadInput("The parents form a cycle. Leave one of them out.")
    return tuple(order)


def links_of(parents: Parents) -> Iterator[tuple[int, int]]:
    """List the links from parent to child."""
    return ((parent, child) for child, each in enumerate(parents) for parent in each)


def _sum_n_log_n(counts: FloatArray) -> float:
    return float(np.sum(counts * np.log(np.maximum(counts, 1.0))))
