"""Figure 8 and Theorem 10: how far noise goes, and what the theorem claims of answers with several numbers."""

from collections.abc import Sequence
from math import exp, log
from typing import Final, NamedTuple

import numpy as np

from entwined.papers.dependent_dp.noise_factors import NoiseMethod

ALPHA: Final = 1000.0
EPSILONS: Final = tuple(round(0.1 * step, 1) for step in range(1, 11))
BETAS: Final = (0.05, 0.1, 0.2, 0.5)
SIMULATIONS: Final = 20_000
FALSE_ALARM: Final = 1e-6


class Exceeded(NamedTuple):
    """Figure 8(a): the chance that one answer of sensitivity 1 is more than α off."""

    method: str
    epsilon: float
    alpha: float
    beta: float


class Needed(NamedTuple):
    """Figure 8(b): the ε for which an answer is within α but for a chance of β."""

    method: str
    alpha: float
    beta: float
    epsilon: float


class Tenth(NamedTuple):
    """Theorem 10 on an answer of so many numbers: the chance it claims for an error beyond α, and how often it was."""

    numbers: int
    claimed: float
    true: float
    happened: int
    trials: int

    @property
    def refuted(self) -> bool:
        """Whether so many would come up under the claim with a chance of at most one in a million."""
        from scipy.special import bdtrc

        return bool(bdtrc(self.happened - 1, self.trials, self.claimed) <= FALSE_ALARM)


def reaches(methods: Sequence[NoiseMethod]) -> list[Exceeded]:
    """exp(−εα/DS) for every method."""
    return [
        Exceeded(one.name, epsilon, ALPHA, exp(-epsilon * ALPHA / one.factor))
        for one in methods
        for epsilon in EPSILONS
    ]


def needed(methods: Sequence[NoiseMethod]) -> list[Needed]:
    """The same solved for ε."""
    return [
        Needed(one.name, ALPHA, beta, -log(beta) * one.factor / ALPHA) for one in methods for beta in BETAS
    ]


def tenth(generator: np.random.Generator) -> list[Tenth]:
    """Simulate answers of one number, of the centroids' 96, and hold the claimed chance of 5 % against them."""
    claimed = 0.05
    alpha = -log(claimed)
    found = []
    for numbers in (1, 12, 96):
        noise = np.abs(generator.laplace(size=(SIMULATIONS, numbers))).max(axis=1)
        true = 1 - (1 - claimed) ** numbers
        found.append(Tenth(numbers, claimed, true, int((noise > alpha).sum()), SIMULATIONS))
    return found
