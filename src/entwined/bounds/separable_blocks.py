"""Separable releases on chains that forget slowly: blocks of steps are passed over at once."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.chain_blocks import block_laws, block_odds
from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.profiles.blocks import Blocks, in_blocks
from entwined.bounds.profiles.curves import ProfileCurve
from entwined.bounds.profiles.passing import TOGETHER, Algebra, Held, Told, held_by, leakage_at
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.profiles.sway import RowsSway, Sway, TiltSway
from entwined.bounds.separable import (
    TRUSTED,
    curves_of,
    refuse_inseparable,
    separable_group_bound,
)
from entwined.bounds.theorem import theorem
from entwined.dependence import MarkovChain
from entwined.loss import Leakage

MIXED: Final = 3e-3  # a block whose ends sway each other so little is long enough
IN_ALL: Final = 16  # so many strides in the longest block, at most
LONGEST_UNEVEN: Final = 16


@theorem("values", trusted=TRUSTED, needs=("separable",))
def separable_block_messages_bound(loss: ConcentratedLoss, model: MarkovChain) -> Leakage:
    """Bound what a separable release shows on a chain by messages over blocks of steps, whatever values are known.

    Theorem. Let the units form a homogeneous Markov chain with transitions P, known or in a class, and let each part of
    the release read one unit. Let δ_j(γ) bound P(S) − γ Q(S) for any two laws P, Q of part j. For k ≥ 1 let Δ_k be the
    largest log odds ratio of Pᵏ (of a class, of any product of k members), t_k(γ) = (e^{Δ_k/2} − √γ)²/(e^{Δ_k} − 1) for
    γ < e^{Δ_k} and 0 beyond, and S_t δ(γ) = t(γ) δ(1 + (γ − 1)/t(γ)). Let R_i be at most δ_{i+1} ⊗ … ⊗ δ_{i+k−1} ⊗
    S_{t_k}(δ_{i+k} ⊗ R_{i+k}) at every γ, for every k tried, and at most δ_{i+1} ⊗ … ⊗ δ_n; R'_i the same to the left.
    Then δ_i ⊗ R_i ⊗ R'_i bounds Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all a, b, S and γ ≥ 1 and
    known values of any other units. The leakage is its ε at δ, and at most that of the group.

    Checked. Zeros make Δ_k infinite, and powers of P are widened by what rounding can do. Of a class Δ_k is bounded for
    its worst members: by intervals of their products, and by Birkhoff's contraction of shorter ones. Blocks of 1, 2, 3,
    4, 6, 8, 12, … steps are tried, until their ends hardly sway each other. Where losses are equal and blocks long,
    what passes is followed at every so many steps only, and a step between takes the figure of one with more steps
    behind it, which is no smaller. The least of several bounds is made convex again, which the truth is. Profiles are
    rounded up and long chains are followed as for separable messages.

    Trusted. The true law is the model, whatever its start. Of every other unit the adversary knows the value or
    nothing: to know that a step between is in some set of states can tie the steps around it closer than Pᵏ says.

    Proof. Given x_i and known values the two sides are independent of each other and of part i, so their profiles
    compose. On the right let k be given. If a unit between i and i + k is known, all behind it is independent of
    x_i, and what is left are parts of units between. Else the law of u = x_{i+k} given x_i = a and all known behind
    is proportional to Pᵏ(a, u) times a weight of u, so it moves by log odds of at most Δ_k, and as for separable
    messages what is shown of the far side, parts i + k and on, is within S_{t_k}(δ_{i+k} ⊗ R_{i+k}). Given x_i and
    whatever the far side shows, the parts between are a mixture over the values of their units; any two such
    mixtures are within δ_{i+1} ⊗ … ⊗ δ_{i+k−1}. So the far side and then the parts between compose as an adaptive
    release (Zhu, Dong, Wang 2022, Theorem 10). The same holds with no far side at all. Each k bounds the same
    curve, so the least of them does.

    Source. New here; for pure losses a Markov quilt (Song, Wang, Chaudhuri 2017) is a block whose far side shows all.
    """
    refuse_inseparable(loss)
    told = tilted_blocks(TOGETHER, curves_of(loss, model), model)
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    return Leakage(np.minimum(found, separable_group_bound(loss, model).per_unit))


@theorem("model", trusted=TRUSTED, needs=("separable",))
def separable_block_transport_bound(loss: ConcentratedLoss, model: MarkovChain) -> Leakage:
    """Bound what a separable release shows on a chain by the exact law of steps a block away.

    Theorem. As for separable block messages, for an adversary who knows no values, with t_k(γ) the largest Σ_v
    (P(v|a) − γ P(v|b))₊ over values a and b that x_i can take, where P(·|a) is the law of the unit k steps to the
    right (for R) or to the left (for R') given x_i = a. The leakage is at most that of the group.

    Checked. The model has one law, and the laws of steps a block away are computed from it in both directions,
    widened by what rounding, and the distance of a long chain from the law in which it settles, can do. Profiles
    are rounded up and long chains are followed as for separable messages.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. As for separable block messages, with the law of x_{i±k} given x_i itself in place of the worst tilt.

    Source. New here; for pure losses a Markov quilt (Song, Wang, Chaudhuri 2017) is a block whose far side shows all.
    """
    refuse_inseparable(loss)
    told = known_blocks(TOGETHER, curves_of(loss, model), model)
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    return Leakage(np.minimum(found, separable_group_bound(loss, model).per_unit))


def tilted_blocks(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], model: MarkovChain
) -> Callable[[Grid], Told]:
    """Pass profiles along a chain in blocks, each tilted as far as its log odds allow."""
    odds = block_odds(model)
    blocks = same_everywhere({k: TiltSway(odds[k]) for k in odds.sizes}, len(set(curves)) == 1)
    return lambda grid: in_blocks(algebra, held_by(algebra, curves, grid), blocks, blocks)


def known_blocks(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], model: MarkovChain
) -> Callable[[Grid], Told]:
    """Pass profiles along a chain in blocks whose laws are known."""
    past, future = known_sides(model, len(set(curves)) == 1)
    return lambda grid: in_blocks(algebra, held_by(algebra, curves, grid), past, future)


@lru_cache(maxsize=4)
def known_sides(model: MarkovChain, even: bool) -> tuple[Blocks, Blocks]:  # noqa: FBT001
    """How far steps sway those before them, and those after them, where the law is known."""
    laws = block_laws(model)
    onward = {size: RowsSway(laws.onward(size)) for size in laws.powers}
    future = same_everywhere(onward, even and laws.settled == 0)

    def sways(step: int) -> list[Sway]:
        return [RowsSway(laws.back(step, size)) for size in future.sizes if size <= step]

    return Blocks(future.sizes, future.stride, sways, laws.settled + future.sizes[-1]), future


def same_everywhere(by_size: Mapping[int, Sway], even: bool) -> Blocks:  # noqa: FBT001
    """Blocks whose sways are the same at every step, no longer than they need to be; long ones in strides."""
    mixed = [size for size, sway in by_size.items() if sway.at(np.zeros(1))[0] < MIXED]
    sizes = [size for size in by_size if not mixed or size <= mixed[0]]
    stride = 1
    while even and stride * IN_ALL < sizes[-1]:
        stride *= 2
    if not even:
        sizes = [size for size in sizes if size <= LONGEST_UNEVEN]
    sizes = [size for size in sizes if size % stride == 0]

    def up_to(step: int) -> list[Sway]:
        return [by_size[size] for size in sizes if size <= step]

    return Blocks(tuple(sizes), stride, up_to, 0)
