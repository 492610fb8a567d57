"""Answers that are not normal given the secret: their laws worked out, and the least noise found by trying it.

**Which pairs.** Let rows with the protected value add more than the others in the order of likelihood ratios, both laws
being log-concave. Then the answer's laws P_k, given that k rows have the value, are in that order too (it is kept under
sums with independent log-concave numbers), with noise that is log-concave as well. The best tests are thresholds, and a
threshold tells P_k from P_l the better the further k and l are apart: the worst pair of two sets are their furthest
points. Laws that are in no such order are compared pair by pair, if there are few.

**Which noise.** Discrete Gaussian noise is added to whole numbers, and E_γ = Σ (P − γQ)₊ is summed, what laws and
convolutions miss added on top. Where that sum is too long the laws are in order, and discrete noise of variance σ²
shows no more than continuous noise of σ² − 3 (`noise/dominated`), whose thresholds are tried on a grid: mass of the
upper law is moved up to the grid and that of the lower one down, and between two thresholds t < t′ the difference
is at most P(≥ t) − γ Q(≥ t′).
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Final

import numpy as np

from entwined.bounds.attributes.chance_boxes import Chances
from entwined.bounds.attributes.on_grid import LEAST_SPREAD
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.summed_laws import Pair, RowChances, WholeLaw, convolved
from entwined.errors import BadModel, QueryTooComplex, Unreachable
from entwined.noise.dominated import BLUR, SMOOTHED
from entwined.numbers import ULP, FloatArray, float_above, float_below

REACH: Final = 9.0  # beyond so many deviations noise has less than 10⁻¹⁸
LONG: Final = 1 << 18
FINE: Final = 1 << 17
MOST_PAIRS: Final = 2000
LEAST_DEVIATION: Final = 0.5
MOST_AVERAGED: Final = 2000
CLOSE: Final = 1e-3  # in proportion, how near the least deviation is found
BEYOND: Final = 4e-18


def pairs_of_laws(secret: ColumnSecret, law: Chances) -> list[Pair]:
    """The laws of an answer that a secret needs to be kept apart, the worst ones at least."""
    if secret.reading == "averaged" and isinstance(law, RowChances):
        return [
            (_averaged(law, secret, secret.counts(one)), _averaged(law, secret, secret.counts(other)))
            for one, other in secret.apart
        ]
    found: set[tuple[int, int]] = set()
    for one, other in secret.apart:
        first, second = secret.counts(one), secret.counts(other)
        if law.in_order:
            found |= {(first[0], second[-1]), (first[-1], second[0])}
        elif len(first) * len(second) > MOST_PAIRS:
            raise QueryTooComplex(
                f"The secret {secret.title!r} has {len(first) * len(second):,} pairs of points, and laws in no order "
                f"are compared for {MOST_PAIRS:,} at most. Name fewer points, or declare laws in order of likelihood."
            )
        else:
            found |= set(product(first, second))
    pairs = {(min(pair), max(pair)) for pair in found if pair[0] != pair[1]}
    return [laws for one, other in sorted(pairs) for laws in law.apart(secret, one, other)]


def slip_of(pairs: Iterable[Pair], epsilon: Fraction, variance: Fraction, *, in_order: bool) -> float:
    """The δ at which discrete Gaussian noise of this variance keeps ε for each pair in both orders; never too small."""
    worst = 0.0
    for one, other in pairs:
        if not variance or _span(one, other) + 2 * REACH * math.sqrt(variance) <= LONG:
            worst = max(worst, *_summed(one, other, epsilon, variance))
        elif in_order:
            worst = max(worst, _by_thresholds(one, other, epsilon, variance))
        else:
            raise QueryTooComplex("The sums are too long to be worked out exactly. Ask about fewer rows.")
    return min(worst, 1.0)


def least_enumerated(secret: ColumnSecret, law: Chances) -> tuple[Fraction, float]:
    """The variance of noise that keeps a secret, hardly above the least one (0 if none is needed), and its δ."""
    pairs, ordered = pairs_of_laws(secret, law), law.in_order
    allowed = float_below(secret.delta)

    def slip(deviation: float) -> float:
        return slip_of(pairs, secret.epsilon, Fraction(deviation) ** 2, in_order=ordered)

    if not pairs or (found := slip(0.0)) <= allowed:
        return Fraction(0), found if pairs else 0.0
    low, high = 0.0, max(_furthest(pairs), math.sqrt(LEAST_SPREAD))
    while (found := slip(high)) > allowed:
        low, high = high, 2 * high
        if high > 1e9:  # noqa: PLR2004  (beyond any sum of rows)
            raise Unreachable(f"No noise keeps the secret {secret.title!r}. Allow a larger ε or δ.")
    low = max(low, LEAST_DEVIATION if high < LONG / 100 else math.sqrt(LEAST_SPREAD))
    while high > low * (1 + CLOSE):
        middle = math.sqrt(low * high)
        tried = slip(middle)
        low, high, found = (low, middle, tried) if tried <= allowed else (middle, high, found)
    return Fraction(high) ** 2, found


def _span(one: WholeLaw, other: WholeLaw) -> int:
    return max(one.first + one.size, other.first + other.size) - min(one.first, other.first)


def _furthest(pairs: Iterable[Pair]) -> float:
    """How far the means of two laws are apart."""

    def mean(law: WholeLaw) -> float:
        return law.first + float(np.arange(law.size) @ law.chances)

    return max(abs(mean(one) - mean(other)) for one, other in pairs)


def _summed(one: WholeLaw, other: WholeLaw, epsilon: Fraction, variance: Fraction) -> tuple[float, float]:
    """E_γ in both orders as a sum over whole numbers, what was missed on top."""
    first, size = min(one.first, other.first), _span(one, other)
    laws, misses = [one.on(first, size), other.on(first, size)], [one.missed, other.missed]
    if variance:
        noise = _noise(variance)
        added = [convolved(law, noise) for law in laws]
        laws = [law for law, _ in added]
        misses = [missed + off + BEYOND + 1e-14 for missed, (_, off) in zip(misses, added, strict=True)]
    gamma = math.exp(float_above(epsilon)) * (1 + 4 * ULP)
    low = math.exp(float_below(epsilon)) * (1 - 4 * ULP)
    (p, q), (off, other_off) = laws, misses
    rounding = 8 * ULP * (1 + gamma)

    def beyond(upper: FloatArray, lower: FloatArray, missed: float, lower_missed: float) -> float:
        return float(np.maximum(upper - low * lower, 0.0).sum()) + missed + gamma * lower_missed + rounding

    return beyond(p, q, off, other_off), beyond(q, p, other_off, off)


def _noise(variance: Fraction) -> FloatArray:
    """The chances of discrete Gaussian noise, as far as they matter."""
    scale = math.sqrt(variance)
    reach = math.ceil(REACH * scale) + 1
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / scale) ** 2)
    return np.asarray(weights / weights.sum())


def _by_thresholds(one: WholeLaw, other: WholeLaw, epsilon: Fraction, variance: Fraction) -> float:
    """Bound E_γ in both orders by thresholds of continuous noise, for laws in order of likelihood."""

    def middle(law: WholeLaw) -> float:
        return law.first + float(np.arange(law.size) @ law.chances)

    lower, upper = sorted((one, other), key=middle)
    mirrored = [
        WholeLaw(-(law.first + law.size - 1), law.chances[::-1], law.missed) for law in (upper, lower)
    ]
    slips = (
        _threshold(lower, upper, epsilon, variance),
        _threshold(mirrored[0], mirrored[1], epsilon, variance),
    )
    return max(slips) + 3 * float(BLUR) + BEYOND


def _threshold(lower: WholeLaw, upper: WholeLaw, epsilon: Fraction, variance: Fraction) -> float:
    """The largest P(upper ≥ t) − γ P(lower ≥ t) with continuous noise, over all t."""
    from scipy.special import ndtr

    scale = math.sqrt(variance - SMOOTHED) * (1 - 1e-12)
    step = max(1, math.ceil((_span(lower, upper) + 2 * REACH * scale) / FINE))
    up, down = _binned(upper, step, up=True), _binned(lower, step, up=False)
    reach = math.ceil(REACH * scale / step) + 1
    first, last = min(up.first, down.first), max(up.first + up.size, down.first + down.size)
    steps = np.arange(-reach - (last - first), reach + (last - first) + 1)
    gamma = math.exp(float_below(epsilon)) * (1 - 1e-12)
    turns = max(1, min(32, math.ceil(200 / (scale / step))))
    worst = 0.0
    for turn in range(turns):
        here, there = (ndtr(-(steps + shift) * step / scale) for shift in (turn / turns, (turn + 1) / turns))
        above, off = convolved(up.on(first, last - first), here)
        below, other_off = convolved(down.on(first, last - first), there)
        missed = up.missed + off + gamma * (down.missed + other_off) + 1e-14 * (1 + gamma)
        core = slice(last - first, len(steps))  # thresholds where both sums are whole
        worst = max(worst, float((above[core] - gamma * below[core]).max()) + missed)
    return worst


def _binned(law: WholeLaw, step: int, *, up: bool) -> WholeLaw:
    """Move mass to the next multiple of a step above, or below; numbers are then counted in steps."""
    numbers = np.arange(law.first, law.first + law.size)
    places = -(-numbers // step) if up else numbers // step
    chances = np.asarray(np.bincount(places - places[0], law.chances), float)
    return WholeLaw(int(places[0]), chances, law.missed + 1e-14)


def _averaged(law: RowChances, secret: ColumnSecret, counts: range) -> WholeLaw:
    """The law of an answer if all that is known of the number of rows with the value is that it is one of these."""
    rows, most = secret.rows, len(law.inside) - 1
    if law.probability is None:
        raise BadModel(
            f"The secret {secret.title!r} is read as averaged, and no chance is given that a row has the value. Give "
            'probability = 0.5 in each law, or reading = "worst point".'
        )
    if rows * most > MOST_AVERAGED:
        raise QueryTooComplex(
            f"Averaging over a set is worked out for sums up to {MOST_AVERAGED:,}. Use the worst point, which is safe."
        )
    weights = (
        RowChances.counting(law.probability, law.probability).given(0, rows).on(0, rows + 1)[list(counts)]
    )
    size = 1 << (rows * most).bit_length()
    one, other = (np.fft.fft([float(chance) for chance in side], size) for side in (law.inside, law.others))
    total = np.zeros(size, complex)
    for count, weight in zip(counts, weights / weights.sum(), strict=True):
        total += weight * one**count * other ** (rows - count)
    chances = np.maximum(np.fft.ifft(total).real[: rows * most + 1], 0.0)
    missed = math.sqrt(size) * 8 * (rows + 64) * ULP + 1e-13 * len(weights)
    return WholeLaw(0, chances, missed)
