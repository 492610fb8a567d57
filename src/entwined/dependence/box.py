"""A table of numbers, each known exactly or only to lie between two ends."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from entwined.errors import BadModel
from entwined.numbers import ULP, FloatArray

SUM_TOLERANCE = 1e-6  # files hold rounded decimals; rows this close to 1 are rescaled to it


@dataclass(frozen=True, eq=False, slots=True)
class Box:
    """A class of tables: every table between `low` and `high`, entry by entry."""

    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        if self.low.shape != self.high.shape:
            raise BadModel("An interval table has lower and upper ends of different shapes. Give both for each entry.")
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise BadModel("A table has an entry that is infinite or not a number. Give finite numbers.")
        if (self.low > self.high).any():
            raise BadModel("An interval has its lower end above its upper end. Write it as [low, high].")

    @classmethod
    def exact(cls, values: Any) -> Self:
        """A class of one."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def read(cls, nested: Any, depth: int) -> Self:
        """Read nested lists `depth` deep; where an entry is a pair [low, high], the table is a class."""
        try:
            values = np.array(nested)
        except (TypeError, ValueError, OverflowError):
            values = both_ends(nested, depth)
        if values.dtype.kind not in "fiu":
            raise BadModel("A table holds something that is not a number. Give numbers, not strings or true/false.")
        values = values.astype(np.float64)
        if values.ndim == depth + 1 and values.shape[-1] == 2:  # noqa: PLR2004
            return cls(values[..., 0].copy(), values[..., 1].copy())
        if values.ndim != depth:
            raise BadModel(f"A table is {values.ndim} lists deep where {depth} are needed. Check its brackets.")
        return cls.exact(values)

    @property
    def document(self) -> Any:
        """Nested lists; an entry that is not known exactly is a pair [low, high]."""
        if self.is_exact:
            return self.low.tolist()
        if self.low.ndim == 0:
            return [float(self.low), float(self.high)]
        return [Box(low, high).document for low, high in zip(self.low, self.high, strict=True)]

    @property
    def is_exact(self) -> bool:
        """Whether the class has one member."""
        return self.low is self.high or bool((self.low == self.high).all())

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table."""
        return self.low.shape

    def reshaped(self, shape: tuple[int, ...]) -> "Box":
        """The same entries in another shape."""
        low = self.low.reshape(shape)
        return Box(low, low if self.low is self.high else self.high.reshape(shape))

    def as_probabilities(self, what: str) -> "Box":
        """The members whose rows along the last axis are probabilities, with ends that some member reaches."""
        if (self.low < 0).any():
            raise BadModel(f"{what} has a negative probability. Give numbers between 0 and 1.")
        if self.is_exact:
            return Box.exact(normalised(self.low, what))
        rest_low = self.low.sum(axis=-1, keepdims=True) - self.low
        rest_high = self.high.sum(axis=-1, keepdims=True) - self.high
        slack = 4 * ULP * self.low.shape[-1]
        low = np.maximum(self.low, 1.0 - rest_high - slack)
        high = np.minimum(self.high, 1.0 - rest_low + slack)
        if (low > high + SUM_TOLERANCE).any():
            raise BadModel(f"{what} has a row of intervals that no probabilities fit. Let each row be able to sum to 1.")
        return Box(np.minimum(low, high), high)

    def as_weights(self, what: str) -> "Box":
        """The members that are potentials: no negatives, not all zero."""
        if (self.low < 0).any():
            raise BadModel(f"{what} has a negative entry. A potential is a table of weights ≥ 0.")
        flat = self.high.reshape(self.high.shape[0], -1) if self.high.ndim > 2 else self.high.reshape(1, -1)  # noqa: PLR2004
        if (flat.max(axis=1) == 0).any():
            raise BadModel(f"{what} is zero everywhere, so nothing can happen. Give at least one positive weight.")
        return self


def both_ends(nested: Any, depth: int) -> FloatArray:
    """Read a table in which some entries are numbers and others pairs [low, high]."""
    if depth == 0:
        pair = nested if isinstance(nested, list) else [nested, nested]
        if len(pair) != 2 or not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in pair):  # noqa: PLR2004
            raise BadModel(f"A table holds {nested!r:.40}. Give a number, or a pair [low, high].")
        return np.array(pair, dtype=np.float64)
    if not isinstance(nested, (list, tuple)):
        raise BadModel(f"A table holds {nested!r:.40} where a row is needed. Give lists of equal length.")
    rows = [both_ends(row, depth - 1) for row in nested]
    if len({row.shape for row in rows}) > 1:
        raise BadModel("A table has rows of different lengths. Give lists of equal length.")
    return np.array(rows)


def normalised(values: FloatArray, what: str) -> FloatArray:
    """Rescale rows that sum to 1 but for rounding; refuse the others."""
    sums = values.sum(axis=-1, keepdims=True)
    wrong = np.abs(sums - 1.0) > SUM_TOLERANCE
    if wrong.any():
        raise BadModel(
            f"{what} has a row that sums to {float(sums[wrong][0]):.9g}, not 1. Give each row as probabilities."
        )
    return values / sums
