"""A statistic with its law: integers that noise is added to, or scores that one place is chosen by."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, TypeAlias

import numpy as np

from entwined.noise import Additive, ExponentialChoice
from entwined.noise.filling import fill
from entwined.numbers import FloatArray, IntArray
from entwined.queries import Scores, Statistic


@dataclass(frozen=True, slots=True)
class _Noised:
    """A statistic of the batch whose integers are released with noise."""

    statistic: Statistic
    law: Additive

    @property
    def noise(self) -> Additive:
        """The noise that is added."""
        return self.law

    @property
    def chooser(self) -> None:
        """Nothing is chosen."""
        return

    @property
    def spread(self) -> float:
        """The deviation of its noise."""
        return math.sqrt(self.law.variance)

    def at(self, times: Fraction) -> Self:
        """Give it so many times its loss."""
        return replace(self, law=self.law.at(times))

    def drawn(self, exact: IntArray) -> IntArray:
        """Add noise to each integer."""
        return self.law.add(exact)

    def log_chances(self, drawn: IntArray, exact: IntArray) -> FloatArray:
        """Give the log of the chance of each draw (rows) where these are the exact integers, up to a constant."""
        return np.asarray(self.law.log_weights(drawn - exact).sum(axis=-1))


@dataclass(frozen=True, slots=True)
class Added(_Noised):
    """Counts or sums with noise, which have to agree with others about the same rows."""


@dataclass(frozen=True, slots=True)
class Alone(_Noised):
    """Integers with noise that nothing else has to agree with."""


@dataclass(frozen=True, slots=True)
class Filled(_Noised):
    """Counts whose blanks are filled by draws before noise is added."""

    def drawn(self, exact: IntArray) -> IntArray:
        """Fill the blanks, and add noise to each integer."""
        return self.law.add(fill(exact, self.statistic.filling))

    def log_chances(self, drawn: IntArray, exact: IntArray) -> FloatArray:  # noqa: ARG002  (it is not known)
        """Say nothing: the chances of filled counts are sums over all fillings."""
        return np.zeros(drawn.shape[:-1])


@dataclass(frozen=True, slots=True)
class Chosen:
    """A statistic of the batch of which one place is chosen."""

    statistic: Statistic
    law: ExponentialChoice
    choice: Scores

    @property
    def noise(self) -> None:
        """Nothing is added, for no integer is released."""
        return

    @property
    def chooser(self) -> ExponentialChoice:
        """What chooses."""
        return self.law

    @property
    def spread(self) -> float:
        """By how much a score may be off, but for a factor."""
        return 1 / float(self.law.rate)

    def at(self, times: Fraction) -> "Chosen":
        """Give it so many times its loss."""
        return replace(self, law=self.law.at(times))

    def drawn(self, exact: IntArray) -> IntArray:
        """Choose one place of the integers along the last axis."""
        rows = exact.reshape(-1, exact.shape[-1])
        places = [self.law.choose(self.choice.scores(counts)) for counts in rows]
        return np.array(places, dtype=np.int64).reshape(*exact.shape[:-1], 1)

    def log_chances(self, drawn: IntArray, exact: IntArray) -> FloatArray:
        """Give the log of the chance of each chosen place (rows) where these are the exact integers."""
        chances = np.array(self.law.probabilities(self.choice.scores(exact)))
        return np.asarray(np.log(chances)[drawn[..., 0]])


Asked: TypeAlias = Added | Alone | Filled | Chosen
