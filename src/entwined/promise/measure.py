"""In what a batch is charged: pure loss ε, or for Gaussian noise the concentrated loss ρ.

Either adds up over releases, part by part, and falls on rows in the same way: so much for a row that enters or
leaves a condition, so much for one that changes inside. Only at the end does ρ become an ε, at one public δ.
Dependence by groups of k costs k²ρ: the theorem "concentrated group" says why.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, TypeAlias

from entwined.bounds import ConcentratedLoss
from entwined.canonical import Document
from entwined.dependence import Dependence, Groups, Independent
from entwined.errors import Refused
from entwined.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialChoice,
    epsilon_at,
    group_rho,
    largest_rho,
)
from entwined.noise.lattice import probability
from entwined.numbers import Amount, positive_fraction
from entwined.queries import Reach, Statistic
from entwined.schema import Schema

LARGEST_DELTA: Final = Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class Pure:
    """Loss ε by L1 changes: Laplace noise, for every dependence model."""

    delta: ClassVar[None] = None
    is_pure: ClassVar[bool] = True

    def parts(self, statistic: Statistic, schema: Schema) -> tuple[Reach, ...]:
        """Say how far a statistic moves, part by part."""
        return statistic.parts(schema)

    def added(self, each: Fraction, worst: Fraction) -> DiscreteLaplace:
        """Give the noise of a loss for the worst change."""
        return DiscreteLaplace.for_loss(each, worst)

    def chosen(self, each: Fraction, worst: Fraction) -> ExponentialChoice:
        """Give the choice of a loss for the worst change of a score."""
        return ExponentialChoice.for_loss(each, worst)

    def weighed(self, change: Fraction) -> Fraction:
        """Say what a change counts for."""
        return change

    def epsilon(self, loss: Fraction) -> Fraction:
        """Give the ε of a loss."""
        return loss

    def largest(self, epsilon: Fraction) -> Fraction:
        """Give the largest loss of an ε."""
        return epsilon

    def grown(self, model: Dependence) -> None:  # noqa: ARG002  (every measure is asked the same way)
        """No single factor says what a pure loss leaks under a model: theorems do."""
        return

    def exposure(self, loss: Fraction, model: Dependence) -> None:  # noqa: ARG002  (as above)
        """No single loss says what is shown of the units of a model: it falls on them as it is laid out."""
        return

    @property
    def document(self) -> Document:
        """What a certificate says of it."""
        return {}


@dataclass(frozen=True, slots=True)
class Concentrated:
    """Loss ρ by squared L2 changes: Gaussian noise, for independent units and for groups.

    A choice of pure loss ε is charged ε²/2 (Bun and Steinke 2016, Proposition 1.4).
    """

    delta: Fraction
    is_pure: ClassVar[bool] = False

    def __post_init__(self) -> None:
        delta = probability(self.delta, "δ")
        if delta > LARGEST_DELTA:
            raise Refused(
                f"δ = {float(delta):g} is the chance that no promise holds; {float(LARGEST_DELTA):g} is the "
                "most. Take one far below one in the number of rows."
            )
        object.__setattr__(self, "delta", delta)

    def parts(self, statistic: Statistic, schema: Schema) -> tuple[Reach, ...]:
        """Say how far a statistic moves, squared, part by part."""
        return tuple(
            Reach(part.where, statistic.squared(part.sensitivity), part.column)
            for part in statistic.parts(schema)
        )

    def added(self, each: Fraction, worst: Fraction) -> DiscreteGaussian:
        """Give the noise of a loss for the worst change."""
        return DiscreteGaussian.for_rho(each, worst)

    def chosen(self, each: Fraction, worst: Fraction) -> ExponentialChoice:
        """Give the choice of a loss for the worst change of a score, squared."""
        return ExponentialChoice(_root_below(each / (2 * worst)))

    def weighed(self, change: Fraction) -> Fraction:
        """Say what a change counts for: its square."""
        return change**2

    def epsilon(self, loss: Fraction) -> Fraction:
        """Give the ε of a loss at δ, rounded up."""
        return Fraction(epsilon_at(loss, self.delta)) if loss else loss

    def largest(self, epsilon: Fraction) -> Fraction:
        """Give the largest loss of an ε at δ, rounded down."""
        return largest_rho(epsilon, self.delta)

    def exposure(self, rho: Fraction, model: Dependence) -> ConcentratedLoss:
        """Say what a loss of every unit of a model shows, before dependence."""
        return ConcentratedLoss.uniform(rho, model.units, self.delta)

    def grown(self, model: Dependence) -> Fraction:
        """By how much a model multiplies a loss; refuse one that a release with this noise does not take."""
        match model:
            case Independent():
                return Fraction(1)
            case Groups(largest=most):
                return group_rho(1, most)
        raise Refused(
            f"Gaussian noise under a model of kind {model.kind}: a release takes it for independent units and for "
            "groups. Leave delta out, so that the noise is Laplace, or declare groups."
        )

    @property
    def document(self) -> Document:
        """What a certificate says of it."""
        return {"delta": str(self.delta)}


Measure: TypeAlias = Pure | Concentrated
PURE: Final = Pure()


def measure_of(delta: Amount | None) -> Measure:
    """Say in what is charged: pure loss, or with a δ concentrated loss."""
    return PURE if delta is None else Concentrated(positive_fraction(delta, "δ"))


def _root_below(squared: Fraction) -> Fraction:
    near = math.sqrt(squared)
    while Fraction(near) ** 2 > squared:
        near = math.nextafter(near, 0.0)
    return Fraction(near)
