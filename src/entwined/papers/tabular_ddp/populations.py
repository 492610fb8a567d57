"""Small populations that are known exactly: every equally likely respondent is one row."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from entwined.papers.tabular_ddp.network import Counts, Network


@dataclass(frozen=True, slots=True)
class Population:
    """Names of the answers, all equally likely respondents, the true network, and which answers are counted."""

    name: str
    names: tuple[str, ...]
    counts: Counts
    network: Network
    counted: tuple[tuple[int, ...], ...]

    @property
    def moved(self) -> int:
        """By how much replacing one answer can move the counts of its column."""
        return max(min(2, len(values)) for values in self.counted)


def _population(
    name: str, names: Sequence[str], rows: Sequence[Sequence[int]], parents: Sequence[tuple[int, ...]]
) -> Population:
    """Publish how often the answer is 1 where there are two answers, else the whole histogram."""
    codes = np.array(rows, np.int64)
    sizes = tuple(int(size) for size in codes.max(axis=0) + 1)
    counted = tuple((1,) if size == 2 else tuple(range(size)) for size in sizes)  # noqa: PLR2004  (yes or no)
    network = Network(sizes, tuple(parents))
    return Population(name, tuple(names), Counts.of(codes, sizes), network, counted)


def monty_hall() -> Population:
    """Figure 3: the contestant selects, the prize is hidden, and the host opens a door that is neither."""
    games = [
        (first, prize, opened)
        for first, prize in product(range(3), repeat=2)
        for opened in _openable(first, prize)
    ]
    names = ("first selection", "prize", "opened by Monty")
    return _population("Monty Hall", names, games, ((), (), (0, 1)))


def _openable(first: int, prize: int) -> list[int]:
    doors = [door for door in range(3) if door not in {first, prize}]
    return doors if first == prize else doors * 2  # two doors with half the chance each, or one for certain


def independent_bits(columns: int = 2) -> Population:
    """Fair yes-or-no answers that say nothing about each other."""
    rows = list(product((0, 1), repeat=columns))
    return _population(f"{columns} independent bits", _bits(columns), rows, ((),) * columns)


def chain_of_bits(columns: int, agreeing: int) -> Population:
    """Fair bits in a row, each equal to the one before with `agreeing` per cent."""
    steps = [(0, agreeing), (1, 100 - agreeing)]
    rows: list[tuple[int, ...]] = [(0,), (1,)]
    unit = int(np.gcd(agreeing, 100))
    for _ in range(columns - 1):
        rows = [
            (*row, row[-1] ^ flip) for row in rows for flip, weight in steps for _ in range(weight // unit)
        ]
    parents = ((), *((column - 1,) for column in range(1, columns)))
    return _population(f"{columns} bits in a row, equal with {agreeing} %", _bits(columns), rows, parents)


def star_of_bits(leaves: int, agreeing: int) -> Population:
    """One fair bit and several that each equal it with `agreeing` per cent."""
    unit = int(np.gcd(agreeing, 100))
    flips = [0] * (agreeing // unit) + [1] * ((100 - agreeing) // unit)
    rows = [(hub, *(hub ^ flip for flip in each)) for hub in (0, 1) for each in product(flips, repeat=leaves)]
    parents = ((), *(((0,),) * leaves))
    return _population(
        f"a bit with {leaves} copies, equal with {agreeing} %", _bits(leaves + 1), rows, parents
    )


def noisy_xor() -> Population:
    """Two fair bits and their exclusive or, flipped with 5 %: no pair depends on each other."""
    rows = [(a, b, a ^ b ^ int(toss == 0)) for a, b, toss in product((0, 1), (0, 1), range(20))]
    return _population("two bits and their exclusive or, flipped with 5 %", _bits(3), rows, ((), (), (0, 1)))


def _bits(columns: int) -> tuple[str, ...]:
    return tuple(f"bit {column + 1}" for column in range(columns))
