"""The noise of a mean over people who belong together, by every bound on Gaussian values."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

from entwined.bounds.calibrate import calibrate
from entwined.bounds.clipped_values import ClippedValues
from entwined.bounds.gaussian.exact import gaussian_exact_bound
from entwined.bounds.gaussian.max_correlation import lange_max_correlation_bound, max_correlation_bound
from entwined.bounds.theorem import Theorem
from entwined.dependence import Dependence
from entwined.dependence.families import equal_correlation
from entwined.dependence.gaussian import MaxCorrelation
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from entwined.papers.bayesian_dp.kin import Kin

DELTA: Final = Fraction(1, 10**6)
EPSILON: Final = 1.0
NONE: Final = "no dependence"
GROUP: Final = "group"
LANGE: Final = "Lange et al."
LARGEST: Final = "ours, largest correlation"
EQUAL: Final = "ours, equal correlations"
GAUSSIAN: Final = "ours, Gaussian noise (δ = 10⁻⁶)"
BELIEFS: Final = {
    NONE: "nobody depends on anybody",
    GROUP: "who belongs together",
    LANGE: "no correlation is larger, and ρ(m − 2) < 1",
    LARGEST: "no correlation is larger, and ρ(m − 2) < 1",
    EQUAL: "all correlations are equal",
    GAUSSIAN: "all correlations are equal",
}


class MeanNoise(NamedTuple):
    """The deviation of the noise of a mean for a leakage of 1, and how many times that of independent people."""

    kin: str
    people: int
    together: int
    correlation: float
    method: str
    factor: float
    deviation: float
    error: float  # that 95 of 100 releases stay below


def factors(together: int, correlation: float) -> dict[str, float]:
    """By how much each bound multiplies Laplace noise; what it does not accept is left out."""
    largest = MaxCorrelation(together, correlation)
    found = {
        NONE: 1.0,
        GROUP: float(together),
        LANGE: _factor(lange_max_correlation_bound, largest, together),
        LARGEST: _factor(max_correlation_bound, largest, together),
        EQUAL: _factor(gaussian_exact_bound, equal_correlation(together, correlation), together),
    }
    if LARGEST in found:
        found[LARGEST] = min(found[LARGEST], float(together))
    return {name: factor for name, factor in found.items() if math.isfinite(factor)}


def _factor(theorem: Theorem, model: Dependence, together: int) -> float:
    try:
        return float(theorem(Loss.uniform(1, together), model).worst)
    except DoesNotApply:
        return math.inf


@cache
def gaussian_deviation(together: int, correlation: float, width: float) -> float:
    """Give the deviation of Gaussian noise on a sum of clipped values, for a leakage of 1 at δ."""
    release = ClippedValues.of(1, bounds=(0, Fraction(width)), units=together, delta=DELTA)
    found = calibrate(equal_correlation(together, correlation), EPSILON, "any", release)
    rho = float(found.exposure.moved)
    return width / math.sqrt(2 * rho)


def mean_noises(kin: Sequence[Kin]) -> list[MeanNoise]:
    """Compute it for each kind of kin with the size of its largest group."""
    found = []
    for one in kin:
        told = one.name, one.people, one.most, one.correlation
        for name, factor in factors(one.most, one.correlation).items():
            scale = one.width * factor / EPSILON / one.people
            found.append(MeanNoise(*told, name, factor, scale * math.sqrt(2), scale * math.log(20)))
        deviation = gaussian_deviation(one.most, one.correlation, one.width) / one.people
        plain = math.sqrt(2) * one.width / EPSILON / one.people
        found.append(MeanNoise(*told, GAUSSIAN, deviation / plain, deviation, 1.959964 * deviation))
    return found
