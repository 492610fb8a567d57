"""A table of numbers, each known exactly or only to lie between two ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from entwined.dependence.nested import Name, Naming, flat_ends, flattened, refuse_impossible, refuse_where
from entwined.errors import BadModel
from entwined.numbers import ULP, FloatArray

SUM_TOLERANCE = 1e-6  # files hold rounded decimals; rows this close to 1 are rescaled to it


@dataclass(frozen=True, eq=False, slots=True)
class Box:
    """A class of tables: every table between `low` and `high`, entry by entry."""

    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        refuse_impossible(self.low, self.high, "A table")

    @classmethod
    def exact(cls, values: Any) -> Self:
        """Make a class of one."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def read(cls, nested: Any, depth: int, what: str = "A table") -> Self:
        """Read nested lists `depth` deep; where an entry is a pair [low, high], the table is a class."""
        entries, shape = flattened(nested, depth, what)
        below, above = flat_ends(entries, what)
        low = below.reshape(shape)
        high = low if above is below else above.reshape(shape)
        refuse_impossible(low, high, what)
        return cls(low, high)

    @classmethod
    def stack(cls, tables: Sequence[Any], shape: tuple[int, int], name: Naming, why: str) -> Self:
        """Read tables of one shape into one; `name` tells which is wrong, `why` what its shape stands for."""
        try:
            stacked = cls.read(tables, 3)
        except BadModel:
            stacked = None
        if stacked is not None and stacked.shape[1:] == shape:
            return stacked
        place = first_misfit(tables, shape)
        rows, columns = cls.read(tables[place], 2, name(place)).shape
        needed = f"{shape[0]} rows of {shape[1]} numbers are needed"
        raise BadModel(f"{name(place)} is {rows} rows of {columns} numbers where {needed}. {why}")

    @property
    def document(self) -> Any:
        """Nested lists; an entry that is not known exactly is a pair [low, high]."""
        if self.is_exact:
            return self.low.tolist()
        both = zip(self.low.ravel().tolist(), self.high.ravel().tolist(), strict=True)
        nested: list[Any] = [low if low == high else [low, high] for low, high in both]
        for size in self.shape[:0:-1]:
            nested = [nested[start : start + size] for start in range(0, len(nested), size)]
        return nested if self.shape else nested[0]

    @property
    def is_exact(self) -> bool:
        """Whether the class has one member."""
        return self.low is self.high or bool((self.low == self.high).all())

    @property
    def middle(self) -> FloatArray:
        """Give a member of a class of probabilities: each row (last axis) as far between its ends as its sum allows."""
        least, most = self.low.sum(axis=-1, keepdims=True), self.high.sum(axis=-1, keepdims=True)
        part = np.divide(1.0 - least, most - least, out=np.zeros_like(least), where=most > least)
        return rescaled(self.low + np.clip(part, 0.0, 1.0) * (self.high - self.low))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table."""
        return self.low.shape

    def reshaped(self, shape: tuple[int, ...]) -> "Box":
        """Keep the entries in another shape."""
        low = self.low.reshape(shape)
        return Box(low, low if self.low is self.high else self.high.reshape(shape))

    def as_probabilities(self, what: Name) -> "Box":
        """Keep the members whose rows (last axis) are probabilities, with ends that some member reaches."""
        if self.is_exact:
            return Box.exact(normalised(self.low, what))
        refuse_outside(self.low, what)
        least, most = (np.minimum(end, 1.0).sum(axis=-1, keepdims=True) for end in (self.low, self.high))
        never = (least > 1.0 + SUM_TOLERANCE) | (most < 1.0 - SUM_TOLERANCE)
        refuse_where(never[..., 0], what, "cannot sum to 1 within its intervals. Widen or move them.")
        slack = (
            4 * ULP * self.shape[-1]
        )  # sums are rounded: err towards the wider class, and move no end by less
        low = self.low / np.where(least > 1.0 + slack, least, 1.0)
        high = np.minimum(self.high, 1.0) / np.where(most < 1.0 - slack, most, 1.0)
        left_by_low, left_by_high = (1.0 - (end.sum(axis=-1, keepdims=True) - end) for end in (low, high))
        high = np.where(left_by_low + 2 * slack < high, np.maximum(left_by_low + slack, 0.0), high)
        low = np.minimum(np.where(left_by_high - 2 * slack > low, left_by_high - slack, low), high)
        known = (self.low == self.high).all(axis=-1, keepdims=True)
        exact = rescaled(np.where(known, self.low, 1.0))
        return Box(np.where(known, exact, low), np.where(known, exact, high))

    def as_weights(self, what: Name) -> "Box":
        """Keep the members that are potentials: no negatives, not all zero."""
        negative = self.low.min(axis=-1, initial=0.0) < 0
        refuse_where(negative, what, "has a negative entry. A potential has weights ≥ 0.")
        empty = self.high.max(axis=(-2, -1), initial=0.0) == 0
        refuse_where(empty, what, "is zero everywhere, so nothing can happen. Give a positive weight.")
        return self

    def laws_raised(self, power: float) -> "Box":
        """Raise probabilities to a power, rows (last axis) summing to 1 again: log odds ratios grow by the power.

        Of a class it is the smallest box around all raised members, entry by entry.
        """
        low, high = self.low**power, self.high**power
        others_low, others_high = (end.sum(axis=-1, keepdims=True) - end for end in (low, high))
        return Box(shares_of(low, others_high), shares_of(high, others_low))

    def weights_raised(self, power: float) -> "Box":
        """Raise potentials to a power, the largest weight of each (last two axes) 1: log odds grow by the power."""
        most = self.high.max(axis=(-2, -1), keepdims=True)
        return Box((self.low / most) ** power, (self.high / most) ** power)


def shares_of(part: FloatArray, others: FloatArray) -> FloatArray:
    """Divide each entry by its sum with the others; what is nothing of nothing stays nothing."""
    whole = part + np.maximum(others, 0.0)  # a difference of sums may end below zero
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def first_misfit(tables: Sequence[Any], shape: tuple[int, int]) -> int:
    """Find the first table that cannot be read or has another shape, by halving."""
    start, stop = 0, len(tables)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            fits = Box.read(tables[start:middle], 3).shape[1:] == shape
        except BadModel:
            fits = False
        start, stop = (middle, stop) if fits else (start, middle)
    return start


def refuse_outside(values: FloatArray, what: Name) -> None:
    """Refuse probabilities below 0 or above 1."""
    negative = values.min(axis=-1, initial=0.0) < 0
    refuse_where(negative, what, "has a negative probability. Give numbers from 0 to 1.")
    above = values.max(axis=-1, initial=0.0) > 1.0 + SUM_TOLERANCE
    refuse_where(above, what, "has a probability above 1. Give numbers from 0 to 1.")


def normalised(values: FloatArray, what: Name) -> FloatArray:
    """Rescale rows of probabilities that sum to 1 but for rounding; refuse the others."""
    refuse_outside(values, what)
    sums = values.sum(axis=-1)
    wrong = np.abs(sums - 1.0) > SUM_TOLERANCE
    if wrong.any():
        found = float(sums[wrong][0])
        refuse_where(wrong, what, f"sums to {found:.9g}, not 1. Give each row as probabilities.")
    return rescaled(values)


def rescaled(values: FloatArray) -> FloatArray:
    """Let rows sum to 1; those that do but for rounding stay, so that reading again changes nothing."""
    sums = values.sum(axis=-1, keepdims=True)
    return np.where(np.abs(sums - 1.0) <= 4 * ULP * values.shape[-1], values, values / sums)
