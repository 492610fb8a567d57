"""The most that charges on overlapping sets of rows can add up to at one row, or at a pair of rows.

Sets over separate columns are independent choices, so their maxima add exactly. Inside such a component
the points fall into atoms, points inside the same sets; every atom holds a point. Where there are too many
atoms the sets are split into bunches, whose maxima add up to a bound that is never below the truth.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import QueryTooComplex
from entwined.numbers import IntArray
from entwined.queries.diagram import Diagram, combine, constant
from entwined.queries.predicate import Predicate

MOST_ATOMS: Final = 1024
DIGIT: Final = 40
MASK: Final = (1 << DIGIT) - 1

Pair: TypeAlias = tuple[Predicate, Fraction, Fraction]
Bunch: TypeAlias = tuple[tuple[Predicate, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Cover:
    """A largest sum; `exact` is False where it is only known not to be below the truth."""

    value: Fraction
    exact: bool


def max_cover(weights: Iterable[tuple[Predicate, Fraction]]) -> Cover:
    """Give the largest sum of weights ≥ 0 of sets that hold one point together."""
    return _largest([(where, weight, Fraction(0)) for where, weight in weights], _at_one_point)


def max_pair(charges: Iterable[Pair], *, absent: bool = False) -> Cover:
    """Give the largest sum, over two points, of `one` for sets holding one and `both` for sets holding both.

    With `absent` one of the points may also be no row at all, which no set holds.
    """
    given = list(charges)
    pairs = _largest(given, _at_two_points)
    if not absent:
        return pairs
    alone = max_cover((where, one) for where, one, _ in given)
    return Cover(max(pairs.value, alone.value), pairs.exact and (alone.exact or alone.value <= pairs.value))


Score: TypeAlias = Callable[[Sequence[Pair], Sequence[int]], Fraction]


def _largest(charges: list[Pair], score: Score) -> Cover:
    merged: dict[Predicate, tuple[Fraction, Fraction]] = {}
    for where, one, both in charges:
        if not where.is_empty and (one or both):
            before = merged.get(where, (Fraction(0), Fraction(0)))
            merged[where] = (before[0] + one, before[1] + both)
    total, exact = Fraction(0), True
    for component in _components(sorted(merged, key=lambda where: where.columns)):
        bunches = bunched(component)
        exact = exact and len(bunches) == 1
        total += sum(
            (score([(p, *merged[p]) for p in inside], atoms) for inside, atoms in bunches), Fraction(0)
        )
    return Cover(total, exact)


def _components(predicates: Sequence[Predicate]) -> list[tuple[Predicate, ...]]:
    """Put sets together that share columns, however indirectly."""
    components: list[tuple[set[str], list[Predicate]]] = []
    for predicate in predicates:
        columns, members = set(predicate.columns), [predicate]
        apart = []
        for names, others in components:
            if names.isdisjoint(columns):
                apart.append((names, others))
            else:
                columns |= names
                members = others + members
        components = [*apart, (columns, members)]
    return [tuple(members) for _, members in components]


@lru_cache(maxsize=4096)
def bunched(predicates: tuple[Predicate, ...]) -> tuple[Bunch, ...]:
    """Give the atoms of the sets as bits, in one bunch if there are few enough, else in several."""
    bunches: list[Bunch] = []
    members: list[Predicate] = []
    held = constant(0)
    for predicate in predicates:
        grown = _grown(held, predicate, len(members))
        if grown is None:
            bunches.append((tuple(members), tuple(sorted(held.leaves))))
            members = []
            grown = _grown(constant(0), predicate, 0) or predicate.diagram
        members.append(predicate)
        held = grown
    return (*bunches, (tuple(members), tuple(sorted(held.leaves))))


def _grown(held: Diagram, predicate: Predicate, bit: int) -> Diagram | None:
    try:
        grown = combine(held, predicate.diagram, lambda bits, holds: bits | holds << bit)
    except QueryTooComplex:
        return None
    return grown if len(grown.leaves) <= MOST_ATOMS else None


def _at_one_point(charges: Sequence[Pair], atoms: Sequence[int]) -> Fraction:
    ones, under = _whole([one for _, one, _ in charges])
    return Fraction(max(sum(one for at, one in enumerate(ones) if atom >> at & 1) for atom in atoms), under)


def _at_two_points(charges: Sequence[Pair], atoms: Sequence[int]) -> Fraction:
    """Sum `one` over both atoms; a set that holds both has been counted twice and owes both − 2·one."""
    numbers, under = _whole([one for _, one, _ in charges] + [both for _, _, both in charges])
    ones, boths = numbers[: len(charges)], numbers[len(charges) :]
    owed = [both - 2 * one for one, both in zip(ones, boths, strict=True)]
    inside = np.array([[atom >> at & 1 for at in range(len(charges))] for atom in atoms], dtype=np.int64)
    places = max(number.bit_length() for number in ones + owed) // DIGIT + 1
    sums = []
    for one, both in zip(_digits(ones, places), _digits(owed, places), strict=True):
        alone = inside @ one
        sums.append((inside * both) @ inside.T + alone[:, None] + alone[None, :])
    return Fraction(_greatest(sums), under)


def _whole(fractions: list[Fraction]) -> tuple[list[int], int]:
    """Bring fractions to one denominator."""
    under = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * under) for fraction in fractions], under


def _digits(numbers: list[int], places: int) -> list[IntArray]:
    """Cut integers of any length into digits of 40 bits, lowest first; only the last may be negative."""
    cut = [[number >> DIGIT * place & MASK for number in numbers] for place in range(places - 1)]
    cut.append([number >> DIGIT * (places - 1) for number in numbers])
    return [np.array(digits, dtype=np.int64) for digits in cut]


def _greatest(digits: list[IntArray]) -> int:
    """Give the greatest of many long integers, all of their lowest digits first."""
    for place in range(len(digits) - 1):
        digits[place + 1] += digits[place] >> DIGIT
        digits[place] &= MASK
    among = np.ones(digits[0].shape, dtype=np.bool_)
    greatest = 0
    for digit in reversed(digits):
        best = int(digit[among].max())
        among &= digit == best
        greatest = (greatest << DIGIT) + best
    return greatest
