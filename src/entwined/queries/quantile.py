"""Quantiles: a value of the public grid is picked by how near its rank is; no sum is released."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, NoReturn

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.numbers import FloatArray, IntArray
from entwined.queries.aggregates import TableOf
from entwined.queries.axes import Axis
from entwined.queries.conditions import is_missing
from entwined.queries.query import TOO_LARGE, Answer, Field, Numbers, Query, T, Titled
from entwined.queries.sensitivity import Sensitivity
from entwined.queries.shapes import Shapes
from entwined.queries.statistic import Statistic
from entwined.schema import Ordered, Schema
from entwined.schema.exact import exact_number

FINEST: Final = 10_000
NAMES: Final = {Fraction(1, 2): "median"}
TITLES: Final = {Fraction(1, 2): "Median"}
EXTREMES: Final = {Fraction(0): "minimum", Fraction(1): "maximum"}
INSTEAD: Final = {"minimum": "0.05", "maximum": "0.95"}


def refuse_extreme(name: str, column: str) -> NoReturn:
    """Refuse the minimum or the maximum of a column, and say which quantile to ask for."""
    raise BadQuery(
        f"The {name} of {column!r:.60} is the value of one row, which noise has to hide. "
        f"Ask for a quantile such as {INSTEAD[name]}; its rank interval says how near it is."
    )


@dataclass(frozen=True, slots=True)
class Nearness:
    """Scores codes by how near their ranks are to that of a share `at` of the rows."""

    at: Fraction

    @property
    def of_a_rank(self) -> int:
        """Scores are counted in parts of a rank, so that they are integers."""
        return 2 * self.at.denominator

    @property
    def tail(self) -> Fraction:
        """The share of rows on the lesser side of the quantile."""
        return min(self.at, 1 - self.at)

    def scores(self, counts: Sequence[int] | IntArray) -> IntArray:
        """Score every code by the exact counts of the codes; 0 is best."""
        at_most = np.cumsum(np.asarray(counts, dtype=np.int64))
        below = at_most - np.asarray(counts, dtype=np.int64)
        over, under = self.at.numerator, self.at.denominator
        wanted = 2 * over * (int(at_most[-1]) - 1) + under
        far = np.maximum(2 * under * below - wanted, wanted - 2 * under * at_most)
        return -np.maximum(far, 0)

    def ranks_off(self, counts: FloatArray) -> FloatArray:
        """Give how far the ranks of each code are from the one wanted if these were the counts."""
        at_most = np.cumsum(counts)
        wanted = float(self.at) * (at_most[-1] - 1) + 0.5
        far = np.maximum(at_most - counts - wanted, wanted - at_most)
        return np.asarray(np.maximum(far, 0.0))


@dataclass(frozen=True)
class Quantile(Query):
    """The value below which a share `at` of the rows inside lie, 1/2 for the median; extremes are refused.

    The score of a value v is −distance of the wanted rank at·(n−1) + 1/2 from the ranks that v takes, the
    interval from #(x < v) to #(x ≤ v); all of it times 2b for `at` = a/b, so that scores are integers.
    A row that enters moves n by 1 and each end of the interval by 0 or 1: the score moves by at most
    2·max(a, b − a). A row that changes moves the ends only, by at most 1: 2b.
    """

    column: str
    at: Fraction
    kind: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        super().__post_init__()
        share = exact_number(self.at)
        if share is None or not 0 <= share <= 1 or share.denominator > FINEST:
            raise BadQuery(
                f"A quantile at {self.at!r}. Give a share from 0 to 1 in whole parts of {FINEST:,}."
            )
        if share in EXTREMES:
            refuse_extreme(EXTREMES[share], self.column)
        object.__setattr__(self, "at", share)

    @property
    def values(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    @property
    def fields(self) -> dict[str, Field]:
        """The column and the share."""
        return {"column": self.column, "at": str(self.at)}

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        column = schema.coded(self.column)
        if not isinstance(column, Ordered):
            raise BadQuery(
                f"Column {self.column!r} is {column.kind}: it has no order. Take numbers or times."
            )
        over, under = self.at.numerator, self.at.denominator
        if 2 * under * schema.most_rows >= TOO_LARGE:
            raise QueryTooComplex(
                f"Ranks at {self.at} over {schema.most_rows:,} rows pass 2^63. Lower most_rows."
            )
        inside = self.inside & is_missing(column).false
        ranges = inside.codes(self.column, column.size)
        moving = len(ranges) > 1 or any(low < high for low, high in ranges)
        row = Sensitivity(Fraction(2 * max(over, under - over)), Fraction(2 * under if moving else 0))
        asked = TableOf((Axis(self.column, column.levels, 1, keeps_missing=False),), inside)
        return (Statistic(asked, row, ((self.column, int(row.both)),), Nearness(self.at)),)

    def scores(self, counts: Sequence[int] | IntArray) -> IntArray:
        """Score every code by the exact counts of the codes; 0 is best."""
        return Nearness(self.at).scores(counts)

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """A code that is chosen by its rank."""
        return shapes.choice(Nearness(self.at), schema.coded(self.column).levels)

    @property
    def unit(self) -> str:
        """The column."""
        return self.column

    @property
    def measured(self) -> str:
        """Ranks: nothing is said of distances between values."""
        return "ranks"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{NAMES.get(self.at, f'{float(self.at):g} quantile')} of {self.column}"

    def subject(self, titled: Titled) -> str:
        """Say which value it is."""
        return f"{TITLES.get(self.at, f'Quantile at {self.at}')} of {titled(self.column)}"

    def answer(self, schema: Schema, numbers: Numbers) -> Answer:
        """Give the value of the code that was picked."""
        return schema.coded(self.column).value(numbers[0][0])  # type: ignore[return-value]  # an ordered column's


@dataclass(frozen=True)
class Median(Quantile):
    """The middle value."""

    at: Fraction = Fraction(1, 2)
