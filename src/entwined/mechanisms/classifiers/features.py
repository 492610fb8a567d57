"""What a linear model sees of a row: a vector that is a public function of the row's codes, of L2 norm at most 1.

Every category and truth value is one-hot, missing as a level of its own. A number lies between −1 and 1 as it does
between its declared bounds, and counts as 0, the middle, where it is missing. There is one more feature for the
intercept. So at most K = columns + 1 entries of a row are not 0, each within ±1; all are divided by √K.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final, Self

import numpy as np

from entwined.errors import BadQuery
from entwined.numbers import Codes, FloatArray
from entwined.queries import parse
from entwined.queries.diagram import Range
from entwined.schema import Coded, Ordered, Schema

MOST_FEATURES: Final = 4096
INTERCEPT: Final = "intercept"
TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Features:
    """The columns that are looked at, the column that holds the label, and the codes of it that count as 1."""

    columns: tuple[Coded, ...]
    label: Coded
    positive: tuple[Range, ...]
    blocks: tuple[tuple[int, int], ...] = field(init=False, compare=False, repr=False)
    numeric: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """See where the features of each column begin and end, and which columns are numbers, without levels.

        The intercept is the first of all features.
        """
        ends = accumulate(map(_width, self.columns), initial=1)
        numeric = (at for at, column in enumerate(self.columns) if isinstance(column, Ordered))
        object.__setattr__(self, "blocks", tuple(pairwise(ends)))
        object.__setattr__(self, "numeric", tuple(numeric))

    @classmethod
    def of(cls, schema: Schema, label: str, columns: tuple[str, ...] | None) -> Self:
        """Read the label, a column of two values or a condition on one column; all other columns unless named."""
        target, positive = _label(schema, label)
        if columns is None:
            columns = tuple(one.name for one in schema.columns if isinstance(one, Coded) and one != target)
        if not columns or len(set(columns)) < len(columns) or target.name in columns:
            raise BadQuery(
                f"The features are the columns {list(columns)}, the label is in {target.name!r}. Name at least one "
                "column beside that of the label, each once."
            )
        found = cls(tuple(schema.coded(name) for name in columns), target, positive)
        if found.size > MOST_FEATURES:
            raise BadQuery(
                f"The columns have {found.size:,} features, one a level. Name columns of at most {MOST_FEATURES:,}."
            )
        return found

    @property
    def read(self) -> tuple[str, ...]:
        """The columns in the order in which a fold is given their codes: the label comes last."""
        return (*(column.name for column in self.columns), self.label.name)

    @property
    def entries(self) -> int:
        """How many entries of a row are not 0 at most: one a column, and the intercept."""
        return len(self.columns) + 1

    @property
    def size(self) -> int:
        """How many features there are."""
        return 1 + sum(map(_width, self.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is called."""
        named = [INTERCEPT]
        for column in self.columns:
            if isinstance(column, Ordered):
                named.append(column.name)
            else:
                named += [f"{column.name} = {column.value(code)}" for code in range(column.levels)]
                named.append(f"{column.name} is missing")
        return tuple(named)

    def signs(self, codes: Codes) -> FloatArray:
        """Give 1 or −1 by the codes of the label, and 0 where there is none; looked up where there are more rows."""
        if self.label.size < len(codes):
            return self.signs(np.arange(self.label.size)).take(codes)
        inside = np.zeros(len(codes), dtype=bool)
        for first, last in self.positive:
            inside |= (codes >= first) & (codes <= last)
        return np.where(codes == self.label.missing_code, 0.0, np.where(inside, 1.0, -1.0))

    def scaled(self, codes: Codes) -> list[FloatArray]:
        """Give every column of numbers within ±1."""
        return [_within_one(self.columns[at], codes[:, at]) for at in self.numeric]

    def margins(self, codes: Codes, coefficients: FloatArray, scaled: Sequence[FloatArray]) -> FloatArray:
        """Add up the coefficients of a row's features; the intercept counts 1."""
        total = np.full(len(codes), coefficients[0])
        numbers = iter(scaled)
        for at, (first, last) in enumerate(self.blocks):
            if at in self.numeric:
                total += coefficients[first] * next(numbers)
            else:
                total += coefficients[first:last].take(codes[:, at])
        return total


def _within_one(column: Coded, codes: Codes) -> FloatArray:
    """Give codes as numbers from −1 to 1, missing as 0; each is looked up where there are fewer of them than rows."""
    if column.size < len(codes):
        return _within_one(column, np.arange(column.size)).take(codes)
    last, missing = column.levels - 1, column.missing_code
    number = (2.0 * codes - last) / max(last, 1)
    number[codes == missing] = 0.0
    return np.asarray(number)


def _width(column: Coded) -> int:
    """Say how many features a column has."""
    return 1 if isinstance(column, Ordered) else column.size


def share(entries: int, bits: int) -> int:
    """Give the largest entry q, in units of 2^−bits, such that so many of them have L2 norm at most 1."""
    return math.isqrt(4**bits // entries)


def _label(schema: Schema, label: str) -> tuple[Coded, tuple[Range, ...]]:
    if any(column.name == label for column in schema.columns):
        column = schema.coded(label)
        if column.levels != TWO:
            raise BadQuery(
                f"The label {label!r} has {column.levels:,} values. Take a column of two, or a condition on one "
                f"column, such as \"{label} = '…'\"."
            )
        return column, ((1, 1),)
    condition = parse(label, schema)
    if len(condition.columns) != 1:
        raise BadQuery(
            f"The label {label!r:.80} reads {len(condition.columns)} columns. Give a condition on one."
        )
    column = schema.coded(condition.columns[0])
    return column, condition.codes(column.name, column.size)
