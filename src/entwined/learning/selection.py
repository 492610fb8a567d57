"""Choose parents with a budget: the exponential mechanism on a score that no row moves by much.

The score of parents Π for a column X in a table of n rows is how far the two are from independent,

    U(X; Π) = Σ over values x and joint values π of |n · N(x, π) − N(x) · N(π)|,

less a public figure for the noise that a table of this size would get. It is an integer between 0 and 2n².

Why it moves little. Let a row be replaced, so that n stays. N(x, π) moves by one in two cells: n · N moves by 2n
in all. Write the change of N(x) as d(x) and that of N(π) as e(π): N'(x) N'(π) − N(x) N(π) = d(x) N(π) + N'(x) e(π),
whose sum is at most n Σ|d| + n Σ|e|, and both sums are at most 2. So U moves by at most 2n + 4n = 6n. If only the
answer in one column changes, that column is X or one of Π, so that d or e is zero: at most 2n + 2n = 4n; if it is
neither, U does not move.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import BadInput, Refused
from entwined.learning.structure import Parents
from entwined.noise import ExponentialChoice
from entwined.numbers import IntArray
from entwined.schema import Cells, Person, Schema

MOST_ROWS: Final = 10**9  # 2n² is then below 2⁶¹
MOST_CELLS: Final = 100_000  # of one table

Candidate: TypeAlias = tuple[int, tuple[int, ...]]  # a column and its parents
Counts: TypeAlias = Mapping[tuple[int, ...], IntArray]  # exact tables by their columns, in rising order


@dataclass(frozen=True, slots=True)
class Search:
    """What is public about a search for parents: sizes, rows, how many parents, and the noise of tables to come."""

    sizes: tuple[int, ...]
    rows: int
    parents: int
    noise_scale: Fraction
    choice: ExponentialChoice

    def __post_init__(self) -> None:
        if len(self.sizes) < 2 or self.parents < 1:  # noqa: PLR2004  (nothing to choose)
            raise BadInput("A search needs two columns and one parent at least. Give more.")
        if not 1 <= self.rows <= MOST_ROWS:
            raise BadInput(f"A search in {self.rows:,} rows. Give from 1 to {MOST_ROWS:,}.")

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
        cost = self.rows * table.size * self.noise_scale
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
    """U: how far rows and columns of a table of counts are from independent.

    >>> apartness(np.array([[5, 0], [0, 5]])), apartness(np.array([[4, 6], [4, 6]]))
    (100, 0)
    """
    total = int(table.sum())
    apart = np.multiply.outer(table.sum(axis=1), table.sum(axis=0))
    return int(np.abs(total * table - apart).sum())


def most_moved(schema: Schema) -> Fraction:
    """Bound how far a score moves between neighbouring tables; the module says why."""
    rows = public_rows(schema)
    return Fraction(4 * rows if isinstance(schema.unit, Cells) else 6 * rows)


def public_rows(schema: Schema) -> int:
    """Give the public number of rows; scores need one that no neighbour changes."""
    if schema.rows is None or schema.neighbours != "replace" or isinstance(schema.unit, Person):
        raise Refused(
            "Learning with a budget scores tables by a number of rows that is public and the same for all "
            "neighbours. Declare rows, neighbours = replace, and protect rows or cells."
        )
    return schema.rows
