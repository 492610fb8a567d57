"""How far two tables are apart in their marginals, in people: the share who would have to move to another cell."""

from collections.abc import Sequence
from itertools import combinations, islice
from math import comb, prod
from typing import Final, NamedTuple

import numpy as np

from entwined.learning.codes import Codes
from entwined.numbers import FloatArray, IntArray

MOST_CELLS: Final = 2**21  # beyond it cells that somebody has are looked up instead of laid out
MOST_MARGINALS: Final = 1_000
MEAN_OF_A_NORMAL: Final = float(np.sqrt(2 / np.pi))


class Apart(NamedTuple):
    """One marginal of two tables."""

    columns: tuple[str, ...]
    distance: float
    by_chance: float
    """What it would be if both tables were drawn from one population."""
    sample: float | None
    """How many people drawn by chance from the real table would be as far from it; none where nothing is off."""


def shares(real: Codes, synthetic: Codes, columns: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Give the shares of the cells that somebody is in, in both tables."""
    counts = _laid_out if prod(real.sizes[at] for at in columns) <= MOST_CELLS else _looked_up
    one, other = counts(_cells(real, columns), _cells(synthetic, columns))
    there = (one + other) > 0
    return one[there] / real.rows, other[there] / synthetic.rows


def total_variation(real: Codes, synthetic: Codes, columns: Sequence[int]) -> float:
    """Half the sum of the differences of shares: 0 for equal tables, 1 for tables that share no cell.

    >>> one, other = (Codes.of({"a": 2}, [[0]] * n + [[1]] * (4 - n)) for n in (1, 3))
    >>> total_variation(one, other, [0])
    0.5
    """
    first, second = shares(real, synthetic, columns)
    return float(np.abs(first - second).sum() / 2)


def apart(real: Codes, synthetic: Codes, columns: Sequence[int]) -> Apart:
    """Compare one marginal, with what chance alone would do."""
    first, second = shares(real, synthetic, columns)
    distance = float(np.abs(first - second).sum() / 2)
    pooled = (first * real.rows + second * synthetic.rows) / (real.rows + synthetic.rows)
    alone = _by_chance(first)
    return Apart(
        tuple(real.names[at] for at in columns),
        distance,
        _by_chance(pooled) * float(np.sqrt(1 / real.rows + 1 / synthetic.rows)),
        (alone / distance) ** 2 if distance > 0 else None,
    )


def all_apart(real: Codes, synthetic: Codes, ways: int, most: int = MOST_MARGINALS) -> list[Apart]:
    """Compare all marginals of so many columns, or that many of them evenly spread, the farthest first."""
    count = comb(len(real.names), ways)
    step = max(1, -(-count // most))
    chosen = islice(combinations(range(len(real.names)), ways), 0, None, step)
    return sorted((apart(real, synthetic, columns) for columns in chosen), key=lambda one: -one.distance)


def mean_distance(found: Sequence[Apart]) -> float:
    """The mean over marginals."""
    return float(np.mean([one.distance for one in found])) if found else 0.0


def _by_chance(law: FloatArray) -> float:
    """The mean distance of a sample of one person, to be divided by the root of their number (normal law)."""
    return MEAN_OF_A_NORMAL * float(np.sqrt(law * (1 - law)).sum()) / 2


def _cells(codes: Codes, columns: Sequence[int]) -> IntArray:
    found = np.zeros(codes.rows, np.int64)
    for at in columns:
        found = found * codes.sizes[at] + codes.values[:, at]
    return found


def _laid_out(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
    size = int(max(one.max(), other.max())) + 1
    return np.bincount(one, minlength=size), np.bincount(other, minlength=size)


def _looked_up(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
    known, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    size = len(known)
    return np.bincount(place[: len(one)], minlength=size), np.bincount(place[len(one) :], minlength=size)


def of_a_hundred(share: float) -> str:
    """Write a share as people of a hundred.

    >>> of_a_hundred(0.02345), of_a_hundred(0.0001), of_a_hundred(0)
    ('2.3', '0.01', '0')
    """
    number = 100 * share
    if number == 0:
        return "0"
    return f"{number:.1f}" if number >= 0.1 else f"{number:.2g}"  # noqa: PLR2004  (where one decimal says nothing)
