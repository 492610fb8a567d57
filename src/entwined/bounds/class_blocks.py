"""Blocks of a class of chains: how closely steps a block apart are tied in its worst member.

Every product P₁ P₂ … P_k of members lies entry by entry between two tables that are followed step by step: the least of
Σ_m p(m) C(m, j) over rows p of the class and tables C above the low ones is found by giving the mass that the low ends
leave to the smallest entries first (Hartfiel 1998). That forgets that all rows go on by the same tables, so it widens
with k. But with τ(Δ) = tanh(Δ/4) Birkhoff's theorem gives τ(Δ(AB)) ≤ τ(Δ(A)) τ(Δ(B)), so what holds for short blocks
holds for long ones at the product of their τ. The least of both is taken. It holds whether a chain has the same
transitions at every step or a member of its own at each.
"""

from typing import Final

import numpy as np

from entwined.bounds.contraction import contract_one
from entwined.dependence import Box, MarkovChain
from entwined.dependence.odds import log_odds
from entwined.errors import DoesNotApply
from entwined.numbers import ULP, FloatArray

FOLLOWED: Final = 24  # steps that products of members are followed for
MOST_STATES: Final = 128


def class_odds(model: MarkovChain, sizes: tuple[int, ...]) -> dict[int, float]:
    """Bound the log odds between steps so many apart, for every product of members of the class."""
    if model.states > MOST_STATES:
        raise DoesNotApply(
            f"The class has {model.states} states, and its blocks are tried up to {MOST_STATES}. The messages cover it."
        )
    wanted = [size for size in sizes if size == 1 or size < model.length]
    known = _followed(model.transition, min(FOLLOWED, max(wanted)))
    for size in wanted:
        joined = [
            contract_one(odds, known[other])
            for first, odds in known.items()
            for other in (_longest(known, size - first),)
            if other
        ]
        known[size] = min([known.get(size, np.inf), *joined])
    return {size: known[size] for size in wanted}


def _longest(known: dict[int, float], most: int) -> int:
    """The longest block of which something is known that is no longer than this; none is 0."""
    return max((size for size in known if size <= most), default=0)


def _followed(step: Box, steps: int) -> dict[int, float]:
    """Bound the log odds of the first products; a longer one is no closer tied than a shorter."""
    found, product = {1: _odds(step)}, step
    for size in range(2, steps + 1):
        product = Box(_extreme(step, product.low, least=True), _extreme(step, product.high, least=False))
        found[size] = min(found[size - 1], _odds(product))
    return found


def _odds(table: Box) -> float:
    return float(log_odds(table.reshaped((1, *table.shape)), conditional=True).max())


def _extreme(step: Box, after: FloatArray, *, least: bool) -> FloatArray:
    """The least (or most) that any row of the class gives as a mean of each column of a table, rounded outward."""
    room, left = step.high - step.low, np.maximum(1.0 - step.low.sum(axis=1, keepdims=True), 0.0)
    means = step.low @ after
    for column in range(after.shape[1]):
        order = np.argsort(after[:, column] if least else -after[:, column])
        before = np.cumsum(room[:, order], axis=1) - room[:, order]
        given = np.clip(left - before, 0.0, room[:, order])
        means[:, column] += given @ after[order, column]
    slack = 16 * len(after) * ULP * (after.max(axis=0) + means)
    return np.asarray(np.maximum(means - slack, 0.0) if least else np.minimum(means + slack, 1.0))
