"""Random networks of column parameters with tables drawn from them, and the exact law of a noisy answer."""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy.special import ndtr

from entwined.dependence import BayesNet, Variable


@dataclass(frozen=True, eq=False)
class DrawnNetwork:
    """A network, its joint law multiplied out by hand, and for each column the law of its cells given φ."""

    network: BayesNet
    joint: np.ndarray
    cells: tuple[np.ndarray, ...]


def random_network(rng, most_columns=6):
    """One whose parameters can all take two values at least."""
    while True:
        drawn = any_network(rng, most_columns)
        units = range(drawn.joint.ndim)
        possible = (drawn.joint.sum(axis=tuple(j for j in units if j != i)) > 0 for i in units)
        if all(values.sum() > 1 for values in possible):
            return drawn


def any_network(rng, most_columns):
    """Of two to six columns of two or three values, up to three parents, chances near 0 and exactly 0 among them."""
    count = int(rng.integers(2, most_columns + 1))
    sizes = [int(size) for size in rng.integers(2, 4, count)]
    variables, joint = [], np.ones(sizes)
    for place, size in enumerate(sizes):
        parents = sorted(rng.choice(place, min(place, int(rng.integers(0, 4))), replace=False).tolist())
        table = kernel(rng, int(np.prod([sizes[j] for j in parents], dtype=int)), size)
        values = tuple(map(str, range(size)))
        variables.append(Variable(f"c{place}", values, tuple(f"c{j}" for j in parents), table.tolist()))
        joint = joint * table.reshape(
            [sizes[j] if j in (*parents, place) else 1 for j in range(count)]
        )  # last parent fastest
    cells = tuple(np.eye(size) if rng.random() < 0.5 else kernel(rng, size, 2) for size in sizes)
    return DrawnNetwork(BayesNet.of(variables), joint, cells)


def kernel(rng, rows, columns):
    table = np.exp(rng.uniform(0.2, 2.0) * rng.standard_normal((rows, columns)))
    if rng.random() < 0.25:
        table *= rng.random(table.shape) < 0.7
        table[table.sum(axis=1) == 0, 0] = 1.0
    if rng.random() < 0.2:
        table = np.where(rng.random(table.shape) < 0.3, 1e-5, table)
    return table / table.sum(axis=1, keepdims=True)


def true_influence(joint, place, shown):
    """The largest log p(x | a) / p(x | b), entry by entry."""
    rest = tuple(j for j in range(joint.ndim) if j != place and j not in shown)
    table = np.moveaxis(joint.sum(axis=rest, keepdims=True), place, 0).reshape(joint.shape[place], -1)
    worst = 0.0
    for a, b in product(range(len(table)), repeat=2):
        if a != b and table[a].sum() > 0 and table[b].sum() > 0:
            for p, q in zip(table[a] / table[a].sum(), table[b] / table[b].sum(), strict=True):
                if p > 0:
                    worst = max(worst, np.inf if q == 0 else np.log(p / q))
    return worst


def answer_laws(drawn, place, answers):
    """The law of an answer to the cells of all columns, given each value of a parameter that can occur (rows).

    `answers` has one axis a column, as long as its cells have values.
    """
    law = drawn.joint
    for axis, cells in enumerate(drawn.cells):
        if axis != place:
            law = np.moveaxis(np.moveaxis(law, axis, -1) @ cells, -1, axis)
    # cells of the secret's own column come last
    law = np.moveaxis(law, place, 0)[..., None] * drawn.cells[place].reshape(
        law.shape[place], *([1] * (law.ndim - 1)), -1
    )
    law = law.reshape(law.shape[0], -1)
    numbers = np.moveaxis(answers, place, -1).ravel()
    atoms, at = np.unique(numbers, return_inverse=True)
    by_answer = np.stack([np.bincount(at, row, atoms.size) for row in law])
    by_answer = by_answer[by_answer.sum(axis=1) > 0]
    return atoms, by_answer / by_answer.sum(axis=1, keepdims=True)


def true_leakage(drawn, place, answers, scale):
    """The largest log ratio over all outputs.

    Between answers the ratio of two laws under Laplace noise is monotone, so the answers themselves are enough; without
    noise they are the outputs.
    """
    atoms, laws = answer_laws(drawn, place, answers)
    if scale > 0:
        laws = laws @ np.exp(-np.abs(atoms[:, None] - atoms) / scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(laws)
        gaps = logs[:, None] - logs[None]
    return float(np.nanmax(gaps, initial=0.0))


def true_slip(drawn, place, answers, deviation, epsilon):
    """sup_S P(S) − γQ(S) over all pairs of values, Gaussian noise cut into 2,000 small cells."""
    atoms, laws = answer_laws(drawn, place, answers)
    if deviation > 0:
        edges = np.linspace(atoms[0] - 9 * deviation, atoms[-1] + 9 * deviation, 2001)
        laws = laws @ np.diff(ndtr((edges - atoms[:, None]) / deviation), axis=1)
    over = [np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in permutations(laws, 2)]
    return float(max(over))
