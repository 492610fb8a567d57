"""The sum of all rows' gradients at given weights: one fold of exact integers, whose bounds the table enforces.

A row with label y and features x, whose entries are q / 2^bits with whole q, adds ℓ′(w·x) · q, cut to a whole number
towards 0, and its size to a last number that counts the rows that have a label. A row without a label adds nothing.
Where x has a 1 for one of a column's levels, what is added is the same whatever the level: it is one number of the row,
placed by the code of that column, so that no fold has as many numbers a row as there are levels.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from entwined.door.mechanism import Read
from entwined.mechanisms.classifiers.features import Features, share
from entwined.mechanisms.classifiers.margin_losses import MarginLoss
from entwined.numbers import Codes, FloatArray, IntArray
from entwined.queries import FoldOf, Placed, Sensitivity, Statistic, everything
from entwined.schema import Schema

WHOLE_BITS: Final = 62  # sums stay below 2^63 in as many rows as are declared


class Pull(NamedTuple):
    """What all rows together say at given weights: their gradient, and how many there are."""

    gradient: FloatArray
    rows: float


@dataclass(frozen=True, slots=True)
class Slopes:
    """The rows' gradients of a loss: entries are whole multiples of 2^−bits, of which `entries` have norm 1.

    Where the count of rows is shown too it is one entry more.
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
    def absolute(self) -> Fraction:
        """The largest L1 norm of a row's gradient."""
        return Fraction(self.features.entries * self.entry, 2**self.bits)

    def fold(self, weights: FloatArray) -> FoldOf:
        """Ask for the sum at given weights."""
        numbers, entry = 1 + len(self.features.numeric), self.entry
        return FoldOf(
            self.features.read,
            (-entry,) * numbers + (0,),
            (entry,) * (numbers + 1),
            partial(_slopes, asked=self, weights=weights * self.unit),
            everything(),
            placed=(*placed_features(self.features), Placed(numbers)),
        )

    @property
    def statistic(self) -> Statistic:
        """How far a row moves the sum: K + 1 numbers of at most `entry` each, by L1 and squared L2; a change, twice."""
        line, squared = self.first.row.one, Fraction((self.features.entries + 1) * self.entry**2)
        return self.moving(Sensitivity(line, 2 * line), Sensitivity(squared, 4 * squared))

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

    def pull(self, exact: IntArray) -> Pull:
        """Read the integers of a fold, noisy or not."""
        return Pull(exact[:-1] / 2.0**self.bits, float(exact[-1]) / self.entry)

    def at(self, read: Read, weights: FloatArray) -> Pull:
        """Ask the rows."""
        (exact,) = read([self.fold(weights)])
        return self.pull(exact)


def _slopes(codes: Codes, *, asked: Slopes, weights: FloatArray) -> IntArray:
    """Give each row's gradient, where a 1 stands and where a number does, and its size."""
    features, entry = asked.features, asked.entry
    signs, scaled = features.signs(codes[:, -1]), features.scaled(codes)
    slopes = asked.curve.slopes(features.margins(codes, weights, scaled), signs) * entry
    found = np.empty((2 + len(scaled), len(codes)), np.int64)
    found[0], found[-1] = slopes, np.abs(signs) * entry
    for into, number in zip(found[1:], scaled, strict=False):
        into[:] = slopes * number
    return found.T


def placed_features(features: Features) -> tuple[Placed, ...]:
    """Say where a row's numbers go: the first to the intercept and to each column's level, the next to numbers."""
    after = {at: turn for turn, at in enumerate(features.numeric, start=1)}
    return (
        Placed(0),
        *(
            Placed(after[at]) if at in after else Placed(0, (column.name,), (column.size,))
            for at, column in enumerate(features.columns)
        ),
    )
