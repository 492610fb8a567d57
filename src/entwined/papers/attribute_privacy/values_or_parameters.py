"""What differs from the Markov quilt of Song, Wang and Chaudhuri: values of one person, or the parameter of a column.

The school counts SAT scores above 1300 among n students. Song's secret is one student's income: changing it moves the
count by at most 1, whatever n is. The secret here is the parameter of all incomes: changing it moves the parameter of
all scores, and a count moves with n.
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.stats import binom

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.quilts import quilt_noise
from entwined.bounds.attributes.wasserstein_noise import laplace_for_laws, noise_for_laws
from entwined.bounds.wasserstein import FiniteLaw
from entwined.numbers import FloatArray
from entwined.papers.attribute_privacy.school import LEVELS, school_network

SIZES: Final = (10, 30, 100, 300, 1000)
CHANCES: Final = (0.3, 0.5)  # of a score above 1300, where the parameter of scores is low or high
TIE: Final = 0.6
EPSILON: Final = 1.0
DELTA: Final = 0.001


class ValuesOrParameters(NamedTuple):
    """What noise for one person's value leaks of the parameter, and what the parameter needs, n students."""

    rows: int
    value_scale: float
    value_leaks: float
    quilt_scale: float
    quilt_leaks: float
    wasserstein_scale: float
    with_delta: float
    with_delta_noise: str


def count_laws(rows: int) -> list[FloatArray]:
    """The law of the count for each parameter of incomes, summed over that of scores."""
    counts = np.arange(rows + 1)
    given = np.stack([binom.pmf(counts, rows, chance) for chance in CHANCES])
    network = school_network(TIE)
    sat = [network.member().joint([network.names.index("sat")], {0: value}) for value in range(len(LEVELS))]
    return [weights @ given for weights in sat]


def leaked(laws: list[FloatArray], scale: float) -> float:
    """The largest log ratio of the noisy counts, which is reached at a count."""
    counts = np.arange(laws[0].size)
    noise = np.exp(-np.abs(counts[:, None] - counts) / scale)
    one, other = (np.log(noise @ law) for law in laws)
    return float(np.abs(one - other).max())


def values_or_parameters() -> list[ValuesOrParameters]:
    """The same count for more and more students."""
    found = []
    for rows in SIZES:
        laws = count_laws(rows)
        pair = tuple(FiniteLaw.of(np.arange(rows + 1.0), law) for law in laws)
        both = (pair[0], pair[1])
        quilt = quilt_noise(school_network(TIE), ColumnQuery.count(["sat"], rows), EPSILON).scale
        moved = laplace_for_laws([both], EPSILON).scale
        relaxed = noise_for_laws([both], EPSILON, DELTA)
        one = 1 / EPSILON
        leaks = leaked(laws, one), leaked(laws, quilt)
        found.append(
            ValuesOrParameters(rows, one, leaks[0], quilt, leaks[1], moved, relaxed.scale, relaxed.noise)
        )
    return found
