"""T(L; Δ): how much of a leakage L gets through a factor of log odds Δ.

T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)), Birkhoff's contraction of Hilbert's projective metric. With a = e^{L/2} − 1 and
d = e^{Δ/2} − 1 it is 2 log(1 + a / (1 + (a + 2)/d)), where nothing cancels. All forms below are accurate to a few units
in the last place where they are used, and the result is rounded up by more than that.
"""

import math

import numpy as np

from entwined.numbers import ULP, FloatArray

SMALL = 4.0  # up to it the form with a and d is well conditioned and quick, above it the logarithmic form is
LARGEST = 600.0  # above it a leaves the range of floats
SLACK = 1.0 + 32 * ULP
TINY = 1e-300  # below the normal floats digits get lost


def contract(leakage: FloatArray, log_odds: FloatArray) -> FloatArray:
    """T(L; Δ) entry by entry, rounded up; never more than L or Δ."""
    least, most = np.minimum(leakage, log_odds), np.maximum(leakage, log_odds)
    small = let_through(np.minimum(least, SMALL), hindrance(most))
    if least.size and least.max() < SMALL:
        return np.minimum(small, least)
    apart, together = np.abs(finite_gap(leakage, log_odds)) / 2, (leakage + log_odds) / 2
    large = least + 2 * np.log1p(np.exp(-together)) - 2 * np.log1p(np.exp(-apart))
    return np.minimum(np.where(least < SMALL, small, large * SLACK + TINY), least)


def hindrance(log_odds: FloatArray) -> FloatArray:
    """1/d = 1 / (e^{Δ/2} − 1), which is all that is needed of Δ."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(1.0 / np.expm1(log_odds * 0.5))


def let_through(leakage: FloatArray, hindered: FloatArray) -> FloatArray:
    """T(L; Δ) for L up to `LARGEST` by the hindrance of Δ, rounded up; the caller sees that it is not above L."""
    growth = np.expm1(leakage * 0.5)
    with np.errstate(over="ignore"):  # no strength at all lets nothing through
        return np.asarray(np.log1p(growth / ((growth + 2.0) * hindered + 1.0)) * (2 * SLACK) + TINY)


def tanh_quarter(value: FloatArray) -> FloatArray:
    """tanh(x/4) for x ≥ 0, several times faster than numpy's own."""
    falling = np.expm1(value * -0.5)
    return falling / (-2.0 - falling)


def finite_gap(leakage: FloatArray, log_odds: FloatArray) -> FloatArray:
    """L − Δ, taken as infinite where both are."""
    with np.errstate(invalid="ignore"):
        gap = leakage - log_odds
    return np.where(np.isnan(gap), np.inf, gap)


def contract_one(leakage: float, log_odds: float) -> float:
    """T(L; Δ) of two numbers, for recursions that go one step at a time."""
    least = min(leakage, log_odds)
    if least == math.inf:
        return least
    if least < SMALL:
        value = 4 * math.atanh(math.tanh(leakage / 4) * math.tanh(log_odds / 4))
    else:
        apart, together = abs(leakage - log_odds) / 2, (leakage + log_odds) / 2
        value = least + 2 * math.log1p(math.exp(-together)) - 2 * math.log1p(math.exp(-apart))
    return min(value * SLACK + TINY, least)
