"""Scores of parents for columns: how far two sets of columns are from independent, on a scale that no row moves far.

The score of parents Π for a column X, in a table whose n rows have the counts N, is

    f(X; Π) = Σ over values x and joint values π of |N(x, π) − N(x) · N(π) / n|

in parts of 1/FINE, rounded down, less a public figure for the noise that a table of this size would get.

Why it moves little, whatever n is and whether or not it is public.

*A row is replaced* (n stays). N(x, π) moves by one in two cells: 2 in all. Write the change of N(x) as d(x) and
that of N(π) as e(π): N'(x) N'(π) − N(x) N(π) = d(x) N(π) + N'(x) e(π), whose sum over cells is at most n Σ|d| + n Σ|e|,
and both sums are at most 2. So f moves by at most 2 + 4 = 6. If only the answer in one column changes, that column is X
or one of Π, so that d or e is zero: at most 2 + 2 = 4; if it is neither, f does not move.

*A row comes or goes.* Let it come to (a, b) of n > 0 rows, and let p(x) = N(x)/n, p(π) = N(π)/n, r = n/(n+1). The
product N(x) N(π)/n moves by −r·p(x)·p(π) where neither x = a nor π = b: (1−p(a))(1−p(b))·r in all; where only x = a
by r·p(π)·(1−p(a)): as much in all; likewise where only π = b; and at (a, b) by r·(p(a) + p(b) − p(a)p(b)) + 1/(n+1)
while N(a, b) itself moves by 1, so that their difference moves by r·(1−p(a))(1−p(b)). Together that is less than 4.
From no row to the first f stays 0.

*A person* with at most k rows is k such steps at most. Rounding down adds less than one part.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadInput
from entwined.numbers import IntArray
from entwined.schema import Schema

FINE: Final = 2**16
MOST_ROWS: Final = 10**9  # 2n² is then below 2⁶¹, and larger numbers are not held in 64 bits
MOST_CELLS: Final = 100_000  # of one table

Parents: TypeAlias = tuple[tuple[int, ...], ...]  # of each column, in the order of the columns
Candidate: TypeAlias = tuple[int, tuple[int, ...]]  # a column and its parents
Counts: TypeAlias = Mapping[tuple[int, ...], IntArray]  # exact tables by their columns, in rising order


@dataclass(frozen=True, slots=True)
class Search:
    """What is public about a search for parents: sizes, how many parents, and the noise of tables to come."""

    sizes: tuple[int, ...]
    parents: int
    noise_scale: Fraction

    def __post_init__(self) -> None:
        if len(self.sizes) < 2 or self.parents < 1:  # noqa: PLR2004  (nothing to choose)
            raise BadInput("A search needs two columns and one parent at least. Give more.")

    @property
    def steps(self) -> int:
        """How many choices are made: one for every column but the first."""
        return len(self.sizes) - 1

    @property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every table that the search may look at."""
        columns = range(len(self.sizes))
        every = (scope for size in range(2, self.parents + 2) for scope in combinations(columns, size))
        return tuple(scope for scope in every if self.fits(scope))

    def fits(self, scope: Sequence[int]) -> bool:
        """Whether a table is small enough; every two columns fit, or there would be no tree."""
        return len(scope) == 2 or prod(self.sizes[one] for one in scope) <= MOST_CELLS  # noqa: PLR2004

    def candidates(self, inside: Sequence[int]) -> tuple[Candidate, ...]:
        """List the columns that are left with every set of parents among those inside, in a public order."""
        return tuple(self._candidates(sorted(inside)))

    def _candidates(self, inside: Sequence[int]) -> Iterator[Candidate]:
        for column in range(len(self.sizes)):
            if column in inside:
                continue
            for size in range(1, min(self.parents, len(inside)) + 1):
                for parents in combinations(inside, size):
                    if self.fits((*parents, column)):
                        yield column, parents

    def utility(self, candidate: Candidate, counts: Counts) -> int:
        """Give the score of a candidate less what is public."""
        column, parents = candidate
        scope = tuple(sorted((column, *parents)))
        table = np.moveaxis(counts[scope], scope.index(column), -1).reshape(-1, self.sizes[column])
        cost = FINE * table.size * self.noise_scale
        return apartness(table) - int(cost.numerator // cost.denominator)

    def run(self, counts: Counts, choose: Callable[[list[int]], int]) -> Parents:
        """Add one column after another, the first column of the schema first."""
        found: dict[int, tuple[int, ...]] = {0: ()}
        for _ in range(self.steps):
            listed = self.candidates(list(found))
            column, parents = listed[choose([self.utility(one, counts) for one in listed])]
            found[column] = parents
        return tuple(found[column] for column in range(len(self.sizes)))


def apartness(table: IntArray) -> int:
    """Say how far rows and columns of a table of counts are from independent, in parts of 1/FINE.

    >>> apartness(np.array([[5, 0], [0, 5]])) / FINE, apartness(np.array([[4, 6], [4, 6]]))
    (10.0, 0)
    """
    total = int(table.sum())
    if not total:
        return 0
    exact = table if total <= MOST_ROWS else table.astype(object)  # of whole numbers that never overflow
    apart = np.multiply.outer(exact.sum(axis=1), exact.sum(axis=0))
    return FINE * int(np.abs(total * exact - apart).sum()) // total


def most_moved(schema: Schema) -> Fraction:
    """Bound how far a score moves when one unit changes, comes or goes; the module says why."""
    if schema.unit.by_column:
        return Fraction(4 * FINE + 1)
    return Fraction(6 * FINE * schema.unit.most_rows + 1)
