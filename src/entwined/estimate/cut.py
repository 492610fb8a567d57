"""Ends of intervals cut at what is public: a count of at most 600 people ends neither below 0 nor above 600.

A truth lies between the public ends, so whatever interval held it holds it still when both its ends are moved to the
nearest number between them.
"""

from fractions import Fraction
from typing import TypeAlias

from entwined.queries import Aggregate, Answer
from entwined.queries.extents import End, extent
from entwined.schema import Schema

Public: TypeAlias = tuple[Answer, Answer]
"""The least and the greatest that is possible, of all numbers alike or of each by itself."""


def public_ends(aggregate: Aggregate, schema: Schema, step: int | Fraction, rows: int) -> Public:
    """Give between what the integers of an aggregate lie, in steps, over at most so many rows."""
    least, most = extent(aggregate, schema, rows)
    return _stepped(least, step), _stepped(most, step)


def cut(end: Answer, public: Public) -> Answer:
    """Move a number, or every number of a table, to the nearest that is possible.

    >>> cut(750, (0, 600)), cut((-40, 20, 610), (0, 600)), cut((-5, 5), ((0, 0), (3, 9)))
    (600, (0, 20, 600), (0, 5))
    """
    if not isinstance(end, tuple):
        return _nearest(end, *(one[0] if isinstance(one, tuple) else one for one in public))
    lows, highs = (one if isinstance(one, tuple) else (one,) * len(end) for one in public)
    return tuple(map(_nearest, end, lows, highs))  # type: ignore[return-value]  # all of one kind


def _nearest(number: Answer, least: Answer, most: Answer) -> Answer:
    return min(max(number, least), most)


def _stepped(end: End, step: int | Fraction) -> Answer:
    return tuple(one * step for one in end) if isinstance(end, tuple) else end * step  # type: ignore[return-value]
