"""Example 1 and figure 6: what two dependent numbers leak through a sum, a difference and a product.

D_j = 0.5·D_i + 0.5·X with D_i and X uniform on [0, 1], and Laplace noise of scale 1/ε. The separation is the largest
log ratio of the densities of the noisy answer given two values of D_i. It is found by three routes that share nothing
but the example: the paper's coefficient of the pair, the farthest move of the exact answer (Wasserstein), and the
densities themselves, integrated. The first two are bounds; for the sum all three agree.
"""

from collections.abc import Callable
from itertools import combinations
from math import exp, log
from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.wasserstein import FiniteLaw, farthest_move
from entwined.numbers import FloatArray

EPSILONS: Final = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0)
ATOMS: Final = 101  # of X where laws are finite
SECRETS: Final = 11  # values of D_i
NODES: Final = 64  # of each piece of an integral

Answer = Callable[[float, FloatArray], FloatArray]
QUERIES: Final[dict[str, Answer]] = {
    "sum": lambda a, x: a + (0.5 * a + 0.5 * x),
    "subtraction": lambda a, x: a - (0.5 * a + 0.5 * x),
    "multiplication": lambda a, x: a * (0.5 * a + 0.5 * x),
}


class Separation(NamedTuple):
    """How far apart the answers to a query are, by every route, where ε is promised."""

    query: str
    epsilon: float
    pairwise: float
    wasserstein: float
    numerical: float
    exact: float


def separations() -> list[Separation]:
    """Figure 6, for every query and ε."""
    coefficient = pair_coefficient()
    moved = {name: farthest(query) for name, query in QUERIES.items()}
    return [
        Separation(
            name,
            epsilon,
            (1 + coefficient) * epsilon,
            moved[name] * epsilon,
            by_integration(query, epsilon),
            closed_form(name, epsilon),
        )
        for name, query in QUERIES.items()
        for epsilon in EPSILONS
    ]


def closed_form(query: str, epsilon: float) -> float:
    """What integration by hand gives.

    >>> [round(closed_form(query, 1.0), 3) for query in QUERIES]
    [1.5, 0.5, 0.76]
    """
    if query == "multiplication":
        return epsilon / 2 + log((exp(epsilon / 2) - 1) / (epsilon / 2))
    return {"sum": 1.5, "subtraction": 0.5}[query] * epsilon


def pair_coefficient(epsilon: float = 1.0) -> float:
    """ρ_ij of Equation 14: the largest log ratio of noisy D_j given two values of D_i, as a share of ε."""
    x = np.linspace(0, 1, ATOMS)
    given = np.stack([0.5 * a + 0.5 * x for a in np.linspace(0, 1, SECRETS)])
    seen = np.linspace(0, 1, 2 * ATOMS - 1)  # between two values the ratio is monotone, beyond them constant
    density = np.log(np.exp(-epsilon * np.abs(seen[:, None, None] - given)).mean(axis=2))
    return float((density.max(axis=1) - density.min(axis=1)).max()) / epsilon


def farthest(query: Answer) -> float:
    """The largest ∞-Wasserstein distance between the exact answers given two values of D_i."""
    x = np.linspace(0, 1, ATOMS)
    laws = []
    for a in np.linspace(0, 1, SECRETS):
        atoms, counts = np.unique(query(float(a), x), return_counts=True)
        laws.append(FiniteLaw.of(atoms, counts / counts.sum()))
    return max(farthest_move(one, other) for one, other in combinations(laws, 2))


def by_integration(query: Answer, epsilon: float) -> float:
    """The largest log ratio of the densities, by Gauss and Legendre's rule on both sides of the kink."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    unit, share = (nodes + 1) / 2, weights / 2
    secrets = np.linspace(0, 1, SECRETS)
    logs = []
    for seen in np.linspace(-0.5, 2.5, 61):
        densities = []
        for a in secrets:
            start, slope = float(query(a, np.zeros(1))[0]), float(np.diff(query(a, np.array([0.0, 1.0])))[0])
            kink = min(1.0, max(0.0, (seen - start) / slope)) if slope else 0.0
            x = np.concatenate([unit * kink, kink + unit * (1 - kink)])
            mass = np.concatenate([share * kink, share * (1 - kink)])
            densities.append(float(mass @ np.exp(-epsilon * np.abs(seen - query(a, x)))))
        logs.append(np.log(densities))
    table = np.array(logs)
    return float((table.max(axis=1) - table.min(axis=1)).max())
