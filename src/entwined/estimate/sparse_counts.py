"""Counts that are not negative and have a given sum, near unbiased estimates of which many may be noise alone.

Unbiased estimates x add up, but max(x, 0) adds up to more: every empty cell gives half of the mean size of its noise.
That excess has to go. Taken in equal parts from all cells it would fall on the large counts, which are not its cause.
So no cell gives more than keeps its mean squared error within 1.05 of its draw's, and the rest of the excess is taken
from the cells that may be empty: each count is multiplied by the probability that its cell is not, where an empty cell
has the prior odds that make the sum right and any other count is as probable as every other. A count far above its
noise keeps its estimate. Counts within a few deviations of zero are biased downward; `Shrinkage.bias` says which, and
by how much.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from entwined.numbers import FloatArray

TOLERATED: Final = 1.05  # mean squared error beside that of the draw
WITHIN: Final = 1.02  # the same, with a margin for what fitting the sum adds
ROUNDED: Final = 0.25  # the variance that putting numbers to integers which add up adds at most
HALVINGS: Final = 60
LEAST_WEIGHT: Final = 0.01  # of a cell that is almost surely empty, where sums are to be met exactly
STEEPEST: Final = 700.0  # an exponent that floats hold
SIZES: Final = np.concatenate([np.arange(0.0, 3.0, 0.1), np.arange(3.0, 20.0, 0.25)])  # in deviations
QUANTILES: Final = 2000  # of the noise, for the expected error at a size


class Bias(NamedTuple):
    """Counts between `low` and `high` are up to `most` too low on average, and their error is above the draw's."""

    low: float
    high: float
    most: float


