"""ρ and ε at δ where no more is shown than by Gaussian noise: exact, where ρ-zCDP alone is a bound."""

import math
from fractions import Fraction
from typing import Final

from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta, largest_shift
from entwined.errors import BadNoise
from entwined.noise.lattice import probability
from entwined.numbers import float_above, positive_fraction, round_up_float

CLOSER: Final = 1 - Fraction(1, 10**12)
MOST_STEPS: Final = 1000


def shift_of(rho: Fraction) -> float:
    """By how many standard deviations Gaussian noise of a concentrated loss moves: √(2ρ), rounded up."""
    return round_up_float(math.sqrt(float_above(2 * rho)))


def gaussian_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return the ε at δ of what shows no more than Gaussian noise of ρ, rounded up.

    >>> round(gaussian_epsilon(Fraction(1, 2), Fraction(1, 10**6)), 4)   # one standard deviation
    4.8866
    """
    return epsilon_at_delta(GaussianCurve(shift_of(rho)), probability(delta, "δ"))


def largest_gaussian_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest ρ, within a part in 10⁹, whose Gaussian noise has at most this ε at δ.

    >>> found = largest_gaussian_rho(Fraction(1), Fraction(1, 10**6))
    >>> round(1 / math.sqrt(2 * found), 3), gaussian_epsilon(found, Fraction(1, 10**6)) <= 1
    (4.225, True)
    """
    target, miss = positive_fraction(epsilon, "ε"), probability(delta, "δ")
    found = Fraction(largest_shift(target, miss)) ** 2 / 2
    for _ in range(MOST_STEPS):
        if gaussian_epsilon(found, miss) <= target:
            return found
        found *= CLOSER
    raise BadNoise(f"No ρ found with ε = {float(target):g} at δ = {float(miss):g}. Ask for a larger ε or δ.")
