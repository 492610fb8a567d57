"""Every quilt of a network as it was published: columns that separate a parameter from remote ones, to compare."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.parameter_law import max_influence
from entwined.bounds.attributes.quilts import ColumnQuilt
from entwined.dependence import BayesNet
from entwined.errors import DoesNotApply

MOST_COLUMNS: Final = 14  # beside the secret: 2^14 quilts


@dataclass(frozen=True, slots=True)
class PublishedQuilt:
    """Columns whose parameters cut a network in two: `near` holds the secret one, `remote` is independent of it."""

    cut: tuple[str, ...]
    near: tuple[str, ...]
    remote: tuple[str, ...]


def separations(network: BayesNet, column: str) -> Iterator[PublishedQuilt]:
    """Give every set of columns as a quilt, with all columns remote that it makes independent of the secret one."""
    others = [name for name in network.names if name != column]
    if len(others) > MOST_COLUMNS:
        raise DoesNotApply(
            f"{len(others)} columns beside the secret have too many quilts to list; the most is {MOST_COLUMNS}."
        )
    secret = network.names.index(column)
    for size in range(len(others) + 1):
        for cut in combinations(others, size):
            reached = reached_from(network, secret, frozenset(map(network.names.index, cut)))
            near = tuple(name for place, name in enumerate(network.names) if place in reached)
            remote = tuple(name for name in others if name not in near and name not in cut)
            yield PublishedQuilt(cut, near, remote)


def reached_from(network: BayesNet, start: int, known: frozenset[int]) -> set[int]:
    """Give all that d-separation leaves open to a node, itself among them, where some are known.

    A path goes on through a node that is not known, and through one with two arrows into it only if it or what it
    leads to is known.
    """
    children: list[list[int]] = [[] for _ in network.names]
    for child, causes in enumerate(network.parents):
        for cause in causes:
            children[cause].append(child)
    opened = with_causes(network, known)
    seen: set[tuple[int, bool]] = set()
    waiting = [(start, True)]  # as if it were come to from a child
    while waiting:
        node, upwards = waiting.pop()
        if (node, upwards) in seen:
            continue
        seen.add((node, upwards))
        if node not in known:
            waiting += [(child, False) for child in children[node]]
        if (upwards and node not in known) or (not upwards and node in opened):
            waiting += [(cause, True) for cause in network.parents[node]]
    return {node for node, _ in seen if node not in known}


def with_causes(network: BayesNet, known: frozenset[int]) -> set[int]:
    """Give known nodes and everything that leads to them."""
    found, waiting = set(known), list(known)
    while waiting:
        causes = set(network.parents[waiting.pop()]) - found
        found |= causes
        waiting += causes
    return found


def published_quilts(network: BayesNet, column: str, query: ColumnQuery) -> Iterator[ColumnQuilt]:
    """Give each published quilt with its influence and with how far near columns move the answer."""
    for quilt in separations(network, column):
        near = tuple(name for name in query.columns if name in quilt.near)
        shown = max_influence(network, column, quilt.cut)
        yield ColumnQuilt(column, quilt.cut, near, shown, query.moved_by(near))


def published_scale(network: BayesNet, query: ColumnQuery, epsilon: float, protected: Sequence[str]) -> float:
    """Give the Laplace scale of Algorithm 2: one quilt for all values of each protected column."""
    return max(
        min((quilt.scale(epsilon) for quilt in published_quilts(network, column, query)), default=math.inf)
        for column in protected
    )
