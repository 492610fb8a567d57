"""Chains without an end: one ceiling over all messages, which is no smaller than what follows from it."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from entwined.bounds.block_relay import NEAR
from entwined.bounds.chain_blocks import (
    FEWEST_STATES,
    FINE_SIZES,
    block_odds,
    powers_of,
    reversed_law,
    rounding_of,
)
from entwined.bounds.contraction import contract_one
from entwined.bounds.frontier import Frontier
from entwined.bounds.kernel import start_and_step
from entwined.bounds.theorem import theorem
from entwined.bounds.transport import add, distance, memory
from entwined.dependence import EndlessChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up_float

LONG: Final = 2**20
WIDEST: Final = 1e-2  # how far laws of the state may be from the declared one, in log ratios
MOST_ROUNDS: Final = 100_000
NO_CEILING: Final = (
    "What passes from step to step has no ceiling: a transition of probability zero shows all."
)


@theorem("any", yields_to=("endless block messages", "endless transport"))
def endless_messages_bound(loss: Loss, model: EndlessChain) -> Leakage:
    """Bound the leakage of every step of a chain without an end by one message that follows from itself.

    Theorem. Let n units, any number of them, form a homogeneous Markov chain whose transitions have log odds ratios
    of at most Δ, let every unit have the loss ε, and let T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)). If
    F ≥ T(ε + F; Δ), then for every unit i, values a and b, whatever is known of other units one by one (their values,
    or anything that depends on one unit's value alone), and output set S:
    |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε + 2 F, however large n is.

    Checked. The transitions are read from the model, zeros make Δ infinite, a class of chains gives its largest Δ. F is
    lowered from Δ by F ← T(ε + F; Δ), rounded up, so every F on the way will do.

    Trusted. The true law is the model, or a member of the class that it describes, and no step has a larger loss. What
    the adversary knows of several other units together, such as whether two of them are equal, is not covered.

    Proof. Message passing holds for each n, with messages F_1 = 0 and F_{t+1} = T(ε + F_t; Δ) from either end. T
    increases, so F_t ≤ F gives F_{t+1} ≤ T(ε + F; Δ) ≤ F: no message is above F. T ≤ Δ, so F = Δ is no smaller than
    what follows from it, and neither is T(ε + F; Δ) if F is not.

    Source. New here; the fixed point for knowledge model is that of Cao, Yoshikawa, Xiao, Xiong (2017).
    """
    odds = model.log_odds
    return both_sides(loss, *[ceiling(each_loss(loss), (1,), lambda _, held: contract_one(held, odds))] * 2)


@theorem("values", yields_to=("endless transport",))
def endless_block_messages_bound(loss: Loss, model: EndlessChain) -> Leakage:
    """Bound the leakage of every step of a chain without an end by one message over blocks of steps.

    Theorem. Let n units, any number of them, form a homogeneous Markov chain with transitions P, known or in a class,
    let every unit have the loss ε, let Δ_k be the largest log odds ratio of Pᵏ (of a class, of any product of k
    members) and T as for endless messages. If F is at least the least of (k − 1) ε + T(ε + F; Δ_k) over the k tried,
    then for every unit i, values a and b, known values of any other units, and output set S: |log Pr[M ∈ S | x_i = a,
    known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε + 2 F, however large n is.

    Checked. Zeros make Δ_k infinite, and powers of P, and of a class, are widened as for block messages. F is lowered
    from infinity, rounded up, so every F on the way will do.

    Trusted. The true law is the model, whatever its start, and no step has a larger loss. Of every other unit the
    adversary knows the value or nothing.

    Proof. Block messages hold for each n, with R_i at most the losses of the r units to the right of i, r ε, and
    at most (k − 1) ε + T(ε + R_{i+k}; Δ_k) for each k ≤ r. Let k be the one that attains the least at F. If k ≤ r then
    R_i ≤ F by induction from the right; else R_i ≤ r ε ≤ (k − 1) ε ≤ F. To the left it is the same.

    Source. New here.
    """
    chain = model.until(LONG)
    odds = block_odds(chain, FINE_SIZES)
    return both_sides(
        loss, *[ceiling(each_loss(loss), odds.sizes, lambda size, held: contract_one(held, odds[size]))] * 2
    )


@theorem("model")
def endless_transport_bound(loss: Loss, model: EndlessChain) -> Leakage:
    """Bound the leakage of every step of a chain without an end by the exact law of steps a block away.

    Theorem. As for endless block messages, for an adversary who knows no values and a chain whose initial law w is
    stationary, with T_k(L) in place of T(L; Δ_k): the largest log [1 + (e^L − 1) P(A|a)] / [1 + (e^L − 1) P(A|b)] over
    values a, b with w > 0 and sets A of values of the unit k steps to the right (for F) or to the left (for F'), P(·|a)
    its law given x_i = a. The leakage is at most ε + F + F'.

    Checked. The model has one law and its initial law hardly moves: if w and w P are g apart in Hilbert's distance, and
    errors of one unit a step never add up to more than m, no later law is further than m g from w, and all laws are
    widened by that.

    Trusted. The true law is the model, its initial law included, no step has a larger loss, and the adversary knows the
    value of no unit. One who knows some values may learn more than this bound says.

    Proof. As for endless block messages, with the theorem "block transport" for each n: the law of x_{i+k} given x_i =
    a is the row a of Pᵏ, that of x_{i−k} is proportional to the law of x_{i−k} times the column a of Pᵏ, and steps of a
    chain make no Hilbert distance larger.

    Source. New here; for k = 1 it is the supremum of temporal leakage (Cao, Yoshikawa, Xiao, Xiong 2017).
    """
    chain, epsilon = model.until(LONG), each_loss(loss)
    start, step = start_and_step(chain)
    error = drift(start, step)
    powers = {1: step} if chain.states < FEWEST_STATES else powers_of(chain, FINE_SIZES)
    met = start > 0
    onward = {k: Frontier.of(law[met], rounding_of(chain, k)) for k, law in powers.items()}
    back = {
        k: Frontier.of(reversed_law(start, law), error + rounding_of(chain, k)) for k, law in powers.items()
    }
    sizes = tuple(powers)
    past = ceiling(epsilon, sizes, lambda size, held: back[size](held))
    future = ceiling(epsilon, sizes, lambda size, held: onward[size](held))
    return both_sides(loss, past, future)


def each_loss(loss: Loss) -> float:
    """The loss of every step."""
    return float(loss.per_unit[0])


def ceiling(epsilon: float, sizes: Sequence[int], send: Callable[[int, float], float]) -> float:
    """Lower a ceiling over all messages as far as it follows from itself."""
    highest, lower = math.inf, _lower(epsilon, sizes, send, math.inf)
    for _ in range(MOST_ROUNDS):
        if not lower < highest * (1 - NEAR):
            break
        highest, lower = lower, _lower(epsilon, sizes, send, lower)
    found = min(highest, lower)
    if not math.isfinite(found):
        raise DoesNotApply(NO_CEILING)
    return found


def _lower(epsilon: float, sizes: Sequence[int], send: Callable[[int, float], float], held: float) -> float:
    """What follows from a ceiling, by the best size of blocks."""
    least, shown = math.inf, add(epsilon, held)
    for size in sizes:
        near = (size - 1) * epsilon * (1 + ULP)
        if near >= least:
            break
        least = min(least, add(near, send(size, shown)))
    return least


def both_sides(loss: Loss, past: float, future: float) -> Leakage:
    """ε of a step and what reaches it from before and after."""
    return Leakage(np.array([round_up_float(each_loss(loss) + past + future)]))


def drift(start: FloatArray, step: FloatArray) -> float:
    """How far laws of the state can ever be from the declared one; refuse one that moves."""
    noise = (len(start) + 2) * ULP
    gap = distance(start, (start[:, None] * step).sum(axis=0)) + noise
    span = memory(step, LONG)
    if not span < LONG or not span * gap <= WIDEST:
        raise DoesNotApply("The law of the state moves from step to step. Start from the stationary law.")
    return span * gap
