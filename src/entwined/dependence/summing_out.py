"""Sum units out of a product of tables one at a time, and keep the law of what they add up to.

A `SumTable` is over a few units. Beside one axis a unit it has two more: the first is for several tables at once (one a
release, or a single one that serves them all), the last for the sum of integers that units have added. Tables
are multiplied cell by cell while sums add, so that what is left in the end is the weight of every value of the units
that were kept together with every sum: exact but for rounding, and every number is a sum of products of numbers ≥ 0, so
that small chances keep their digits.
"""

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from entwined.errors import Refused
from entwined.numbers import FloatArray, IntArray

MOST_NUMBERS: Final = 20_000_000  # of one table: 160 MB
Number = TypeVar("Number", np.float64, np.int64)

NO_SUM: Final = np.zeros(1, np.int64)


class SumTable(NamedTuple):
    """A table over the units `scope`, in rising order: weights[copy, value of each unit, place in `sums`]."""

    scope: tuple[int, ...]
    sums: IntArray
    weights: FloatArray


class Summed(NamedTuple):
    """A unit as it was summed out: the table over it, its last axis, and over those that were left."""

    unit: int
    others: tuple[int, ...]
    weights: FloatArray


def plain_table(scope: Sequence[int], table: FloatArray) -> SumTable:
    """Lay out a table that adds nothing up, copies first and then its units in any order."""
    return SumTable(tuple(sorted(scope)), NO_SUM, _in_order(scope, table)[..., None])


def adding_table(scope: Sequence[int], numbers: IntArray) -> SumTable:
    """Lay out what units add to a sum by their values, copies first."""
    table = _in_order(scope, numbers)
    sums = np.unique(table)
    return SumTable(tuple(sorted(scope)), sums, (table[..., None] == sums).astype(np.float64))


def _in_order(scope: Sequence[int], table: NDArray[Number]) -> NDArray[Number]:
    return table.transpose(0, *(np.argsort(scope) + 1))


def put_in(
    scope: Sequence[int], table: NDArray[Number], known: Mapping[int, int | IntArray]
) -> tuple[tuple[int, ...], NDArray[Number]]:
    """Put known values into a table over units, one each or one for each copy: copies come first in what is left."""
    told = [axis for axis, unit in enumerate(scope) if unit in known]
    left = [axis for axis in range(table.ndim) if axis not in told]
    values = tuple(np.atleast_1d(known[scope[axis]]) for axis in told)
    inside = table.transpose(*told, *left)[values] if told else table[None]
    return tuple(unit for unit in scope if unit not in known), inside


def order_of(scopes: Iterable[Collection[int]], sizes: Sequence[int], kept: Collection[int]) -> list[int]:
    """Choose in which order units are summed out: always one of those that leave the smallest table."""
    beside: defaultdict[int, set[int]] = defaultdict(set)
    for scope in scopes:
        for unit in scope:
            beside[unit].update(scope)
    going = {unit for unit in beside if unit not in kept}

    def cost(unit: int) -> float:
        return float(sum(np.log2(sizes[other]) for other in beside[unit]))

    waiting = [(cost(unit), unit) for unit in sorted(going)]
    heapq.heapify(waiting)
    order = []
    while waiting:
        told, unit = heapq.heappop(waiting)
        if unit not in going or told != cost(unit):
            continue
        refuse_wide(len(beside[unit]), 2.0**told)
        going.remove(unit)
        order.append(unit)
        others = beside.pop(unit) - {unit}
        for other in others:
            beside[other] |= others
            beside[other].discard(unit)
            if other in going:
                heapq.heappush(waiting, (cost(other), other))
    return order


def summed_out(terms: Iterable[SumTable], order: Iterable[int], sizes: Sequence[int]) -> SumTable:
    """Multiply all terms and sum the units of `order` out, one after another."""
    pool = _Pool(terms, sizes)
    for unit in order:
        pool.sum_out(unit)
    return pool.rest()


