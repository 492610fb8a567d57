"""DataSynthesizer's modes on the four columns: random, independent, and networks of one and two parents."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from entwined.learning.codes import Codes
from entwined.papers.datasynthesizer.networks import Dag, drawn, filled, joint, searched
from entwined.synthetic.likeness import all_apart, mean_distance

EPSILONS: Final = (0.1, 1.0, 10.0)
FREE: Final = "random"
"""The mode that reads nothing, so that it has no ε."""
Maker: TypeAlias = Callable[[Codes, float, np.random.Generator], Codes]


class ModeTried(NamedTuple):
    """How far tables of one, two and three columns are off, in people of 100, on average over draws."""

    mode: str
    epsilon: float
    one_way: float
    two_way: float
    three_way: float


def random_mode(codes: Codes, epsilon: float, generator: np.random.Generator) -> Codes:  # noqa: ARG001  (it costs nothing)
    """Any value of a column is as likely as any other."""
    values = [generator.integers(0, size, codes.rows) for size in codes.sizes]
    return Codes(codes.names, codes.sizes, np.stack(values, axis=1).astype(np.int32))


def independent_mode(codes: Codes, epsilon: float, generator: np.random.Generator) -> Codes:
    """A histogram a column with Lap(2d/(nε)) on its shares."""
    columns = []
    for at, size in enumerate(codes.sizes):
        noise = generator.laplace(0, 2 * len(codes.sizes) / (codes.rows * epsilon), size)
        noisy = np.maximum(joint(codes, [at]) + noise, 0)
        law = noisy / noisy.sum() if noisy.sum() > 0 else np.full(size, 1 / size)
        columns.append(generator.choice(size, codes.rows, p=law))
    return Codes(codes.names, codes.sizes, np.stack(columns, axis=1).astype(np.int32))


def correlated_mode(parents: int) -> Maker:
    """A network of so many parents, half of ε for its structure and half for its tables."""

    def make(codes: Codes, epsilon: float, generator: np.random.Generator) -> Codes:
        network: Dag = searched(codes, parents, epsilon / 2, generator)
        return drawn(filled(codes, network, epsilon / 2, generator), network, codes, generator)

    return make


MODES: Final[dict[str, Maker]] = {
    FREE: random_mode,
    "independent": independent_mode,
    "correlated, K = 1": correlated_mode(1),
    "correlated, K = 2": correlated_mode(2),
}


def modes_tried(codes: Codes, trials: int, generator: np.random.Generator) -> list[ModeTried]:
    """Draw tables in every mode, and say how far they are off."""
    found = []
    for name, make in MODES.items():
        for epsilon in EPSILONS:
            each = [_distances(codes, make(codes, epsilon, generator)) for _ in range(trials)]
            one, two, three = np.mean(each, axis=0)
            found.append(ModeTried(name, epsilon, float(one), float(two), float(three)))
    return found


def _distances(codes: Codes, made: Codes) -> list[float]:
    return [100 * mean_distance(all_apart(codes, made, ways)) for ways in (1, 2, 3)]
