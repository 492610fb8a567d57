"""The products of the rows' features, added up: what steps towards a minimum are made by.

How fast a search arrives hangs on them, and nothing else does. Where there are too many products to ask for, columns
are taken to be independent of each other, and of very many features the squares are left.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from entwined.door.mechanism import Read
from entwined.mechanisms.classifiers.features import Features
from entwined.mechanisms.classifiers.slopes import placed_features
from entwined.numbers import Codes, FloatArray, IntArray
from entwined.queries import FoldOf, Placed, everything

MOST_INVERTED: Final = 1024  # features
MOST_MULTIPLIED: Final = 24  # columns of numbers
WHOLE: Final = 2**20  # what 1 counts for: products are rounded to so many parts


@dataclass(frozen=True, slots=True)
class Moments:
    """The sum over the rows of each feature and of the products of any two, on the scale of ±1."""

    features: Features

    @property
    def fold(self) -> FoldOf:
        """Ask for them: sums, squares of numbers, and a table for every two columns."""
        numeric = len(self.features.numeric)
        numbers = 1 + 2 * numeric + len(self._products)
        squares = (Placed(1 + numeric + at) for at in range(numeric))
        return FoldOf(
            self.features.read,
            (-WHOLE,) * numbers,
            (WHOLE,) * numbers,
            partial(_numbers, asked=self),
            everything(),
            placed=(*placed_features(self.features), *squares, *(placed for _, placed in self._pairs())),
        )

    @property
    def _is_paired(self) -> bool:
        """Whether products of features are asked for."""
        few = len(self.features.numeric) <= MOST_MULTIPLIED
        return few and self.features.size <= MOST_INVERTED

    @property
    def _products(self) -> list[tuple[int, int]]:
        """The pairs of columns of numbers, by their turn."""
        turns = range(len(self.features.numeric))
        return list(combinations(turns, 2)) if self._is_paired else []

    def _pairs(self) -> Iterator[tuple[tuple[int, int], Placed]]:
        """Give every two columns, the one with levels first, and where their products are added up."""
        features, turns = self.features, {at: turn for turn, at in enumerate(self.features.numeric)}
        first_product = 1 + 2 * len(turns)
        for one, other in combinations(range(len(features.columns)), 2) if self._is_paired else ():
            leveled = [at for at in (one, other) if at not in turns]
            names = tuple(features.columns[at].name for at in leveled)
            sizes = tuple(features.columns[at].size for at in leveled)
            if not leveled:
                yield (one, other), Placed(first_product + self._products.index((turns[one], turns[other])))
            elif len(leveled) == 1:
                (number,) = {one, other} - set(leveled)
                yield (leveled[0], number), Placed(1 + turns[number], names, sizes)
            else:
                yield (one, other), Placed(0, names, sizes)

    def read(self, read: Read) -> FloatArray:
        """Read the products: a matrix, or the squares alone of very many features."""
        (exact,) = read([self.fold])
        return self.products(exact / WHOLE)

    def products(self, sums: FloatArray) -> FloatArray:
        """Make the matrix of what was added up."""
        size, blocks = self.features.size, self.features.blocks
        numeric = [blocks[at][0] for at in self.features.numeric]
        first, rest = sums[:size], sums[size + len(numeric) :]
        squares = first.copy()
        squares[numeric] = sums[size : size + len(numeric)]
        if size > MOST_INVERTED:
            return squares
        found: FloatArray = np.outer(first, first / max(first[0], 1.0))
        for begin, end in [(0, 1), *blocks]:
            found[begin:end, begin:end] = np.diag(squares[begin:end])
        for (one, other), placed in self._pairs():
            rows, columns = slice(*blocks[one]), slice(*blocks[other])
            table = rest[: placed.cells].reshape(rows.stop - rows.start, columns.stop - columns.start)
            found[rows, columns], found[columns, rows] = table, table.T
            rest = rest[placed.cells :]
        return found

    def numbers(self, codes: Codes) -> IntArray:
        """Give 1 for each row that has a label, its numbers, their squares and their products."""
        there, scaled = np.abs(self.features.signs(codes[:, -1])) * WHOLE, self.features.scaled(codes)
        factors = [(one,) for one in scaled] + [(one, one) for one in scaled]
        factors += [(scaled[one], scaled[other]) for one, other in self._products]
        found = np.empty((1 + len(factors), len(codes)), np.int64)
        found[0] = there
        for into, some in zip(found[1:], factors, strict=True):
            into[:] = math.prod(some, start=there)
        return found.T


def _numbers(codes: Codes, *, asked: Moments) -> IntArray:
    return asked.numbers(codes)
