"""Chains with a weight for each state, and the laws of their sums."""

import numpy as np

from entwined.bounds import NoisySum
from entwined.bounds.scalar import exact_scalar_accountant_bound
from support.chains import chain_of
from support.oracle import count_law


def random_case(rng, longest=7):
    """A chain of two or three states, some transitions impossible, and weights of either sign."""
    states = int(rng.integers(2, 4))
    step, start = np.exp(rng.normal(0, 1.5, (states, states))), rng.random(states)
    if rng.random() < 0.5:
        step *= rng.random(step.shape) < 0.7
        step += np.diag(step.sum(axis=1) == 0)
    if rng.random() < 0.3:
        start *= rng.random(states) < 0.6
    start = start if start.any() else np.ones(states)
    weights = (rng.integers(-3, 4, states) * rng.choice([1, 1, 2, 5])).tolist()
    length = int(rng.integers(1, (longest if states == 2 else 5) + 1))
    return chain_of(length, step / step.sum(axis=1, keepdims=True), start / start.sum()), weights


def laws_of(chain, weights, unit):
    laws = [
        count_law(chain.initial, chain.transition.low, chain.length, unit, value, weights)
        for value in range(chain.states)
    ]
    return [law for law in laws if law]


def apart_alone(chain, weights, unit):
    """How far a unit alone moves the sum between two values of which the law rules one out at least."""
    possible = [
        bool(count_law(chain.initial, chain.transition.low, chain.length, unit, value, weights))
        for value in range(chain.states)
    ]
    pairs = [
        abs(weights[a] - weights[b])
        for a in range(chain.states)
        for b in range(chain.states)
        if not (possible[a] and possible[b])
    ]
    return max(pairs, default=0)


def scalar_leakage(chain, weights, scale):
    """The exact leakage of one sum with Laplace noise."""
    return exact_scalar_accountant_bound(NoisySum.of(weights, scale, chain.units), chain)
