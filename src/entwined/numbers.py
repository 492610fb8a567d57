"""Exact fractions in, rounding against us out."""

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadLoss

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.integer[Any]]
BitArray: TypeAlias = NDArray[np.uint8]
Amount: TypeAlias = str | float | Fraction
"""A loss, a leakage or a share as people give it."""

ULP: Final = float(np.finfo(np.float64).eps)
MOST_DIGITS: Final = 1000
SMALLEST: Final = 1e-300
LARGEST: Final = 1e300
SURELY_USABLE: Final = 900  # powers of two well between the two


def round_up(value: FloatArray, ulps: float = 4) -> FloatArray:
    """Return a little more than `value`, at least the true number it stands for within `ulps` units."""
    return np.asarray(value) * (1.0 + ulps * ULP)


def round_up_float(value: float, ulps: float = 4) -> float:
    """Return a little more than `value`, a scalar and without numpy's overhead."""
    return value * (1.0 + ulps * ULP)


def float_above(exact: Fraction) -> float:
    """Return the smallest float that is not below `exact`."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def float_below(exact: Fraction) -> float:
    """Return the largest float that is not above `exact`."""
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def positive_fraction(given: str | float | Fraction, name: str) -> Fraction:
    """Read a budget exactly: "0.1" is one tenth, not the float next to it."""
    try:
        exact = given if isinstance(given, Fraction) else _exact(str(given).strip())
    except (InvalidOperation, ValueError, OverflowError):
        raise BadLoss(f"{name} {given!r:.60} is not a finite number. Give a decimal such as 0.5.") from None
    magnitude = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact.numerator > 0 and abs(magnitude) < SURELY_USABLE:
        return exact
    if exact <= 0:
        raise BadLoss(f"{name} {given!s:.60} is not above zero. Give a positive number such as 0.5.")
    if not SMALLEST < exact < LARGEST:
        raise BadLoss(f"{name} {given!s:.60} is outside 1e-300 to 1e300. Give a number in a usable range.")
    return exact


def _exact(text: str) -> Fraction:
    """Read a decimal in plain digits; one far out of range is not written out: it would fill the memory."""
    if len(text) > MOST_DIGITS or not text.isascii():
        raise ValueError(text)
    number = Decimal(text)
    if number.is_finite() and number and abs(number.adjusted()) > MOST_DIGITS:
        return Fraction(10**MOST_DIGITS if number > 0 else -1)  # refused for the same reason
    return Fraction(number)
