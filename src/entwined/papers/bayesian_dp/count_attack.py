"""A lower bound on the noise: an explicit release, and what it leaks on a chain.

The release counts, over a window around a step, how often the state was in a set A_t of its own at each distance t, and
shows whether the count with Laplace noise is very large. Its chance is in proportion to exp(ε · count), so it loses ε a
step, and what it leaks about the middle of the window is exact: a product of tables.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from entwined.bounds.calibrate import invert, largest_multiple
from entwined.bounds.transport import transport_bound
from entwined.dependence import Box, MarkovChain
from entwined.loss import Loss
from entwined.numbers import FloatArray, IntArray

MOST_PAIRS: Final = 8  # of values that differ most, some steps on
LOOKED_AT: Final = 64  # steps on which that is judged
LONGEST: Final = 4096  # steps to each side
FORGOTTEN: Final = 1e-3  # two laws this close are left out of the window
CLOSE: Final = 1e-4
STRONGEST: Final = 200.0  # log odds that are told apart from endless ones


@dataclass(frozen=True, eq=False, slots=True)
class CountAttack:
    """Windows around a step for some pairs of its values: for each side a kernel and the sets that are counted."""

    one: IntArray
    other: IntArray
    sides: tuple[tuple[FloatArray, FloatArray], ...]

    @classmethod
    def on(cls, chain: MarkovChain) -> Self:
        """Choose pairs of values that can be told apart for long, and count what is likelier under the first."""
        step = np.asarray(chain.transition.low)
        law = np.full(chain.states, 1 / chain.states) if chain.initial is None else chain.initial
        met = np.flatnonzero(law > 0)
        step, law = step[np.ix_(met, met)], law[met]
        back = (law[:, None] * step).T
        kernels = step, back / back.sum(axis=1, keepdims=True)
        one, other = most_apart(*kernels)
        reach = min(LONGEST, (chain.length - 1) // 2)
        return cls(one, other, tuple((kernel, likelier(kernel, one, other, reach)) for kernel in kernels))

    def leaked(self, epsilon: float) -> float:
        """Give what the release with this loss a step leaks: exactly, for the worst of the pairs."""
        total, pair = np.full(self.one.size, epsilon), np.arange(self.one.size)
        for kernel, sets in self.sides:
            means = np.ones(sets.shape[1:])
            for counted in sets[::-1]:
                means = (means * np.exp(epsilon * counted)) @ kernel.T
                means /= means.max(axis=1, keepdims=True)
            total = total + np.log(means[pair, self.one] / means[pair, self.other])
        return float(total.max())

    def least_scale(self, target: float) -> float:
        """Give a scale below which this release leaks more than the target."""
        return 1 / (invert(self.leaked, target, CLOSE, target / 100) * (1 + CLOSE))


def scale_if_states_are_known_by_twos(chain: MarkovChain, target: float) -> float:
    """Give a scale below which the count of a state leaks more than the target to who knows two states of each step.

    Let noisy readings say that every step is in one of two states u and v. What is left is a chain of these two, and
    readings can weigh it so that it is symmetric with the log odds of P(u,u) P(v,v) / P(u,v) P(v,u). On such a chain
    every message of transport is reached by the count of u.
    """
    step = np.asarray(chain.transition.low)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(step)
        apart = np.add.outer(np.diagonal(logs), np.diagonal(logs)) - logs - logs.T
    stays = np.diagonal(step) > 0
    apart = np.where(np.logical_and.outer(stays, stays) & ~np.isnan(apart), apart, 0.0)
    odds = min(float(apart.max()), STRONGEST)
    flip = 1 / (1 + float(np.exp(odds / 2)))
    two = MarkovChain(chain.length, Box.exact([[1 - flip, flip], [flip, 1 - flip]]), np.array([0.5, 0.5]))
    shape = Loss.uniform(1, chain.length)
    return 1 / (largest_multiple(transport_bound, two, shape, target, "model").multiple * (1 + CLOSE))


def most_apart(step: FloatArray, back: FloatArray) -> tuple[IntArray, IntArray]:
    """Give the pairs of values given which the laws of the next steps and of those before differ most."""
    apart = np.zeros(step.shape)
    for kernel in (step, back):
        power = np.eye(len(step))
        for _ in range(LOOKED_AT):
            power = power @ kernel
            apart += np.abs(power[:, None] - power[None]).sum(axis=2)
    np.fill_diagonal(apart, -1.0)
    best = np.argsort(-apart, axis=None)[: min(MOST_PAIRS, apart.size - len(apart))]
    one, other = np.unravel_index(best, apart.shape)
    return one.astype(np.int64), other.astype(np.int64)


def likelier(kernel: FloatArray, one: IntArray, other: IntArray, reach: int) -> FloatArray:
    """Say for each distance and pair which states are likelier given the first, until the laws are alike."""
    first, second = np.eye(len(kernel))[one], np.eye(len(kernel))[other]
    sets = [np.zeros(first.shape)]
    for _ in range(reach):
        first, second = first @ kernel, second @ kernel
        if np.abs(first - second).sum(axis=1).max() < FORGOTTEN:
            break
        sets.append((first > second).astype(float))
    return np.array(sets[1:] or sets)
