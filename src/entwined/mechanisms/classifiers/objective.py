"""Objective perturbation: noise in what is minimised, and a little in what comes out to hide how well it was."""

import math
import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery, Refused
from entwined.mechanisms.classifiers.added_noise import COEFFICIENT, AddedNoise
from entwined.mechanisms.classifiers.methods import (
    FINE,
    GRADIENT,
    Aim,
    Choices,
    expectations,
    found,
    moved_by,
    on_grid,
)
from entwined.mechanisms.classifiers.minimum import MARGIN, Precision
from entwined.mechanisms.classifiers.moments import Moments
from entwined.mechanisms.classifiers.slopes import Slopes
from entwined.mechanisms.sheet import Sheet
from entwined.noise import DiscreteLaplace
from entwined.numbers import IntArray
from entwined.promise.promise import Promise
from entwined.queries import FoldOf, Sensitivity, Statistic
from entwined.schema import Schema

PUSH_BITS: Final = 30  # b has whole multiples of 2^−PUSH_BITS
FURTHEST: Final = 2**11 * FINE
CELL_BITS: Final = 37  # 2 · FURTHEST + 1 values of a weight are fewer than 2^37
RARE_BITS: Final = 40  # once in 2^40 runs the weights are drawn evenly
SPARE_BITS: Final = 64
HIDING: Final = Fraction(1, 12)  # the part of the loss that hides how well the minimum was found
MOST_BENT: Final = Fraction(1, 2)  # the part that the bend may cost
USUAL_BENT: Final = 8
RIDGE: Final = 0.75  # of the noise's scale: these two did best on public tables
NOISY: Final = 1300.0
LAST: Final = Fraction(1, 10**18)
ENTERS: Final = Sensitivity(
    Fraction(1), Fraction(2)
)  # what is settled for a row that enters, twice for one that changes
CHANGES: Final = Sensitivity(
    Fraction(4), Fraction(5)
)  # half of the noise's part and all of the rest is below 4/5
CHARGES: Final = 10**12  # losses are counted in parts of this
SAFE: Final = 0.01  # of such a part: above the rounding of a logarithm


