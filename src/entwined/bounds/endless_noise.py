"""Gaussian noise on chains without an end: profiles are passed on until a ceiling holds for all that is left."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.gaussian_noise import refuse_other_noise
from entwined.bounds.profiles.curves import ProfileCurve
from entwined.bounds.profiles.passing import IN_TURN, MOST_STEPS, TOGETHER, Algebra, Held, leakage_at
from entwined.bounds.separable import TRUSTED, refuse_inseparable, tilted_messages
from entwined.bounds.theorem import theorem
from entwined.dependence import EndlessChain
from entwined.loss import Leakage

ENOUGH: Final = 2 * (MOST_STEPS + 2)
"""Steps after which messages from both ends have met a ceiling, or none was found and the bound is refused."""


@theorem("any", trusted=TRUSTED, needs=("gaussian",))
def endless_gaussian_messages_bound(loss: ConcentratedLoss, model: EndlessChain) -> Leakage:
    """Bound what Gaussian noise in any mechanism shows of every step of a chain without an end.

    Theorem. Let n units, any number of them, form a homogeneous Markov chain whose transitions have log odds ratios of
    at most Δ, and let replacing any one unit move any output law P to a Q with P(S) − γ Q(S) ≤ δ(γ), the profile of
    Gaussian noise with shift √(2ρ). With S_t and ⊕ as for Gaussian messages, if F ≥ S_t(δ ⊕ F) at every γ, then
    δ ⊕ F ⊕ F bounds Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for every unit i, all a, b, S and
    γ ≥ 1, whatever is known of other units one by one, however large n is. The leakage is its ε at δ.

    Checked. Zeros make Δ infinite, a class of chains gives its largest Δ. Messages are passed on from nothing until one
    is found that is no smaller than what follows from it and than all before it; where none is found within 4,000
    steps nothing is claimed. Profiles are rounded up as for Gaussian messages.

    Trusted. The true law is the model, or a member of the class that it describes, and no step has a larger loss. What
    the adversary knows of several other units together, such as whether two of them are equal, is not covered.

    Proof. Gaussian messages hold for each n, with messages F_1 = 0 and F_{t+1} = S_t(δ ⊕ F_t) from either end. S_t and
    ⊕ increase, so F_t ≤ F gives F_{t+1} ≤ S_t(δ ⊕ F) ≤ F: no message is above F.

    Source. New here.
    """
    refuse_other_noise(loss)
    return _everywhere(IN_TURN, loss, model)


@theorem("any", trusted=TRUSTED, needs=("separable",))
def endless_separable_messages_bound(loss: ConcentratedLoss, model: EndlessChain) -> Leakage:
    """Bound what one part of a release a step shows of every step of a chain without an end.

    Theorem. As for endless Gaussian messages, with each part of the release reading one unit and ⊗, which composes
    pairs of laws that dominate, in place of ⊕: if F ≥ S_t(δ ⊗ F) at every γ, then δ ⊗ F ⊗ F bounds what is shown of
    every unit, however many there are. The leakage is its ε at δ.

    Checked. As for endless Gaussian messages; profiles are rounded up as for separable messages.

    Trusted. The true law is the model, or a member of the class that it describes, and no step has a larger loss. What
    the adversary knows of several other units together, such as whether two of them are equal, is not covered.

    Proof. As for endless Gaussian messages, from separable messages for each n.

    Source. New here.
    """
    refuse_inseparable(loss)
    return _everywhere(TOGETHER, loss, model)


def _everywhere(algebra: Algebra[Held], loss: ConcentratedLoss, model: EndlessChain) -> Leakage:
    """Pass profiles along a chain so long that both messages of some step have met their ceiling."""
    curves: Sequence[ProfileCurve] = [loss.largest] * ENOUGH
    told = tilted_messages(algebra, curves, model.until(ENOUGH))
    found = leakage_at(told, loss.largest, loss.delta, algebra.fine)
    return Leakage(np.array([float(found.max())]))