@dataclass(frozen=True, eq=False, slots=True)
class Spread:
    """What is known of the errors of some counts: variances of the estimates, and of what was drawn."""

    variances: FloatArray
    drawn: FloatArray

    @property
    def scales(self) -> FloatArray:
        """Scales of Laplace noise with these variances."""
        return np.asarray(np.sqrt(self.variances / 2))

    @property
    def flat(self) -> "Spread":
        """The same, last axis fastest in one axis."""
        return Spread(self.variances.reshape(-1), self.drawn.reshape(-1))

    @property
    def limits(self) -> FloatArray:
        """How much may be taken from any count, so that its mean squared error stays within that of the draw."""
        return np.asarray(np.sqrt(np.maximum(WITHIN * self.drawn - self.variances - ROUNDED, 0)))

    @property
    def is_too_fine(self) -> bool:
        """Whether noise is so small that integers which add up have larger errors than what was drawn."""
        changed = self.variances < self.drawn
        return bool((self.variances + ROUNDED > TOLERATED * self.drawn)[changed].any())


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Less at most `shift`, then times the probability of a cell that is not empty, whose log prior odds are `odds`."""

    spread: Spread
    shift: float = 0.0
    odds: float = -np.inf

    @property
    def strength(self) -> tuple[float, float]:
        """How much is taken: first by the odds of an empty cell, then by the shift."""
        return self.odds, self.shift

    def __call__(self, estimates: FloatArray) -> FloatArray:
        """Shrink estimates to counts that are not negative."""
        taken = np.minimum(self.shift, self.spread.limits) if self.shift > 0 else self.shift
        return np.maximum(estimates - taken, 0) * self.present(estimates)

    def present(self, estimates: FloatArray) -> FloatArray:
        """Give the probability that a cell is not empty."""
        return _present(estimates, self.spread.scales, self.odds)

    @cached_property
    def bias(self) -> Bias | None:
        """For which sizes the mean squared error is above that of the draw; None if for none."""
        if self.shift <= 0 and self.odds == -np.inf:
            return None
        worst = int(np.argmax(self.spread.variances))
        variance, drawn = self.spread.variances.flat[worst], self.spread.drawn.flat[worst]
        if not variance:
            return None
        sizes = SIZES * np.sqrt(variance)
        noise = _laplace_quantiles() * np.sqrt(variance / 2)
        one = Shrinkage(Spread(np.array(variance), np.array(drawn)), self.shift, self.odds)
        errors = one(sizes[:, None] + noise) - sizes[:, None]
        off = (errors**2).mean(axis=1) > TOLERATED * drawn
        if not off.any():
            return None
        return Bias(float(sizes[off][0]), float(sizes[off][-1]), float(-errors.mean(axis=1)[off].min()))


class Fit(NamedTuple):
    """Counts with a given sum, the weights by which they give way to other sums, and how they were shrunk."""

    counts: FloatArray
    weights: FloatArray
    shrinkage: Shrinkage


def fitted(estimates: FloatArray, spread: Spread, total: float) -> Fit:
    """Give counts ≥ 0 near the estimates that add up to a total.

    >>> spread = Spread(np.full(4, 8.0), np.full(4, 8.0))
    >>> fitted(np.array([-3.0, 3.0, 40.0, 60.0]), spread, 100.0).counts.round(1).tolist()
    [0.0, 0.2, 39.9, 59.9]
    """
    clipped = np.maximum(estimates, 0)
    if clipped.sum() <= total:
        return Fit(raised(clipped, np.ones(clipped.shape), total), np.ones(clipped.shape), Shrinkage(spread))
    largest = float(clipped.max())
    shifted = _fitting(lambda shift: Shrinkage(spread, shift), 0.0, largest, estimates, total)
    if shifted(estimates).sum() <= total:
        return Fit(shifted(estimates), np.ones(clipped.shape), shifted)
    scale = float(spread.scales.max())
    most = np.log(estimates.size * max(largest, scale, 1.0))
    found = _fitting(
        lambda odds: Shrinkage(spread, largest, odds), np.log(max(scale, 1e-9)) - 30, most, estimates, total
    )
    weights = np.maximum(found.present(estimates), LEAST_WEIGHT)
    return Fit(raised(found(estimates), weights, total), weights, found)


def raised(counts: FloatArray, weights: FloatArray, total: float) -> FloatArray:
    """Add to counts, each by its weight, what makes their positive parts add up to a total."""
    return np.asarray(np.maximum(counts + shift(counts, np.array(total), weights) * weights, 0))


def shift(counts: FloatArray, totals: FloatArray, weights: FloatArray) -> FloatArray:
    """Find the s for which the positive parts of counts + s · weights add up to totals along the last axis."""
    order = np.argsort(-counts / weights, axis=-1, kind="stable")
    ordered, heavy = (np.take_along_axis(array, order, axis=-1) for array in (counts, weights))
    steps = (np.expand_dims(totals, -1) - np.cumsum(ordered, axis=-1)) / np.cumsum(heavy, axis=-1)
    positive = np.maximum(
        (ordered + steps * heavy > 0).sum(axis=-1), 1
    )  # a total of zero has none, at any of these
    return np.asarray(np.take_along_axis(steps, np.expand_dims(positive - 1, -1), axis=-1)[..., 0])


def _fitting(
    make: Callable[[float], Shrinkage], low: float, high: float, estimates: FloatArray, total: float
) -> Shrinkage:
    """Find the least parameter, up to `high`, with which shrunk estimates add up to at most the total."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if make(middle)(estimates).sum() > total else (low, middle)
    return make(high)


def _present(estimates: FloatArray, scales: FloatArray, odds: float) -> FloatArray:
    """Weigh a flat prior above zero against an empty cell, under Laplace noise."""
    noisy = np.where(scales > 0, scales, 1.0)
    steps = np.minimum(estimates / noisy, STEEPEST)
    ratio = np.where(steps < 0, noisy, noisy * (2 * np.exp(np.maximum(steps, 0)) - 1))
    return np.asarray(np.where(scales > 0, ratio / (ratio + np.exp(odds)), 1.0))


def _laplace_quantiles() -> FloatArray:
    """Give evenly probable values of Laplace noise of scale 1."""
    places = (np.arange(QUANTILES) + 0.5) / QUANTILES
    return np.asarray(-np.sign(places - 0.5) * np.log1p(-2 * np.abs(places - 0.5)))
