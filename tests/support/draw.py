"""Random small models to hold bounds against the oracle: every model is a product of factors over few units.

They are made to be awkward: uneven losses, weak and strong dependence, chances near 0 and exactly 0. A model
has 3 to 5 units of two values, or 3 to 4 of three values or of both sizes, and each unit can take at least
two values. Chains, trees and networks come with their directed form as well.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Factor = tuple[tuple[int, ...], Floats]


@dataclass(frozen=True, eq=False)
class Model:
    """A law that is the product of its factors, and the base losses to ask it about."""

    shape: str
    sizes: tuple[int, ...]
    factors: tuple[Factor, ...]
    losses: Floats

    def joint(self) -> Floats:
        """Give the chance of every configuration, one axis a unit."""
        weights = np.ones(self.sizes)
        for scope, table in self.factors:
            lying = [self.sizes[j] if j in scope else 1 for j in range(len(self.sizes))]
            weights = weights * table.transpose(np.argsort(scope)).reshape(lying)
        total = weights.sum()
        return np.asarray(weights / total) if total > 0 else weights

    def holds_secrets(self) -> bool:
        """Say whether each unit can take at least two values."""
        possible = self.joint() > 0
        units = range(possible.ndim)
        return all(possible.any(axis=tuple(j for j in units if j != i)).sum() > 1 for i in units)


@dataclass(frozen=True, eq=False)
class Chain(Model):
    """A homogeneous Markov chain."""

    initial: Floats
    transition: Floats

    @property
    def length(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Variable:
    """A node of a network: the table has a row for each joint value of the parents, last parent fastest."""

    name: str
    values: int
    parents: tuple[str, ...]
    table: Floats


@dataclass(frozen=True, eq=False)
class Net(Model):
    """A Bayesian network; the units are its variables, parents first."""

    variables: tuple[Variable, ...]


def losses(rng: Generator, units: int) -> Floats:
    """Draw losses from 0.02 to 3, sometimes all equal, sometimes some of them nearly 0."""
    kind = rng.choice(["equal", "uneven", "uneven", "with tiny ones"])
    each = np.exp(rng.uniform(np.log(0.02), np.log(3), 1 if kind == "equal" else units))
    tiny = (rng.random(units) < 0.4) & (kind == "with tiny ones")
    return np.where(tiny, 10 ** rng.uniform(-6, -3, units), each)


def _sizes(rng: Generator, most: int = 5) -> tuple[int, ...]:
    kind = rng.choice(["two", "three", "mixed"], p=[0.6, 0.2, 0.2])
    units = int(rng.integers(3, most + 1 if kind == "two" else 5))
    if kind == "mixed":
        return tuple(int(size) for size in rng.integers(2, 4, units))
    return (2 if kind == "two" else 3,) * units


def _table(rng: Generator, shape: Sequence[int]) -> Floats:
    """Draw a positive table, weak or strong, or nearly a copy; at times with chances near 0 or exactly 0."""
    table = np.exp(np.exp(rng.uniform(np.log(0.05), np.log(3))) * rng.standard_normal(shape))
    if rng.random() < 0.15 and len(set(shape)) == 1:
        agree = (np.indices(shape) == np.indices(shape)[0]).all(axis=0)
        table = np.where(agree, table, table * 10 ** rng.uniform(-6, -0.5))
    if rng.random() < 0.2:
        table = np.where(rng.random(shape) < 0.25, 10 ** rng.uniform(-6, -3, shape), table)
    if rng.random() < 0.2:
        table = np.where(rng.random(shape) < 0.2, 0.0, table)
    return np.asarray(table)


def _kernel(rng: Generator, rows: int, columns: int) -> Floats:
    """Draw one law a row."""
    table = _table(rng, (rows, columns))
    empty = table.sum(axis=1) == 0
    table[empty, rng.integers(columns, size=int(empty.sum()))] = 1.0
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _initial(rng: Generator, transition: Floats) -> Floats:
    if rng.random() < 1 / 3:
        lazy = (transition + np.eye(len(transition))) / 2
        settled = np.linalg.matrix_power(lazy, 1 << 20).mean(axis=0)
        return np.asarray(settled / settled.sum())
    return np.asarray(_kernel(rng, 1, len(transition))[0])


def chain(rng: Generator) -> Chain:
    """Draw a homogeneous Markov chain, sometimes started in its stationary law."""
    values = int(rng.choice([2, 2, 3]))
    length = int(rng.integers(3, 6 if values == 2 else 5))
    transition = _kernel(rng, values, values)
    initial = _initial(rng, transition)
    factors: list[Factor] = [((0,), initial), *(((t, t + 1), transition) for t in range(length - 1))]
    drawn = Chain("chain", (values,) * length, tuple(factors), losses(rng, length), initial, transition)
    return drawn if drawn.holds_secrets() else chain(rng)


def _net(rng: Generator, shape: str, sizes: tuple[int, ...], parents: Sequence[tuple[int, ...]]) -> Net:
    names = [f"v{j}" for j in range(len(sizes))]
    variables, factors = [], []
    for j, size in enumerate(sizes):
        above = [sizes[k] for k in parents[j]]
        table = _kernel(rng, int(np.prod(above)), size)
        variables.append(Variable(names[j], size, tuple(names[k] for k in parents[j]), table))
        factors.append(((*parents[j], j), table.reshape(*above, size)))
    drawn = Net(shape, sizes, tuple(factors), losses(rng, len(sizes)), tuple(variables))
    return drawn if drawn.holds_secrets() else _net(rng, shape, sizes, parents)


def tree(rng: Generator) -> Net:
    """Draw a rooted tree: each variable but the first has one parent."""
    sizes = _sizes(rng)
    above = [(int(rng.integers(j)),) for j in range(1, len(sizes))]
    return _net(rng, "tree", sizes, [(), *above])


def net(rng: Generator) -> Net:
    """Draw a network where at least one variable has two parents, in no particular order."""
    sizes = _sizes(rng)
    parents: list[tuple[int, ...]] = [(), ()]
    for j in range(2, len(sizes)):
        count = 2 if j == 2 else int(rng.integers(0, 3))
        parents.append(tuple(int(k) for k in rng.choice(j, count, replace=False)))
    if rng.random() < 0.5:
        parents[1] = (0,)
    return _net(rng, "net", sizes, parents)


def _field(rng: Generator, shape: str, sizes: tuple[int, ...], scopes: Sequence[tuple[int, ...]]) -> Model:
    factors = tuple((scope, _table(rng, [sizes[j] for j in scope])) for scope in scopes)
    drawn = Model(shape, sizes, factors, losses(rng, len(sizes)))
    return drawn if drawn.holds_secrets() else _field(rng, shape, sizes, scopes)


def cycle(rng: Generator) -> Model:
    """Draw a ring of pairs."""
    sizes = _sizes(rng)
    return _field(rng, "cycle", sizes, [(j, (j + 1) % len(sizes)) for j in range(len(sizes))])


def complete(rng: Generator) -> Model:
    """Draw 3 or 4 units that all depend on each other in pairs."""
    sizes = _sizes(rng, most=4)
    return _field(rng, "complete", sizes, list(combinations(range(len(sizes)), 2)))


def tailed_triangle(rng: Generator) -> Model:
    """Draw a triangle of pairs from which the other units hang, each from one before it."""
    sizes = _sizes(rng)
    tails = [(int(rng.integers(j)), j) for j in range(3, len(sizes))]
    return _field(rng, "tailed triangle", sizes, [(0, 1), (1, 2), (2, 0), *tails])


def triples(rng: Generator) -> Model:
    """Draw factors of three units that overlap, and at times a pair as well."""
    sizes = _sizes(rng)
    units = len(sizes)
    scopes = [tuple(int(j) for j in rng.permutation(units)[:3]) for _ in range(rng.integers(1, 4))]
    left = sorted(set(range(units)) - {j for scope in scopes for j in scope})
    pairs = [(j, int(rng.choice([k for k in range(units) if k != j]))) for j in left]
    return _field(rng, "triples", sizes, [*scopes, *pairs])


SHAPES: dict[str, Callable[[Generator], Model]] = {
    "chain": chain,
    "tree": tree,
    "cycle": cycle,
    "complete": complete,
    "tailed triangle": tailed_triangle,
    "net": net,
    "triples": triples,
}


def models(seed: int, count: int, shapes: Sequence[str] = tuple(SHAPES)) -> Iterator[Model]:
    """Draw models of the shapes in turn; the k-th is the same whatever the count."""
    for k in range(count):
        yield SHAPES[shapes[k % len(shapes)]](np.random.default_rng([seed, k]))


def tilts(rng: Generator, sizes: Sequence[int], count: int) -> list[dict[int, Floats]]:
    """Draw what may be known of single units: nothing, a set of values, or a weak, strong or extreme reading."""
    drawn = []
    for _ in range(count):
        tilt = {}
        for unit, size in enumerate(sizes):
            kind = rng.choice(["nothing", "set", "reading"], p=[0.25, 0.25, 0.5])
            if kind == "set":
                tilt[unit] = (rng.permutation(size) < rng.integers(1, size + 1)).astype(float)
            elif kind == "reading":
                tilt[unit] = np.exp(rng.uniform(-1, 1, size) * rng.choice([1.0, 4.0, 9.0]))
        drawn.append(tilt)
    return drawn


def covariance(rng: Generator) -> Floats:
    """Draw the covariance of 3 to 6 Gaussian units: equicorrelated, autoregressive, or of no shape at all."""
    units = int(rng.integers(3, 7))
    scales = np.exp(rng.normal(0, 0.7, units))
    kind = rng.choice(["equicorrelated", "autoregressive", "any"])
    if kind == "equicorrelated":
        table = np.full((units, units), rng.uniform(-0.9 / (units - 1), 0.95))
        np.fill_diagonal(table, 1.0)
    elif kind == "autoregressive":
        steps = np.abs(np.subtract.outer(np.arange(units), np.arange(units)))
        table = rng.uniform(-0.95, 0.95) ** steps
    else:
        loads = rng.standard_normal((units, units + int(rng.integers(0, 4))))
        table = loads @ loads.T + 0.01 * np.eye(units)
    return np.asarray(table * np.outer(scales, scales))
