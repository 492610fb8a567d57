"""Where no noise is needed: jointly normal columns, by their correlation and the number of rows.

The mean of a column is released, that of another hidden, both of variance 1 and two points of it at a distance of 1.
Noise of variance (Δ/μ)² − (1 − ρ²)/n is needed with Δ = ρ, where μ is the shift in deviations that (ε, δ) allows: none
up to n = (1 − ρ²) μ²/ρ², so more rows need more noise, not less.
"""

import math
from typing import Final, NamedTuple

from entwined.bounds.attributes.far_apart import far_apart
from entwined.bounds.attributes.least_noise import classical_variance, least_variance
from entwined.bounds.attributes.linked import from_covariance
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.papers.attribute_privacy.hospital import DELTA, EPSILON

CORRELATIONS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SIZES: Final = (1, 3, 10, 30, 100, 300, 1_000, 10_000, 100_000, 1_000_000)


class NormalNoise(NamedTuple):
    """The deviation of the noise on the mean of n rows, and the most rows that need none."""

    correlation: float
    rows: int
    analytic: float
    classical: float
    free_up_to: int


def normal_noise() -> list[NormalNoise]:
    """Every correlation and number of rows."""
    allowed = 1 / analytic_ratio(EPSILON, DELTA)
    found = []
    for correlation in CORRELATIONS:
        law = from_covariance("hidden", ["hidden", "shown"], [[1, correlation], [correlation, 1]]).columns[0]
        free = math.floor((1 - correlation**2) * (allowed / correlation) ** 2)
        for rows in SIZES:
            secret = ColumnSecret.of("hidden", [0, 1], rows=rows, epsilon=EPSILON, delta=DELTA, figure="mean")
            pair = far_apart(secret, law)
            noises = (least_variance(pair, EPSILON, DELTA), classical_variance(pair, EPSILON, DELTA))
            analytic, classical = (math.sqrt(noise) for noise in noises)
            found.append(NormalNoise(correlation, rows, analytic, classical, free))
    return found
