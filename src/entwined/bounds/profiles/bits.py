"""Whole numbers that move by one each, with discrete Laplace noise: exactly so many truthful bits.

Discrete Laplace noise of scale s on a number that moves by one: the two laws, in proportion to w^|z| and w^|z − 1| with
w = e^{−1/s}, have the ratio w or 1/w everywhere: they show what one bit shows that is true with odds e^{1/s}, neither
more nor less. Numbers with independent noise show what so many independent bits do, whose losses are ±1/s each.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, exp, prod
from typing import Final, TypeAlias

import numpy as np

from entwined.bounds.profiles.curves import PureCurve
from entwined.noise.dominated import pure_of_rho, rho_of_pure
from entwined.numbers import ULP, FloatArray, float_above

Bits: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Losses, and how many bits have each."""

MOST_SUMS: Final = 4_000
NONE: Final = 1e-9  # a loss that may be 0 but for rounding


@dataclass(frozen=True, slots=True)
class BitsCurve:
    """Independent bits, each true with odds e^loss.

    >>> two = BitsCurve(((Fraction(1, 2), 2),))
    >>> two.at(np.expm1([0.0, 0.5, 1.0])).round(5).tolist()   # both true or both false, or they cancel
    [0.24492, 0.15245, 0.0]
    """

    bits: Bits

    def at(self, excess: FloatArray) -> FloatArray:
        """Σ p (1 − γ e^{−loss})₊ over the values of their sum; of very many as one truthful answer."""
        if prod(many + 1 for _, many in self.bits) > MOST_SUMS:
            return PureCurve(float_above(sum((loss * many for loss, many in self.bits), Fraction(0)))).at(
                excess
            )
        asked, found = np.log1p(excess), np.zeros(np.shape(excess))
        for chance, loss in sums_of(self.bits):
            found -= chance * np.expm1(-np.maximum(loss - asked, 0.0))
        return np.minimum(found, 1.0)


@lru_cache(maxsize=1024)
def sums_of(bits: Bits) -> tuple[tuple[float, float], ...]:
    """The values above 0 of the sum of losses, each with its chance, both rounded up."""
    found = [(1.0, 0.0)]
    for exact, many in bits:
        loss = float_above(exact)
        true, false = 1 / (1 + exp(-loss)), 1 / (1 + exp(loss))
        each = [
            (comb(many, k) * true ** (many - k) * false**k, (many - 2 * k) * loss) for k in range(many + 1)
        ]
        found = [(p * q, one + other) for p, one in found for q, other in each]
    rounding = 1 + 64 * ULP * (sum(many for _, many in bits) + len(bits))
    return tuple(
        (chance * rounding, loss + abs(loss) * 64 * ULP + 64 * ULP) for chance, loss in found if loss > -NONE
    )


def scaled(bits: Bits, factor: Fraction) -> Bits:
    """The same bits with noise of so many times the ρ (`noise.dominated`)."""
    return tuple((pure_of_rho(rho_of_pure(loss) * factor), many) for loss, many in bits)
