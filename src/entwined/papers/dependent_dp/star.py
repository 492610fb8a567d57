"""What a plain count adds about one person, exactly: a person with friends whose places are not all known, and a twin.

A count with Laplace noise is the only release. Given the person's value the unknown relatives are independent of each
other and follow the kernel, so the law of the count is known and the largest shift of log odds over all outputs can be
written down. Relatives whose values are known shift the prior and nothing else: what the release adds comes from
those who are not.
"""

from collections.abc import Sequence
from math import ceil, exp, log, tanh
from typing import Final, NamedTuple

import numpy as np

from entwined.dependence.places import FALL, NEARNESS
from entwined.numbers import FloatArray
from entwined.papers.dependent_dp.noise_factors import coefficients, kernel, kernel_log_odds
from entwined.papers.dependent_dp.towns import grid

EPSILONS: Final = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0)
REACH: Final = 30  # deviations that noise goes, or so
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


class AddedLeak(NamedTuple):
    """What is known of one person before, and what a release of loss ε adds, exactly, beside bounds on it.

    `before` and `nats` are mean information; `added` is the largest shift of log odds over all outputs.
    """

    story: str
    epsilon: float
    known: float
    unknown: int
    before: float
    nats: float
    added: float
    dependent: float
    certificate: float


def friends_attack(most_friends: int, draws: int, generator: np.random.Generator) -> list[AddedLeak]:
    """The person with the most friends, and a count of the people in the western half of the city."""
    law, own = kernel(), grid().centres[:, 0] < 1 / 2
    west = law[:, own].sum(axis=1)
    found = []
    for share in SHARES:
        unknown = round((1 - share) * most_friends)
        priors = known_friends(most_friends - unknown, draws, generator)
        laws = np.stack([count_law(unknown, float(west[cell]), int(own[cell])) for cell in range(len(own))])
        before = float(entropies(people_in_cells()[None])[0] - entropies(priors).mean())
        found += [
            AddedLeak(
                "friends",
                epsilon,
                share,
                unknown,
                before,
                mean_information(priors, laws, epsilon),
                largest_shift(laws, 1 / epsilon),
                epsilon * (1 + coefficients(epsilon).exact * unknown),
                epsilon + unknown * passed_on(epsilon, kernel_log_odds()),
            )
            for epsilon in EPSILONS
        ]
    return found


def people_in_cells() -> FloatArray:
    """In which cells people are under Equation 26, which is the same for both of two friends: in proportion to sums."""
    weights = (grid().distances() + NEARNESS) ** -FALL
    return np.asarray(weights.sum(axis=1) / weights.sum())


def known_friends(friends: int, draws: int, generator: np.random.Generator) -> FloatArray:
    """Draw people with so many friends: what is believed of each once the friends' cells are known, a row each."""
    alone, law = people_in_cells(), kernel()
    rows = []
    for cell in generator.choice(len(alone), size=draws, p=alone):
        seen = generator.choice(len(alone), size=friends, p=law[cell])
        logs = np.log(alone) + np.log(law[:, seen]).sum(axis=1)
        belief = np.exp(logs - logs.max())
        rows.append(belief / belief.sum())
    return np.array(rows)


def entropies(laws: FloatArray) -> FloatArray:
    """The entropy of each row in nats."""
    return np.asarray(-(laws * np.log(np.where(laws > 0, laws, 1.0))).sum(axis=1))


def mean_information(priors: FloatArray, laws: FloatArray, epsilon: float) -> float:
    """E[H(prior) − H(posterior)] over the outputs of a count with discrete Laplace noise, exactly, mean over priors."""
    counts = np.arange(laws.shape[1])
    outputs = np.arange(-ceil(REACH / epsilon), laws.shape[1] + ceil(REACH / epsilon))
    noise = np.exp(-epsilon * np.abs(outputs[None] - counts[:, None])) * np.tanh(epsilon / 2)
    seen = laws @ noise
    logs = (seen * np.log(np.maximum(seen, 1e-300))).sum(axis=1)
    together = priors @ seen
    return float((priors @ logs - (together * np.log(np.maximum(together, 1e-300))).sum(axis=1)).mean())


def twins_attack(law: FloatArray, story: str) -> list[AddedLeak]:
    """One of two twins, and a count of those who have the trait; `law` is that of the other's given one's own."""
    strength = abs(log(law[0, 0] * law[1, 1] / (law[0, 1] * law[1, 0])))
    alone = np.array([law[1, 0], law[0, 1]]) / (law[1, 0] + law[0, 1])
    found = []
    for known in (0, 1):
        laws = np.zeros((2, 3))
        for a in (0, 1):
            laws[a, a : a + 2] = [1.0, 0.0] if known else law[a]
        backward = (
            alone * law.T / (law.T @ alone)[:, None]
        )  # what is believed of one where the other is known
        priors, weights = (backward, law.T @ alone) if known else (alone[None], np.ones(1))
        before = float(entropies(alone[None])[0] - weights @ entropies(priors))
        for epsilon in EPSILONS:
            nats = [mean_information(prior[None], laws, epsilon) for prior in priors]
            more = 0.0 if known else pair_share(law, epsilon)
            proved = 0.0 if known else passed_on(epsilon, strength)
            added = largest_shift(laws, 1 / epsilon)
            figures = float(weights @ nats), added, epsilon + more, epsilon + proved
            found.append(AddedLeak(story, epsilon, float(known), 1 - known, before, *figures))
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
