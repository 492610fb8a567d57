"""Output perturbation: the weights of least loss, with noise for how far one row can move them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.classifiers.added_noise import COEFFICIENT, AddedNoise
from entwined.mechanisms.classifiers.methods import FINE, Aim, Choices, found, moved_by, on_grid
from entwined.mechanisms.classifiers.minimum import MARGIN, Precision
from entwined.mechanisms.classifiers.moments import Moments
from entwined.mechanisms.classifiers.slopes import Slopes
from entwined.mechanisms.fitting import worst_change
from entwined.mechanisms.sheet import Sheet
from entwined.noise import Additive
from entwined.numbers import IntArray
from entwined.promise.promise import Promise
from entwined.queries import FoldOf, Sensitivity, Statistic
from entwined.schema import Schema

CONFIDENCE: Final = Fraction(95, 100)
FURTHEST: Final = 2**20 * FINE


@dataclass(frozen=True, slots=True)
class Output:
    """Add noise to the weights of least Σ ℓ + (Λ/2)‖w‖².

    Theorem. What `run` returns has the loss it was settled for, in the promise's measure.

    Proof. Let w minimise J and w′ minimise J′ = J + ℓ, a row more. Then ∇J(w′) = −∇ℓ(w′), of norm at most 1 because
    |ℓ′| ≤ 1 and ‖x‖ ≤ 1, and ‖w − w′‖ ≤ ‖∇J(w′)‖ / Λ ≤ 1/Λ by strong convexity. The weights that are computed are
    within `distance` of the exact ones (`Precision`), and rounding them to the grid moves two of them apart by at most
    1 in each of d places: in all (1/Λ + 2·distance)·FINE + √d by L2, and √d times that by L1. A row that changes
    leaves and enters: at most twice as much. Cutting both to a box moves nothing apart. Integer noise for that change
    does the rest.

    Source. Chaudhuri, Monteleoni, Sarwate (2011), Algorithm 1, with sums in place of means, an approximate minimiser
    and discrete noise.
    """

    name: ClassVar[str] = "output"
    slopes: Slopes
    ridge: Fraction
    precision: Precision
    noise: Additive

    @classmethod
    def of(cls, promise: Promise, task: Aim, loss: Fraction, choices: Choices) -> "Output":
        """Settle ridge and noise; the usual ridge makes noise and weights about equally long."""
        if choices.rounds is not None:
            raise BadQuery(
                'Rounds were given to a minimum, which has none. Leave them out, or take method "descent".'
            )
        slopes = task.exact(promise.schema)
        size, times = task.features.size, float(moved_by(promise, slopes))
        near = times * (
            size / float(loss) if promise.measure.is_pure else math.sqrt(size / (2 * float(loss)))
        )
        ridge = choices.ridge_or(max(near, 1.0))
        precision = Precision.of(slopes, promise.schema.most_rows, float(ridge), 0.0)
        worst = worst_change(promise, _statistic(slopes, precision))
        return cls(slopes, ridge, precision, promise.measure.added(loss, worst))

    @property
    def document(self) -> Document:
        """Its public choices."""
        return {"ridge": fraction_text(self.ridge), "noise": self.noise.document}

    @property
    def statistic(self) -> Statistic:
        """How far a row moves the weights."""
        return _statistic(self.slopes, self.precision)

    @property
    def asks(self) -> tuple[FoldOf, ...]:
        """Gradients, and moments to make steps by."""
        return self.slopes.first, Moments(self.slopes.features).fold

    @property
    def added(self) -> tuple[AddedNoise, ...]:
        """One noise, on the coefficients."""
        return (AddedNoise.of(COEFFICIENT, self.noise, FINE / self.slopes.unit),)

    @property
    def half_width(self) -> float:
        """How far noise moves a weight."""
        return self.noise.half_width(CONFIDENCE) / FINE

    @property
    def expected(self) -> Sheet:
        """How far noise moves a coefficient."""
        reach = self.half_width * self.slopes.unit
        return Sheet(
            ("about", "figure"),
            (("method", self.name), ("± of a coefficient, 95 %", reach), ("ridge", float(self.ridge))),
        )

    def run(self, read: Read, schema: Schema) -> IntArray:
        """Find the weights, and add noise."""
        none = np.zeros(self.slopes.features.size)
        return self.noise.add(on_grid(found(read, schema, self.slopes, self.precision, none), FURTHEST))


def _statistic(slopes: Slopes, precision: Precision) -> Statistic:
    """Say how far a row moves the weights on their grid, rounded up."""
    root = math.sqrt(slopes.features.size)
    one = math.ceil(MARGIN * (FINE * (1 / precision.ridge + 2 * precision.distance) + root))
    by_sum = math.ceil(MARGIN * root * one)
    return slopes.moving(
        Sensitivity(Fraction(by_sum), Fraction(2 * by_sum)),
        Sensitivity(Fraction(one**2), Fraction(4 * one**2)),
    )
