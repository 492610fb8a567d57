"""The error of a sample, from what a `Sampling` query released: the variance of a weighted sum within strata.

A row adds w·(x(1−a) + y·a) to a sum, with its weight w and a in [0, 1]. Rows of a stratum are taken to be drawn one by
one with replacement, which is never less than the truth for draws without, and is for draws of whole clusters: the
variance is estimated by the sum over strata of n/(n−1) · (Σz² − (Σz)²/n). All of it is released with noise, so the
estimate is corrected for what noise adds to squares, and put up by as much as its own error would cost in coverage.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final

import numpy as np

from entwined.noise import Additive
from entwined.numbers import FloatArray
from entwined.queries.sampling import COARSE, FINE, OF_A_STRATUM, OVER_ALL

FEW: Final = 5.0  # deviations of noise: a stratum with fewer rows than so many is not told apart
UNSURE: Final = (
    3.0  # deviations: a variance below so many is no better known than that it may be anything up to it
)
STEPS: Final = 128  # variances are rounded up to so many steps a doubling


@dataclass(frozen=True, eq=False, slots=True)
class SampleError:
    """What is known of a sample: by stratum the rows and both weighted sums, and the three sums of squares.

    Weights are in parts of the largest one; `noise` is the variance of a released number of the first kind, `fine` of a
    square.
    """

    rows: FloatArray
    lows: FloatArray
    highs: FloatArray
    about: float
    squares: FloatArray
    noise: float
    fine: float

    @classmethod
    def of(cls, numbers: tuple[int, ...], noise: Additive) -> "SampleError":
        """Read the numbers of a `Sampling` query."""
        found = np.array(numbers, dtype=np.float64)
        by_stratum = found[:-OVER_ALL].reshape(-1, OF_A_STRATUM) / COARSE
        about, squares = float(found[-OVER_ALL]) / COARSE, found[-OVER_ALL + 1 :] / FINE
        coarse, fine = noise.variance / COARSE**2, noise.variance / FINE**2
        return cls(by_stratum[:, 0], by_stratum[:, 1], by_stratum[:, 2], about, squares, coarse, fine)

    @property
    def effective(self) -> float:
        """How many rows of equal weight would tell as much (Kish)."""
        return max(float((self.lows + self.highs).sum()), 0.0) ** 2 / max(
            float(self.squares.sum()), math.ulp(0.0)
        )

    @property
    def design_effect(self) -> float:
        """How much larger uneven weights make a variance: n Σw² / (Σw)²."""
        return self.about / max(self.effective, math.ulp(0.0))

    @property
    def is_of_all(self) -> bool:
        """Whether all rows that were drawn may be among those asked about, as far as noise lets see."""
        deviation = math.sqrt((len(self.rows) + 1) * self.noise)
        return float(self.rows.sum()) - self.about <= UNSURE * deviation

    def middle(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Give the weighted mean of low(1−a) + high·a."""
        below, above = float(self.lows.sum()), float(self.highs.sum())
        share = min(max(above / max(below + above, math.ulp(0.0)), 0.0), 1.0)
        return low + (high - low) * share

    def variance(self, low: FloatArray, high: FloatArray, confidence: Fraction) -> FloatArray:
        """Bound the variance of the sum of w·(low(1−a) + high·a), rounded up to a step."""
        found, error = self._estimated(low, high)
        quantile = NormalDist().inv_cdf(float(1 + confidence) / 2)
        deviation = np.sqrt(error)
        sure = found + (quantile**2 + 1) / 4 * error / np.maximum(found, deviation + math.ulp(0.0))
        unsure = np.maximum(found, 0.0) + UNSURE * deviation
        bound = np.where(found < UNSURE * deviation, unsure, sure)
        return np.asarray(np.exp2(np.ceil(np.log2(np.maximum(bound, math.ulp(1.0))) * STEPS) / STEPS))

    def _estimated(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the estimate of the variance, and the variance of its own error, that noise alone makes."""
        told = self.rows > max(FEW * math.sqrt(self.noise), 2.0)
        rows = self.rows[told]
        sums = np.outer(low, self.lows[told]) + np.outer(high, self.highs[told])
        ends = self.noise * (low**2 + high**2)
        powers = np.stack([low**2, low * high, high**2], axis=-1)
        between = ((sums**2 - ends[:, None]) / rows).sum(axis=1)
        missed = (
            4 * sums**2 * ends[:, None] + 2 * ends[:, None] ** 2
        ) / rows**2 + sums**4 / rows**4 * self.noise
        small = 1.0 + 1.0 / (float(rows.min()) - 1.0) if rows.size else 1.0
        found = small * (powers @ self.squares - between)
        return found, small**2 * (self.fine * (powers**2).sum(axis=-1) + missed.sum(axis=1))
