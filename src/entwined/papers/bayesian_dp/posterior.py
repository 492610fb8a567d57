"""An adversary who knows any of a family looks at a noisy mean: how far its beliefs about one member move."""

import math
from typing import Final, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from entwined.numbers import FloatArray
from entwined.papers.bayesian_dp.gaussian import EQUAL, factors

TOO_LITTLE: Final = 0.8


class PosteriorShift(NamedTuple):
    """The largest log ratio that was seen, and what was promised, with the noise as it should be or too little."""

    together: int
    correlation: float
    known: int
    noise: float
    seen: float
    promised: float

    @property
    def exceeds(self) -> bool:
        """Whether more was learned than was promised."""
        return self.seen > self.promised * (1 + 1e-9)


def log_density(away: FloatArray, deviation: float, scale: float) -> FloatArray:
    """Give the log density of Gaussian plus Laplace noise, but for a constant."""
    if deviation == 0:
        return -np.abs(away) / scale
    below = log_ndtr(away / deviation - deviation / scale) - away / scale
    above = log_ndtr(-away / deviation - deviation / scale) + away / scale
    return np.logaddexp(below, above)


def posterior_shifts(
    together: int,
    correlation: float,
    releases: int,
    generator: np.random.Generator,
    distance: float = 5.0,
) -> list[PosteriorShift]:
    """Release sums of a family of standard normal members with Laplace noise that promises a leakage of 1.

    Given one member's value and the values of k others, the sum of the rest is Gaussian: it moves by the rest's
    regression on the member, and keeps a spread of its own. Releases are drawn under both values of the secret.
    """
    promised, found = 1.0, []
    scale = distance * factors(together, correlation)[EQUAL] / promised
    for known in range(together):
        rest = together - 1 - known
        moved = distance * (1 + rest * correlation / (1 + known * correlation))
        spread = math.sqrt(
            max(rest * (1 - correlation) * (1 + rest * correlation / (1 + known * correlation)), 0)
        )
        for noise in (1.0, TOO_LITTLE):
            drawn = generator.normal(0, spread, releases) + generator.laplace(0, scale * noise, releases)
            drawn[::2] += moved
            ratio = log_density(drawn - moved, spread, scale * noise) - log_density(
                drawn, spread, scale * noise
            )
            seen = float(np.abs(ratio).max())
            found.append(PosteriorShift(together, correlation, known, noise, seen, promised))
    return found
