"""What a plain count adds about one person, exactly: a person with friends whose places are not all known, and a twin.

A count with Laplace noise is the only release. Given the person's value the unknown relatives are independent of each
other and follow the kernel, so the law of the count is known and the largest shift of log odds over all outputs can be
written down. Relatives whose values are known shift the prior and nothing else: what the release adds comes from
those who are not.
"""

from collections.abc import Sequence
from math import exp, log, tanh
from typing import Final, NamedTuple

import numpy as np

from entwined.numbers import FloatArray
from entwined.papers.dependent_dp.noise_factors import coefficients, kernel, kernel_log_odds
from entwined.papers.dependent_dp.towns import SIDE, grid

EPSILONS: Final = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0)
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


class AddedLeak(NamedTuple):
    """What a release of loss ε adds about one person, exactly, beside bounds on it."""

    story: str
    epsilon: float
    known: float
    unknown: int
    added: float
    dependent: float
    certificate: float


def friends_attack(most_friends: int) -> list[AddedLeak]:
    """The person with the most friends, and a count of the people in the western half of the city."""
    law, own = kernel(), grid().centres[:, 0] < 1 / 2
    strength = kernel_log_odds()
    west = law[:, own].sum(axis=1)
    found = []
    for epsilon in EPSILONS:
        rho = coefficients(epsilon).exact
        for share in SHARES:
            unknown = round((1 - share) * most_friends)
            laws = np.stack([count_law(unknown, float(west[cell]), int(own[cell])) for cell in corners()])
            found.append(
                AddedLeak(
                    "friends",
                    epsilon,
                    share,
                    unknown,
                    largest_shift(laws, 1 / epsilon),
                    epsilon * (1 + rho * unknown),
                    epsilon + unknown * passed_on(epsilon, strength),
                )
            )
    return found


def corners() -> list[int]:
    """Cells of every column in the middle row: the count tells east from west alone."""
    row = SIDE // 2 * SIDE
    return list(range(row, row + SIDE))


def twins_attack(law: FloatArray, story: str) -> list[AddedLeak]:
    """One of two twins, and a count of those who have the trait; `law` is that of the other's given one's own."""
    strength = abs(log(law[0, 0] * law[1, 1] / (law[0, 1] * law[1, 0])))
    found = []
    for epsilon in EPSILONS:
        for known in (0.0, 1.0):
            other = [[law[a, 0], law[a, 1]] if not known else [1.0, 0.0] for a in (0, 1)]
            laws = np.zeros((2, 3))
            for a in (0, 1):
                laws[a, a : a + 2] += other[a]
            dependent = epsilon + (0.0 if known else pair_share(law, epsilon))
            certificate = epsilon + (0.0 if known else min(epsilon, passed_on(epsilon, strength)))
            added = largest_shift(laws, 1 / epsilon)
            found.append(AddedLeak(story, epsilon, known, int(1 - known), added, dependent, certificate))
    return found


def pair_share(law: FloatArray, epsilon: float) -> float:
    """What a loss of the other becomes for one of two, exactly: Equation 14 for two values."""
    weights = [1 + (exp(epsilon) - 1) * law[:, value] for value in (0, 1)]
    return max(abs(log(one[0] / one[1])) for one in weights)


def passed_on(epsilon: float, strength: float) -> float:
    """T(ε; Δ): what passes a tie of log odds at most Δ."""
    return float(4 * np.arctanh(tanh(epsilon / 4) * tanh(strength / 4)))


def count_law(unknown: int, share: float, own: int) -> FloatArray:
    """The chances of a count: one's own part, and each of so many others with a share."""
    from scipy.special import gammaln, xlogy

    k = np.arange(unknown + 1)
    ways = gammaln(unknown + 1) - gammaln(k + 1) - gammaln(unknown - k + 1)
    law = np.zeros(unknown + 2)
    law[own : own + unknown + 1] = np.exp(ways + xlogy(k, share) + xlogy(unknown - k, 1 - share))
    return law


def largest_shift(laws: FloatArray | Sequence[FloatArray], scale: float) -> float:
    """The largest log ratio of two densities of a count with Laplace noise: it lies at a whole number."""
    table = np.asarray(laws)
    places = np.arange(table.shape[1])
    density = np.log(table @ np.exp(-np.abs(places[:, None] - places) / scale))
    return float(np.ptp(density, axis=0).max())
