"""The bound mε is reached by records that have no correlation at all."""

import math
from typing import Final, NamedTuple

import numpy as np

from entwined.numbers import FloatArray

SIZES: Final = tuple(range(2, 9))
RARE: Final = 0.01
VALUES: Final = (-1, 0, 1)


class ReachedGroup(NamedTuple):
    """A table of m records, its largest correlation, what one output leaks, and the bound mε."""

    records: int
    epsilon: float
    correlation: float
    leaked: float
    bound: float


def rarely_all_zero(records: int, rare: float = RARE) -> FloatArray:
    """Give the law of records that are independent ±1, but rarely all 0; one axis a record."""
    law = np.zeros((len(VALUES),) * records)
    law[np.ix_(*[[0, 2]] * records)] = (1 - rare) / 2**records
    law[(1,) * records] = rare
    return law


def reached(records: int, epsilon: float) -> ReachedGroup:
    """Compute what an output with chance in proportion to exp(ε · zeros) says of the first record.

    Each record changes that chance by at most e^ε. Who finds the first record 0 knows that all are.
    """
    law = rarely_all_zero(records)
    zeros = (np.indices(law.shape) == 1).sum(axis=0)
    likelihood = np.exp(epsilon * (zeros - records))
    given = [float((law[value] * likelihood[value]).sum() / law[value].sum()) for value in range(len(VALUES))]
    leaked = math.log(max(given) / min(given))
    return ReachedGroup(records, epsilon, largest_correlation(law), leaked, records * epsilon)


def largest_correlation(law: FloatArray) -> float:
    """Give the largest correlation of two records, in size."""
    numbers, axes = np.array(VALUES, dtype=float), range(law.ndim)
    pair = law.sum(axis=tuple(axes)[2:])
    one = pair.sum(axis=1)
    mean = float(one @ numbers)
    variance = float(one @ numbers**2) - mean**2
    return abs(float(numbers @ pair @ numbers) - mean**2) / variance


def reached_groups(epsilon: float = 0.5) -> list[ReachedGroup]:
    """Compute it for tables of two to eight records."""
    return [reached(records, epsilon) for records in SIZES]
