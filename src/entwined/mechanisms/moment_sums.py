"""Sums of columns of numbers and of their products two by two, in whole numbers from the middle of each column."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from entwined.queries import Statistic, Term, is_missing
from entwined.queries.terms import grid_of, middle_term
from entwined.queries.weighted import sum_of
from entwined.schema import Schema


@dataclass(frozen=True, slots=True)
class MomentSums:
    """The columns, in order; a missing value counts as the middle of its column, and so adds nothing to any sum."""

    schema: Schema
    columns: tuple[str, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """What rows add to the sum of each column."""
        found = []
        for name in self.columns:
            column = self.schema.coded(name)
            grid_of(column)
            found.append(middle_term(name, ((0, column.levels - 1),)))
        return tuple(found)

    @property
    def steps(self) -> list[Fraction]:
        """What one whole number of each column stands for."""
        return [grid_of(self.schema.coded(one.column))[1] / one.factor for one in self.terms]

    @property
    def sizes(self) -> list[int]:
        """How many whole numbers there are from the first value of each column to its last."""
        return [term.factor * (self.schema.coded(term.column).levels - 1) for term in self.terms]

    @property
    def centres(self) -> list[Fraction]:
        """The values that whole numbers are counted from."""
        found = []
        for term in self.terms:
            origin, step = grid_of(self.schema.coded(term.column))
            found.append(origin - step * Fraction(term.offset, term.factor))
        return found

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Which two columns each product is of, in the order of the sums."""
        return [(at, other) for at in range(len(self.columns)) for other in (at, *range(at))]

    @property
    def statistics(self) -> list[Statistic]:
        """One sum a column, and then one a pair."""
        terms, schema = self.terms, self.schema
        there = [is_missing(schema.coded(one.column)).false for one in terms]
        found = [sum_of(term, inside, schema) for term, inside in zip(terms, there, strict=True)]
        for at, other in self.pairs:
            term = terms[at]
            product = (
                Term(term.column, 2, term.factor, term.offset)
                if at == other
                else Term(term.column, 1, term.factor, term.offset, terms[other])
            )
            found.append(sum_of(product, there[at] if at == other else there[at] & there[other], schema))
        return found

    def told(self, numbers: Sequence[int]) -> tuple[list[int], dict[tuple[int, int], int]]:
        """Tell the sums of columns and those of pairs apart."""
        first = list(numbers[: len(self.columns)])
        return first, dict(zip(self.pairs, numbers[len(self.columns) :], strict=True))
