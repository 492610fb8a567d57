"""What a theorem starts from: how much a mechanism shows of each unit, before any dependence.

Loss               pure losses ε_j, of whatever was released                    (entwined.loss)
ConcentratedLoss   concentrated losses ρ_j at one δ, of Gaussian noise          (concentrated_loss)
FilledBlanks       pure losses of a mechanism that fills blanks at random       (filled_blanks)
FilledConcentrated the same with concentrated losses                            (separable_filled)
NoisySum           one sum of integer weights with Laplace noise                (noisy_sum)
SeriesSum          the same over all steps of many series                      (noisy_sum)
NoisyLinear        weighted sums with Gaussian noise, at one δ and distance     (noisy_linear)
ClippedValues      losses along the distances of clipped values, and others     (clipped_values)
DistanceLoss       pure losses for each unit of distance                        (distance_loss)
NearPlaces         losses by the distance of places, and others beside them     (near_places)
NoisyColumns       an answer about whole columns with Laplace noise, or none    (attributes.noisy_columns)

A new kind needs no entry anywhere: a theorem that takes it names it in its signature, and a certificate names
the theorem.

Each kind says what its own loss is, and no theorem's leakage is below it (`Theorem.__call__`). Where one stated sum is
all that was released, other units that are not known hide a unit too, and its leakage may be less than its noise alone
would allow: such a sum's own loss is 0 for an adversary who knows no values, and its theorems see themselves to values
that the law rules out.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeVar

from entwined.canonical import Document
from entwined.numbers import FloatArray


class Exposure(Protocol):
    """What a mechanism shows of each unit to someone who knows all the others."""

    plural: ClassVar[str]  # what such exposures are called

    @property
    def released(self) -> str:
        """What a guarantee is about, as in "From anything released with these losses"."""

    @property
    def believed(self) -> str:
        """What must be believed of the mechanism."""

    @property
    def units(self) -> int:
        """How many units it speaks of."""

    @property
    def delta(self) -> Fraction:
        """The chance with which a guarantee fails; 0 where it always holds."""

    @property
    def document(self) -> Document:
        """The same as a part of a certificate."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""

    def own_loss(self, knowledge: str) -> FloatArray:
        """Give the ε of each unit by itself, below which no bound for such an adversary may be.

        It is what ordinary differential privacy gives the unit: what holds of it whatever the model says, for values
        and units, too, of which the model says that they cannot be as they are.
        """

    def widened(self, units: int) -> Self:
        """Speak of so many units at least, each new one shown as much of as of the worst."""

    def __mul__(self, factor: float) -> Self:
        """Show so many times as much."""

    def __hash__(self) -> int:
        """What is worked out of it is remembered."""


Given = TypeVar("Given", bound=Exposure)
