"""The law of an estimate's error: a weighted sum of independent integer noises, and perhaps the error of a sample.

Its quantiles come from its characteristic function, with proven bounds on what the numbers leave out, all
taken against us: an interval covers at least as often as it says.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self

import numpy as np

from entwined.errors import BadNoise
from entwined.noise import Additive, additive
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, IntArray, float_above

HIGHEST_CONFIDENCE: Final = 1 - Fraction(1, 10**9)
PERIODS: Final = 16.0 * 1.25 ** np.arange(64)  # in standard deviations, until what is beyond can be left out
REACH: Final = 0.3  # the part of a period in which quantiles are looked for
BLUR: Final = 1 / 1600  # how far the error is blurred before its law is inverted, in periods
SMOOTHNESS: Final = 8  # the blur is a sum of so many even draws, and its transform falls with this power
SHARED: Final = 7168  # frequencies that are looked at together: enough for the usual confidences
NEGLIGIBLE: Final = 5e-4  # the part of the chance of a miss that each of two approximations may cost
SILENT: Final = -80.0  # e to it is nothing beside 1, and takes as long
UNHEARD: Final = 1e-15  # terms of a series that are left out where few are larger
FEW: Final = 400
TILTS: Final = np.concatenate([np.arange(1, 16) / 8, np.arange(2, 20)])


@dataclass(frozen=True, slots=True)
class Weighted:
    """So many independent draws of one noise, each with this weight."""

    weight: float
    noise: Additive
    copies: int = 1


@dataclass(frozen=True, slots=True)
class ErrorLaw:
    """The law of a sum of weighted independent noises; it is symmetric about 0.

    `sampled` is the variance of a normal error that is added to it: that of a sample, where one is estimated from.

    >>> from entwined.noise import DiscreteLaplace
    >>> mean_of_two = ErrorLaw.of([0.5, 0.5], [DiscreteLaplace(Fraction(10))] * 2)
    >>> round(mean_of_two.half_width(0.95), 1)
    20.6
    """

    shares: tuple[Weighted, ...]
    sampled: float = 0.0

    @classmethod
    def of(cls, weights: Iterable[float], noises: Iterable[Additive]) -> Self:
        """Give the law of Σ weight · noise, one draw of each."""
        counted = Counter((abs(float(weight)), noise) for weight, noise in zip(weights, noises, strict=True))
        kept = ((weight, additive(noise), copies) for (weight, noise), copies in counted.items() if weight)
        return cls(tuple(Weighted(*one) for one in kept))

    def __add__(self, other: "ErrorLaw") -> "ErrorLaw":
        """Give the law of the sum of two independent errors."""
        return ErrorLaw(self.shares + other.shares, self.sampled + other.sampled)

    def __mul__(self, factor: float) -> "ErrorLaw":
        """Give the law of the error times a number."""
        if factor == 0:
            return ErrorLaw(())
        return ErrorLaw(
            tuple(Weighted(abs(factor) * share.weight, share.noise, share.copies) for share in self.shares),
            factor**2 * self.sampled,
        )

    @property
    def variance(self) -> float:
        """The variance of the error."""
        noises = (share.copies * share.weight**2 * share.noise.variance for share in self.shares)
        return math.fsum([self.sampled, *noises])

    @property
    def is_one_draw(self) -> bool:
        """Whether the error is one draw of integer noise as it is, or no error at all."""
        return not self.sampled and (
            not self.shares
            or (len(self.shares) == 1 and self.shares[0].copies == 1 and self.shares[0].weight == 1)
        )

    def half_width(self, confidence: str | float | Fraction) -> float:
        """Find an h, hardly above the least, such that |error| ≤ h with at least this probability."""
        wanted = probability(confidence, "Confidence")
        if wanted > HIGHEST_CONFIDENCE:
            raise BadNoise(f"A confidence of {confidence} is above 1 − 10⁻⁹. Ask for a lower one.")
        return _half_width(self, wanted)

    def side(self, confidence: str | float | Fraction) -> float:
        """Find a q ≥ 0, hardly above the least, such that error ≤ q with at least this probability."""
        # the law is symmetric, so P(error ≤ q) = (1 + P(|error| ≤ q)) / 2
        both = 2 * probability(confidence, "Confidence") - 1
        return self.half_width(both) if both > 0 else 0.0

    def transform(self, frequencies: FloatArray) -> FloatArray:
        """Give the characteristic function, which is real and even."""
        logs = -0.5 * self.sampled * np.square(frequencies)
        for share in self.shares:
            logs += share.copies * share.noise.log_transform(share.weight * frequencies)
        found, heard = np.zeros(logs.shape), logs > SILENT
        found[heard] = np.exp(logs[heard])
        return found

    def tail(self, distance: float) -> float:
        """Bound P(|error| ≥ distance) by 2 E exp(λ · error) / exp(λ · distance), for the best of some λ."""
        deviation = math.sqrt(self.variance)
        widest = max((share.weight * float(share.noise.scale) for share in self.shares), default=deviation)
        tilts = np.concatenate([TILTS / deviation, np.arange(1, 10) / (10 * widest)])
        logs = 0.5 * self.sampled * tilts**2 - tilts * distance
        for share in self.shares:
            logs += share.copies * share.noise.log_moment(share.weight * tilts)
        return 2 * math.exp(min(0.0, float(logs.min())))


@lru_cache(maxsize=8192)
def _half_width(law: ErrorLaw, confidence: Fraction) -> float:
    if law.variance == 0:  # no noise, or noise that no float can tell from none
        return 0.0
    if len(law.shares) == 1 and law.shares[0].copies == 1 and not law.sampled:
        return law.shares[0].weight * law.shares[0].noise.half_width(confidence)
    wanted, slack = float_above(confidence), NEGLIGIBLE * float(1 - confidence)
    for period in math.sqrt(law.variance) * PERIODS:
        if law.tail((1 - REACH) * period) > slack:
            continue
        blurred = Blurred.of(law, period, slack)
        enough = blurred.first(wanted + 2 * slack)
        if enough is not None:
            return float(enough * period / (2 * (len(blurred.order) + 1)) + BLUR * period)
    raise BadNoise(f"No interval of confidence {confidence} was found for {law}. Ask for a lower one.")


@dataclass(frozen=True, eq=False, slots=True)
class Blurred:
    """P(|error + blur| ≤ h), on a circle of some period, for all h on a grid from 0 to half of it, by its sine series.

    The blur is at most BLUR periods either way, so P(|error| ≤ h + BLUR · period) is at least this, less what
    the circle wraps around and less the frequencies left out. With s for SMOOTHNESS, frequency k adds at most
    2 (s / (2π · BLUR · k))^s / (πk), so all above K add at most 2 (s / (2π · BLUR · K))^s / (πs).
    """

    order: FloatArray
    terms: FloatArray

    @classmethod
    def of(cls, law: ErrorLaw, period: float, slack: float) -> Self:
        """Work out the series."""
        order, blur = _blur(slack)
        transform = _transformed(law, period, -(-len(order) // SHARED))[: len(order)]
        return cls(order, transform * blur / (math.pi * order))

    def first(self, wanted: float) -> int | None:
        """Find the first place of the grid that has so much, in the part where quantiles are looked for."""
        from scipy.fft import dst

        heard = np.flatnonzero(np.abs(self.terms) > UNHEARD)
        if heard.size <= FEW:
            return self._first_of_few(heard, wanted + UNHEARD * 2 * len(self.order))
        inside = self.order / (len(self.order) + 1) + dst(self.terms, type=1)
        enough = np.flatnonzero(inside[: int(2 * REACH * len(inside))] >= wanted)
        return int(enough[0]) + 1 if enough.size else None

    def _first_of_few(self, heard: IntArray, wanted: float) -> int | None:
        """Halve the grid, with the terms that count."""
        size = len(self.order)
        twice, turns = 2 * self.terms[heard], self.order[heard] * (math.pi / (size + 1))

        def inside(place: int) -> float:
            return place / (size + 1) + float(twice @ np.sin(turns * place))

        below, enough = 0, int(2 * REACH * size)
        if inside(enough) < wanted:
            return None
        while enough - below > 1:
            middle = (below + enough) // 2
            below, enough = (below, middle) if inside(middle) >= wanted else (middle, enough)
        return enough


@lru_cache(maxsize=64)
def _transformed(law: ErrorLaw, period: float, times: int) -> FloatArray:
    """Give the transform at the first frequencies, which intervals of every confidence share."""
    return law.transform(np.arange(1.0, times * SHARED + 1) * (2 * math.pi / period))


@lru_cache(maxsize=64)
def _blur(slack: float) -> tuple[FloatArray, FloatArray]:
    """Give the frequencies that are not left out, counted from 1, and the transform of the blur at them."""
    from scipy.fft import next_fast_len

    least = SMOOTHNESS / (2 * math.pi * BLUR) * (2 / (math.pi * SMOOTHNESS * slack)) ** (1 / SMOOTHNESS)
    order = np.arange(1.0, next_fast_len(math.ceil(least) + 1, real=True))
    return order, np.sinc(order * (2 * BLUR / SMOOTHNESS)) ** SMOOTHNESS
