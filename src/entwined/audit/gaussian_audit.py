"""One number for what a mechanism shows: the μ of Gaussian differential privacy that samples prove it has at least.

A mechanism within μ-GDP (Dong, Roth, Su 2022) shows no more than a number that moves by μ standard deviations: every
test between two neighbouring tables with false positives α and false negatives β has Φ⁻¹(1 − α) − Φ⁻¹(β) ≤ μ. So one
threshold, chosen on a part of the samples and tested on the rest with Clopper and Pearson's limits of α and β, proves a
μ from below (Nasr et al. 2023). Unlike a bound on ε it needs no rare event, so it is sharp with few samples.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import betainccinv, ndtri

from entwined.audit.lower_bound import CHOOSING, CUTS, refuse_samples
from entwined.numbers import FloatArray

LIMITS: Final = 2  # of false positives and of false negatives


@dataclass(frozen=True, slots=True)
class GaussianAudit:
    """The mechanism shows at least as much as `mu` standard deviations, but for a probability of `false_alarm`."""

    mu: float
    threshold: float
    false_positives: float
    false_negatives: float
    false_alarm: float
    samples: int

    def refutes(self, claim: float) -> bool:
        """Whether a mechanism that claims this μ is caught."""
        return self.mu > claim


def gaussian_audit(first: FloatArray, second: FloatArray, *, false_alarm: float = 1e-6) -> GaussianAudit:
    """Bound μ from below by samples of a statistic of the output that is larger on the first table.

    >>> from scipy.special import ndtri
    >>> even = ndtri((np.arange(40_000) * 16_807 % 40_009 + 1) / 40_011)  # quantiles of a bell, well mixed
    >>> found = gaussian_audit(even + 1, even[::-1])
    >>> 0.9 < found.mu < 1
    True
    """
    refuse_samples(first, second, false_alarm)
    choosing = first[: first.size // CHOOSING], second[: second.size // CHOOSING]
    testing = first[first.size // CHOOSING :], second[second.size // CHOOSING :]
    pooled = np.sort(np.concatenate(choosing))
    cuts = np.unique(pooled[np.linspace(0, pooled.size - 1, CUTS).astype(int)])
    rate = false_alarm / LIMITS
    tried, _, _ = _proven(choosing, cuts, rate)
    best = cuts[[int(np.argmax(tried))]]
    mu, positives, negatives = _proven(testing, best, rate)
    return GaussianAudit(
        max(float(mu[0]), 0.0),
        float(best[0]),
        float(positives[0]),
        float(negatives[0]),
        false_alarm,
        first.size + second.size,
    )


def _proven(
    samples: tuple[FloatArray, FloatArray], cuts: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give μ of each threshold, with the upper limits of false positives (second ≥ cut) and negatives (first < cut)."""
    first, second = map(np.sort, samples)
    misses = np.searchsorted(first, cuts, side="left").astype(np.float64)
    alarms = second.size - np.searchsorted(second, cuts, side="left").astype(np.float64)
    negatives, positives = _above(misses, first.size, rate), _above(alarms, second.size, rate)
    return np.asarray(-ndtri(positives) - ndtri(negatives)), positives, negatives


def _above(hits: FloatArray, tries: int, rate: float) -> FloatArray:
    """Give Clopper and Pearson's upper limit of a chance."""
    limit = betainccinv(hits + 1, np.maximum(tries - hits, 1), rate)
    return np.asarray(np.where(hits < tries, limit, 1.0))