@dataclass(frozen=True, slots=True)
class Objective:
    """Add noise to the weights that minimise Σ ℓ + (Λ/2)‖w‖² + b·w, where b is noise too.

    Theorem. What `run` returns has the pure loss it was settled for.

    Proof. Take b̃ of independent Laplace entries of scale s. For given rows D the minimiser w̃ solves
    b̃ = −∇Σℓ(w̃) − Λw̃, a map that is strongly monotone and Lipschitz, so one to one, and w̃ has the density
    f_D(w) = p(−∇Σℓ − Λw) · det(H_D + ΛI) almost everywhere. A row more moves the argument of p by ∇ℓ, of L1 norm at
    most K · entry: a factor e^(K·entry/s) at most. It adds ℓ″xxᵀ to the matrix, whose determinant grows by
    1 + ℓ″xᵀ(H + ΛI)⁻¹x, between 1 and 1 + bend/Λ. So a row costs K·entry/s + log(1 + bend/Λ), and one that changes,
    which leaves and enters, 2K·entry/s + log(1 + bend/Λ): the determinant grows by one row and falls by the other.

    What is computed is not w̃. b is discrete Laplace on a grid; by quantiles it is a function of b̃ within one step of
    it in each entry, so their minimisers are within √d · step / Λ of each other. The weights that are computed are
    within `precision.distance` of the minimiser for b as long as b is not huge. So given w̃ they lie within one radius
    of it, whatever the rows, and noise for twice that radius, in L1 and on the grid of weights, hides the rest
    (approximate minima: Iyengar et al. 2019).

    b is huge, ‖b̃‖₁ > t·s, with chance at most 10^d · e^(−0.9t) (Chernoff), whatever the rows: t is taken such that
    this is below 2^−64 · 2^−40 / N, where N counts all weights that can come out, and t·s is enlarged by how far a
    unit moves b̃ for given w̃. Once in 2^40 runs weights are drawn evenly from the N, so each has at least the chance
    2^−40 / N, and a chance of 2^−64 of that is a factor of at most 1 + 2^−64: this is charged too.

    Source. Chaudhuri, Monteleoni, Sarwate (2011), Algorithm 2, with L1 in place of L2 norms: a row has few entries.
    """

    name: ClassVar[str] = "objective"
    half_width: ClassVar[None] = None
    slopes: Slopes
    ridge: Fraction
    precision: Precision
    row: Sensitivity
    noise: DiscreteLaplace
    hiding: DiscreteLaplace

    @classmethod
    def of(cls, promise: Promise, task: Aim, loss: Fraction, choices: Choices) -> "Objective":
        """Settle ridge and noise under a promise of pure loss; the usual ridge goes by the noise."""
        if choices.rounds is not None:
            raise BadQuery(
                'Rounds were given to a minimum, which has none. Leave them out, or take method "descent".'
            )
        if not promise.measure.is_pure:
            raise Refused(
                'Noise in the objective has a pure loss, and δ was promised. Take method = "descent".'
            )
        slopes = task.exact(promise.schema)
        times, rows = moved_by(promise, slopes), promise.schema.unit.most_rows
        ridge = choices.ridge_or(_usual(promise, task, float(times * slopes.absolute / loss), float(loss)))
        bent = _bent(task, ridge)
        if rows * bent > MOST_BENT * loss:
            raise BadQuery(
                f"A ridge of {float(ridge):g} costs {float(rows * bent):.3g} of a loss of {float(loss):g}. Enlarge it."
            )
        spread = (1 - HIDING) * loss - rows * bent - LAST
        noise = DiscreteLaplace.for_loss(spread, times * slopes.absolute * 2**PUSH_BITS)
        push = _longest(task.features.size, float(noise.scale) / 2**PUSH_BITS) + 2 * rows * float(
            slopes.absolute
        )
        precision = Precision.of(slopes, promise.schema.most_rows, float(ridge), MARGIN * (push + 1))
        hiding = DiscreteLaplace.for_loss(HIDING * loss, _radius(task.features.size, precision))
        return cls(slopes, ridge, precision, ENTERS if times == rows else CHANGES, noise, hiding)

    @property
    def document(self) -> Document:
        """Its public choices."""
        return {
            "ridge": fraction_text(self.ridge),
            "noise": self.noise.document,
            "hiding": self.hiding.document,
        }

    @property
    def statistic(self) -> Statistic:
        """What a row costs when it enters or leaves and when it changes, in proportion."""
        return self.slopes.moving(self.row)

    @property
    def asks(self) -> tuple[FoldOf, ...]:
        """Gradients, and moments to make steps by."""
        return self.slopes.first, Moments(self.slopes.features).fold

    @property
    def added(self) -> tuple[AddedNoise, ...]:
        """The noise in what is minimised, and that which hides how well it was."""
        return (
            AddedNoise.of(GRADIENT, self.noise, self.slopes.unit * 2**PUSH_BITS),
            AddedNoise.of(COEFFICIENT, self.hiding, FINE / self.slopes.unit),
        )

    @property
    def expected(self) -> Sheet:
        """How strong the noise in the objective is."""
        more = (("ridge", float(self.ridge)),)
        return expectations(self.name, self.noise, self.slopes.unit * 2**PUSH_BITS, more)

    def run(self, read: Read, schema: Schema) -> IntArray:
        """Draw b, find the weights, and add the noise that hides how well they were found."""
        size = self.slopes.features.size
        push = self.noise.add(np.zeros(size, dtype=np.int64)) / 2.0**PUSH_BITS
        near = on_grid(found(read, schema, self.slopes, self.precision, push), FURTHEST)
        if secrets.randbelow(2**RARE_BITS) == 0:
            return np.array([secrets.randbelow(2 * FURTHEST + 1) - FURTHEST for _ in range(size)])
        return np.clip(self.hiding.add(near), -FURTHEST, FURTHEST)


def _usual(promise: Promise, task: Aim, scale: float, loss: float) -> float:
    """Give a ridge about as large as the noise, larger where noise is strong, and so that the bend costs little."""
    schema = promise.schema
    strong = NOISY * scale / (schema.rows or schema.most_rows)
    return max(scale * max(RIDGE, strong), USUAL_BENT * schema.unit.most_rows * float(task.curve.bend) / loss)


def _bent(task: Aim, ridge: Fraction) -> Fraction:
    """log(1 + bend/Λ), rounded up."""
    return Fraction(math.ceil(math.log1p(float(task.curve.bend / ridge)) * CHARGES + SAFE), CHARGES)


def _longest(size: int, scale: float) -> float:
    """Give a length that noise of so many entries passes in no run that ever was."""
    bits = SPARE_BITS + RARE_BITS + CELL_BITS * size
    return scale * (bits * math.log(2) + size * math.log(10)) / 0.9


def _radius(size: int, precision: Precision) -> Fraction:
    """Give how far apart, in L1 and on the grid, weights for the same w̃ may be: twice the radius, and rounding."""
    radius = precision.distance + math.sqrt(size) * 2.0**-PUSH_BITS / precision.ridge
    return Fraction(math.ceil(MARGIN * 2 * math.sqrt(size) * radius * FINE) + size)
