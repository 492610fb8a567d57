"""Columns of numbers as the sides of a cube, on a public grid of whole numbers: where rows lie, and what is nearest.

Every column's declared bounds become −SIDE … SIDE. All places are whole numbers, so the product of matrices that finds
the nearest centre adds up whole numbers below 2^53: it is exact in floating point, in whatever order a machine adds.
Which centre a row belongs to therefore depends on that row's codes alone, never on the rows beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final, Self

import numpy as np

from entwined.errors import BadQuery
from entwined.numbers import FloatArray, IntArray
from entwined.queries.terms import grid_of, grid_value
from entwined.schema import Coded, Schema

SIDE: Final = 2**16
MOST_COLUMNS: Final = 1000
ROWS_AT_ONCE: Final = 2**13  # so many stay in a processor's cache


@dataclass(frozen=True, slots=True)
class Space:
    """Columns that have distances, each on the same scale."""

    columns: tuple[Coded, ...]

    @classmethod
    def of(cls, schema: Schema, names: Sequence[str] | str) -> Self:
        """Take columns of a schema; refuse what has no distances."""
        named = (names,) if isinstance(names, str) else tuple(names)
        if not 1 <= len(named) <= MOST_COLUMNS or len(set(named)) < len(named):
            raise BadQuery(
                f"columns = {list(named)!r:.100}. Name 1 to {MOST_COLUMNS:,} columns of numbers, each once."
            )
        columns = tuple(schema.coded(name) for name in named)
        for column in columns:
            grid_of(column, moments=True)  # refuses a column whose values do not add up
        return cls(columns)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    @property
    def sides(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    @property
    def levels(self) -> IntArray:
        """How many codes of each column stand for values."""
        return np.array([column.levels for column in self.columns], np.int64)

    def spread(self, centres: int) -> IntArray:
        """Give centres that lie evenly: on the first side in equal steps, on the others by irrational ones.

        The steps are powers of the root of x^(n+1) = x + 1 (Roberts 2018), which leave no large part of a cube empty.
        """
        turn = np.arange(centres) + 0.5
        others = self.sides - 1
        root = 2.0
        for _ in range(64):
            root = (1 + root) ** (1 / (others + 1))
        steps = [1 / centres, *(root ** -(side + 1.0) for side in range(others))]
        cube: FloatArray = np.mod(np.outer(turn, steps), 1)
        return np.rint((2 * cube - 1) * SIDE).astype(np.int64)

    def place(self, point: Sequence[object]) -> tuple[Fraction, ...]:
        """Say where a point of values lies, in codes; refuse what is no point inside the declared bounds."""
        if len(point) != self.sides:
            raise BadQuery(f"A start has {len(point)} values. Give {self.sides}, one for each column.")
        places = tuple(column.position(value) for column, value in zip(self.columns, point, strict=True))
        for column, value, place in zip(self.columns, point, places, strict=True):
            if not 0 <= place <= column.levels - 1:
                raise BadQuery(f"A start has {column.name} = {value!r:.60}, outside the declared bounds.")
        return places

    def on_grid(self, place: Sequence[Fraction]) -> list[int]:
        """Give the nearest point of the grid to a place in codes."""
        return [
            round((2 * code / (column.levels - 1) - 1) * SIDE) if column.levels > 1 else 0
            for code, column in zip(place, self.columns, strict=True)
        ]

    def value(self, side: int, along: float) -> Fraction | datetime:
        """Give the value at a place of the grid along a side."""
        column = self.columns[side]
        code = (Fraction(along) / SIDE + 1) * (column.levels - 1) / 2
        return grid_value(column, min(max(code, Fraction(0)), Fraction(column.levels - 1)))


def offsets(codes: IntArray, levels: IntArray) -> FloatArray:
    """Give the place of each row on the grid, whole numbers in floating point."""
    step = np.where(levels > 1, 2 * SIDE / np.maximum(levels - 1, 1), 0.0)
    found = codes * step
    found -= np.where(levels > 1, float(SIDE), 0.0)
    return np.rint(found, out=found)


def assigned(codes: IntArray, *, centres: IntArray, levels: IntArray, weight: int) -> IntArray:
    """Give of each row the centre nearest to it, or −1 where a value is missing, the weight, and its place."""
    found = np.empty((len(codes), 2 + codes.shape[1]), np.int64)
    found[:, 1] = weight
    lengths = (centres.astype(float) ** 2).sum(axis=1)
    for start in range(0, len(codes), ROWS_AT_ONCE):
        piece = codes[start : start + ROWS_AT_ONCE]
        places = offsets(piece, levels)
        into = found[start : start + ROWS_AT_ONCE]
        into[:, 0] = _nearest(2 * (centres @ places.T) - lengths[:, np.newaxis])
        into[(piece >= levels).any(axis=1), 0] = -1
        into[:, 2:] = places
    return found


def _nearest(scores: FloatArray) -> IntArray:
    """Find the first of the highest scores in each column; by rows, for these lie side by side in memory."""
    best, place = scores[0].copy(), np.zeros(scores.shape[1], np.int64)
    for at in range(1, len(scores)):
        place[scores[at] > best] = at
        np.maximum(best, scores[at], out=best)
    return place


def weight_of(sides: int, root: int) -> int:
    """What a row counts for beside its place: SIDE · sides^(1/root)."""
    return round(SIDE * math.pow(sides, 1 / root))
