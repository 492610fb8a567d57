"""Chance for people who are made up: the only ordinary generator there is, started from the system's entropy.

Nothing that is released comes from here. Noise on rows is drawn by `noise`, from the system itself.
"""

import secrets
from typing import Final

import numpy as np

BITS: Final = 256


def made_up_luck() -> np.random.Generator:
    """Give a generator that nobody can start again."""
    return np.random.Generator(np.random.PCG64(secrets.randbits(BITS)))
