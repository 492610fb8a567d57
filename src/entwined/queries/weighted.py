"""Survey weights: every row counts as many times as a column says, on the whole numbers of that column's grid.

A weight is part of its row, so a row moves a weighted count by up to the largest weight, and a weighted total by up to
the extremes of weight times value: sensitivities are in the weighted scale, and so are noise and results. A row
without a weight is outside. Under unit cells the column of weights is charged like any other that is read, unless the
schema says that it is public.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Self

from entwined.errors import BadQuery
from entwined.queries.aggregates import SumOf
from entwined.queries.axes import Term
from entwined.queries.conditions import is_missing
from entwined.queries.predicate import Predicate
from entwined.queries.query import Field, Query, Titled
from entwined.queries.statistic import Statistic
from entwined.queries.terms import grid_of, moves_alone, moves_inside, total_term
from entwined.schema import Numeric, Schema
from entwined.schema.raw import is_text
from entwined.schema.unit import ROW_SHARE

SCALED: Final = ", rows scaled to the bound"


@dataclass(frozen=True, slots=True)
class Weight:
    """What a row counts: so many units of a column of weights."""

    term: Term
    unit: Fraction

    @classmethod
    def of(cls, name: str, schema: Schema) -> "Weight":
        """Take a declared column of weights; refuse one whose values are no weights."""
        column = schema.coded(name)
        if not isinstance(column, Numeric) or column.origin < 0 or column.levels == 1:
            raise BadQuery(
                f"Column {name!r} is {column.kind}, and rows are weighted by it. Take an integer or real column whose "
                "range starts at 0 or above and has more than one value."
            )
        return cls(*total_term(column))

    @staticmethod
    def mean(name: str, schema: Schema) -> Fraction:
        """Give what rows weigh on average as far as is public: declared, else 1 if that can be, else half of the most.

        Weights of a survey are usually scaled to a mean of 1. Where they are larger, a plan that takes 1 promises too
        little.
        """
        column = schema.coded(name)
        low, step = grid_of(column)
        high = low + (column.levels - 1) * step
        declared = column.declared_mean
        return declared if declared is not None else Fraction(1) if low <= 1 <= high else (low + high) / 2

    def there(self, where: Predicate, schema: Schema) -> Predicate:
        """Leave rows without a weight out."""
        share = schema.unit.row_share
        if share is not None and self.term.column == share.name:  # every row has one
            return where
        return where & is_missing(schema.coded(self.term.column)).false

    def of_rows(self, where: Predicate, schema: Schema) -> Statistic:
        """Add up the weights of the rows inside."""
        return sum_of(self.term, self.there(where, schema), schema)

    def times(self, term: Term) -> Term:
        """Multiply what a row adds by its weight."""
        return replace(term, times=self.term)


@dataclass(frozen=True)
class Weighable(Query):
    """A question whose rows may be weighted by a column."""

    weight: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weight is None:
            return
        if not is_text(self.weight):
            raise BadQuery(f"A {self.kind} with weight = {self.weight!r:.60}. Give a column's name.")
        if self.weight in self.values:
            raise BadQuery(
                f"A {self.kind} of {self.weight!r} is weighted by the same column. Take another one."
            )

    def bound(self, schema: Schema) -> Self:
        """Give the question under this schema, weighted by what a row counts where rows are scaled."""
        found, share = super().bound(schema), schema.unit.row_share
        if share is None or found.weight == share.name:
            return found
        if found.weight is not None:
            raise BadQuery(
                f"A {self.kind} weighted by {self.weight!r}, and the rows of a {schema.unit.name} are scaled. Leave "
                'weight out, or declare beyond = "sample" in the schema\'s unit.'
            )
        return replace(found, weight=share.name)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, the weights too."""
        read = super().columns
        return read if self.weight is None else tuple(sorted({*read, self.weight}))

    @property
    def by_weight(self) -> dict[str, Field]:
        """The column of weights as a field, where there is one."""
        return {} if self.weight is None else {"weight": self.weight}

    @property
    def weighted_by(self) -> str:
        """Say what rows are weighted by, to follow what is asked."""
        if self.weight == ROW_SHARE.name:
            return SCALED
        return "" if self.weight is None else f", weighted by {self.weight}"

    def weighted_as(self, titled: Titled) -> str:
        """Say the same with the column called as told."""
        if self.weight == ROW_SHARE.name:
            return SCALED
        return "" if self.weight is None else f", weighted by {titled(self.weight)}"

    def weighing(self, schema: Schema) -> Weight | None:
        """Give what a row counts; none where it counts once."""
        return None if self.weight is None else Weight.of(self.weight, schema)

    def step(self, schema: Schema) -> int | Fraction:
        """Give what one released integer of rows stands for."""
        weight = self.weighing(schema)
        return 1 if weight is None else weight.unit


def sum_of(term: Term, where: Predicate, schema: Schema) -> Statistic:
    """Add up a term over rows inside, all of which have it."""
    return Statistic(SumOf(term, where), moves_inside(term, where, schema), moves_alone(term, where, schema))
