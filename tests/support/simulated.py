"""Noise by an ordinary generator: to plant what an audit must find, and where very many draws are needed."""

import math
from contextlib import contextmanager

import numpy as np
import pytest

from entwined.noise import laplace

SAMPLES = 100_000


def simulated_laplace(scale, answer, rng, samples=SAMPLES):
    stop = -math.expm1(-1 / scale)
    return answer + rng.geometric(stop, samples) - rng.geometric(stop, samples)


@contextmanager
def laplace_by_a_generator(seed):
    """Draw Laplace noise of the same law, but quickly; that OpenDP's draws follow it is for the tests of noise."""
    rng = np.random.default_rng(seed)

    def add(exact, scale):
        return simulated_laplace(scale, exact, rng, exact.shape).astype(np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laplace, "add_laplace", add)
        yield
