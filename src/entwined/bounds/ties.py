"""Ties: what those tied to someone say about that one, each by itself (the mechanism DPM of the paper).

L_i = ε_i + Σ ρ_ij ε_j over the units j tied to i. It rests on an assumption that is seldom true as it stands: it is
asked of models of kind `ties` alone, which nobody has without declaring one, and the same ties as a graph, by the
messages, show what the assumption buys.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.contraction import contract
from entwined.bounds.frontier import Frontier
from entwined.bounds.pairwise import farthest, scale_leakage
from entwined.bounds.theorem import theorem
from entwined.dependence import Ties
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, round_up

Shares = tuple[FloatArray, FloatArray]

ASSUMED: Final = (
    "Given i, those tied to i are independent of each other, and nobody else says anything about i, nor about those "
    "tied to i, to whoever goes after i. That a friend's friend says nothing is part of it: where ties lead from one "
    "to the next no law is like that for everybody at once, and who uses ties beyond i's own can learn more (a graph "
    "of the same ties, by the messages, covers that). If the model says most_ties = D, no more than D of anyone's ties "
    "say anything."
)


@theorem("values", trusted=ASSUMED)
def ties_bound(loss: Loss, model: Ties) -> Leakage:
    """Bound the leakage by what each tie of a unit says about it, if ties are independent given the unit.

    Theorem. For each unit i let the law be such that, given x_i, the units tied to i are independent of each other
    and of all the rest, and the rest is independent of x_i. Let ρ_ij ε_j be the declared share of ε_j, or where the
    tie has a kernel P, the law of x_j given x_i, the largest log [1 + (e^{ε_j} − 1) P(A|a)] / [1 + (e^{ε_j} − 1)
    P(A|b)] over values a, b of x_i and sets A of values of x_j. Then for every unit i, values a and b that it can
    take, known values of any other units, and output set S: |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i =
    b, known]| ≤ ε_i + Σ ρ_ij ε_j over the units tied to i, or over the D of these with the largest ρ_ij ε_j where
    no more than D say anything. Two units reach it, and so does the middle of a star.

    Checked. No pair is tied twice. A kernel is a law, and some joint law has it both ways. A coefficient is from 0
    to 1, and above 0 either both ways or neither. It is never more than the group bound. Every operation is rounded
    up.

    Trusted. The law of one given the other is the kernel, or what shows at most ε_j of x_j shows at most ρ_ij ε_j
    of x_i. What is known of other units are values, each exactly or not at all.

    Proof. Known values leave those tied to i that are not known independent of each other given x_i, each with the
    law P(·|x_i), and of the rest nothing depends on x_i or on them. Move x_i from a to b in the likelihood of the
    output, averaged over the rest (at most ε_i), and then in the law of one tied unit at a time. What is averaged
    there is a function of x_j whose log has range at most ε_j, for neither the rest nor the other tied units depend
    on x_j given x_i; the ratio of its means is largest where it takes the values 1 and e^{ε_j} only. Without the
    assumption the sum is wrong: for fair bits x_1, x_2 and their noisy exclusive or x_3 all ρ are 0, and yet x_2
    and x_3 together tell of x_1.

    Source. Liu, Chakraborty, Mittal (2016), Equation 14, Theorems 8 and 9; the assumption is not stated there.
    """
    return Leakage(tied_leakage(loss, model, exact_shares))


@theorem("any", trusted=ASSUMED)
def ties_and_anything_known_bound(loss: Loss, model: Ties) -> Leakage:
    """Bound the leakage by ties that are independent given the unit, whatever is known of each other unit.

    Theorem. In the setting of the ties bound let Δ be the largest log odds ratio of the kernel, without end where
    ties have coefficients, and T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)). Then for every unit i, values a and b that
    it can take, whatever is known of other units one by one (their values, or anything that depends on one unit's
    value alone), and output set S: |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + Σ
    T(ε_j; Δ) over the units tied to i, or over the D of these with the largest T(ε_j; Δ) where no more than D say
    anything.

    Checked. As for the ties bound; Δ is read from the kernel, zeros make it infinite, and every operation is
    rounded up.

    Trusted. The law of one given the other is the kernel, or what is declared of coefficients: that there is a tie.
    What the adversary knows of several other units together, such as whether two of them are equal, is not covered.

    Proof. What is known of x_j alone multiplies its law by a weight of x_j. That leaves those tied to i independent
    of each other given x_i, but turns P(v|a) into a law in proportion to P(v|a) τ(v), of which no more is certain
    than that its log odds ratios are those of P. Move x_i as for the ties bound; the worst tilt of a function whose
    log has range ε_j gives T(ε_j; Δ): Birkhoff's contraction of Hilbert's projective metric. Of a share that was
    declared without a kernel nothing is certain after a tilt but that it is at most 1.

    Source. New here, after Liu, Chakraborty, Mittal (2016), Theorem 9; T is Birkhoff (1957).
    """
    return Leakage(tied_leakage(loss, model, tilted_shares))


@theorem("values", trusted=ASSUMED)
def ties_scale_bound(loss: Loss, model: Ties) -> Leakage:
    """Bound the leakage by looser coefficients, of values with distances, if ties are independent given the unit.

    Theorem. In the setting of the ties bound let d(v) be how far value v is from the farthest one, the longest
    distance being 1, and let ρ_ij ε_j be the larger of max_a log Σ_v P(v|a) exp(ε_j d(v)) and of its value in the
    ties bound. Then for every unit i, values a and b that it can take, known values of any other units, and output
    set S: |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + Σ ρ_ij ε_j over the units tied
    to i.

    Checked. As for the ties bound. The distances are the declared ones, or those of values that are equally spaced.
    The loss in the formula is the loss in use, so that turning it round finds the scale σ that the formula itself
    contains.

    Trusted. The law of one given the other is the kernel. What is known of other units are values, each exactly or
    not at all. It need not be believed that the loss shrinks with the distance: the published coefficient alone
    rests on that.

    Proof. It is never below the ties bound. Where moving x_j from v to w costs at most ε_j times their distance,
    the published coefficient holds alone: replace each likelihood in the mean given b by the smallest one, and
    bound those in the mean given a by the distance to the farthest value.

    Source. Liu, Chakraborty, Mittal (2016), Equation 18 and appendix B.
    """
    return Leakage(tied_leakage(loss, model, scale_shares))


def tied_leakage(loss: Loss, model: Ties, shares: Callable[[FloatArray, Ties], Shares]) -> FloatArray:
    """ε_i and what comes over the ties of i, at most the group bound."""
    from_second, from_first = shares(loss.per_unit, model)
    total = round_up(loss.per_unit + model.gathered(from_second, from_first), 2)
    return np.minimum(total, model.group_totals(loss))


def exact_shares(losses: FloatArray, model: Ties) -> Shares:
    """ρ_ij ε_j of Eq. 14 or as declared, for each tie: what the second end says about the first, and back."""
    first, second = losses[model.ends[:, 0]], losses[model.ends[:, 1]]
    if model.coefficients is not None:
        there, back = model.coefficients.T
        return round_up(there * second, 1), round_up(back * first, 1)
    onward, backward = frontiers_of_ties(model)
    return through(onward, second), through(backward, first)


def tilted_shares(losses: FloatArray, model: Ties) -> Shares:
    """T(ε_j; Δ) for each tie."""
    odds = model.couplings.log_odds[::2]
    return contract(losses[model.ends[:, 1]], odds), contract(losses[model.ends[:, 0]], odds)


def scale_shares(losses: FloatArray, model: Ties) -> Shares:
    """ρ_ij ε_j of Eq. 18, or of Eq. 14 where that is larger."""
    exact = exact_shares(losses, model)
    kernels = model.kernels
    if kernels is None:
        return exact
    reaches = farthest(kernels[0].shape[1], model.distances), farthest(kernels[1].shape[1], model.distances)
    kinds, place = np.unique(losses, return_inverse=True)
    wide = [
        np.array([scale_leakage(kernel, one, reach) if one else 0.0 for one in kinds.tolist()])[place]
        for kernel, reach in zip(kernels, reaches, strict=True)
    ]
    ends = model.ends
    return np.maximum(exact[0], wide[0][ends[:, 1]]), np.maximum(exact[1], wide[1][ends[:, 0]])


def through(frontier: Frontier, losses: FloatArray) -> FloatArray:
    """T_P of many losses, most of which are alike."""
    kinds, place = np.unique(losses, return_inverse=True)
    return frontier.each(kinds)[place]


@lru_cache(maxsize=8)
def frontiers_of_ties(model: Ties) -> tuple[Frontier, Frontier]:
    """What the kernel lets through from the second end of a tie to the first, and back."""
    kernels = model.kernels
    if kernels is None:
        raise ValueError("ties without a kernel have coefficients")
    onward = Frontier.of(kernels[0])
    return onward, onward if kernels[1] is kernels[0] else Frontier.of(kernels[1])
