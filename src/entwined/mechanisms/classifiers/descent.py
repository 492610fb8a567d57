"""Noisy gradient descent: every round shows the rows' gradient with noise, and moves the weights by what it shows."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.classifiers.added_noise import AddedNoise
from entwined.mechanisms.classifiers.methods import FINE, GRADIENT, Aim, Choices, expectations, on_grid
from entwined.mechanisms.classifiers.slopes import Slopes
from entwined.mechanisms.fitting import worst_change
from entwined.mechanisms.sheet import Sheet
from entwined.noise import Additive
from entwined.numbers import IntArray
from entwined.promise.promise import Promise
from entwined.queries import FoldOf, Statistic
from entwined.schema import Schema

USUAL_ROUNDS: Final = 16
MOST_ROUNDS: Final = 1000
GRID_BITS: Final = 30
PACE: Final = (
    16.0  # of a step, over the number of rows; the bend is at most 1/4 and rows share most of no direction
)
MOMENTUM: Final = 0.8
LATE: Final = 0.7  # the weights of the rounds after this part of them are averaged
FEWEST: Final = 8.0  # standard deviations of the noise below which a number of rows is not believed
FURTHEST: Final = 2**20 * FINE


@dataclass(frozen=True, slots=True)
class Descent:
    """Follow noisy gradients from 0 for a public number of rounds, with momentum and a ridge as large as the noise.

    Theorem. What `run` returns has the loss it was settled for, in the promise's measure.

    Proof. In a round a row adds its gradient, K numbers of at most `entry`, and its size, one more: at most
    (K + 1) · entry in L1 and (K + 1) · entry² in squared L2, both of which follow from bounds that the table enforces.
    Changing a row subtracts one such vector and adds another: twice the norm. So each round is a statistic of bounded
    sensitivity with noise of its share of the loss, and the weights follow from earlier rounds as they were drawn
    (adaptive composition). The number of rounds, the pace and the ridge are public.

    Source. Bassily, Smith, Thakurta (2014); Dong, Roth, Su (2022) for the composition of Gaussian noise.
    """

    name: ClassVar[str] = "descent"
    half_width: ClassVar[None] = None
    slopes: Slopes
    rounds: int
    noise: Additive

    @classmethod
    def of(cls, promise: Promise, task: Aim, loss: Fraction, choices: Choices) -> "Descent":
        """Settle the noise of each round under a promise."""
        if choices.ridge is not None:
            raise BadQuery(
                "A ridge was given to a descent, whose noise settles it. Leave it out, or take a method."
            )
        rounds = choices.rounds_or(USUAL_ROUNDS, MOST_ROUNDS)
        entries = task.features.entries + 1
        slopes = Slopes.of(promise.schema, task.features, task.curve, GRID_BITS, entries)
        worst = worst_change(promise, slopes.statistic)
        return cls(slopes, rounds, promise.measure.added(loss / rounds, worst))

    @property
    def document(self) -> Document:
        """Its public choices."""
        return {"rounds": self.rounds, "noise": self.noise.document}

    @property
    def statistic(self) -> Statistic:
        """What one round shows; all rounds show as much."""
        return self.slopes.statistic

    @property
    def asks(self) -> tuple[FoldOf, ...]:
        """Gradients."""
        return (self.slopes.first,)

    @property
    def added(self) -> tuple[AddedNoise, ...]:
        """The noise of every round."""
        on = f"{GRADIENT}, in each of {self.rounds:,} rounds"
        return (AddedNoise.of(on, self.noise, self.slopes.entry),)

    @property
    def expected(self) -> Sheet:
        """How strong the noise of a round is."""
        return expectations(self.name, self.noise, self.slopes.entry, (("rounds", self.rounds),))

    def run(self, read: Read, schema: Schema) -> IntArray:  # noqa: ARG002  (it knows its columns)
        """Ask, add noise, move, and again."""
        spread = self.noise.variance**0.5 / 2.0**self.slopes.bits
        size = self.slopes.features.size
        weights, speed, late, counted = np.zeros(size), np.zeros(size), [], 0.0
        for turn in range(self.rounds):
            ahead = weights + MOMENTUM * speed
            (exact,) = read([self.slopes.fold(ahead)])
            pull = self.slopes.pull(self.noise.add(exact))
            counted += pull.rows
            rows = max(counted / (turn + 1), FEWEST * spread / self.slopes.unit)
            speed = MOMENTUM * speed - PACE / (rows + PACE * spread) * (pull.gradient + spread * ahead)
            weights = weights + speed
            if turn + 1 > LATE * self.rounds:
                late.append(weights)
        return on_grid(np.mean(late, axis=0), FURTHEST)
