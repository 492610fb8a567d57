"""One exact integer answer with its sensitivity: a query is made of a few of them."""

from dataclasses import dataclass
from fractions import Fraction

from entwined.queries.aggregates import Aggregate
from entwined.queries.sensitivity import Part, Sensitivity
from entwined.schema import Schema


@dataclass(frozen=True, slots=True)
class Statistic:
    """Integers that an engine gives, and how far one row can move them.

    `alone` says how far when only the code of one column changes and the row stays inside; `share` is this
    statistic's part of the query's loss. With `selects` the integers are not released: one of their places is
    picked by scores that move by at most the sensitivity each; picking by score / scale costs
    2 · change / scale.
    """

    aggregate: Aggregate
    row: Sensitivity
    alone: tuple[tuple[str, int], ...] = ()
    share: Fraction = Fraction(1)
    selects: bool = False

    def sensitivity(self, schema: Schema) -> Sensitivity:
        """Give the change that one unit of at most k rows can make."""
        return self.row * schema.unit.most_rows

    def parts(self, schema: Schema) -> tuple[Part, ...]:
        """Say where the loss falls: on the rows inside, or on each column that is read, one part a column.

        Changing a cell moves its row in or out only if the condition reads its column.
        """
        where, change = self.aggregate.where, self.sensitivity(schema)
        if not schema.unit.by_column:
            return (Part(where, change),)
        stays = {column: Fraction(moved) for column, moved in self.alone if moved}
        leaves = dict.fromkeys(where.columns, change.one)
        none = Fraction(0)
        return tuple(
            Part(where, Sensitivity(leaves.get(column, none), stays.get(column, none)), column)
            for column in sorted(stays.keys() | leaves.keys())
        )

    def worst(self, schema: Schema) -> Fraction:
        """Give the largest change between neighbouring tables; noise is scaled by it."""
        return max((part.worst(schema) for part in self.parts(schema)), default=Fraction(0))
