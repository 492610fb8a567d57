"""Figure 9(a): how many of a held-out fifth noisy centroids assign as those without noise do."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from entwined.numbers import FloatArray
from entwined.papers.dependent_dp.closeness import REGIONS, assigned, moved
from entwined.papers.dependent_dp.inference import SENSITIVITY, WEIGHT
from entwined.papers.dependent_dp.noise_factors import NoiseMethod
from entwined.papers.dependent_dp.towns import PLACES, Town
from entwined.papers.dependent_dp.utility import Utility, averaged

TASK: Final = "clustering"
NOISY_ROUNDS: Final = 1
HELD_OUT: Final = 5


def public_start(town: Town) -> FloatArray:
    """The regions of Table I as centroids: where they are is public."""
    flat = town.patterns.reshape(town.size, -1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    places = np.tile([(spot.latitude, spot.longitude) for spot, _, _ in REGIONS], (1, PLACES))
    return np.asarray(np.clip((places - low) / np.where(high > low, high - low, 1.0), 0, 1))


def noisy_centroids(
    vectors: FloatArray, start: FloatArray, factor: float, generator: np.random.Generator
) -> FloatArray:
    """Lloyd's rounds with the noise of `mechanisms.k_means` on sums and counts; `factor` is that on it, over ε."""
    middles = start
    scale = factor * SENSITIVITY * NOISY_ROUNDS
    for _ in range(NOISY_ROUNDS):
        own = assigned(vectors, middles)
        sums = np.zeros_like(middles)
        np.add.at(sums, own, vectors - 0.5)
        counts = np.bincount(own, minlength=len(middles)) + generator.laplace(0, scale / WEIGHT, len(middles))
        sums += generator.laplace(0, scale, sums.shape)
        middles = np.clip(sums / np.maximum(counts, 1)[:, None] + 0.5, 0, 1)
    return middles


def clustering(
    town: Town, methods: Sequence[NoiseMethod], splits: int, generator: np.random.Generator
) -> list[Utility]:
    """Every method at every ε, over random splits."""
    vectors, start = town.vectors, public_start(town)

    def measure(factor: float, drawn: np.random.Generator) -> float:
        order = drawn.permutation(len(vectors))
        cut = len(vectors) // HELD_OUT
        held, train = vectors[order[:cut]], vectors[order[cut:]]
        exact = start
        for _ in range(NOISY_ROUNDS):
            exact = moved(train, exact)
        noisy = noisy_centroids(train, start, factor, drawn)
        return float((assigned(held, exact) == assigned(held, noisy)).mean())

    return averaged(TASK, methods, splits, measure, generator)
