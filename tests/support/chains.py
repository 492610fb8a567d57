"""Chains and forests to try, and those that a theorem of two states refuses."""

import numpy as np

from entwined.dependence import BayesNet, Box, Edge, Graph, Independent, MarkovChain, RandomField, Variable
from support import draw


def chain_of(length, transition, initial):
    return MarkovChain(length, Box.exact(transition), np.array(initial, dtype=float))


def symmetric(flip, length):
    return chain_of(length, [[1 - flip, flip], [flip, 1 - flip]], [0.5, 0.5])


def as_net(chain):
    """The same chain as a network, which takes the path through trees."""
    values = tuple(map(str, range(chain.states)))
    later = [Variable(f"x{t}", values, (f"x{t - 1}",), chain.transition.low) for t in range(1, chain.length)]
    return BayesNet.of([Variable("x0", values, (), [chain.initial]), *later])


def forest_field(rng):
    """A random field whose graph is a forest; some potentials have zeros, some bind nothing."""
    sizes = [int(size) for size in rng.integers(2, 4, rng.integers(2, 5))]
    scopes = [(int(rng.integers(j)), j) for j in range(1, len(sizes)) if rng.random() < 0.85]
    scopes = [pair if rng.random() < 0.5 else pair[::-1] for pair in scopes]
    tables = []
    for one, other in scopes:
        table = np.exp(rng.normal(0, rng.choice([0.3, 2.0]), (sizes[one], sizes[other])))
        if rng.random() < 0.3:
            table *= rng.random(table.shape) < 0.75
        if rng.random() < 0.15:
            table = np.outer(*(rng.random(sizes[end]) for end in (one, other)))
        tables.append(table if table.any() else np.ones_like(table))
    factors = tuple(zip(scopes, tables, strict=True))
    drawn = draw.Model("forest", tuple(sizes), factors, draw.losses(rng, len(sizes)))
    if not drawn.joint().any():
        return forest_field(rng)
    edges = [Edge((str(a), str(b)), table.tolist()) for (a, b), table in factors]
    return drawn, RandomField.of({str(j): size for j, size in enumerate(sizes)}, edges)


CHAINS = {
    "stationary": chain_of(400, [[0.9, 0.1], [0.3, 0.7]], [0.75, 0.25]),
    "from one state": chain_of(400, [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]], [1, 0, 0]),
    "slow": chain_of(400, [[0.995, 0.005], [0.01, 0.99]], [0.1, 0.9]),
    "period two": chain_of(400, [[0, 1], [1, 0]], [0.3, 0.7]),
    "period three": chain_of(
        400,
        [[0, 0, 0.6, 0.4, 0], [0, 0, 0.1, 0.9, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0.5, 0.5, 0, 0, 0]],
        [0.2, 0.1, 0.3, 0.3, 0.1],
    ),
    "absorbed": chain_of(400, [[0.5, 0.5], [0.0, 1.0]], [0.9, 0.1]),
    "never moving": chain_of(400, np.eye(2), [0.5, 0.5]),
    "two classes": chain_of(400, [[0.8, 0.2, 0], [0.4, 0.6, 0], [0, 0, 1]], [0.2, 0.3, 0.5]),
    "a state never met": chain_of(400, [[0.8, 0.2, 0], [0.4, 0.6, 0], [0.1, 0.1, 0.8]], [0.2, 0.8, 0]),
}


INTERVALS = Box(np.array([[0.8, 0.1], [0.1, 0.8]]), np.array([[0.9, 0.2], [0.2, 0.9]]))


YES_NO = ("yes", "no")


REFUSED = {
    "many members": MarkovChain(3, INTERVALS, np.array([0.5, 0.5])),
    "no initial law": MarkovChain(3, Box.exact([[0.9, 0.1], [0.1, 0.9]])),
    "does not say what the law is": Graph(3, np.array([[0, 1], [1, 2]]), np.float64(0.4)),
    "in a cycle": RandomField.of(
        {"a": 2, "b": 2, "c": 2},
        [Edge(pair, [[2.0, 1.0], [1.0, 2.0]]) for pair in (("a", "b"), ("b", "c"), ("c", "a"))],
    ),
    "depends on 2 parents": BayesNet.of(
        [
            Variable("a", YES_NO, (), [[0.5, 0.5]]),
            Variable("b", YES_NO, (), [[0.5, 0.5]]),
            Variable("c", YES_NO, ("a", "b"), [[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.9, 0.1]]),
        ]
    ),
    "nothing possible": RandomField.of(
        {"a": 2, "b": 2, "c": 2}, [Edge(("a", "b"), [[1, 0], [0, 0]]), Edge(("b", "c"), [[0, 0], [1, 2]])]
    ),
    "too small for a float": chain_of(3_000, [[0.5, 0.5], [0.0, 1.0]], [0.9, 0.1]),
    "still changes after": chain_of(
        10**6, 0.5 * np.eye(51) + 0.5 * np.roll(np.eye(51), 1, axis=1), np.eye(51)[0]
    ),
    "not about": Independent(3),
}


def walk(states, stay, length):
    """A state that stays, or moves to one beside it; its stationary law is uniform."""
    step = np.eye(states) * stay
    for state in range(states):
        for beside in (max(state - 1, 0), min(state + 1, states - 1)):
            step[state, beside] += (1 - stay) / 2
    return chain_of(length, step, np.full(states, 1 / states))
