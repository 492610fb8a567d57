"""Ties under a δ: profiles come over the ties of a unit, each by itself, and join as they do on a star."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.gaussian_noise import TRUSTED as GAUSSIAN
from entwined.bounds.gaussian_noise import gaussian_group_bound, refuse_other_noise
from entwined.bounds.profiles.passing import IN_TURN, TOGETHER, Algebra, Held, Told, held_by, leakage_at
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import RowsSway, Sway, TiltSway
from entwined.bounds.separable import TRUSTED as SEPARABLE
from entwined.bounds.separable import refuse_inseparable, separable_group_bound
from entwined.bounds.theorem import Theorem, theorem
from entwined.bounds.ties import ASSUMED, frontiers_of_ties
from entwined.dependence import Ties
from entwined.errors import DoesNotApply
from entwined.loss import Leakage
from entwined.numbers import FloatArray, IntArray

MOST_KINDS: Final = 2000  # of neighbourhoods; with more, all losses are taken to be the largest
MOST_LOSSES: Final = 16


@theorem("values", trusted=f"{ASSUMED} {GAUSSIAN}", needs=("gaussian",))
def gaussian_ties_bound(loss: ConcentratedLoss, model: Ties) -> Leakage:
    """Bound what Gaussian noise in any mechanism shows by what each tie of a unit says about it.

    Theorem. For each unit i let the law be such that, given x_i, the units tied to i are independent of each other
    and of all the rest, and the rest is independent of x_i. Let replacing unit j move any output law P to a Q with
    P(S) − γ Q(S) ≤ δ_j(γ), the profile of Gaussian noise with shift √(2ρ_j). For a tie with kernel P, the law of
    x_j given x_i, let t(γ) be the largest Σ_v (P(v|a) − γ P(v|b))₊ over values a, b, and S_t and ⊕ as for Gaussian
    messages. Then δ_i ⊕ ⊕_j S_t δ_j over the units tied to i bounds
    Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all a, b that x_i can take, known values of any other
    units, S and γ ≥ 1. Where no more than D ties say anything, it is enough to take D times the largest S_t δ_j. The
    leakage is its ε at δ, and at most that of the group.

    Checked. No pair is tied twice, a kernel is a law, and some joint law has it both ways; t is widened by what
    rounding can do, and profiles are rounded up. With very many kinds of neighbourhoods every loss is taken to be the
    largest one.

    Trusted. The law of one given the other is the kernel. What is known of other units are values, each exactly or
    not at all.

    Proof. Known values leave those tied to i that are not known independent of each other given x_i, each with the law
    P(·|x_i), and of the rest nothing depends on x_i or on them. Move x_i from a to b in the mechanism (δ_i), then in
    the law of one tied unit at a time; the steps add by ⊕, as for Gaussian messages. While the law of x_j moves, the
    laws of all other units stay, so averaged over them output laws given two values of x_j are within δ_j, and moving
    the law of x_j from P(·|a) to P(·|b) passes on S_t of that: see separable messages. A tie that says nothing, or
    whose end is known, has t = 0, and ⊕ increases.

    Source. New here, after Liu, Chakraborty, Mittal (2016), Equation 14; with pure losses it is the ties bound.
    """
    refuse_other_noise(loss)
    return tied(IN_TURN, loss, model, known_sways(model), gaussian_group_bound)


@theorem("any", trusted=f"{ASSUMED} {GAUSSIAN}", needs=("gaussian",))
def gaussian_ties_and_anything_known_bound(loss: ConcentratedLoss, model: Ties) -> Leakage:
    """Bound what Gaussian noise shows by ties independent given the unit, whatever is known of each other unit.

    Theorem. In the setting of the Gaussian ties bound let Δ be the largest log odds ratio of the kernel and
    t(γ) = (e^{Δ/2} − √γ)²/(e^Δ − 1) for γ < e^Δ and 0 beyond. Then the same bound holds whatever is known of other
    units one by one (their values, or anything that depends on one unit's value alone).

    Checked. As for the Gaussian ties bound; Δ is read from the kernel, and zeros make it infinite.

    Trusted. The law of one given the other is the kernel. What the adversary knows of several other units together,
    such as whether two of them are equal, is not covered.

    Proof. What is known of x_j alone multiplies its law by a weight of x_j, which leaves those tied to i independent of
    each other given x_i and changes no log odds ratio. Move x_i as before; the worst tilt of such a law has that t: see
    separable messages.

    Source. New here, after Liu, Chakraborty, Mittal (2016), Theorem 9.
    """
    refuse_other_noise(loss)
    return tied(IN_TURN, loss, model, tilted_sways(model), gaussian_group_bound)


@theorem("values", trusted=f"{ASSUMED} {SEPARABLE}", needs=("separable",))
def separable_ties_bound(loss: ConcentratedLoss, model: Ties) -> Leakage:
    """Bound what a separable release shows by what each tie of a unit says about it.

    Theorem. In the setting of the Gaussian ties bound let each part of the release read one unit, and let δ_j(γ) bound
    P(S) − γ Q(S) for any two laws P, Q of part j. Then δ_i ⊗ ⊗_j S_t δ_j over the units tied to i bounds
    Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all a, b that x_i can take, known values of any other
    units, S and γ ≥ 1, where ⊗ composes pairs of laws that dominate. Where no more than D ties say anything, it is
    enough to take D times the largest S_t δ_j.

    Checked. As for the Gaussian ties bound.

    Trusted. The law of one given the other is the kernel. What is known of other units are values, each exactly or
    not at all.

    Proof. Given x_i the parts of i, of each unit tied to i and of the rest are independent of each other, and those of
    the rest do not depend on x_i. So their profiles compose, as on a star whose middle is i: see separable messages.

    Source. New here.
    """
    refuse_inseparable(loss)
    return tied(TOGETHER, loss, model, known_sways(model), separable_group_bound)


@theorem("any", trusted=f"{ASSUMED} {SEPARABLE}", needs=("separable",))
def separable_ties_and_anything_known_bound(loss: ConcentratedLoss, model: Ties) -> Leakage:
    """Bound what a separable release shows by ties independent given the unit, whatever is known of each other unit.

    Theorem. In the setting of the separable ties bound, with t of the largest log odds ratio of the kernel as for
    separable messages, the same bound holds whatever is known of other units one by one (their values, or anything that
    depends on one unit's value alone).

    Checked. As for the Gaussian ties bound; Δ is read from the kernel, and zeros make it infinite.

    Trusted. The law of one given the other is the kernel. What the adversary knows of several other units together,
    such as whether two of them are equal, is not covered.

    Proof. As for the separable ties bound, with the worst tilt in place of the kernel.

    Source. New here.
    """
    refuse_inseparable(loss)
    return tied(TOGETHER, loss, model, tilted_sways(model), separable_group_bound)


def tied(
    algebra: Algebra[Held], loss: ConcentratedLoss, model: Ties, sways: tuple[Sway, Sway], group: Theorem
) -> Leakage:
    """What comes over ties, at most the group bound."""
    return Leakage(np.minimum(tied_epsilons(algebra, loss, model, sways), group(loss, model).per_unit))


def known_sways(model: Ties) -> tuple[Sway, Sway]:
    """How far the value at one end of a tie moves the law at the other: from the second to the first, and back."""
    if model.kernels is None:
        raise DoesNotApply(
            "Ties have coefficients, which are shares of pure losses: of a δ they say nothing. Give a kernel."
        )
    onward, backward = frontiers_of_ties(model)
    return RowsSway(onward), RowsSway(backward)


def tilted_sways(model: Ties) -> tuple[Sway, Sway]:
    """How far any tilt of such a law is moved, the same either way."""
    if model.kernels is None:
        raise DoesNotApply(
            "Ties have coefficients, which are shares of pure losses: of a δ they say nothing. Give a kernel."
        )
    return TiltSway(model.log_odds), TiltSway(model.log_odds)


def tied_epsilons(
    algebra: Algebra[Held], loss: ConcentratedLoss, model: Ties, sways: tuple[Sway, Sway]
) -> FloatArray:
    """The ε at δ of each unit, with all that comes over its ties; units with like neighbourhoods once."""
    alike = sways[0] == sways[1]
    found = kinds_of(loss, model, alike=alike)
    if len(found.rhos) > MOST_LOSSES or len(found.kinds) > MOST_KINDS:
        found = kinds_of(ConcentratedLoss((max(loss.rhos),), loss.units, loss.delta), model, alike=alike)

    def passed(grid: Grid) -> Told:
        held = held_by(algebra, list(map(loss.curve, found.rhos)), grid)
        sent = [
            algebra.hold(algebra.read(one).through(sways[end])) for one in held for end in range(len(sways))
        ]
        told = [
            algebra.read(told_of(algebra, held[own], ties, sent, model.most_ties))
            for own, *ties in found.kinds.tolist()
        ]
        return Told(told, found.place)

    return leakage_at(passed, loss.largest, loss.delta, algebra.fine)


@dataclass(frozen=True, eq=False, slots=True)
class Kinds:
    """Kinds of neighbourhoods: the place of a unit's own ρ, and how many ties bring each ρ over each end."""

    rhos: tuple[Fraction, ...]
    kinds: IntArray
    place: IntArray


def kinds_of(loss: ConcentratedLoss, model: Ties, *, alike: bool) -> Kinds:
    """Count what comes to each unit; with `alike` it does not matter over which end, which spares kinds."""
    rhos = tuple(sorted(set(loss.rhos)))
    if len(rhos) > MOST_LOSSES:
        return Kinds(rhos, np.zeros((0, 1), np.int64), np.zeros(0, np.int64))
    row = {rho: at for at, rho in enumerate(rhos)}
    own = np.array([row[rho] for rho in loss.rhos], np.int64)
    own = own if own.size == loss.units else np.zeros(loss.units, np.int64)
    columns = [own]
    first, second = model.ends.T
    for at in range(len(rhos)):
        to_first = np.bincount(first[own[second] == at], minlength=model.size)
        to_second = np.bincount(second[own[first] == at], minlength=model.size)
        columns += [to_first + to_second, 0 * to_first] if alike else [to_first, to_second]
    kinds, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return Kinds(rhos, kinds, place.reshape(-1))


def told_of(
    algebra: Algebra[Held], own: Held, ties: Sequence[int], sent: Sequence[Held], most: int | None
) -> Held:
    """Join what a unit shows with all that comes over its ties, or as often as ties say anything the most of it."""
    coming = [(message, times) for message, times in zip(sent, ties, strict=True) if times]
    if most is not None and most < sum(times for _, times in coming):
        worst = [algebra.read(message) for message, _ in coming]
        largest = PrivacyProfile(worst[0].grid, np.max([one.deltas for one in worst], axis=0))
        coming = [(algebra.hold(largest), most)]
    for message, times in coming:
        own = algebra.join(own, repeated(algebra, message, times))
    return own


def repeated(algebra: Algebra[Held], one: Held, times: int) -> Held:
    """Join it with itself so many times, at least once, by doubling."""
    if times == 1:
        return one
    twice = repeated(algebra, algebra.join(one, one), times // 2)
    return algebra.join(twice, one) if times % 2 else twice
