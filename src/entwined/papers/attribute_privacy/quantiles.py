"""Theorems 2 and 4: how far the noise of the two mechanisms goes, as printed and as it is."""

import math
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtri

BETAS: Final = (0.2, 0.05, 0.01)
DRAWS: Final = 100_000
DEVIATION: Final = 23.0334594  # of the noise of the average weight
SCALE: Final = 100.0  # of a count of 100 rows at ε = 1


class AccuracyClaim(NamedTuple):
    """A distance that noise exceeds with chance β, as claimed, and the share of draws that exceed it."""

    theorem: str
    beta: float
    distance: float
    exceeded: float
    holds: bool


def accuracy_claims(generator: np.random.Generator) -> list[AccuracyClaim]:
    """Hold each formula against drawn noise; it holds if no more than β exceeds it, but for four standard errors."""
    gaussian = np.abs(generator.normal(0.0, DEVIATION, DRAWS))
    laplace = np.abs(generator.laplace(0.0, SCALE, DRAWS))
    found = []
    for beta in BETAS:
        quantile = float(ndtri(1 - beta / 2))
        told = {
            "Theorem 2, σ Φ⁻¹(1 − β/2)": (gaussian, DEVIATION * quantile),
            "Theorem 2 as printed, the quantile under the root": (
                gaussian,
                math.sqrt(DEVIATION**2 * quantile),
            ),
            "Theorem 4, b ln(1/β)": (laplace, SCALE * math.log(1 / beta)),
            "Theorem 4 as printed, b ln(1/2β)": (laplace, SCALE * math.log(1 / (2 * beta))),
        }
        for theorem, (draws, distance) in told.items():
            exceeded = float((draws > distance).mean())
            slack = 4 * math.sqrt(beta * (1 - beta) / DRAWS)
            found.append(AccuracyClaim(theorem, beta, distance, exceeded, exceeded <= beta + slack))
    return found
