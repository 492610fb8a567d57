"""Blanks filled by draws: each row of a cell that holds no answer is counted in one that was drawn for it.

A draw is a whole number below the sum of the weights, every one equally likely: bytes of the operating system's
entropy, those above the largest multiple of the sum drawn again. So chances are exactly as the weights say.
"""

import os
from collections.abc import Sequence
from typing import Final

import numpy as np

from entwined.numbers import IntArray

AT_ONCE: Final = 1 << 20
BYTES: Final = 8


def fill(counts: IntArray, weights: Sequence[int]) -> IntArray:
    """Move every row out of the cells without a weight, to one that is drawn by the weights, each on its own.

    There may be more than one histogram, along the first axes: each gets draws of its own.
    """
    blank = np.array(weights, dtype=np.int64) == 0
    filled = np.where(blank, 0, counts).reshape(-1, len(weights))
    for place, many in enumerate(counts[..., blank].sum(axis=-1).reshape(-1).tolist()):
        filled[place] += drawn(many, weights)
    return filled.reshape(counts.shape)


def drawn(many: int, weights: Sequence[int]) -> IntArray:
    """Draw so many cells, and count how often each came."""
    ends = np.cumsum(np.array(weights, dtype=np.uint64))
    total = int(ends[-1])
    last_taken = np.uint64(2**64 // total * total - 1)
    found = np.zeros(len(weights), dtype=np.int64)
    left = many
    while left > 0:
        draws = np.frombuffer(os.urandom(BYTES * min(left, AT_ONCE)), dtype=np.uint64)
        taken = draws[draws <= last_taken] % np.uint64(total)
        found += np.bincount(np.searchsorted(ends, taken, side="right"), minlength=len(weights))
        left -= len(taken)
    return found
