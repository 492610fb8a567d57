"""Noise by an ordinary generator, to plant what an audit must find."""

import math

SAMPLES = 100_000


def simulated_laplace(scale, answer, rng, samples=SAMPLES):
    stop = -math.expm1(-1 / scale)
    return answer + rng.geometric(stop, samples) - rng.geometric(stop, samples)
