"""The number of all rows on which tables over separate columns agree, once no count may be negative.

Each table pulls at that number: its own counts say how many rows there are, and a part that is larger than all rows
says that there are more. How far all of them are off, in squares of their noise, is convex in the number of rows, so
it is least where the pulls are in balance.
"""

from collections.abc import Callable
from math import ceil
from typing import Final

HALF_A_ROW: Final = 0.5
SAFE: Final = 1.1  # further than rows can be that are in balance


def balanced(pull: Callable[[int], float], start: int, variance: float, most: int | None) -> int:
    """Find the whole number at which pulls are nearest to balance: they fall by at least 1 / variance a row.

    >>> balanced(lambda rows: (20 - rows) / 4 + max(30 - rows, 0), start=20, variance=4, most=None)
    28
    """
    first = pull(start)
    far = abs(first) * variance
    if far <= HALF_A_ROW:
        return start
    reach = ceil(SAFE * far)
    if first > 0:
        end = start + reach if most is None else min(start + reach, most)
        return start if end <= start else _between(pull, (start, first), (end, pull(end)))
    end = max(start - reach, 0)
    return start if end == start else _between(pull, (end, pull(end)), (start, first))


def _between(pull: Callable[[int], float], low: tuple[int, float], high: tuple[int, float]) -> int:
    """Narrow down the place at which a falling pull is nearest to zero, by chords that take turns (Illinois).

    Where a chord leaves more than half, the middle is next: so two steps halve what is left, whatever the pulls are.
    """
    (left, above), (right, below) = low, high
    nearest = {left: abs(above), right: abs(below)}
    slow = False
    while right - left > 1 and above > 0 > below:
        width = right - left
        chord = min(max(round(left + width * above / (above - below)), left + 1), right - 1)
        place = (left + right) // 2 if slow else chord
        found = pull(place)
        nearest[place] = abs(found)
        if found > 0:
            left, above, below = place, found, below / 2
        else:
            right, below, above = place, found, above / 2
        slow = 2 * (right - left) > width
    return min(nearest, key=lambda place: nearest[place])
