"""A statistic with its noise: integers that noise is added to, or scores that one place is chosen by."""

from dataclasses import dataclass
from typing import TypeAlias

from entwined.canonical import fraction_text
from entwined.noise import DiscreteGaussian, DiscreteLaplace, ExponentialChoice
from entwined.queries import Quantile, Statistic


@dataclass(frozen=True, slots=True)
class Added:
    """A statistic of the batch whose integers are released with noise."""

    statistic: Statistic
    law: DiscreteLaplace | DiscreteGaussian

    @property
    def text(self) -> str:
        """Name the noise."""
        kind = "Laplace" if isinstance(self.law, DiscreteLaplace) else "Gaussian"
        return f"discrete {kind} of scale {fraction_text(self.law.scale)}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A statistic of the batch of which one place is chosen."""

    statistic: Statistic
    law: ExponentialChoice
    query: Quantile

    @property
    def text(self) -> str:
        """Name the choice."""
        return f"exponential choice of rate {fraction_text(self.law.rate)}"


Asked: TypeAlias = Added | Chosen
