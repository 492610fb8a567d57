"""What the sampling error of a weighted answer is made of, released so that nothing of it is read from rows uncharged.

With u for a row's weight over the largest and a in [0, 1] for its value over the range, or for whether it is inside, a
row adds, to its stratum: 1, u(1−a) and u·a; and over all strata: 1, u²(1−a)², 2u²a(1−a) and u²a². From these follow the
sum and the sum of squares of w·(x(1−a) + y·a) for any x and y, and so the variance of every weighted count, total, mean
and share of these rows within strata. All numbers of a row are positive and add up to a constant at most.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from entwined.errors import BadQuery
from entwined.numbers import IntArray
from entwined.queries.axes import Axis
from entwined.queries.conditions import is_missing
from entwined.queries.counts import without_missing
from entwined.queries.folds import FoldOf
from entwined.queries.predicate import Predicate, everything
from entwined.queries.query import Field, Numbers, Query, T, Titled
from entwined.queries.rows import Marks, rows_inside
from entwined.queries.sensitivity import Sensitivity
from entwined.queries.shapes import Effective, Shapes
from entwined.queries.sides import axis_of
from entwined.queries.statistic import Statistic
from entwined.queries.terms import codes_inside, grid_of
from entwined.queries.weighted import Weighable, Weight
from entwined.queries.where import Where, settled
from entwined.schema import Schema

FINE: Final = 2**15  # what 1 is written as among the squares
COARSE: Final = FINE // 4  # and among the rest: squares are what the variance is least known by
OF_A_STRATUM: Final = 3
OVER_ALL: Final = 4
TOGETHER: Final = 3 * COARSE + FINE + 1  # rounding may add one
LARGEST: Final = 2**46  # times FINE it still fits
GRID: Final = Fraction(1, 100)


@dataclass(frozen=True)
class Sampling(Weighable):
    """How many rows of equal weight would tell as much: (Σw)² / Σw², and what the sampling error is made of.

    With a column, it is about the rows inside `where` that have a value there: for a total or a mean. Without one,
    about the rows `of`, all if it is left out, and whether they are inside `where`: for a count or a share. Rows of
    different `strata` were drawn apart; without strata all are taken to have been drawn together. If by
    design all rows of a stratum have the same weight, and each has a value, say `even`: what they weigh together is
    then no part of the error.
    """

    column: str | None = None
    strata: str | None = None
    even: bool = False
    of: Where = field(default_factory=everything, kw_only=True)
    kind: ClassVar[str] = "sampling"
    conditions: ClassVar[tuple[str, ...]] = ("where", "of")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weight is None:
            raise BadQuery("The sampling error of what is not weighted. Give weight, the column of weights.")
        if not isinstance(self.even, bool):
            raise BadQuery(f"A sampling error with even = {self.even!r:.60}. Give true or false.")
        if self.strata is not None and self.strata in (self.column, self.weight):
            raise BadQuery(
                f"The strata are those of {self.strata!r}, which is asked about. Take another one."
            )

    @classmethod
    def behind(cls, query: Query, strata: str | None = None, *, even: bool = False) -> "Sampling":
        """Ask for what the sampling error of a weighted count, total, mean or share is made of."""
        return cls(strata=strata, even=even, **query.sampled)

    @property
    def values(self) -> tuple[str, ...]:
        """The column and the strata."""
        return tuple(name for name in (self.column, self.strata) if name is not None)

    @property
    def fields(self) -> dict[str, Field]:
        """The column, the strata, whether they are even, and the weight."""
        return {"column": self.column, "strata": self.strata, "even": self.even, **self.by_weight}

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        if self.column is not None and not settled(self.of).is_everything:
            raise BadQuery("The sampling error of a column is of the rows inside. Leave `of` out.")
        adding = _Adding.of(self, schema)
        if adding.about.is_empty:
            raise BadQuery("sampling: no row can be inside its condition. Ask about values that can be.")
        size = OF_A_STRATUM * adding.strata + OVER_ALL
        most = (*([COARSE] * (size - 3)), FINE, FINE, FINE)
        fold = FoldOf(adding.columns, (0,) * size, most, adding, adding.drawn, TOGETHER)
        alone = tuple((name, int(fold.row.both)) for name in adding.columns)
        return (Statistic(fold, fold.row, alone, agrees=False, concentration=_concentration(fold.row)),)

    def answer(self, schema: Schema, numbers: Numbers) -> Fraction:
        """Give the effective number of rows, kept between 0 and the most there can be."""
        return self._effective(schema).value(*self._effective(schema).sums(numbers[0]))

    def _effective(self, schema: Schema) -> Effective:
        strata = _strata(self, schema)
        weights = [OF_A_STRATUM * at + which for at in range(strata) for which in (1, 2)]
        squares = [OF_A_STRATUM * strata + which for which in (1, 2, 3)]
        return Effective(
            tuple(weights), tuple(squares), Fraction(FINE, COARSE**2), Fraction(schema.rows_at_most)
        )

    def largest_weight(self, schema: Schema) -> int:
        """Give the largest weight that a row asked about can have, in the weights' units."""
        return _Adding.of(self, schema).largest

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """A square of sums over a sum."""
        return shapes.effective(self._effective(schema))

    def grid(self, schema: Schema) -> Fraction:  # noqa: ARG002  (every query is asked the same way)
        """Give hundredths of a row."""
        return GRID

    @property
    def unit(self) -> str:
        """What the answer is."""
        return "effective rows"

    @property
    def words(self) -> str:
        """What is asked."""
        strata = f" in strata of {self.strata}" if self.strata else ""
        return f"sampling error{f' of {self.column}' if self.column else ''}{self.weighted_by}{strata}"

    def subject(self, titled: Titled) -> str:
        """Say what it counts, and for what."""
        strata = f", drawn by {titled(self.strata)}" if self.strata else ""
        of = f" of {titled(self.column)}" if self.column else ""
        return f"Effective number of rows{of}{self.weighted_as(titled)}{strata}"


