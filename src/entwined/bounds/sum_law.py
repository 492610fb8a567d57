"""The law of a sum Σ_t w(X_t) over a Markov chain, given each state of each step, down to the rarest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, log
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from entwined.bounds.chain_laws import known_law
from entwined.dependence import Chained, MarkovChain
from entwined.errors import BadInput, DoesNotApply
from entwined.numbers import ULP, FloatArray, IntArray

MOST_CELLS: Final = 20_000_000  # values of the sum × states × steps
MOST_SHORTER: Final = 10_000_000  # the same for a chain and all that end earlier, whose laws are held at once
MOST_WORK: Final = 20_000_000_000  # products of probabilities: about twenty seconds
WIDEST: Final = 800  # probabilities of one sum may be 2^800 apart, that is 10^240, and no more
RAREST: Final = 1e-60  # and so no product with a transition gets lost
CLEAR: Final = 1e-200  # above it a float convolution has lost nothing
NEVER: Final = -(2**40)


@dataclass(frozen=True, eq=False, slots=True)
class SumLaw:
    """`logs[k, s, i]` is log Pr[Σ w = least + gap·k | X_i = s], right up to ±error; −∞ if s cannot occur."""

    least: int
    gap: int
    logs: FloatArray
    error: float

    @classmethod
    def of(cls, chain: MarkovChain, weights: Sequence[int]) -> Self:
        """Pass forward and backward over the chain, and join both at each step."""
        found = BothWays.over(chain, weights)
        return cls(*found.joined(chain.length))

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which states (rows) can occur at each step (columns)."""
        return np.asarray(np.isfinite(self.logs).any(axis=0))


@lru_cache(maxsize=1)
def sum_law(chain: MarkovChain, weights: tuple[int, ...]) -> SumLaw:
    """Keep the last law, for the next question about it."""
    return SumLaw.of(chain, weights)


@lru_cache(maxsize=2)
def sum_laws(chain: MarkovChain, weights: tuple[int, ...]) -> tuple[SumLaw, ...]:
    """Give the laws over the first step, the first two, … and the whole chain, of one pass each way."""
    found = BothWays.over(chain, weights, shorter=True)
    return tuple(SumLaw(*found.joined(length)) for length in range(1, chain.length + 1))


@dataclass(frozen=True, eq=False, slots=True)
class BothWays:
    """What is known of the sum up to each step of a chain, and of the sum after it, the step's own state given."""

    least: int
    gap: int
    pasts: list["Scaled"]
    futures: list["Scaled"]

    @classmethod
    def over(cls, chain: MarkovChain, weights: Sequence[int], *, shorter: bool = False) -> Self:
        """Pass over a chain both ways; `shorter` ones that end earlier are to be joined of it too."""
        whole = checked_weights(chain, weights)
        least, gap = int(whole.min()), max(1, gcd(*(whole - whole.min()).tolist()))
        weight = (whole - least) // gap
        refuse_size(chain, int(weight.max()), shorter=shorter)
        return cls(least, gap, list(forward(chain, weight)), list(backward(chain, weight))[::-1])

    def joined(self, length: int) -> tuple[int, int, FloatArray, float]:
        """Join both at each of the first steps, as if the chain ended there: the parts of a `SumLaw`."""
        pairs = list(zip(self.pasts[:length], self.futures[len(self.pasts) - length :], strict=True))
        states = self.pasts[0].part.shape[1]
        logs = np.empty((self.pasts[length - 1].part.shape[0], states, length))
        for unit, (past, future) in enumerate(pairs):
            for state in range(states):
                logs[:, state, unit] = past.joined(future, state)
        largest = float(np.max(-logs, where=np.isfinite(logs), initial=0.0))
        operations = 2 * length * (states + 2) + 3 * len(logs) + 16 * (1.0 + largest)
        return length * self.least, self.gap, logs, operations * ULP


def checked_weights(chain: Chained, weights: Sequence[int]) -> IntArray:
    """Refuse weights that are not one integer a state."""
    if len(weights) != chain.states:
        raise BadInput(
            f"There are {len(weights)} weights for {chain.states} states. Give one integer a state."
        )
    if any(
        isinstance(weight, bool) or int(weight) != weight or abs(weight) > MOST_CELLS for weight in weights
    ):
        raise BadInput("A weight is not an integer of a usable size. Give one integer a state, such as 0, 1.")
    return np.array([int(weight) for weight in weights], dtype=np.int64)


