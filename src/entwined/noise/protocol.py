"""What every law of noise can say about itself before anything is drawn."""

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, Self, TypeAlias, runtime_checkable

from entwined.noise.lattice import Integers
from entwined.numbers import FloatArray, IntArray

Figure: TypeAlias = Callable[[Fraction], str]


class Law(Protocol):
    """A noise or a choice: a public value with a document, from which `law_from` makes it again."""

    @property
    def document(self) -> dict[str, str]:
        """The law as JSON: its name, and its one number as an exact fraction."""

    def words(self, figure: Figure = ...) -> str:
        """Say the law in words, with its number written as told."""

    def at(self, times: Fraction) -> Self:
        """Give the law of the same kind that costs so many times the loss."""


@runtime_checkable
class Additive(Law, Protocol):
    """An integer noise that is added to an integer answer."""

    @property
    def scale(self) -> Fraction:
        """The scale that is drawn with: a float's exact value, never below the one asked for."""

    @property
    def variance(self) -> float:
        """The variance of one draw."""

    def add(self, exact: Integers) -> IntArray:
        """Add one independent draw to each answer; what leaves the range of int64 is put to its end."""

    def log_weights(self, noise: IntArray) -> FloatArray:
        """Give the log of the probability of each noise up to a constant."""

    def tail(self, distance: int) -> float:
        """P(|Z| ≥ distance), never below the truth."""

    def accuracy(self, beta: str | float | Fraction) -> int:
        """Find the least a with P(|Z| > a) ≤ beta."""

    def half_width(self, confidence: str | float | Fraction) -> int:
        """Find the least h such that answer ± h covers with at least this confidence."""

    def log_transform(self, frequencies: FloatArray) -> FloatArray:
        """Give log E cos(t · Z) for each frequency t."""

    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Give log E exp(λ · Z) for each λ, or more; infinite where there is none."""


@runtime_checkable
class Noise(Additive, Protocol):
    """A noise with a pure loss: the only kind that every dependence bound takes."""

    def loss(self, sensitivity: Fraction) -> Fraction:
        """Return the base loss ε of answers that move by at most `sensitivity` in L1, exactly."""


@runtime_checkable
class ConcentratedNoise(Additive, Protocol):
    """A noise with a concentrated loss ρ: for independent units, and for groups at k²ρ."""

    def rho(self, squared_sensitivity: Fraction) -> Fraction:
        """Return the ρ of answers whose squared L2 change is at most `squared_sensitivity`, exactly."""

    def charged(self, squared_sensitivity: Fraction) -> Fraction:
        """Return the ρ that a release with this noise is charged, which is never less (`noise.dominated`)."""