def _concentration(row: Sensitivity) -> Sensitivity:
    """Bound squared L2 changes: a row adds at most COARSE in three places, and in the last three FINE and one together.

    Of two rows these are in different places at worst, but for the number of rows asked about.
    """
    one = 3 * COARSE**2 + (FINE + 1) ** 2
    both = 5 * COARSE**2 + 2 * (FINE + 1) ** 2
    return Sensitivity(one / row.one**2, both / row.both**2)


def _strata(query: Sampling, schema: Schema) -> int:
    return 1 if query.strata is None else axis_of(schema.coded(query.strata)).cells


@dataclass(frozen=True, eq=False)
class _Adding:
    """What each row adds, as a function of its codes."""

    columns: tuple[str, ...]
    drawn: Predicate
    about: Predicate
    inside: Predicate | None
    weight: Weight
    largest: int
    value: str | None
    ends: tuple[int, int]
    axis: Axis | None

    @classmethod
    def of(cls, query: Sampling, schema: Schema) -> "_Adding":
        """Take what is public about a query."""
        weight = Weight.of(str(query.weight), schema)
        axis = None if query.strata is None else axis_of(schema.coded(query.strata))
        dropped = () if axis is None or axis.keeps_missing else (axis.column,)
        about = weight.there(settled(query.of) if query.column is None else query.inside, schema)
        ends = 0, 1
        if query.column is not None:
            grid_of(schema.coded(query.column))
            about &= is_missing(schema.coded(query.column)).false
            codes = codes_inside(about, query.column, schema)
            ends = codes[0][0], codes[-1][1]
        largest = weight.term.value(codes_inside(about, weight.term.column, schema)[-1][1])
        if max(largest, ends[1]) > LARGEST:
            raise BadQuery(
                f"The sampling error{query.weighted_by}: a weight or value has more than 2^46 steps. "
                "Take a coarser step."
            )
        return cls(
            query.columns,
            without_missing(iter(dropped), everything(), schema),
            about,
            query.inside if query.column is None else None,
            weight,
            max(largest, 1),
            query.column,
            ends,
            axis,
        )

    @property
    def strata(self) -> int:
        """How many strata there are, missing ones included where they are kept."""
        return 1 if self.axis is None else self.axis.cells

    def __call__(self, codes: IntArray) -> IntArray:
        """Give rows × numbers."""
        given = dict(zip(self.columns, codes.T, strict=True))
        about = rows_inside(self.about, given, len(codes))
        high = np.where(about, self._share(given, about), 0)
        u = np.where(about, self._weights(given), 0)
        first, second = _rounded(u, FINE // COARSE), _rounded(u * high, FINE**2 // COARSE)
        squares = _rounded(u * u, FINE)
        low_square, high_square = (_rounded(u * u * side * side, FINE**3) for side in (FINE - high, high))
        between = np.maximum(squares - low_square - high_square, 0)
        found = np.zeros((len(codes), OF_A_STRATUM * self.strata + OVER_ALL), np.int64)
        rows, place = np.arange(len(codes)), OF_A_STRATUM * self._stratum(given, len(codes))
        for at, number in enumerate((np.full(len(codes), COARSE), first - second, second)):
            found[rows, place + at] = number
        found[:, -OVER_ALL:] = np.stack([COARSE * about, low_square, between, high_square], axis=1)
        return found

    def _weights(self, given: Mapping[str, IntArray]) -> IntArray:
        term = self.weight.term
        exact = np.minimum(term.factor * given[term.column] + term.offset, self.largest)
        return _rounded(np.maximum(exact, 0) * FINE, self.largest)

    def _share(self, given: Mapping[str, IntArray], about: Marks) -> IntArray:
        """Say how far up its range a value is, or whether a row is inside, FINE for all the way."""
        if self.value is None or self.inside is not None:
            within = rows_inside(self.inside or everything(), given, len(about))
            return np.where(within, FINE, 0)
        low, high = self.ends
        return _rounded(np.clip(given[self.value] - low, 0, high - low) * FINE, max(high - low, 1))

    def _stratum(self, given: Mapping[str, IntArray], rows: int) -> IntArray:
        if self.axis is None:
            return np.zeros(rows, np.int64)
        return np.minimum(given[self.axis.column], self.axis.cells - 1)


def _rounded(numbers: IntArray, by: int) -> IntArray:
    """Divide whole numbers that are not negative, to the nearest, halves up."""
    return np.asarray((numbers + by // 2) // by)
