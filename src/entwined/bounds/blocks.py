"""Blocks of steps for pure losses: on chains that forget slowly, steps between count as a group."""

import numpy as np

from entwined.bounds.block_relay import Strides, relay
from entwined.bounds.chain_blocks import FINE_SIZES, SIZES, block_laws, block_odds
from entwined.bounds.contraction import contract, contract_one
from entwined.bounds.theorem import theorem
from entwined.bounds.transport import transport_bound
from entwined.dependence import MarkovChain
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, round_up


@theorem("values", yields_to=("block transport",))
def block_messages_bound(loss: Loss, model: MarkovChain) -> Leakage:
    """Bound the leakage on a chain by messages over blocks of steps, whatever values are known.

    Theorem. Let the units form a homogeneous Markov chain with transitions P, known or in a class, and let Δ_k be the
    largest log odds ratio of Pᵏ (of a class, of any product of k members) and T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)).
    Let R_i be the least of Σ_{j>i} ε_j and, over the k tried, of ε_{i+1} + … + ε_{i+k−1} + T(ε_{i+k} + R_{i+k}; Δ_k),
    and R'_i the same to the left. Then for every unit i, values a and b, known values of any other units, and output
    set S: |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + R_i + R'_i.

    Checked. Zeros make Δ_k infinite, and powers of P are widened by what rounding can do. Of a class Δ_k is bounded for
    its worst members: by intervals of their products, and by Birkhoff's contraction of shorter ones. Blocks of 1, 2, 3,
    4, 6, 8, 12, … steps are tried, with equal losses more of them. There long chains have one message for all steps,
    which is no smaller than what follows from it.

    Trusted. The true law is the model, whatever its start. Of every other unit the adversary knows the value or
    nothing: to know that a step between is in some set of states can tie the steps around it closer than Pᵏ says.

    Proof. Move x_i from a to b in the likelihood f of the output (at most ε_i), then in the law of one side. On the
    right let k be given. If a unit between i and i + k is known, the law of all behind it stays, and only units
    between move. Else replace f by its largest value over the units between: with them f is that, but for a factor
    of at most exp(ε_{i+1} + … + ε_{i+k−1}), and it still changes by at most e^{ε_j} when another unit j changes. It
    depends on x_i through x_{i+k} alone, whose law given x_i = a and what is known is proportional to Pᵏ(a, ·)
    times a weight, so it moves by log odds of at most Δ_k; and averaged over all behind, its log has range at most
    ε_{i+k} + R_{i+k}. T bounds what is left (Birkhoff). With no far side the units to the right move by their
    losses.

    Source. New here. A Markov quilt (Song, Wang, Chaudhuri 2017) is a block whose far side shows all. Bai, He, Gu,
    Kifer, Maeng (2026), "Composition for Pufferfish Privacy", translate losses to chains by influence curves.
    """
    odds = block_odds(model, sizes_for(loss))
    blocks = Strides(
        odds.sizes,
        lambda _, size, held: contract_one(held, odds[size]),
        lambda size, held: contract(held, np.full(held.shape, odds[size])),
    )
    past, future = (relay(loss, blocks, 0, back=back) for back in (False, True))
    return both_sides(loss, model, past, future)


@theorem("model")
def block_transport_bound(loss: Loss, model: MarkovChain) -> Leakage:
    """Bound the leakage on a chain by the exact law of steps a block away, if only that law is known.

    Theorem. As for block messages, for an adversary who knows no values, with T_k(L) in place of T(L; Δ_k): the largest
    log [1 + (e^L − 1) P(A|a)] / [1 + (e^L − 1) P(A|b)] over values a, b that x_i can take and sets A of values of the
    unit k steps to the right (for R) or to the left (for R'), P(·|a) its law given x_i = a. The leakage is at most that
    of the theorem "transport".

    Checked. The model has one law, and the laws of steps a block away are computed from it in both directions,
    widened by what rounding, and the distance of a long chain from the law in which it settles, can do. Blocks are
    tried as for block messages.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. As for block messages; the ratio of two means of a function whose log has range L is largest where it
    takes two values only, and that maximum is T_k(L).

    Source. New here. A Markov quilt (Song, Wang, Chaudhuri 2017) is a block whose far side shows all. Bai, He, Gu,
    Kifer, Maeng (2026), "Composition for Pufferfish Privacy", translate losses to chains by influence curves.
    """
    laws = block_laws(model, sizes_for(loss))
    sizes = tuple(laws.powers)
    before = Strides(
        sizes,
        lambda step, size, held: laws.back(step, size)(held),
        lambda size, held: laws.back(model.length - 1, size).each(held),
    )
    after = Strides(
        sizes,
        lambda _, size, held: laws.onward(size)(held),
        lambda size, held: laws.onward(size).each(held),
    )
    past, future = relay(loss, before, laws.settled, back=False), relay(loss, after, 0, back=True)
    found = both_sides(loss, model, past, future)
    return Leakage(np.minimum(found.per_unit, transport_bound(loss, model).per_unit))


def sizes_for(loss: Loss) -> tuple[int, ...]:
    """Try more sizes where all steps have one message in the end."""
    return SIZES if loss.common is None else FINE_SIZES


def both_sides(loss: Loss, model: MarkovChain, past: FloatArray, future: FloatArray) -> Leakage:
    """ε of each step and what reaches it from before and after."""
    total = round_up(loss.per_unit + past + future[::-1])
    return Leakage(np.minimum(total, model.group_totals(loss)))
