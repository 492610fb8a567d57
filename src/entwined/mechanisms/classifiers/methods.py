"""How a classifier is made private: what a way to do it has to say."""

from fractions import Fraction
from typing import ClassVar, Final, NamedTuple, Protocol

import numpy as np

from entwined.canonical import Document
from entwined.door.mechanism import Read
from entwined.errors import BadQuery, Refused
from entwined.mechanisms.classifiers.added_noise import AddedNoise
from entwined.mechanisms.classifiers.features import Features
from entwined.mechanisms.classifiers.margin_losses import MarginLoss
from entwined.mechanisms.classifiers.minimum import Precision, Steps, minimiser
from entwined.mechanisms.classifiers.moments import Moments
from entwined.mechanisms.classifiers.slopes import Pull, Slopes
from entwined.mechanisms.fitting import worst_change
from entwined.mechanisms.sheet import Cell, Sheet
from entwined.noise import Additive
from entwined.numbers import Amount, FloatArray, IntArray, positive_fraction
from entwined.promise.promise import Promise
from entwined.queries import FoldOf, Sensitivity, Statistic
from entwined.schema import Schema
from entwined.schema.raw import is_whole

FINE: Final = 2**24  # weights come out as whole multiples of 1 / FINE
MOST_EXACT_ROWS: Final = 2**21
GRADIENT: Final = "what a feature's rows add up to, in rows"
MOST_BITS: Final = 36  # sums of a batch of rows are exact in floats


class Aim(NamedTuple):
    """What is to be learned: the loss of a margin, and the features that it is a margin of."""

    curve: MarginLoss
    features: Features

    def exact(self, schema: Schema) -> Slopes:
        """Give the rows' gradients on the finest grid, for minimisers that are proved to be near."""
        if schema.most_rows > MOST_EXACT_ROWS:
            raise Refused(
                f"A minimum over {schema.most_rows:,} rows, where rounding cannot be bounded. Declare most_rows up to "
                f'{MOST_EXACT_ROWS:,}, or take method = "descent".'
            )
        return Slopes.of(schema, self.features, self.curve, MOST_BITS, self.features.entries)


class Choices(NamedTuple):
    """What a caller may settle of a way, where it applies; None is for the way to settle."""

    ridge: Amount | None = None
    rounds: int | None = None

    def ridge_or(self, usual: float) -> Fraction:
        """Give the factor of ‖w‖²/2, the usual one in a few digits."""
        return positive_fraction(f"{usual:.4g}" if self.ridge is None else self.ridge, "The ridge")

    def rounds_or(self, usual: int, most: int) -> int:
        """Give the number of rounds."""
        if self.rounds is None:
            return usual
        if not is_whole(self.rounds) or not 1 <= self.rounds <= most:
            raise BadQuery(f"rounds = {self.rounds!r:.60}. Give a whole number from 1 to {most:,}.")
        return self.rounds


class Method(Protocol):
    """One way to let weights out, settled before a row is read."""

    name: ClassVar[str]

    @property
    def document(self) -> Document:
        """Its public choices, and its noise."""

    @property
    def statistic(self) -> Statistic:
        """Where its loss falls, in proportion to how far each change moves what comes out."""

    @property
    def slopes(self) -> Slopes:
        """What it asks of the rows."""

    def run(self, read: Read, schema: Schema) -> IntArray:
        """Give the weights, noise included, in units of 1 / FINE."""

    @property
    def asks(self) -> tuple[FoldOf, ...]:
        """What the engine must be able to fold."""

    @property
    def expected(self) -> Sheet:
        """How strong its noise is."""

    @property
    def added(self) -> tuple[AddedNoise, ...]:
        """Which noise it adds, on what, and how strong."""

    @property
    def half_width(self) -> float | None:
        """How far noise moves a weight at most with 95 % confidence, where that is known."""


def moved_by(promise: Promise, slopes: Slopes) -> Fraction:
    """Give how often the worst change of a unit moves what one row moves: rows a unit, twice if rows change."""
    return worst_change(promise, slopes.moving(Sensitivity(Fraction(1), Fraction(2))))


def found(read: Read, schema: Schema, slopes: Slopes, precision: Precision, push: FloatArray) -> FloatArray:
    """Find the weights of least loss; more rows than were declared are refused, for nothing is proved of them."""

    def asked(weights: FloatArray) -> Pull:
        pull = slopes.at(read, weights)
        if pull.rows > schema.most_rows:
            raise Refused("The table has more rows than its schema declares. Correct most_rows.")
        return pull

    steps = Steps.of(slopes, Moments(slopes.features).read(read), precision.ridge)
    return minimiser(asked, push, precision, steps)


def on_grid(weights: FloatArray, furthest: int) -> IntArray:
    """Put weights on the grid, and inside it."""
    near = np.nan_to_num(weights * FINE, nan=0.0, posinf=furthest, neginf=-furthest)
    return np.rint(np.clip(near, -furthest, furthest)).astype(np.int64)


def expectations(name: str, noise: Additive, sums: float, more: tuple[tuple[str, Cell], ...]) -> Sheet:
    """Show the noise on a feature's sum, of which a row is so much, beside what was settled."""
    spread = noise.variance**0.5 / sums
    rows = (
        ("method", name),
        ("noise on what a feature's rows add up to, in rows (one standard deviation)", spread),
    )
    return Sheet(("about", "figure"), (*rows, *more))
