"""How an answer is made of released integers: all that whoever works out its error has to know.

A query tells its shape to `Shapes` (`Query.shape`), which says what follows for each: an interval, a forecast.
So a new query of a known shape has both at once, and nobody asks which query it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Generic, Protocol, TypeAlias, TypeVar

from entwined.queries.statistic import Scores

Number: TypeAlias = int | Fraction | datetime
N_co = TypeVar("N_co", bound=int | Fraction | datetime, covariant=True)
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Quotient(Generic[N_co]):
    """A sum over a count, or a variance: the sum is of integers from `least` to `most`, one a row inside.

    `step` is what 1 is worth in the answer's own unit, `value` the answer that a quotient stands for.
    """

    least: int
    most: int
    step: Fraction
    value: Callable[[Fraction], N_co]


@dataclass(frozen=True, slots=True)
class Effective:
    """An effective number of rows: `step` times the square of a sum of released integers over another sum of them."""

    weights: tuple[int, ...]
    squares: tuple[int, ...]
    step: Fraction
    most: Fraction

    def sums(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Add up the integers of both sums."""
        weights, squares = (sum(numbers[at] for at in places) for places in (self.weights, self.squares))
        return weights, squares

    def value(self, weights: int | Fraction, squares: int | Fraction) -> Fraction:
        """Give the number of rows that two sums stand for, kept between 0 and the most."""
        if squares <= 0:
            return self.most
        return min(Fraction(max(weights, 0)) ** 2 * self.step / Fraction(squares), self.most)


class Shapes(Protocol[T_co]):
    """What follows from each way of making an answer of the released integers of a query's statistics."""

    def lattice(self, step: int | Fraction) -> T_co:
        """Every number of the answer is a released integer times a step."""

    def rising(self, step: Fraction) -> T_co:
        """The answer rises with the one released integer, by at most a step for each."""

    def ratio(self, quotient: Quotient[Number]) -> T_co:
        """The answer is a released sum over a released count."""

    def variance(self, quotient: Quotient[Number]) -> T_co:
        """The answer is a variance, of a released sum, a sum of squares and a count."""

    def share(self) -> T_co:
        """The answer is a / (a + b) of two released counts of rows, none of which is in both."""

    def effective(self, effective: Effective) -> T_co:
        """The answer is an effective number of rows, from sums of the integers of one statistic."""

    def choice(self, choice: Scores, candidates: int) -> T_co:
        """The answer is the place that was chosen by its score."""
