"""Pairwise dependence coefficients: right for pairs, refused for anything larger.

ρ_ij says which share of the loss of unit j becomes leakage about unit i: L_i = Σ_j ρ_ij ε_j, ρ_ii = 1. The
sum is right only where, given unit i, the units that depend on it are independent of each other.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.frontier import Frontier
from entwined.bounds.kernel import frontiers_of, laws_of
from entwined.bounds.theorem import theorem
from entwined.dependence import Box, Coupled
from entwined.errors import BadLoss, BadModel, DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, round_up, round_up_float

PAIR: Final = 2
NAMED: Final = 5  # how many units a refusal names


@theorem("model")
def pairwise_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage by exact pairwise coefficients, against an adversary who knows the law only.

    Theorem. Let the law of the units be known, and let the units that depend on unit i be independent of
    each other given x_i. Let P hold the law of x_j given x_i, and let ρ_ij ε_j be the largest
    log [1 + (e^{ε_j} − 1) P(A|a)] / [1 + (e^{ε_j} − 1) P(A|b)] over values a, b that x_i can take and sets
    A of values of x_j. Then for every unit i, values a and b that it can take, and output set S:
    |log Pr[M ∈ S | x_i = a] − log Pr[M ∈ S | x_i = b]| ≤ ε_i + Σ_{j≠i} ρ_ij ε_j. Two units reach it.

    Checked. The model has one law, and no more than two units of it depend on each other. In a component of
    three or more there is a unit given which the others are not independent, so the theorem is refused.

    Trusted. The true law is the model, and the adversary knows the value of no unit.

    Proof. Move x_i from a to b in the likelihood of the output (at most ε_i), and then in the law of one
    dependent at a time, which their independence given x_i allows. What is averaged is a function of x_j
    whose log has range at most ε_j; the ratio of its means is largest where it takes the values 1 and
    e^{ε_j} only. Without the independence the sum is wrong: for fair bits x_1, x_2 and their noisy exclusive
    or x_3 all pairwise ρ are 0, and yet x_2 and x_3 together tell of x_1.

    Source. Liu, Chakraborty, Mittal (2016), Equation 14 and Theorem 9; the assumption is not stated there.
    """
    return Leakage(pair_leakage(loss, model, exact_share))


