"""Where a Markov chain can be at each step, and with what probability: rounding and late steps included."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from entwined.dependence import Chained, MarkovChain, VaryingChain
from entwined.errors import DoesNotApply
from entwined.numbers import ULP, FloatArray, IntArray

BoolArray = NDArray[np.bool_]

FAINT: Final = 1e-250  # a positive probability below this is taken as unknown: products near it lose digits
SETTLING: Final = 16  # steps after which the set of possible states counts as settled


def known_law(chain: MarkovChain) -> tuple[FloatArray, FloatArray]:
    """Give the initial law and the transitions of a chain that is one law."""
    if not chain.transition.is_exact:
        raise DoesNotApply("The class has many members; this needs one law. The messages cover it.")
    if chain.initial is None:
        raise DoesNotApply(
            "The chain has no initial law; this needs one. Give `initial`, or use the messages."
        )
    return chain.initial, chain.transition.low


def known_kernels(chain: Chained) -> tuple[FloatArray, FloatArray]:
    """Give the initial law of a chain that is one law, and the transitions that it takes in turn, over and over."""
    if isinstance(chain, MarkovChain):
        initial, step = known_law(chain)
        return initial, step[None]
    if not isinstance(chain, VaryingChain) or not chain.transitions.is_exact or chain.initial is None:
        raise DoesNotApply(
            "This needs one law: exact transitions and the law of the first step. Give `initial`, or use the messages."
        )
    return chain.initial, chain.transitions.low


def reachable(states: BoolArray, step: FloatArray) -> BoolArray:
    """All states that can follow, now or later."""
    while True:
        more = states | (step[states] > 0).any(axis=0)
        if np.array_equal(more, states):
            return states
        states = more


@dataclass(frozen=True, eq=False, slots=True)
class Supports:
    """The sets of possible states: step t has `sets[which[t]]`, steps from `settled` on have the last one.

    The last set is the true one where the sets stop changing within a few steps; else it is large enough
    for all later steps.
    """

    sets: BoolArray
    which: IntArray

    @classmethod
    def of(cls, chain: MarkovChain) -> Self:
        """Follow the possible states until they change no more, or for a few steps."""
        initial, step = known_law(chain)
        early: list[BoolArray] = []
        now: BoolArray = np.asarray(initial > 0)
        while len(early) < SETTLING:
            following = np.asarray((step[now] > 0).any(axis=0))
            if np.array_equal(now, following):
                break
            early.append(now)
            now = following
        last = reachable(now, step)
        if not early:
            return cls(last[None], np.zeros(1, np.int64))
        sets, which = np.unique(np.array(early), axis=0, return_inverse=True)
        return cls(np.vstack([sets, last]), np.append(which.reshape(-1), len(sets)).astype(np.int64))

    @property
    def settled(self) -> int:
        """The first step of the last set."""
        return self.which.size - 1


@dataclass(frozen=True, eq=False, slots=True)
class Marginals:
    """Logarithms below and above the probability of each state (columns) at the first steps (rows).

    The last row holds for its own step and every later one. `possible` says which states can occur.
    """

    low: FloatArray
    high: FloatArray
    possible: BoolArray

    @classmethod
    def of(cls, chain: MarkovChain, followed: int) -> Self:
        """Follow the law for at most this many steps, and bound the laws of all later ones together."""
        initial, step = known_law(chain)
        count = min(followed, chain.length)
        laws, possible = np.empty((count + 1, chain.states)), np.empty((count + 1, chain.states), dtype=bool)
        laws[0], possible[0] = initial, initial > 0
        for t in range(count):
            laws[t + 1] = laws[t] @ step
            possible[t + 1] = (step[possible[t]] > 0).any(axis=0)
        errors = np.arange(count + 1, dtype=np.float64)[:, None] * ((chain.states + 1) * ULP)
        low, high = between(laws, laws, possible, errors)
        if count < chain.length:
            possible[-1] = reachable(possible[-1], step)
            drifted = drift(chain, laws[-1], possible[-1], (low[-1], high[-1]))
            rows = np.linalg.matrix_power(step, count)[reachable(initial > 0, step)]
            mixed = between(rows.min(axis=0), rows.max(axis=0), possible[-1], errors[-1])
            low[-1], high[-1] = np.maximum(drifted[0], mixed[0]), np.minimum(drifted[1], mixed[1])
        return cls(low, high, possible)


def between(
    least: FloatArray, most: FloatArray, possible: BoolArray, errors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logarithms of probabilities from `least` to `most`, themselves right up to a factor e^±errors."""
    with np.errstate(divide="ignore"):
        low = np.log(np.where(least < FAINT, 0.0, least))
        high = np.log(np.where(possible, np.maximum(most, FAINT), 0.0))
    slack = errors + 4 * ULP * (1.0 + np.maximum(finite_size(low), finite_size(high)))
    return low - slack, high + slack


def finite_size(logs: FloatArray) -> FloatArray:
    """How large each logarithm is, those of zero left out."""
    return np.abs(logs, where=np.isfinite(logs), out=np.zeros(logs.shape))


def drift(
    chain: MarkovChain, law: FloatArray, possible: BoolArray, now: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """How far a law w can drift until the end: if r ≤ wP/w ≤ R in every entry, then r^m w ≤ wP^m ≤ R^m w."""
    if law[possible].min() < FAINT:
        return np.full(chain.states, -np.inf), np.full(chain.states, np.inf)
    ratio, rounding = (law @ chain.transition.low)[possible] / law[possible], (chain.states + 4) * ULP
    with np.errstate(divide="ignore"):
        least, most = np.log(ratio.min() * (1 - rounding)), np.log(ratio.max() * (1 + rounding))
    return now[0] + chain.length * min(0.0, float(least)), now[1] + chain.length * max(0.0, float(most))
