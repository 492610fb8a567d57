"""Numbers that are told again with less noise, at the price of the last telling alone."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadNoise
from entwined.noise.exponentials import exponential
from entwined.noise.laplace import DiscreteLaplace
from entwined.noise.lattice import Integers, integers
from entwined.numbers import IntArray

WORD: Final = 64  # bits that nearly always decide
GUARD: Final = 128  # bits: 1 − exp(−1/scale) is above 2⁻⁵³


@dataclass(frozen=True, slots=True)
class GradualLaplace:
    """Discrete Laplace noise that is taken away step by step: laws from the widest to the narrowest.

    Let Z have the law of scale t, and let W be 0 with chance q, else drawn by the law of scale s > t. With
    a = exp(−1/s), b = exp(−1/t) and q = (b/a)·((1−a)/(1−b))², Z + W has the law of scale s: the transforms are
    (1−b)²/(1−2b cos u+b²) and (1−a)²/(1−2a cos u+a²), and 1−2b cos u+b² = (b/a)(1−2a cos u+a²) + (1−b/a)(1−ab).
    So what is told first, x + Z + W, is made of what is told later, x + Z, by chance that knows no row: both tell what
    the later one tells by itself, and the first alone has the loss of its own law (Koufogiannis, Han, Pappas 2015,
    there for real numbers). Whether more is told may hang on what was told.
    """

    laws: tuple[DiscreteLaplace, ...]

    def __post_init__(self) -> None:
        if any(one.scale <= two.scale for one, two in pairwise(self.laws)):
            raise BadNoise("The scales of noise that is taken away have to fall. Give the widest law first.")

    def add(self, exact: Integers) -> tuple[IntArray, ...]:
        """Give the numbers with the noise of every law, the narrowest last; the earlier ones are made of it."""
        told = [self.laws[-1].add(exact)]
        for narrow, wide in pairwise(reversed(self.laws)):
            told.append(_widened(told[-1], narrow, wide))
        return tuple(reversed(told))


def _widened(numbers: IntArray, narrow: DiscreteLaplace, wide: DiscreteLaplace) -> IntArray:
    moved = ~_happens(numbers.shape, narrow.scale, wide.scale)
    found = numbers.copy()
    found[moved] = wide.add(integers(numbers[moved]))
    return found


def _happens(shape: Sequence[int], narrow: Fraction, wide: Fraction) -> NDArray[np.bool_]:
    """Let what has the chance q happen or not, exactly: by one word of bits each, and more where that is not enough."""
    low, high = _chance(narrow, wide, WORD)
    many = int(np.prod(shape))
    words = np.frombuffer(secrets.token_bytes(WORD // 8 * many), np.uint64)
    found = words < low
    for at in np.flatnonzero((words >= low) & (words < high)).tolist():
        found[at] = _decided(int(words[at]), narrow, wide)
    return found.reshape(shape)


def _decided(drawn: int, narrow: Fraction, wide: Fraction) -> bool:
    """Read more bits of a uniform number until it is surely below q, or not."""
    bits = WORD
    while True:
        drawn, bits = drawn << WORD | secrets.randbits(WORD), bits + WORD
        low, high = _chance(narrow, wide, bits)
        if drawn < low or drawn >= high:
            return drawn < low


def _chance(narrow: Fraction, wide: Fraction, bits: int) -> tuple[int, int]:
    """Enclose q · 2^bits: whole numbers below the first are below it, and none from the last on is."""
    fine = bits + GUARD
    ratio = exponential(1 / narrow - 1 / wide, fine)
    one = 1 << fine
    of_wide, of_narrow = exponential(1 / wide, fine), exponential(1 / narrow, fine)
    low = Fraction(ratio.low * (one - of_wide.high) ** 2, (one - of_narrow.low) ** 2)
    high = Fraction(ratio.high * (one - of_wide.low) ** 2, (one - of_narrow.high) ** 2)
    return int(low) >> GUARD, (int(high) >> GUARD) + 1
