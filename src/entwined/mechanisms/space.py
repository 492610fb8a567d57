"""Columns of numbers as the sides of a cube, on a public grid of whole numbers: where rows lie, and what is nearest.

A code c of a column with the codes 0 … L lies at m(2c − L), where the whole number m is the largest that keeps all
columns within ±`side`: so declared ranges have nearly the same length, unless one has about as many codes as the grid.
All places are whole numbers, and the product of matrices that finds the nearest centre adds up whole numbers below
2^53: it is exact in floating point, in whatever order a machine adds. Which centre a row belongs to therefore depends
on that row's codes alone, never on the rows beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Final, Self

import numpy as np

from entwined.errors import BadQuery
from entwined.numbers import Codes, FloatArray, IntArray
from entwined.queries.products import rows_at_once, spread
from entwined.queries.terms import grid_of, grid_value
from entwined.schema import Coded, Schema

SIDE: Final = 2**16
EXACT: Final = 2**53
MOST_COLUMNS: Final = 1000
ENTRIES_AT_ONCE: Final = 2**18  # so few stay near the processor


@dataclass(frozen=True, slots=True)
class Space:
    """Columns that have distances, each on the same scale."""

    columns: tuple[Coded, ...]
    last: IntArray = field(init=False, repr=False, compare=False)
    """The last code of each column that stands for a value."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "last", np.array([column.levels - 1 for column in self.columns], np.int64))

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
        made = cls(columns)
        if 7 * made.sides * made.side**2 >= EXACT:
            raise BadQuery(
                f"Places in {made.sides} columns of up to {made.side + 1:,} values are not exact in floating point. "
                "Give coarser steps, or fewer columns."
            )
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    @property
    def sides(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    @property
    def side(self) -> int:
        """How far from the middle a row may lie."""
        return max(SIDE, int(self.last.max()))

    @property
    def factors(self) -> IntArray:
        """How many steps of the grid two neighbouring codes of each column are apart, by halves."""
        return np.where(self.last > 0, self.side // np.maximum(self.last, 1), 0)

    def summed(self, counted: IntArray, weight: int) -> IntArray:
        """Make of rows and sums of their codes, group by group, the weighted rows and the sums of their places."""
        rows, codes = counted[:, :1], counted[:, 1:]
        return np.column_stack([weight * rows, self.factors * (2 * codes - self.last * rows)])

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
        return np.rint((2 * cube - 1) * self.factors * self.last).astype(np.int64)

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
        steps = zip(place, self.factors.tolist(), self.last.tolist(), strict=True)
        return [round(factor * (2 * code - last)) for code, factor, last in steps]

    def value(self, side: int, along: Fraction | int) -> Fraction | datetime:
        """Give the value at a place of the grid along a side."""
        factor, last = int(self.factors[side]), int(self.last[side])
        code = (Fraction(along) / factor + last) / 2 if factor else Fraction(0)
        return grid_value(self.columns[side], min(max(code, Fraction(0)), Fraction(last)))

    def nearest(self, centres: IntArray) -> "Nearest":
        """Find the centre nearest to a row: the one with the highest 2⟨place, centre⟩ − ‖centre‖²."""
        slopes = 4 * self.factors * centres
        heights = -2 * (centres * self.factors * self.last).sum(axis=1) - (centres**2).sum(axis=1)
        return Nearest(np.column_stack([slopes, heights]), self.last, 7 * self.sides * self.side**2)


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """A public function from rows of codes to the centre that is nearest to each; −1 where a value is missing.

    A centre's score of a row is the product of its line in `scores` with the codes and a 1, a whole number of at most
    `highest`, signs left out. Where there is room below 2^53 the scores are shifted by as many bits as the number of a
    centre has, and that number, counted from the last, is written into them: then one maximum finds both the highest
    score and the first centre that has it.
    """

    scores: IntArray
    last: IntArray
    highest: int

    def __call__(self, codes: Codes) -> IntArray:
        """Give the number of a centre for every row; of several that are equally near, the first."""
        centres, sides = self.scores.shape
        bits = (centres - 1).bit_length()
        has_room = (self.highest + 1) << bits < EXACT
        written = (self.scores << bits) if has_room else self.scores.copy()
        written[:, -1] += np.arange(centres)[::-1] if has_room else 0
        lines = written.astype(np.float64)
        found = np.empty((len(codes), 1), np.int64)
        size = min(rows_at_once(centres, sides, ENTRIES_AT_ONCE), max(len(codes), 1))
        room, scored = np.ones((sides, size)), np.empty((centres, size))
        for start in range(0, len(codes), size):
            piece = codes[start : start + size].T
            into, seen = found[start : start + size, 0], room[:, : piece.shape[1]]
            seen[:-1] = piece
            scores = spread(lines, seen, scored[:, : piece.shape[1]])
            into[:] = scores.max(axis=0) if has_room else scores.argmax(axis=0)
        if has_room:
            np.subtract(centres - 1, found & ((1 << bits) - 1), out=found)
        return self._left_out(codes.T, found)

    def _left_out(self, codes: Codes, found: IntArray) -> IntArray:
        """Give no centre to rows without a value."""
        for side in np.flatnonzero(codes.max(axis=1, initial=0) > self.last):
            found[codes[side] > self.last[side]] = -1
        return found


def weight_of(space: Space, root: int) -> int:
    """What a row counts for beside its place: side · columns^(1/root)."""
    return round(space.side * math.pow(space.sides, 1 / root))
