"""The fundamental law of information recovery: too many answers that are too accurate give the table away."""

from typing import Final, NamedTuple

import numpy as np

PEOPLE: Final = 60
QUESTIONS: Final = 240
SCALES: Final = (0.0, 1.0, 4.0, 16.0)


class Reconstructed(NamedTuple):
    """Of people with one secret bit each, the share whose bit is found from noisy counts of random groups."""

    noise: float
    epsilon: float | None
    right: float


def reconstructions(trials: int, generator: np.random.Generator) -> list[Reconstructed]:
    """Answer random counts with Laplace noise of several scales, the last for ε = 1 in all, and solve for the bits."""
    scales = [*SCALES, float(QUESTIONS)]
    return [
        Reconstructed(
            scale,
            QUESTIONS / scale if scale else None,
            float(np.mean([_right(scale, generator) for _ in range(trials)])),
        )
        for scale in scales
    ]


def _right(scale: float, generator: np.random.Generator) -> float:
    bits = generator.integers(0, 2, PEOPLE)
    asked = generator.integers(0, 2, (QUESTIONS, PEOPLE)).astype(float)
    answers = asked @ bits + (generator.laplace(0, scale, QUESTIONS) if scale else 0)
    found, *_ = np.linalg.lstsq(asked, answers, rcond=None)
    return float(((found > 1 / 2) == bits).mean())