def trail(terms: Iterable[SumTable], order: Iterable[int], sizes: Sequence[int]) -> Iterator[Summed]:
    """Give each unit with its table as it is summed out: walked back, they draw from the law."""
    pool = _Pool(terms, sizes)
    for unit in order:
        met = pool.sum_out(unit)
        others = tuple(other for other in met.scope if other != unit)
        yield Summed(unit, others, np.moveaxis(met.weights[0, ..., 0], met.scope.index(unit), -1))


class _Pool:
    """The terms that are left, found by their units."""

    def __init__(self, terms: Iterable[SumTable], sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._terms: dict[int, SumTable] = {}
        self._of: defaultdict[int, set[int]] = defaultdict(set)
        self._next = 0
        for term in terms:
            self._put(term)

    def sum_out(self, unit: int) -> SumTable:
        """Multiply what a unit is in, put back its sum, and give the product."""
        met = self._met([self._terms[number] for number in sorted(self._of[unit])])
        for number in sorted(self._of[unit]):
            gone = self._terms.pop(number)
            for other in gone.scope:
                self._of[other].discard(number)
        axis = met.scope.index(unit) + 1
        left = met.weights.sum(axis=axis)
        scope = tuple(other for other in met.scope if other != unit)
        largest = left.max(
            axis=tuple(range(1, left.ndim)), keepdims=True
        )  # of each copy, so that none is lost
        self._put(SumTable(scope, met.sums, left / np.where(largest > 0, largest, 1.0)))
        return met

    def rest(self) -> SumTable:
        """Multiply what is left."""
        return self._met(list(self._terms.values()))

    def _put(self, term: SumTable) -> None:
        self._terms[self._next] = term
        for unit in term.scope:
            self._of[unit].add(self._next)
        self._next += 1

    def _met(self, terms: Sequence[SumTable]) -> SumTable:
        found = SumTable((), NO_SUM, np.ones((1, 1)))
        for term in sorted(terms, key=lambda one: (one.sums.size, one.weights.size)):
            found = multiplied(found, term, self._sizes)
        return found


def multiplied(one: SumTable, other: SumTable, sizes: Sequence[int]) -> SumTable:
    """Multiply two terms; their sums add."""
    scope = tuple(sorted({*one.scope, *other.scope}))
    few, many = sorted((one, other), key=lambda term: term.sums.size)
    sums, places = _added(few.sums, many.sums)
    copies = max(few.weights.shape[0], many.weights.shape[0])
    numbers = copies * prod(sizes[unit] for unit in scope) * sums.size
    refuse_wide(len(scope), numbers)
    first, second = (_spread(term, scope, sizes) for term in (few, many))
    if few.sums.size == 1:
        return SumTable(scope, sums, first * second)
    shape = (copies, *(sizes[unit] for unit in scope), sums.size)
    weights = np.zeros(shape)
    for at, where in enumerate(places):
        weights[..., where] += first[..., at : at + 1] * second
    return SumTable(scope, sums, weights)


def refuse_wide(units: int, numbers: float) -> None:
    """Refuse a table that is too large."""
    if numbers > MOST_NUMBERS:
        raise Refused(
            f"{units} units depend on each other so that their values and sums fill a table of {numbers:.3g} numbers; "
            f"the most is {MOST_NUMBERS:,}. Let more units be known, or take fewer."
        )


def _added(few: IntArray, many: IntArray) -> tuple[IntArray, IntArray]:
    """Give all sums of two numbers, and where the sums of each of the few with all the others stand."""
    if few.size == 1:
        return many + few, np.arange(many.size)[None]
    sums, places = np.unique(few[:, None] + many, return_inverse=True)
    return sums, places.reshape(few.size, many.size)


def _spread(term: SumTable, scope: tuple[int, ...], sizes: Sequence[int]) -> FloatArray:
    """Lay a table out over more units."""
    inside = [sizes[unit] if unit in term.scope else 1 for unit in scope]
    return term.weights.reshape(term.weights.shape[0], *inside, term.sums.size)
