"""In what a batch is charged: pure loss ε, or for Gaussian noise the concentrated loss ρ.

Either adds up over releases, part by part, and falls on rows in the same way: so much for a row that enters or
leaves a condition, so much for one that changes inside. Only at the end does ρ become an ε, at one public δ.

A charge of ρ says: what was released shows no more of the change than Gaussian noise does of a number that moves by
√(2ρ) standard deviations. That is what profiles start from, it adds up over adaptive releases (Dong, Roth, Su 2022),
and a fixed total of it is never passed however releases are chosen (Smith, Thakurta 2022). `noise/dominated` says why
discrete noise and choices keep it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, Literal, TypeAlias

from entwined.bounds import ConcentratedLoss
from entwined.bounds.concentrated_loss import SharedPart
from entwined.bounds.profiles.bits import Bits, BitsCurve
from entwined.bounds.profiles.curves import epsilon_at_delta
from entwined.bounds.profiles.gaussian import gaussian_epsilon, largest_gaussian_rho
from entwined.canonical import Document
from entwined.errors import BadInput, BadLoss, Refused
from entwined.loss import Loss
from entwined.noise import (
    Additive,
    ConcentratedNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialChoice,
    GradualLaplace,
    Noise,
)
from entwined.noise.dominated import choice_rate, variance_for
from entwined.noise.squared_laplace import SquaredLaplace
from entwined.numbers import Amount, float_above, positive_fraction
from entwined.queries import Reach, Statistic
from entwined.schema import Schema

Shared: TypeAlias = Mapping[tuple[int, ...], tuple[Fraction, ...]]
NoiseKind: TypeAlias = Literal["", "laplace", "gaussian"]
"""Which noise is added; nothing said, that of the measure."""
LARGEST_DELTA: Final = Fraction(1, 100)
OTHER_NOISE: Final = "The numbers have another noise than was charged for. Give what was released."


@dataclass(frozen=True, slots=True)
class Pure:
    """Loss ε by L1 changes: Laplace noise, for every dependence model."""

    delta: ClassVar[None] = None
    is_pure: ClassVar[bool] = True

    def parts(self, statistic: Statistic, schema: Schema) -> tuple[Reach, ...]:
        """Say how far a statistic moves, part by part."""
        return statistic.parts(schema)

    def added(self, each: Fraction, worst: Fraction, noise: NoiseKind = "") -> DiscreteLaplace:
        """Give the noise of a loss for the worst change."""
        if noise == "gaussian":
            raise Refused(
                "Gaussian noise has no pure loss, and this promise has no δ: whatever its noise, a rare answer would "
                "break it. Give delta = 1e-6, or leave noise out."
            )
        return DiscreteLaplace.for_loss(each, worst)

    def gradual(self, losses: Iterable[Fraction], worst: Fraction) -> GradualLaplace:
        """Give the noise of numbers that are told with more and more loss: they cost what the last telling does."""
        return GradualLaplace(tuple(self.added(one, worst) for one in losses))

    def shown(self, noise: Additive, worst: Fraction) -> Fraction:
        """Give the least loss that answers with this noise can have been charged for the worst change."""
        if not isinstance(noise, Noise):
            raise BadInput(OTHER_NOISE)
        return noise.loss(worst)

    def chosen(self, each: Fraction, worst: Fraction) -> ExponentialChoice:
        """Give the choice of a loss for the worst change of a score."""
        return ExponentialChoice.for_loss(each, worst)

    def weighed(self, change: Fraction) -> Fraction:
        """Say what a change counts for."""
        return change

    def epsilon(self, loss: Fraction) -> Fraction:
        """Give the ε of a loss."""
        return loss

    def alone(self, loss: Fraction, bits: Iterable[Bits]) -> Fraction:  # noqa: ARG002  (a pure loss says it all)
        """Give the ε of a loss."""
        return loss

    def largest(self, epsilon: Fraction) -> Fraction:
        """Give the largest loss of an ε."""
        return epsilon

    def exposure(self, losses: Sequence[Fraction], units: int, shared: Shared | None = None) -> Loss:  # noqa: ARG002
        """What losses show of each unit of a model: one for all of them, or one each."""
        if len(losses) == 1:
            return Loss.uniform(losses[0], units)
        return Loss.of([float_above(loss) for loss in losses])

    @property
    def document(self) -> Document:
        """What a certificate says of it."""
        return {}


@dataclass(frozen=True, slots=True)
class Concentrated:
    """Loss ρ by squared L2 changes: Gaussian noise, for every model with a theorem about it."""

    delta: Fraction
    is_pure: ClassVar[bool] = False

    def __post_init__(self) -> None:
        delta = positive_fraction(self.delta, "δ")
        if delta > LARGEST_DELTA:
            raise Refused(
                f"δ = {float(delta):g}: with this probability no bound holds, and {float(LARGEST_DELTA):g} is the "
                "most. Give one far below one in the number of rows, such as 1e-6."
            )
        object.__setattr__(self, "delta", delta)

    def parts(self, statistic: Statistic, schema: Schema) -> tuple[Reach, ...]:
        """Say how far a statistic moves, squared, part by part.

        Where it reads several columns these are told, and one more part says how far it moves if all of them change.
        """
        found = statistic.parts(schema)
        read = tuple(part.column for part in found if part.column is not None)
        together = read if len(read) > 1 else ()
        if together:
            whole = statistic.sensitivity(schema)
            found = (*found, Reach(statistic.aggregate.where, whole))
        return tuple(
            replace(part, sensitivity=statistic.squared(part.sensitivity), together=together)
            for part in found
        )

    def added(self, each: Fraction, worst: Fraction, noise: NoiseKind = "") -> Additive:
        """Give the noise of a loss for the worst change, squared: Gaussian, or Laplace that shows no more."""
        if noise == "laplace":
            return SquaredLaplace.for_rho(each, worst)
        return DiscreteGaussian.of_variance(variance_for(each, worst))

    def gradual(self, losses: Iterable[Fraction], worst: Fraction) -> None:
        """Give none: two tables with Gaussian noise tell as much as one of both losses."""

    def shown(self, noise: Additive, worst: Fraction) -> Fraction:
        """Give the least loss that answers with this noise can have been charged for the worst change, squared."""
        if not isinstance(noise, ConcentratedNoise):
            raise BadInput(OTHER_NOISE)
        return noise.charged(worst)

    def chosen(self, each: Fraction, worst: Fraction) -> ExponentialChoice:
        """Give the choice of a loss for the worst change of a score, squared."""
        return ExponentialChoice(choice_rate(each, worst))

    def weighed(self, change: Fraction) -> Fraction:
        """Say what a change counts for: its square."""
        return change**2

    def epsilon(self, loss: Fraction) -> Fraction:
        """Give the ε of a loss at δ, rounded up; refuse one whose ε is beyond all numbers."""
        if not loss:
            return loss
        epsilon = gaussian_epsilon(loss, self.delta)
        if not math.isfinite(epsilon):
            raise BadLoss(
                f"ρ = {float_above(loss):g} has no finite ε at δ = {float(self.delta):g}. Ask for a smaller loss."
            )
        return Fraction(epsilon)

    def alone(self, loss: Fraction, bits: Iterable[Bits]) -> Fraction:
        """Give the ε at δ of one unit: by its loss, or by the bits of each column where these are all there is."""
        found = self.epsilon(loss)
        own = [epsilon_at_delta(BitsCurve(each), self.delta) for each in bits]
        return min(found, Fraction(max(own))) if own else found

    def largest(self, epsilon: Fraction) -> Fraction:
        """Give the largest loss of an ε at δ, rounded down."""
        return largest_gaussian_rho(epsilon, self.delta)

    def exposure(
        self, losses: Sequence[Fraction], units: int, shared: Shared | None = None
    ) -> ConcentratedLoss:
        """What losses show of each unit of a model: one for all of them, or one each.

        `shared` is what parts cost that read several units, if all change and if each alone does, where it is known
        that all others read one alone.
        """
        parts = tuple(SharedPart(read, whole, tuple(each)) for read, (whole, *each) in (shared or {}).items())
        separable = shared is not None and not shared
        return ConcentratedLoss(tuple(losses), units, self.delta, True, separable, parts)  # noqa: FBT003  (Gaussian noise)

    @property
    def document(self) -> Document:
        """What a certificate says of it."""
        return {"delta": str(self.delta), "measure": "gaussian"}


Measure: TypeAlias = Pure | Concentrated
PURE: Final = Pure()


def large_delta(delta: Fraction | None, rows: int | None) -> str:
    """Warn of a δ that allows a mechanism which publishes somebody's whole row; nothing is said of a smaller one."""
    if delta is None or rows is None or delta * rows < 1:
        return ""
    power = len(str(rows)) + 3  # a thousandth of one in the number of rows, or less
    return (
        f"δ = {float(delta):g} IS TOO LARGE for {rows:,} rows: publishing one whole row would satisfy it. Give a "
        f"delta far below {1 / rows:.2g}, such as 1e-{power}."
    )


def measure_of(delta: Amount | None) -> Measure:
    """Say in what is charged: pure loss, or with a δ concentrated loss."""
    return PURE if delta is None else Concentrated(positive_fraction(delta, "δ"))
