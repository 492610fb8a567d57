"""What is published, as an adversary sees it: integers that people add up to, with noise of a known law."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import numpy as np

from entwined.dependence import ProductLaw
from entwined.noise import Additive
from entwined.numbers import FloatArray, IntArray

MISSED: Final = "1e-12"  # the part of a noise that is left out where it is drawn from a table
MOST_PLACES: Final = 4_000_000


class NoisyNumbers(Protocol):
    """Integers that are published with noise of a known law."""

    @property
    def size(self) -> int:
        """How many integers there are."""

    @property
    def noise(self) -> Additive:
        """The noise of each of them."""

    def exact(self, people: IntArray) -> IntArray:
        """Give what populations, one a row, would give without noise."""

    def log_weights(self, outputs: IntArray, exact: IntArray) -> FloatArray:
        """Give the log of the chance of outputs where these are the exact numbers, up to a constant."""


class Addend(NamedTuple):
    """What the values of a few units add to a vector: numbers[value of each unit, place in the vector]."""

    scope: tuple[int, ...]
    numbers: IntArray


@dataclass(frozen=True, eq=False)
class NoisyVector:
    """Integers that units add up to, each published with a draw of one noise."""

    addends: tuple[Addend, ...]
    noise: Additive

    @property
    def size(self) -> int:
        """How many integers there are."""
        return int(self.addends[0].numbers.shape[-1])

    def exact(self, people: IntArray) -> IntArray:
        """Add up what populations, one a row, would give without noise."""
        total = np.zeros((len(people), self.size), np.int64)
        for scope, numbers in self.addends:
            total += numbers[tuple(people[:, unit] for unit in scope)]
        return total

    def largest_change(self, unit: int) -> int:
        """How far the vector moves at most, in L1, when one unit's value changes and no other."""
        change = 0
        for scope, numbers in self.addends:
            if unit in scope:
                turned = np.moveaxis(numbers, scope.index(unit), 0)
                apart = np.abs(turned[:, None] - turned[None]).sum(axis=-1)
                change += int(apart.max())
        return change

    def log_weights(self, outputs: IntArray, exact: IntArray) -> FloatArray:
        """Give the log of the chance of outputs where these are the exact numbers, up to a constant."""
        return np.asarray(self.noise.log_weights(outputs - exact).sum(axis=-1))


def count_of(law: ProductLaw, value: int, noise: Additive) -> NoisyVector:
    """How many people hold a value."""
    return NoisyVector(
        tuple(
            Addend((unit,), (np.arange(law.sizes[unit]) == value).astype(np.int64)[:, None])
            for unit in law.people
        ),
        noise,
    )


def histogram_of(law: ProductLaw, noise: Additive) -> NoisyVector:
    """How many people hold each value."""
    cells = max(law.sizes[unit] for unit in law.people)
    each = (Addend((unit,), np.eye(law.sizes[unit], cells, dtype=np.int64)) for unit in law.people)
    return NoisyVector(tuple(each), noise)


def each_of(law: ProductLaw, noise: Additive) -> tuple[NoisyVector, ...]:
    """What every person holds, a vector each."""
    return tuple(
        NoisyVector((Addend((unit,), np.eye(law.sizes[unit], dtype=np.int64)),), noise) for unit in law.people
    )


def published(shown: Sequence[NoisyNumbers], people: IntArray, generator: np.random.Generator) -> IntArray:
    """Draw a release of each population: all vectors side by side, with noise."""
    return np.concatenate([noised(one.noise, one.exact(people), generator) for one in shown], axis=1)


def noised(noise: Additive, exact: IntArray, generator: np.random.Generator) -> IntArray:
    """Add draws by an ordinary generator, for simulations; noise too wide for a table is the system's own."""
    reach = noise.accuracy(MISSED)
    if 2 * reach + 1 > MOST_PLACES:
        return noise.add(exact)
    places = np.arange(-reach, reach + 1)
    running = np.cumsum(np.exp(noise.log_weights(places)))
    drawn = np.searchsorted(running, generator.random(exact.shape) * running[-1], side="right")
    return np.asarray(exact + places[np.minimum(drawn, places.size - 1)], np.int64)
