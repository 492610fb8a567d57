"""Small laws of answers to questionnaires in forms, and which form asks what."""

import numpy as np

from entwined.dependence import BayesNet, Variable

HALF = np.array([[True, True, False], [True, False, True]])
PART = np.array([[True, True, True], [True, False, False]])
APART = np.array([[True, False, True], [False, True, True]])
THREE = np.array([[True, True, False], [True, False, True], [False, True, True]])


def answers(rng, sizes=(2, 2, 2)):
    """A tree over the answers, weak or nearly deterministic."""
    variables = []
    for j, size in enumerate(sizes):
        above = () if j == 0 else (int(rng.integers(j)),)
        table = np.exp(rng.normal(0, rng.choice([0.5, 1.5, 3.0]), (sizes[above[0]] if above else 1, size)))
        law = (table / table.sum(1, keepdims=True)).tolist()
        variables.append(Variable(f"q{j}", tuple(map(str, range(size))), tuple(f"q{k}" for k in above), law))
    return BayesNet.of(variables)


def copies(count, flip=0.05, source="declared"):
    """A chain of near copies."""
    step = [[1 - flip, flip], [flip, 1 - flip]]
    first = Variable("q0", ("0", "1"), (), [[0.5, 0.5]])
    others = (Variable(f"q{j}", ("0", "1"), (f"q{j - 1}",), step) for j in range(1, count))
    return BayesNet.of([first, *others], source)