@theorem("model")
def pairwise_scale_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage by looser pairwise coefficients, of values on a scale, if only the law is known.

    Theorem. In the setting of the pairwise bound read the values of each unit as the points 0 … s−1 of a
    scale, and let ρ_ij ε_j be the larger of max_a log Σ_v P(v|a) exp(ε_j max(v, s−1−v) / (s−1)) and of its
    value in the pairwise bound. Then for every unit i, values a and b that it can take, and output set S:
    |log Pr[M ∈ S | x_i = a] − log Pr[M ∈ S | x_i = b]| ≤ ε_i + Σ_{j≠i} ρ_ij ε_j.

    Checked. The model has one law, and no more than two units of it depend on each other.

    Trusted. The true law is the model, and the adversary knows the value of no unit. It need not be believed
    that the loss shrinks with the distance between values: the published coefficient alone rests on that.

    Proof. It is never below the pairwise bound. Where moving x_j from v to w costs at most
    ε_j |v − w| / (s−1), the published coefficient holds alone: replace each likelihood in the mean given b by
    the smallest one, and bound those in the mean given a by the distance to the farthest value. For values
    without an order every distance is the longest, and the published form gives ρ = 1, the group bound.

    Source. Liu, Chakraborty, Mittal (2016), Equation 18 and appendix B.
    """
    return Leakage(pair_leakage(loss, model, scale_share))


def exact_coefficient(kernel: FloatArray, loss: float) -> float:
    """ρ of Eq. 14 from the law of j given i alone: 0 for equal rows, 1 for rows that exclude each other.

    A number about one pair, to reproduce the paper: a sum of such shares is a bound only where the
    dependents are independent of each other given i.

    >>> exact_coefficient(np.array([[0.5, 0.5], [0.5, 0.5]]), 1.0)
    0.0
    """
    checked = Box.exact(kernel).as_probabilities("The kernel").low
    return min(1.0, Frontier.of(checked)(positive(loss)) / loss)


def scale_coefficient(kernel: FloatArray, loss: float, distances: FloatArray | None = None) -> float:
    """ρ of Eq. 18 from the law of j given i alone: above 0 even for equal rows.

    A number about one pair, to reproduce the paper: it holds where what a move of j costs is in proportion
    to its length. `distances` says how far any two values of j are apart; without them they are equally spaced.

    >>> round(scale_coefficient(np.array([[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]), 1.0), 4)
    0.7809
    """
    checked = Box.exact(kernel).as_probabilities("The kernel").low
    reach = farthest(checked.shape[1], distances)
    return min(1.0, scale_leakage(checked, positive(loss), reach) / loss)


def farthest(values: int, distances: FloatArray | None = None) -> FloatArray:
    """For each value the distance to the farthest one, the longest of all being 1; equally spaced if none are given."""
    if distances is None:
        places = np.arange(values)
        return np.asarray(np.maximum(places, values - 1 - places) / max(1, values - 1))
    apart = Box.exact(distances).low
    if apart.shape != (values, values) or (apart < 0).any() or apart.max(initial=0.0) == 0:
        raise BadModel(
            f"The distances have the shape {apart.shape}, or none above zero. Give one for any two of {values} values."
        )
    return np.asarray(apart.max(axis=1) / apart.max())


def positive(loss: float) -> float:
    """Refuse a loss that has no share."""
    if not 0 < loss < math.inf:
        raise BadLoss(f"A coefficient is a share of a loss, not of {loss}. Give a finite loss above zero.")
    return loss


def scale_leakage(law: FloatArray, loss: float, reach: FloatArray | None = None) -> float:
    """max_a log Σ_v P(v|a) exp(ε d(v)), rounded up; d(v) is the distance to the farthest value, at most 1."""
    from scipy.special import logsumexp

    values = law.shape[1]
    if values == 1:
        return 0.0
    exponents = loss * (farthest(values) if reach is None else reach)
    if loss < 1:
        exact = math.log1p(float((law @ np.expm1(exponents)).max()))
    else:  # where the loss is small this form would lose digits
        exact = float(logsumexp(exponents, b=law, axis=1).max())
    return min(loss, round_up_float(exact, 2 * values + 16))


class Pair(NamedTuple):
    """The law of j given i, right up to a factor e^±error, and the exact transport from j to i."""

    law: FloatArray
    error: float
    frontier: Frontier


def exact_share(pair: Pair, loss: float) -> float:
    """ρ_ij ε_j of Eq. 14."""
    return pair.frontier(loss)


def scale_share(pair: Pair, loss: float) -> float:
    """ρ_ij ε_j of Eq. 18, or of Eq. 14 where that is larger."""
    wide = scale_leakage(pair.law, loss) - pair.error * math.expm1(
        -loss
    )  # at most error · (1 − e^−ε) is amiss
    return max(min(loss, wide), pair.frontier(loss))


def pair_leakage(loss: Loss, model: Coupled, share: Callable[[Pair, float], float]) -> FloatArray:
    """ε_i plus the leakage from the one unit that it depends on, if there is one."""
    refuse_larger(model)
    if model.couplings.binding.unit.size == 0:
        return loss.per_unit
    forest, laws = laws_of(model)
    _, frontiers = frontiers_of(model)
    losses, total = loss.per_unit.tolist(), np.array(loss.per_unit)
    for (j, i), law in laws.items():
        total[i] += share(Pair(law, forest.error, frontiers[j, i]), losses[j])
    return np.minimum(round_up(total), model.group_totals(loss))


def refuse_larger(model: Coupled) -> None:
    """Refuse three or more units that depend on each other: pairs miss what they do jointly."""
    labels = model.couplings.components
    sizes = np.bincount(labels)
    if sizes.max() <= PAIR:
        return
    members = np.flatnonzero(labels == sizes.argmax())
    names = getattr(model, "names", None)
    listed = ", ".join(repr(names[unit]) if names else str(unit + 1) for unit in members[:NAMED].tolist())
    more = f" and {members.size - NAMED} more" if members.size > NAMED else ""
    raise DoesNotApply(
        f"Units {listed}{more} depend on each other; given one of them the others are not independent, "
        "which pairwise coefficients need. The messages cover it."
    )
