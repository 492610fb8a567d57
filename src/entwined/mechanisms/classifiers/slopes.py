"""The sum of all rows' gradients at given weights: one fold of exact integers, whose bounds the table enforces.

A row with label y and features x, whose entries are q / 2^bits with whole q, adds ℓ′(w·x) · q, cut to a whole number
towards 0, and its size to a last number that counts the rows that have a label. A row without a label adds nothing.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from entwined.door.mechanism import Read
from entwined.mechanisms.classifiers.features import Features, share
from entwined.mechanisms.classifiers.margin_losses import MarginLoss
from entwined.numbers import FloatArray, IntArray
from entwined.queries import FoldOf, Sensitivity, Statistic, everything
from entwined.schema import Schema

WHOLE_BITS: Final = 62  # sums stay below 2^63 in as many rows as are declared


class Pull(NamedTuple):
    """What all rows together say at given weights: their gradient, and how many there are."""

    gradient: FloatArray
    rows: float


@dataclass(frozen=True, slots=True)
class Slopes:
    """The rows' gradients of a loss: entries are whole multiples of 2^−bits, of which `entries` have norm 1.

    Where the count of rows is shown too it is one entry more, and the table enforces the norm.
    """

    features: Features
    curve: MarginLoss
    bits: int
    entries: int

    @classmethod
    def of(
        cls, schema: Schema, features: Features, curve: MarginLoss, most_bits: int, entries: int
    ) -> "Slopes":
        """Take as fine a grid as sums over all rows allow."""
        bits = min(most_bits, WHOLE_BITS - schema.most_rows.bit_length())
        return cls(features, curve, bits, entries)

    @property
    def entry(self) -> int:
        """The largest entry of a row, in units of 2^−bits."""
        return max(share(self.entries, self.bits), 1)

    @property
    def unit(self) -> float:
        """The largest entry of a row."""
        return self.entry / 2.0**self.bits

    @property
    def together(self) -> int | None:
        """The largest L1 norm of what a row adds, the count included, where the table has to enforce it."""
        return self.entries * self.entry if self.entries > self.features.entries else None

    @property
    def absolute(self) -> Fraction:
        """The largest L1 norm of a row's gradient."""
        return Fraction(self.features.entries * self.entry, 2**self.bits)

    def fold(self, weights: FloatArray) -> FoldOf:
        """Ask for the sum at given weights."""
        size, entry = self.features.size, self.entry
        return FoldOf(
            self.features.read,
            (-entry,) * size + (0,),
            (entry,) * (size + 1),
            partial(_slopes, asked=self, weights=weights * self.unit),
            everything(),
            together=self.together,
        )

    @property
    def statistic(self) -> Statistic:
        """How far a row moves the sum: K + 1 numbers of at most `entry` each, by L1 and squared L2; a change, twice."""
        squared = Fraction((self.features.entries + 1) * self.entry**2)
        return self.moving(self.first.row, Sensitivity(squared, 4 * squared))

    def moving(self, row: Sensitivity, squared: Sensitivity | None = None) -> Statistic:
        """Give a statistic of the rows that are read here which moves by so much, and so much by squared L2."""
        alone = tuple((name, int(row.both)) for name in self.features.read)
        square = squared or Sensitivity(row.one**2, row.both**2)
        concentration = Sensitivity(square.one / row.one**2, square.both / row.both**2)
        return Statistic(self.first, row, alone, agrees=False, concentration=concentration)

    @property
    def first(self) -> FoldOf:
        """What is asked first: all weights are 0."""
        return self.fold(np.zeros(self.features.size))

    @property
    def moments(self) -> FoldOf:
        """Ask for the sums of the rows' features, and of the squares of these."""
        size, entry = self.features.size, self.entry
        return FoldOf(
            self.features.read,
            (-entry,) * size + (0,) * size,
            (entry,) * (2 * size),
            partial(_moments, asked=self),
            everything(),
        )

    def sums(self, read: Read) -> FloatArray:
        """Read the sums of features, and of their squares."""
        (exact,) = read([self.moments])
        return np.asarray(exact.reshape(2, -1) * np.array([[1.0], [self.unit]]) / 2.0**self.bits)

    def pull(self, exact: IntArray) -> Pull:
        """Read the integers of a fold, noisy or not."""
        return Pull(exact[:-1] / 2.0**self.bits, float(exact[-1]) / self.entry)

    def at(self, read: Read, weights: FloatArray) -> Pull:
        """Ask the rows."""
        (exact,) = read([self.fold(weights)])
        return self.pull(exact)


def _slopes(codes: IntArray, *, asked: Slopes, weights: FloatArray) -> IntArray:
    """Give each row's gradient, and its size."""
    features, entry, width = asked.features, asked.entry, asked.features.size + 1
    signs = features.signs(codes[:, -1])
    slopes = asked.curve.slopes(features.margins(codes, weights), signs) * entry
    whole = slopes.astype(np.int64)
    found = np.zeros((len(codes), width), dtype=np.int64)
    flat, starts = found.reshape(-1), np.arange(0, found.size, width)
    found[:, 0], found[:, -1] = whole, np.where(signs == 0, 0, entry)
    for at in range(len(features.columns)):
        place, number = features.seen(at, codes[:, at])
        flat[starts + place] = whole if number is None else (slopes * number).astype(np.int64)
    return found


def _moments(codes: IntArray, *, asked: Slopes) -> IntArray:
    """Give each row's features, and their squares in units of the largest entry."""
    features, entry, size = asked.features, asked.entry, asked.features.size
    there = np.where(features.signs(codes[:, -1]) == 0, 0, entry)
    found = np.zeros((len(codes), 2 * size), dtype=np.int64)
    flat, starts = found.reshape(-1), np.arange(0, found.size, 2 * size)
    for at in range(-1, len(features.columns)):
        place, number = features.seen(at, codes[:, at]) if at >= 0 else (0, None)
        flat[starts + place] = there if number is None else there * number
        flat[starts + place + size] = there if number is None else there * number**2
    return found