def refuse_size(chain: MarkovChain, span: int, *, shorter: bool = False) -> None:
    """Refuse what would take minutes or gigabytes; of shorter chains too all laws are held at once."""
    sums, n = chain.length * span + 1, chain.length
    cells, work = sums * n * chain.states, chain.states * n * sums * sums // 6
    if cells > MOST_CELLS or work > MOST_WORK or (shorter and n * cells // 3 > MOST_SHORTER):
        raise DoesNotApply(
            f"A sum with {sums:,} values over {n:,} steps of {chain.states} states is too much to follow"
            f"{' for every length that a series may have' if shorter else ''}. "
            "Use fewer steps or smaller weights, or a bound for all queries."
        )
    initial, step = known_law(chain)
    if step[step > 0].min() < RAREST or initial[initial > 0].min() < RAREST:
        raise DoesNotApply(
            f"A probability is above zero but below {RAREST:g}: too small to follow. Use a bound."
        )


@dataclass(frozen=True, eq=False, slots=True)
class Scaled:
    """Probabilities part × 2^power of each sum (rows) and state (columns): floats that never run out."""

    part: FloatArray
    power: IntArray

    def moved(self, weight: IntArray) -> "Scaled":
        """Add each state's weight to the sums."""
        rows, states = self.part.shape
        part = np.zeros((rows + int(weight.max()), states))
        power = np.full(part.shape, NEVER, dtype=np.int64)
        for state, shift in enumerate(weight.tolist()):
            part[shift : shift + rows, state] = self.part[:, state]
            power[shift : shift + rows, state] = self.power[:, state]
        return Scaled(part, power)

    def mixed(self, matrix: FloatArray) -> "Scaled":
        """Multiply each row by a matrix; scaling by powers of two is exact."""
        top = self.power.max(axis=1, keepdims=True)
        behind = np.where(self.part > 0, top - self.power, 0)
        if behind.max() > WIDEST:
            raise DoesNotApply(
                "The probabilities of the sum are more than 10^240 apart: too far to follow exactly."
            )
        part, more = np.frexp(np.ldexp(self.part, -behind) @ matrix)
        return Scaled(part, np.where(part > 0, top + more, NEVER))

    def joined(self, other: "Scaled", state: int) -> FloatArray:
        """Log probabilities of the sum of both, given the state between them."""
        one, two = (each.part[:, state] for each in (self, other))
        powers = [each.power[:, state] for each in (self, other)]
        tops = [int(power.max()) for power in powers]
        if min(tops) == NEVER:
            return np.full(one.size + two.size - 1, -np.inf)
        floats = [
            np.ldexp(p, np.maximum(e - top, -2000))
            for p, e, top in zip((one, two), powers, tops, strict=True)
        ]
        product = np.convolve(floats[0], floats[1])
        with np.errstate(divide="ignore"):
            logs = np.log(product) + sum(tops) * log(2)
            first, second = (np.log(p) + e * log(2) for p, e in zip((one, two), powers, strict=True))
        faint = np.flatnonzero(product < CLEAR)
        logs[faint] = log_convolved(first, second, faint)
        top = logs.max()
        return np.asarray(logs - (top + log(float(np.exp(logs - top).sum()))))


def log_convolved(one: FloatArray, two: FloatArray, places: IntArray) -> FloatArray:
    """Entries of a convolution of logarithms, for those that floats cannot hold."""
    if one.size > two.size:
        one, two = two, one
    other = places[:, None] - np.arange(one.size)
    inside = (other >= 0) & (other < two.size)
    terms = np.where(inside, one + two[np.clip(other, 0, two.size - 1)], -np.inf)
    top = terms.max(axis=1, initial=-np.inf)
    floor = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(floor + np.log(np.exp(terms - floor[:, None]).sum(axis=1)))


def forward(chain: MarkovChain, weight: IntArray) -> Iterator[Scaled]:
    """For each step the joint probability of its state and the sum up to it, itself included."""
    initial, step = known_law(chain)
    part, power = np.frexp(initial[None])
    now = Scaled(part, np.where(part > 0, power.astype(np.int64), NEVER)).moved(weight)
    yield now
    for _ in range(chain.length - 1):
        now = now.mixed(step).moved(weight)
        yield now


def backward(chain: MarkovChain, weight: IntArray) -> Iterator[Scaled]:
    """For each step, the last first, the probability of the sum after it, given its state."""
    part, power = np.frexp(np.ones((1, chain.states)))
    now = Scaled(part, power.astype(np.int64))
    yield now
    for _ in range(chain.length - 1):
        now = now.moved(weight).mixed(known_law(chain)[1].T)
        yield now
