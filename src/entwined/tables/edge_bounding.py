"""Cutting a graph to at most so many edges an id, so that no id with all of its edges moves the degrees far."""

from collections.abc import Callable, Iterable

import numpy as np

from entwined.numbers import Codes, IntArray
from entwined.queries.graphs import BoundedDegreesOf


def bounded_degrees(pairs: Iterable[Codes], ids: int, bound: int) -> IntArray:
    """Give the degree of each id, from different pairs in a fixed order: an edge is kept while both its ids have room.

    Theorem. Let two graphs differ in the edges of one id v. Then the degrees of all other ids differ by at most D in
    sum if one of the graphs has no edge of v, and by at most 2D else, where D = `bound`.

    Proof. Go through the edges of both in their common order, and let δ(u) be how much larger the degree of u is by now
    in the first graph, where v has edges, than in the second, where it has none. An edge of v that is kept moves one
    δ(u), u ≠ v, by 1, and at most D are kept. Another edge is in both graphs. Kept in both or in neither it moves
    nothing. Kept in one alone, one of its ids, say u, is full in the other graph and has room in this one, so δ(u) is
    not 0, and moves towards 0; the other id's δ moves by 1. So the sum of all |δ(u)| does not grow. For two graphs with
    edges of v go by the graph that has none of them.

    The order has to be the same in both graphs, whatever edges v has: it is that of the lots that edges draw for their
    two ids (`lots`). No id is favoured by it. In the order of the ids the last ones find all others full.
    """
    degrees = np.zeros(ids, np.int64)
    for batch in pairs:
        ends = batch.astype(np.int64)
        asked = np.bincount(ends.reshape(-1), minlength=ids)
        tight = degrees + asked > bound  # others have room whatever happens in this batch
        is_open = ~tight[ends].any(axis=1)
        degrees += np.bincount(ends[is_open].reshape(-1), minlength=ids)
        _one_by_one(degrees, ends[~is_open], bound)
    return degrees


def _one_by_one(degrees: IntArray, ends: IntArray, bound: int) -> None:
    """Take edges in turn."""
    touched, places = np.unique(ends, return_inverse=True)
    now = degrees[touched].tolist()
    for one, other in places.reshape(-1, 2).tolist():
        if now[one] < bound and now[other] < bound:
            now[one] += 1
            now[other] += 1
    degrees[touched] = now


def degree_counts(one: BoundedDegreesOf, ids: int) -> Callable[[Iterable[Codes]], list[int]]:
    """Give what makes the numbers of an aggregate of its pairs of codes."""

    def fold(pairs: Iterable[Codes]) -> list[int]:
        often = np.minimum(bounded_degrees(pairs, ids, one.bound), one.most)
        numbers: list[int] = np.bincount(often, minlength=one.most + 1)[1:].tolist()
        return numbers

    return fold
