"""One exact integer answer with its sensitivity: a query is made of a few of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from entwined.errors import BadQuery
from entwined.numbers import FloatArray, IntArray
from entwined.queries.aggregates import Aggregate
from entwined.queries.sensitivity import Reach, Sensitivity
from entwined.schema import Schema

NOT_SCALED: Final = (
    "The schema scales the rows of a {unit} with many, and this cannot be weighted. Ask for counts, totals, means or "
    'shares, or declare beyond = "sample" in the schema\'s unit.'
)


class Scores(Protocol):
    """How the places of a statistic are scored where one of them is chosen; two alike are equal."""

    @property
    def of_a_rank(self) -> int:
        """By how much a score falls for each rank that its place is off."""

    @property
    def tail(self) -> Fraction:
        """The share of rows on the lesser side of the place that is sought."""

    def scores(self, counts: Sequence[int] | IntArray) -> IntArray:
        """Score every place by the exact integers; 0 is best."""

    def ranks_off(self, counts: FloatArray) -> FloatArray:
        """Give how many ranks each place would be off if these were the integers."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """Integers that an engine gives, and how far one row can move them.

    `alone` says how far when only the code of one column changes and the row stays inside. With a `choice` the
    integers are not released: one of their places is chosen by scores that move by at most the sensitivity
    each; choosing by score / scale costs 2 · change / scale. `concentration` is what the squared L2 change is of
    the square of the L1 change at most: 1, if all of it may fall on one integer. Counts and sums that `agrees` marks
    are made to agree with others about the same rows. Rows of cells whose weight in a `filling` is 0 are moved to
    others by draws before noise is added.
    """

    aggregate: Aggregate
    row: Sensitivity
    alone: tuple[tuple[str, int], ...] = ()
    choice: Scores | None = None
    agrees: bool = True
    concentration: Sensitivity = Sensitivity(Fraction(1), Fraction(1))  # noqa: RUF009  (a frozen value)
    filling: tuple[int, ...] = ()

    @property
    def selects(self) -> bool:
        """Whether one place is chosen and no integer released."""
        return self.choice is not None

    def sensitivity(self, schema: Schema) -> Sensitivity:
        """Give the change that one unit of at most k rows can make; some statistics know it of whole units."""
        share = schema.unit.row_share
        if share is not None and not self.aggregate.is_weighted_by(share.name):
            raise BadQuery(NOT_SCALED.format(unit=schema.unit.name))
        return self.row if self.aggregate.of_units else self.row * schema.unit.most_rows

    def squared(self, moved: Sensitivity) -> Sensitivity:
        """Give the squared L2 change where this is the L1 change."""
        one, both = self.concentration.one, self.concentration.both
        return Sensitivity(moved.one**2 * one, moved.both**2 * both)

    def parts(self, schema: Schema) -> tuple[Reach, ...]:
        """Say where the loss falls: on the rows inside, or on each column that is read, one part a column.

        Changing a cell moves its row in or out only if the condition reads its column. Public cells do not change.
        """
        where, change = self.aggregate.where, self.sensitivity(schema)
        if not schema.unit.by_column:
            return (Reach(where, change),)
        stays = {column: Fraction(moved) for column, moved in self.alone if moved}
        leaves = dict.fromkeys(where.columns, change.one)
        none = Fraction(0)
        return tuple(
            Reach(
                where,
                Sensitivity(leaves.get(column, none), stays.get(column, none)),
                column,
                filling=self.filling,
            )
            for column in sorted(stays.keys() | leaves.keys())
            if not schema.coded(column).public
        )

    def follows(self, column: str, schema: Schema) -> bool:
        """Whether it moves in proportion to the distance of a row's values in a column, whatever else the row says.

        So do the sum of the column over all rows that have a value, and the number of these, which does not move.
        """
        asked, coded = self.aggregate, schema.coded(column)
        if self.choice is not None or self.filling or asked.sides or not asked.reads <= {column}:
            return False
        every = asked.where.codes(column, coded.size) == ((0, coded.levels - 1),)
        if asked.adds is None:
            return not asked.values and (every or asked.where.is_everything)
        return every and asked.adds.power == 1 and asked.adds.times is None

    def worst(self, schema: Schema) -> Fraction:
        """Give the largest change between neighbouring tables; noise is scaled by it."""
        return max((part.worst(schema) for part in self.parts(schema)), default=Fraction(0))
