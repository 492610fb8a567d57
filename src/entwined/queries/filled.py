"""Histograms whose blanks are filled by draws: who was not asked is counted with an answer that chance gave.

Blanks tell a respondent's form. A blank that is filled by the law of the answers does not, so that the form costs
nothing here; the number of those who were asked and gave an answer is worked out from the form's own histogram.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from entwined.errors import BadQuery
from entwined.queries.axes import Axis
from entwined.queries.counts import CellValue, labels, table_of
from entwined.queries.predicate import everything
from entwined.queries.query import Field, Numbers, Query, T, Titled
from entwined.queries.shapes import Shapes
from entwined.queries.statistic import Statistic
from entwined.schema import Schema
from entwined.schema.raw import is_whole

LARGEST_SUM: Final = 2**53
FEWEST: Final = 2  # answers


@dataclass(frozen=True)
class FilledHistogram(Query):
    """How many rows have every value of a column, where those of a blank are filled by draws.

    `weights` are whole numbers, one a value and the last for missing: a draw gives a value with a chance in proportion
    to its weight. A value without a weight is a blank, and its rows are counted where their draws fell.
    """

    column: str
    weights: tuple[int, ...]
    kind: ClassVar[str] = "filled_histogram"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", tuple(self.weights))
        if not all(is_whole(weight) and weight >= 0 for weight in self.weights):
            raise BadQuery(
                "A filled histogram has weights that are no whole numbers. Give one from 0 a value."
            )
        there = [weight for weight in self.weights if weight]
        if len(there) < FEWEST or len(there) == len(self.weights) or sum(there) > LARGEST_SUM:
            raise BadQuery(
                "A filled histogram needs a blank, whose weight is 0, and two answers with weights above 0, which add "
                "up to 2^53 at most. Give such weights, or ask for a histogram."
            )

    @property
    def values(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    @property
    def fields(self) -> dict[str, Field]:
        """The column and the weights."""
        return {"column": self.column, "weights": list(self.weights)}

    def axes(self, schema: Schema) -> tuple[Axis, ...]:
        """Give the one side of the table; missing has a cell, also if it is a blank."""
        column = schema.coded(self.column)
        return (Axis(column.name, column.levels),)

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        column = schema.coded(self.column)
        if len(self.weights) != column.size:
            raise BadQuery(
                f"A filled histogram of {self.column!r} has {len(self.weights)} weights, and the column has "
                f"{column.levels} values and missing. Give {column.size}."
            )
        if self.inside != everything():
            raise BadQuery(
                "A filled histogram has a condition. Leave it out: who was not asked is filled in."
            )
        if not schema.unit.by_column:
            raise BadQuery(
                "Blanks are filled to hide who had which form, and the unit of protection here is no single answer. "
                "Ask for a histogram."
            )
        return (
            replace(table_of(self.axes(schema), self.inside, schema), filling=self.weights, agrees=False),
        )

    def answer(self, schema: Schema, numbers: Numbers) -> tuple[int, ...]:  # noqa: ARG002  (every query is asked the same way)
        """Give the counts, filled ones among them."""
        return tuple(numbers[0])

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:  # noqa: ARG002
        """Every integer is a number of rows."""
        return shapes.lattice(1)

    def labels(self, schema: Schema) -> Iterator[tuple[CellValue, ...]]:
        """Name the cells in their order."""
        return labels(self.axes(schema), schema)

    @property
    def unit(self) -> str:
        """Rows, some of which were filled."""
        return "rows, blanks filled by draws"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"histogram of {self.column}, blanks filled by draws"

    def subject(self, titled: Titled) -> str:
        """Say what is counted."""
        return f"Number of rows for each value of {titled(self.column)}, blanks filled by draws"
