"""PrivBayes as the lecture tells it: half of ε chooses a network, by the exponential mechanism, half its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, log
from typing import Final, NamedTuple

import numpy as np

from entwined.learning.codes import Codes
from entwined.numbers import FloatArray
from entwined.papers.datasynthesizer.people import AGE, EDU, INCOME, MISPRINT, SEX, SLIDE

SECOND_DIGIT: Final = 0.01


@dataclass(frozen=True, slots=True)
class Dag:
    """A network of columns: each with its parents, in an order in which parents come first. Not a causal graph."""

    parents: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def most_parents(self) -> int:
        """The largest number of parents."""
        return max(len(parents) for _, parents in self.parents)


SLIDE_NETWORK: Final = Dag(((SEX, ()), (AGE, (SEX,)), (EDU, (AGE, SEX)), (INCOME, (EDU, AGE))))


class TableCompared(NamedTuple):
    """One number of the slide's tables beside the data's."""

    column: str
    cell: tuple[int, ...]
    slide: float
    found: float

    @property
    def is_misprint(self) -> bool:
        """Whether it is the one that does not add up."""
        return (self.column, self.cell) == MISPRINT

    @property
    def same(self) -> bool:
        """Whether they differ by less than one in the second digit."""
        return abs(self.slide - self.found) < SECOND_DIGIT

    @property
    def rounds(self) -> bool:
        """Whether the data's number, rounded to two digits, is the slide's."""
        return abs(self.slide - self.found) <= SECOND_DIGIT / 2


def joint(codes: Codes, columns: Sequence[int]) -> FloatArray:
    """The shares of the cells of some columns, one side a column."""
    sizes = [codes.sizes[at] for at in columns]
    places = np.ravel_multi_index([codes.values[:, at] for at in columns], sizes)
    return np.asarray(np.bincount(places, minlength=int(np.prod(sizes))).reshape(sizes) / codes.rows)


def conditional(shares: FloatArray) -> FloatArray:
    """Laws of the last side given the others; where nobody is, a uniform one."""
    whole = shares.sum(axis=-1, keepdims=True)
    return np.where(whole > 0, shares / np.where(whole > 0, whole, 1), 1 / shares.shape[-1])


def filled(codes: Codes, network: Dag, epsilon: float, generator: np.random.Generator) -> list[FloatArray]:
    """The tables of a network, one a column in its order, with the noise of ε for all of them together.

    The largest tables of d − k columns with their parents are measured, each with Lap(2(d − k)/(nε)) on its shares;
    the first columns are read off the first of them.
    """
    least = network.most_parents
    measured: dict[tuple[int, ...], FloatArray] = {}
    for column, parents in network.parents[least:]:
        sides = (*parents, column)
        scale = 2 * (len(network.parents) - least) / (codes.rows * epsilon) if epsilon < inf else 0.0
        noise = generator.laplace(0, scale, [codes.sizes[at] for at in sides]) if scale else 0.0
        noisy = np.maximum(joint(codes, sides) + noise, 0)
        measured[sides] = noisy / noisy.sum() if noisy.sum() > 0 else np.full(noisy.shape, 1 / noisy.size)
    first = next(iter(measured))
    tables = []
    for column, parents in network.parents:
        sides = (*parents, column)
        whole, at = (measured[sides], sides) if sides in measured else (measured[first], first)
        gone = tuple(place for place, side in enumerate(at) if side not in sides)
        left = [side for side in at if side in sides]
        tables.append(conditional(whole.sum(axis=gone).transpose([left.index(side) for side in sides])))
    return tables


def drawn(tables: Sequence[FloatArray], network: Dag, codes: Codes, generator: np.random.Generator) -> Codes:
    """Draw as many people from a network as there are codes."""
    values = np.zeros((codes.rows, len(codes.names)), np.int64)
    for (column, parents), table in zip(network.parents, tables, strict=True):
        laws = table[tuple(values[:, at] for at in parents)] if parents else np.tile(table, (codes.rows, 1))
        ends = np.cumsum(laws, axis=1)
        values[:, column] = (generator.random(codes.rows)[:, None] > ends[:, :-1]).sum(axis=1)
    return Codes(codes.names, codes.sizes, values.astype(np.int32))


def information(codes: Codes, column: int, parents: Sequence[int]) -> float:
    """Mutual information of a column and its parents together, in nats."""
    both = joint(codes, (*parents, column)).reshape(-1, codes.sizes[column])
    apart = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    there = both > 0
    return float((both[there] * np.log(both[there] / apart[there])).sum())


def moved(rows: int) -> float:
    """How far one person moves a mutual information (PrivBayes, Theorem 4.1, in nats)."""
    return 2 / rows * log((rows + 1) / 2) + (rows - 1) / rows * log((rows + 1) / (rows - 1))


def searched(
    codes: Codes, parents: int, epsilon: float, generator: np.random.Generator, root: int = SEX
) -> Dag:
    """Grow a network from a root: each time a column with parents, by how much they say about each other."""
    chosen: list[tuple[int, tuple[int, ...]]] = [(root, ())]
    while len(chosen) < len(codes.names):
        there = [column for column, _ in chosen]
        candidates = [
            (column, some)
            for column in range(len(codes.names))
            if column not in there
            for some in combinations(there, min(parents, len(there)))
        ]
        scores = np.array([information(codes, column, some) for column, some in candidates])
        chosen.append(candidates[_choice(scores, codes, epsilon, generator)])
    return Dag(tuple(chosen))


def _choice(scores: FloatArray, codes: Codes, epsilon: float, generator: np.random.Generator) -> int:
    """The exponential mechanism with its part of ε, or the best without noise."""
    if epsilon == inf:
        return int(scores.argmax())
    weights = epsilon / (len(codes.names) - 1) * scores / (2 * moved(codes.rows))
    chances = np.exp(weights - weights.max())
    return int(generator.choice(len(scores), p=chances / chances.sum()))


def slide_compared(codes: Codes) -> list[TableCompared]:
    """Every number of the slide beside the data's, without noise."""
    tables = named_tables(filled(codes, SLIDE_NETWORK, inf, np.random.default_rng(0)), codes)
    return [
        TableCompared(
            name, tuple(map(int, cell)), float(slide[tuple(cell)]), float(tables[name][tuple(cell)])
        )
        for name, slide in SLIDE.items()
        for cell in np.argwhere(np.ones(slide.shape, bool))
    ]


def named_tables(tables: Sequence[FloatArray], codes: Codes) -> Mapping[str, FloatArray]:
    """The tables of the slide's network by column."""
    return {
        codes.names[column]: table for (column, _), table in zip(SLIDE_NETWORK.parents, tables, strict=True)
    }


def mean_off(codes: Codes, epsilon: float, trials: int, generator: np.random.Generator) -> float:
    """The mean absolute difference of the slide network's tables with half of ε from those without noise."""
    exact = filled(codes, SLIDE_NETWORK, inf, generator)
    found = []
    for _ in range(trials):
        noisy = filled(codes, SLIDE_NETWORK, epsilon / 2, generator)
        found.append(
            np.mean(np.concatenate([np.abs(a - b).ravel() for a, b in zip(exact, noisy, strict=True)]))
        )
    return float(np.mean(found))
