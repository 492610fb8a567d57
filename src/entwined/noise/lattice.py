"""The integers that noise is added to, and the scales it can have.

Two clampings to the range of int64 stand around the noise, and neither costs anything: putting an exact
answer to the nearest end moves no two answers apart, so no sensitivity grows; putting a noisy answer to the
nearest end is post-processing. Neither raises an error, so none can tell what the rows hold.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadNoise
from entwined.numbers import IntArray, float_above, positive_fraction

Integers: TypeAlias = int | Sequence[int] | NDArray[np.integer] | NDArray[np.object_]

LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
SMALLEST_SCALE: Final = Fraction(1, 2**10)  # below it no draw differs from zero
LARGEST_SCALE: Final = Fraction(2**52)  # above it draws leave the range of int64


def usable_scale(given: str | float | Fraction) -> float:
    """Return the least float that is not below the scale asked for."""
    exact = positive_fraction(given, "Scale")
    if not SMALLEST_SCALE <= exact <= LARGEST_SCALE:
        raise BadNoise(
            f"A scale of {float(exact):g} is outside 2⁻¹⁰ to 2⁵², where integer noise works. "
            "Ask for a loss nearer to the query's sensitivity, or count in a coarser unit."
        )
    return float_above(exact)


def exactly(number: Fraction) -> str:
    """Write the number of a law exactly, as the ledger writes fractions."""
    return f"{number.numerator}/{number.denominator}"


def not_negative(given: float | Fraction, name: str) -> Fraction:
    """Read a sensitivity exactly: zero is fine, below zero or a float is not."""
    if not isinstance(given, Fraction | int) or given < 0:
        raise BadNoise(f"{name} {given!r} is not a fraction ≥ 0. Give an integer or a Fraction.")
    return Fraction(given)


def probability(given: str | float | Fraction, name: str) -> Fraction:
    """Read a probability strictly between 0 and 1 exactly."""
    exact = positive_fraction(given, name)
    if exact >= 1:
        such = "1e-6" if name == "δ" else "0.95"
        raise BadNoise(f"{name} {given} is not below 1. Give a probability such as {such}.")
    return exact


def integers(given: Integers, low: int = LOWEST, high: int = HIGHEST) -> IntArray:
    """Put integers of any size to the nearest in `low`..`high`; refuse others without naming them."""
    # numpy reads a list that holds both −1 and 2⁶³ as floats, so lists are read as Python integers
    values = given if isinstance(given, np.ndarray) else np.array(given, dtype=object)
    if values.dtype == object:
        if not all(isinstance(value, int | np.integer) for value in values.flat):
            raise BadNoise(
                "Noise was asked for something that is not an integer. Give integers, in fixed point."
            )
        near = [min(max(int(value), low), high) for value in values.flat]
        return np.array(near, dtype=np.int64).reshape(values.shape)
    if values.size and values.dtype.kind not in "iu":
        raise BadNoise(f"Noise was asked for values of type {values.dtype}. Give integers, in fixed point.")
    if values.dtype.kind == "u":
        values = np.minimum(values, np.uint64(HIGHEST))
    values = values.astype(np.int64)
    return values if (low, high) == (LOWEST, HIGHEST) else values.clip(low, high)
