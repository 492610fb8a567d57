"""Lemma 4 and Theorem 6, the paper's accuracy bounds, held against simulated noise beside bounds that are true.

Lemma 4 claims Pr[|error| > α] ≤ exp(−εα/DS) for a published number. The noise has scale n·DS/(kε), so the true
chance is exp(−kεα/(n·DS)): the claim holds for one chunk and fails for more.

Theorem 6 claims Pr[L1 error > α] ≤ exp(−√2·εα/(4·DS)), whatever the number of columns. Its proof bounds the sum
of the noises, where the L1 error is the sum of their absolute values, which grows with every column; it uses a
lemma about a range of λ at the end of that range for every λ, and leaves out the factor n/k. It fails for one chunk
already.

What holds: |Lap(b)| is exponential with mean b, so by Markov's inequality for exp(t·Σ|Lap(bᵢ)|),
Pr[L1 error > α] ≤ exp(−tα) · Π 1/(1 − t·bᵢ) for every t with 0 ≤ t < 1/max b (`l1_chance`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Final

import numpy as np

from entwined.errors import BadInput
from entwined.numbers import FloatArray
from entwined.papers.tabular_ddp.mechanism import draw

FALSE_ALARM: Final = 1e-6  # the chance that a true bound is called refuted
CLAIMED: Final = 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    """n columns with one published count each, in chunks of k with the same DS."""

    columns: int
    width: int
    sensitivity: float = 1.0
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a setting without columns or without noise."""
        if not 1 <= self.width <= self.columns or not min(self.sensitivity, self.epsilon) > 0:
            raise BadInput(f"{self} cannot be. Give 1 ≤ width ≤ columns, and DS and ε above 0.")

    @property
    def scale(self) -> float:
        """The scale of line 8."""
        return self.columns * self.sensitivity / (self.width * self.epsilon)

    @property
    def scales(self) -> FloatArray:
        """The same for every column."""
        return np.full(self.columns, self.scale)


def lemma_4_claim(alpha: float, setting: Setting) -> float:
    """β of Lemma 4 as printed."""
    return exp(-setting.epsilon * alpha / setting.sensitivity)


def count_chance(alpha: float, scale: float) -> float:
    """The exact chance that Laplace noise is more than α from 0."""
    return exp(-alpha / scale)


def theorem_6_claim(alpha: float, setting: Setting) -> float:
    """β of Theorem 6 as printed."""
    return exp(-sqrt(2) * setting.epsilon * alpha / (4 * setting.sensitivity))


def l1_chance(alpha: float, scales: Sequence[float] | FloatArray) -> float:
    """A true bound on the chance that the absolute noises add up to more than α.

    With one noise of scale 1 the chance is exp(−α); the bound is e·α times that.

    >>> round(l1_chance(5.0, [1.0]) / exp(-5), 3), round(exp(1) * 5, 3)
    (13.591, 13.591)
    """
    from scipy.optimize import minimize_scalar

    widest = float(np.max(scales, initial=0.0))
    if not widest:
        return float(alpha < 0)
    shares = np.asarray(scales, np.float64) / widest  # so that t lies between 0 and 1

    def exponent(t: float) -> float:
        return float(-t * alpha / widest - np.log1p(-t * shares).sum())

    found = minimize_scalar(exponent, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9})
    return exp(min(0.0, exponent(float(found.x))))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claimed chance beside how often it happened."""

    claim: str
    setting: Setting
    alpha: float
    claimed: float
    happened: int
    trials: int

    @property
    def refuted(self) -> bool:
        """Whether so many cases would come up under the claim with a chance of at most one in a million."""
        from scipy.stats import binom

        return bool(binom.sf(self.happened - 1, self.trials, self.claimed) <= FALSE_ALARM)


def check(setting: Setting, trials: int, generator: np.random.Generator) -> list[Judgement]:
    """Simulate the noise of a setting and hold the printed and the true bounds against it.

    For each bound α is where the printed one claims a chance of 5 %.
    """
    noise = np.abs(draw(setting.scales, trials, generator))
    alone = -log(CLAIMED) * setting.sensitivity / setting.epsilon
    together = alone * 4 / sqrt(2)
    beyond = int((noise[:, 0] > alone).sum()), int((noise.sum(axis=1) > together).sum())
    return [
        Judgement("Lemma 4 as printed", setting, alone, lemma_4_claim(alone, setting), beyond[0], trials),
        Judgement(
            "Lemma 4, true scale", setting, alone, count_chance(alone, setting.scale), beyond[0], trials
        ),
        Judgement(
            "Theorem 6 as printed", setting, together, theorem_6_claim(together, setting), beyond[1], trials
        ),
        Judgement(
            "Theorem 6, true bound", setting, together, l1_chance(together, setting.scales), beyond[1], trials
        ),
        _further(setting, noise),
    ]


def _further(setting: Setting, noise: FloatArray) -> Judgement:
    """The true bound again, where it is about 5 % and says something."""
    from scipy.optimize import brentq

    mean = setting.columns * setting.scale
    alpha = float(brentq(lambda at: l1_chance(at, setting.scales) - CLAIMED, mean, 100 * mean))
    happened = int((noise.sum(axis=1) > alpha).sum())
    return Judgement(
        "Theorem 6, true bound", setting, alpha, l1_chance(alpha, setting.scales), happened, len(noise)
    )
