"""Concentrated loss ρ, and what it means as (ε, δ).

A mechanism is ρ-zCDP if its Rényi divergence of every order α > 1 is at most αρ. It composes by adding ρ, and
moving k units costs k²ρ. Every α turns ρ into a valid pair (Canonne, Kamath, Steinke 2020, Proposition 12):

    ε = αρ + ln(1 − 1/α) + ln(1/(αδ)) / (α − 1)        δ = exp((α − 1)(αρ − ε)) · (1 − 1/α)^α / (α − 1)

so a search for the best α can only be less tight than it might be, never wrong.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.errors import BadNoise
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, float_above, float_below, positive_fraction

ROUNDING: Final = 1e-12  # above the relative error of the few operations in either formula
LARGEST_RHO: Final = Fraction(10**6)
ORDERS: Final = np.linspace(-40.0, 40.0, 2001)  # ln(α − 1): coarse first, then finer around the best
ROUNDS: Final = 6
MOST_HALVINGS: Final = 200


def group_rho(rho: str | float | Fraction, size: int) -> Fraction:
    """Return the ρ of moving `size` units at once: size²·ρ (Bun, Steinke 2016, Proposition 1.9)."""
    if size < 1:
        raise BadNoise(f"A group of {size} units is no group. Give a size of 1 or more.")
    return size**2 * _usable(rho)


def epsilon_at(rho: str | float | Fraction, delta: str | float | Fraction) -> float:
    """Return the least ε found such that ρ-zCDP gives (ε, δ), rounded up."""
    cost, miss = float_above(_usable(rho)), math.log(float_below(probability(delta, "δ")))

    def bound(gap: FloatArray) -> FloatArray:
        log_order = np.log1p(gap)
        return _sum_up((gap + 1) * cost, np.log(gap), -log_order, -log_order / gap, -miss / gap)

    return max(_least(bound), 0.0)


def delta_at(rho: str | float | Fraction, epsilon: str | float | Fraction) -> float:
    """Return the least δ found such that ρ-zCDP gives (ε, δ), rounded up."""
    cost, loss = float_above(_usable(rho)), float_below(positive_fraction(epsilon, "ε"))

    def bound(gap: FloatArray) -> FloatArray:
        order = gap + 1
        return _sum_up(gap * order * cost, -gap * loss, gap * np.log(gap), -order * np.log1p(gap))

    return min(1.0, math.exp(min(_least(bound), 0.0)) * (1 + ROUNDING) + math.ulp(0.0))


def largest_rho(epsilon: str | float | Fraction, delta: str | float | Fraction) -> Fraction:
    """Return the largest ρ found, within a part in 10⁹, whose (ε, δ) stays within the one asked for."""
    target, miss = positive_fraction(epsilon, "ε"), probability(delta, "δ")
    low, high = Fraction(0), min(target, LARGEST_RHO)
    while high < LARGEST_RHO and epsilon_at(high, miss) <= target:
        low, high = high, min(2 * high, LARGEST_RHO)
    for _ in range(MOST_HALVINGS):
        if high - low <= high / 10**9:
            break
        middle = Fraction(float((low + high) / 2))
        low, high = (middle, high) if epsilon_at(middle, miss) <= target else (low, middle)
    if low == 0:
        raise BadNoise(
            f"No ρ above {float(high):g} gives ε = {epsilon} at δ = {delta}. Ask for a larger ε or δ."
        )
    return low


def _usable(rho: str | float | Fraction) -> Fraction:
    exact = positive_fraction(rho, "ρ")
    if exact > LARGEST_RHO:
        raise BadNoise(f"ρ = {float(exact):g} protects nothing. Give a ρ below {LARGEST_RHO}.")
    return exact


def _sum_up(*terms: FloatArray) -> FloatArray:
    """Add terms and round up by more than the sum can have lost."""
    total = np.sum(terms, axis=0)
    return np.asarray(total + ROUNDING * np.sum(np.abs(terms), axis=0))


def _least(bound: Callable[[FloatArray], FloatArray]) -> float:
    """Find the least of a bound over α > 1: every value seen is valid, so the least one seen is."""
    orders = ORDERS
    for _ in range(ROUNDS):
        values = bound(np.exp(orders))
        best = int(np.argmin(values))
        low, high = orders[max(best - 1, 0)], orders[min(best + 1, orders.size - 1)]
        orders = np.linspace(low, high, 41)
    return float(values[best])
