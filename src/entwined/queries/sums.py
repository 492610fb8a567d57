"""Totals, means and variances, from sums of fixed-point integers; totals and means may be weighted.

A total adds value / unit, where the unit divides the lowest value and the step: every row adds an integer.
Means and variances add the distance from the middle of the values that can be inside, to keep a row's part
small.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from entwined.errors import BadQuery
from entwined.queries.aggregates import CountOf, SumOf
from entwined.queries.axes import Term
from entwined.queries.conditions import is_missing
from entwined.queries.counts import COUNT, counted
from entwined.queries.diagram import Range
from entwined.queries.plain import PlainSum
from entwined.queries.predicate import Predicate
from entwined.queries.query import Answer, Field, Numbers, Query, Sampled, T, Titled
from entwined.queries.sensitivity import Sensitivity
from entwined.queries.shapes import Quotient, Shapes
from entwined.queries.statistic import Statistic
from entwined.queries.terms import (
    Scale,
    codes_inside,
    grid_of,
    grid_value,
    middle_term,
    moves,
    scale_of,
    total_term,
)
from entwined.queries.weighted import Weighable, sum_of
from entwined.schema import Moment, Schema

Counting: TypeAlias = Literal["noisy", "public"]
COUNTINGS: Final[tuple[Counting, ...]] = get_args(Counting)
FINENESS: Final = Fraction(1, 10**6)  # ratios are rounded to such parts of their column's step


@dataclass(frozen=True)
class _OfColumn(Query):
    """A query about the values of one column; rows where it is missing are outside."""

    column: str

    @property
    def values(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    @property
    def fields(self) -> dict[str, Field]:
        """The column."""
        return {"column": self.column}

    @property
    def unit(self) -> str:
        """The column."""
        return self.column

    @property
    def measured(self) -> str:
        """Values of the column."""
        return f"of {self.unit}"

    def apart(self, schema: Schema, low: Answer, high: Answer) -> float | None:
        """Give how far apart two values are; times in steps of the column."""
        column = schema.coded(self.column)
        if isinstance(column, Moment) and isinstance(low, datetime) and isinstance(high, datetime):
            return column.apart(low, high)
        return super().apart(schema, low, high)

    def _inside(self, schema: Schema) -> Predicate:
        return self.inside & is_missing(schema.coded(self.column)).false

    def _alone(self, row: Sensitivity) -> tuple[tuple[str, int], ...]:
        return ((self.column, int(row.both)),)

    def _codes(self, schema: Schema) -> tuple[Range, ...]:
        """Give the codes that rows inside can have; if there are none, any will do."""
        return codes_inside(self._inside(schema), self.column, schema)


@dataclass(frozen=True)
class _Summed(Weighable, _OfColumn):
    """A query that adds up what a column says, each row once or as often as its weight says."""

    @property
    def fields(self) -> dict[str, Field]:
        """The column and the weight."""
        return super().fields | self.by_weight

    def _inside(self, schema: Schema) -> Predicate:
        weight, inside = self.weighing(schema), super()._inside(schema)
        return inside if weight is None else weight.there(inside, schema)

    @property
    def sampled(self) -> Sampled:
        """The column over the rows inside."""
        return {"column": self.column, "where": self.where, "weight": self.weight}

    def _by_a_row(self, schema: Schema) -> Fraction:
        """Give the most that one row moves the sum by, whatever it held before."""
        row = self.statistics(schema)[0].row
        return max(row.one, row.both)

    def _added(self, term: Term, schema: Schema) -> Statistic:
        """Add up a term of the column over the rows inside."""
        weight = self.weighing(schema)
        return sum_of(term if weight is None else weight.times(term), self._inside(schema), schema)

    @property
    def words(self) -> str:
        """What is asked."""
        return super().words + self.weighted_by

    def subject(self, titled: Titled) -> str:
        """Say what is added up."""
        return super().subject(titled) + self.weighted_as(titled)


@dataclass(frozen=True)
class Total(_Summed):
    """The sum of a column's values over the rows inside, each perhaps times its row's weight."""

    kind: ClassVar[str] = "total"
    agrees: ClassVar[bool] = True

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        return (self._added(total_term(schema.coded(self.column))[0], schema),)

    @property
    def counts_all(self) -> bool:
        """Every row adds its value, if there is no condition and none lacks it."""
        return self.inside.is_everything

    def ends(self, schema: Schema) -> tuple[int, int]:
        """Give the least and the greatest of the values that can be inside, in the total's units."""
        term, codes = total_term(schema.coded(self.column))[0], self._codes(schema)
        return term.value(codes[0][0]), term.value(codes[-1][1])

    def step(self, schema: Schema) -> Fraction:
        """Give what one released integer stands for."""
        return total_term(schema.coded(self.column))[1] * super().step(schema)

    def plain(self, schema: Schema) -> PlainSum | None:
        """The sum of the column, if there is neither a condition nor a weight."""
        if self.weight is not None or not self.inside.is_everything:
            return None
        step, span = self.step(schema), self._by_a_row(schema)
        grain = total_term(schema.coded(self.column))[0].factor
        return PlainSum(self.column, step=step, unit=step, reads=self.columns, span=span, grain=grain)

    def answer(self, schema: Schema, numbers: Numbers) -> Fraction:
        """Give the sum in the column's own unit."""
        return numbers[0][0] * self.step(schema)

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """Every integer is a number of the total's units."""
        return shapes.lattice(self.step(schema))


