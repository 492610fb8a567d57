"""From weights to laws: estimates that weigh the same noises alike have errors of one law."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from entwined.estimate.error_law import ErrorLaw, Weighted
from entwined.noise import Additive
from entwined.numbers import SMALLEST, FloatArray, IntArray

SAME_WEIGHT: Final = 2**34  # the steps, up to the largest weight, by which weights are told apart

Laws: TypeAlias = tuple[IntArray, tuple[ErrorLaw, ...]]
"""The laws of errors in a table, after the number of the law that each cell has."""


@dataclass(frozen=True, eq=False, slots=True)
class Noises:
    """The different noises of some tables, and the number of each table's; −1 for exact ones."""

    known: tuple[Additive, ...]
    numbers: IntArray

    @classmethod
    def of(cls, noises: Sequence[Additive | None]) -> "Noises":
        """Number the noises."""
        known: dict[Additive | None, int] = {}
        for noise in noises:
            if noise is not None:
                known.setdefault(noise, len(known))
        numbers = np.array([known.get(noise, -1) for noise in noises], dtype=np.int64)
        return cls(tuple(noise for noise in known if noise is not None), numbers)


def collected(owners: IntArray, copies: FloatArray, found: FloatArray, noises: Noises) -> Iterator[ErrorLaw]:
    """Collect equal weights of equal noises, estimate by estimate; what differs by rounding alone is equal.

    Every weight is that of so many `copies` of a cell of the table `owners`; the first axis counts estimates.
    """
    own = noises.numbers[owners]
    noisy = own >= 0
    kinds, copies = own[noisy], copies[noisy]
    for weights in np.abs(found[:, noisy]):
        if not weights.any():
            yield ErrorLaw(())
            continue
        unit = 2.0 ** math.ceil(math.log2(max(weights.max(), SMALLEST)))
        steps = np.round(weights * (SAME_WEIGHT / unit)).astype(np.int64)
        some = np.flatnonzero(steps)
        keys, places = np.unique(kinds[some] * 2 * SAME_WEIGHT + steps[some], return_inverse=True)
        numbers_and_steps = (divmod(key, 2 * SAME_WEIGHT) for key in keys.tolist())
        totals = np.bincount(places, weights=copies[some]).tolist()
        yield ErrorLaw(
            tuple(
                Weighted(unit * step / SAME_WEIGHT, noises.known[number], int(total))
                for (number, step), total in zip(numbers_and_steps, totals, strict=True)
            )
        )
