"""Discrete Laplace noise in a ledger with a δ: charged, as Gaussian noise is, by squared changes."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from entwined.noise.dominated import laplace_scale, rho_of_scale
from entwined.noise.laplace import DiscreteLaplace

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class SquaredLaplace(DiscreteLaplace):
    """Discrete Laplace noise by its ρ: it shows no more than Gaussian noise of that ρ (`noise.dominated`).

    >>> noise = SquaredLaplace.for_rho(Fraction(1, 2), ONE)
    >>> noise.rho(ONE) <= Fraction(1, 2), round(noise.variance, 3), noise.words(lambda scale: f"{float(scale):.3f}")
    (True, 2.91, 'discrete Laplace of scale 1.239')
    """

    @classmethod
    def for_rho(cls, rho: Fraction, squared_change: Fraction) -> Self:
        """Make noise whose ρ is at most this for answers whose squared L2 change is at most that."""
        return cls(laplace_scale(rho, squared_change))

    def rho(self, squared_sensitivity: Fraction) -> Fraction:
        """Return the ρ of answers whose squared L2 change is at most `squared_sensitivity`, rounded up."""
        return rho_of_scale(self.scale, squared_sensitivity)

    def charged(self, squared_sensitivity: Fraction) -> Fraction:
        """Return the same: this noise is charged its ρ."""
        return self.rho(squared_sensitivity)

    def at(self, times: Fraction) -> Self:
        """Give the noise of so many times the loss."""
        return type(self).for_rho(self.rho(ONE) * times, ONE)