@dataclass(frozen=True)
class Mean(_Summed):
    """The mean of a column's values over the rows inside, from a sum and a count, both noisy.

    Where every row is inside and the number of rows is public, `count="public"` divides by it instead; a
    missing value then counts as the middle of the column's range. A weighted mean divides by the noisy sum of weights.
    """

    count: Counting = "noisy"
    kind: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count not in COUNTINGS:
            raise BadQuery(f'A mean with count = {self.count!r}. Give "noisy" or "public".')
        if self.weight is not None and self.count == "public":
            raise BadQuery(
                f"The mean of {self.column!r} is weighted, and what weights add up to is not public. "
                'Give count = "noisy".'
            )

    @property
    def fields(self) -> dict[str, Field]:
        """The column and what the sum is divided by."""
        return super().fields | {"count": self.count}

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        grid_of(schema.coded(self.column), moments=True)
        added = self._added(middle_term(self.column, self._codes(schema)), schema)
        line = replace(
            added, agrees=self.weight is None
        )  # products are large, and nothing else is made of them
        if self.count == "public":
            self._check_public(schema)
            return (line,)
        return (line, counted(self._inside(schema), schema, self.weighing(schema)))

    def by_public_rows(self, schema: Schema) -> "Mean":
        """Divide by the public number of rows, where every row is inside."""
        if schema.rows is None or self.weight is not None or not self.bound(schema).inside.is_everything:
            return self
        return replace(self, count="public")

    def plain(self, schema: Schema) -> PlainSum | None:
        """The sum of the column, if it is divided by the public number of rows."""
        if self.count != "public":
            return None
        step = self._quotient(schema).step
        unit, span = step / max(schema.rows or 0, 1), self._by_a_row(schema)
        grain = middle_term(self.column, self._codes(schema)).factor
        return PlainSum(self.column, step=step, unit=unit, reads=self.columns, span=span, grain=grain)

    def _check_public(self, schema: Schema) -> None:
        if schema.rows is None or not self.inside.is_everything:
            raise BadQuery(
                f"The mean of {self.column!r} by a public count, but how many rows are inside is not public. "
                'Declare rows under neighbours = replace and ask without a condition, or count = "noisy".'
            )

    def answer(self, schema: Schema, numbers: Numbers) -> Fraction | datetime:
        """Give the mean, kept within the values that can be inside."""
        rows = schema.rows if self.count == "public" else numbers[1][0]
        found = self._quotient(schema)
        mean = Fraction(numbers[0][0], max(rows or 0, 1))
        return found.value(min(max(mean, Fraction(found.least)), Fraction(found.most)))

    def _quotient(self, schema: Schema) -> "Quotient[Fraction | datetime]":
        codes, column = self._codes(schema), schema.coded(self.column)
        term = middle_term(self.column, codes)
        step = grid_of(column, moments=True)[1] / term.factor

        def value(mean: Fraction) -> Fraction | datetime:
            return grid_value(column, (mean - term.offset) / term.factor)

        return Quotient(term.value(codes[0][0]), term.value(codes[-1][1]), step, value)

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """A sum over a count, or over a public number."""
        found = self._quotient(schema)
        if self.count == "public":
            return shapes.rising(found.step / max(schema.rows or 0, 1))
        return shapes.ratio(found)

    def grid(self, schema: Schema) -> Fraction | None:
        """Give millionths of the column's step; means of times lie on microseconds."""
        column = schema.coded(self.column)
        return None if isinstance(column, Moment) else grid_of(column)[1] * FINENESS

    def scale(self, schema: Schema) -> Scale:
        """Give the level of measurement of the column."""
        return scale_of(schema.coded(self.column))

    def needs_public_rows(self, schema: Schema) -> bool:  # noqa: ARG002
        """Say whether the sum is divided by the public number of rows."""
        return self.count == "public"


@dataclass(frozen=True)
class Variance(_OfColumn):
    """The variance of a column's values over the rows inside, from a sum, a sum of squares and a count."""

    kind: ClassVar[str] = "variance"

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        grid_of(schema.coded(self.column))
        inside, codes = self._inside(schema), self._codes(schema)
        term = middle_term(self.column, codes)
        square = Term(term.column, 2, term.factor, term.offset)
        line, curve = moves(term, codes), moves(square, codes)
        return (
            Statistic(SumOf(term, inside), line, self._alone(line)),
            Statistic(SumOf(square, inside), curve, self._alone(curve)),
            Statistic(CountOf(inside), COUNT),
        )

    def answer(self, schema: Schema, numbers: Numbers) -> Fraction:
        """Give the variance, kept between 0 and the largest that the range allows."""
        rows = max(numbers[2][0], 1)
        found = Fraction(numbers[1][0], rows) - Fraction(numbers[0][0], rows) ** 2
        quotient = self._quotient(schema)
        largest = Fraction(quotient.most - quotient.least, 2) ** 2
        return quotient.value(min(max(found, Fraction(0)), largest))

    def _quotient(self, schema: Schema) -> Quotient[Fraction]:
        codes = self._codes(schema)
        term = middle_term(self.column, codes)
        step = (grid_of(schema.coded(self.column))[1] / term.factor) ** 2
        return Quotient(
            term.value(codes[0][0]), term.value(codes[-1][1]), step, lambda variance: variance * step
        )

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """Squares over a count, less a squared mean."""
        return shapes.variance(self._quotient(schema))

    def grid(self, schema: Schema) -> Fraction:
        """Give millionths of the square of the column's step."""
        return grid_of(schema.coded(self.column))[1] ** 2 * FINENESS

    @property
    def unit(self) -> str:
        """The column, squared."""
        return f"{self.column} squared"
