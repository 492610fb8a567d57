"""Gaussian units whose correlations are only bounded: the worst law of the class."""

import numpy as np

from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.gaussian.knowledge import LawsAround, components, worst_of_known
from entwined.bounds.gaussian.series import MOST_UNITS
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import Correlations, GaussianLaws
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

MOST_TOGETHER = 14


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def correlation_intervals_bound(loss: Loss, model: Correlations) -> Leakage:
    """Bound the worst law whose correlations lie in intervals by trying every set of known units.

    Theorem. Let the units be Gaussian with deviations σ and correlations in the given intervals, none above
    r̄_ij in size (r̄_ii = 0), and let the mechanism lose ε_j per unit of distance of unit j. Let K be a set
    of known units, S = K and i, and U the others. If the spectral radius of r̄_SS is below 1 and G = (I −
    r̄_SS)⁻¹, what unit i moves is at most σ_i Σ_{j∈U} ε_j |β_j| ≤ min( Σ_{j∈U} ε_jσ_j (r̄_jS G)_i , √( G_ii ·
    Σ_{j,k∈U} ε_jσ_j ε_kσ_k (r̄_jk + [j=k]) ) ), and the leakage of unit i per unit of distance is at most ε_i
    plus the largest of these over K. The first is reached by the law with correlations −r̄ inside S and r̄
    between S and j, where that is a law of the class and j the only unknown unit with a loss. Where intervals
    do not reach −r̄_ij to r̄_ij, the same series around the middle of the intervals is tried too, and the
    smaller figure is used.

    Checked. For every set of known units one of the two series converges, proved by a vector v > 0 that it
    shrinks, with all rounding added; no more than 14 units are dependent on each other.

    Trusted. The units are jointly Gaussian with these deviations and correlations in these intervals,
    whatever their means are.

    Proof. In units of the deviations let R be the correlations; the exact leakage is ε_i + Σ_{j∈U} ε_j |β_j|,
    β_j = (R_jS R_SS⁻¹)_i. With R_SS = I + A, |A| ≤ r̄_SS, the series R_SS⁻¹ = Σ (−A)ⁿ is at most G in every
    entry, so |β_j| ≤ (r̄_jS G)_i. For the second part let w_j be ε_j with the sign of β_j: the covariance of
    w·x_U and x_i given x_K is w·β times v, the variance of x_i given x_K, so v (w·β)² ≤ Var(w·x_U) by Cauchy
    and Schwarz, and 1/v = (R_SS⁻¹)_ii ≤ G_ii. Around a centre C with |R − C| ≤ e the regressions differ from
    B = C_US C_SS⁻¹ by (R_US − C_US − B (R − C)_SS) R_SS⁻¹, which is at most (e_US + |B| e_SS) |C_SS⁻¹| (I −
    e_SS |C_SS⁻¹|)⁻¹ by the same series.

    Source. New here; Neumann's series and Cauchy and Schwarz.
    """
    losses = round_up(loss.per_unit * model.scales, 1)
    leakage, laws = np.zeros(model.units), enclosures(model)
    for group in components(model.strengths > 0):
        if group.size > MOST_TOGETHER:
            raise DoesNotApply(
                f"{group.size} units depend on each other; "
                f"every set of known units can be tried for up to {MOST_TOGETHER}."
            )
        place = np.ix_(group, group)
        sizes = model.strengths[place] + np.eye(group.size)
        around = [LawsAround(law.centre[place], law.spread[place]) for law in laws]
        leakage[group] = worst_of_known(losses[group], around, sizes)
    if not np.isfinite(leakage).all():
        raise DoesNotApply(
            "Laws of the class come too close to singular for the series to converge. Narrow the intervals."
        )
    return Leakage(round_up(leakage / model.scales, 2))


def enclosures(model: Correlations) -> list[LawsAround]:
    """Enclose the class around independent units, and around the middle of its intervals if that differs."""
    low, high = model.correlation.low, model.correlation.high
    low, high = np.minimum(low, low.T), np.maximum(high, high.T)
    independent = LawsAround(np.eye(model.units), model.strengths)
    centre = (low + high) / 2
    if (centre == np.eye(model.units)).all():
        return [independent]
    spread = np.maximum(high - centre, centre - low) * (1 + 2 * ULP)
    np.fill_diagonal(spread, 0.0)
    return [independent, LawsAround(centre, spread)]


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def weak_correlation_bound(loss: Loss, model: GaussianLaws) -> Leakage:
    """Let each unit move the others by its correlations alone, where no unit is outweighed by the rest.

    Theorem. Let the units be Gaussian with deviations σ and correlations of at most r̄_ij in size (r̄_ii =
    0), and let the mechanism lose ε_j per unit of distance of unit j. Let w be any weights with w_j ≥ ε_jσ_j
    and w ≥ r̄w. Then the leakage of unit i per unit of distance is at most ε_i + (r̄w)_i / σ_i. Where w_j =
    ε_jσ_j will do, that is where no unit's own loss is below what it could move of the others', to know
    nothing is worst, and this is the exact leakage of a known covariance, and of the worst law with
    correlations of at most r̄ in size.

    Checked. The weights are the least ones, found by raising the units that are outweighed until none is, and
    w ≥ r̄w was checked with rounding counted against it.

    Trusted. The units are jointly Gaussian with these deviations and no larger correlations, whatever
    their means are.

    Proof. In units of the deviations let K be known, S = K and i, and U the others. Units that r̄ does not
    join to i play no part, and if r̄ joins some unit of weight 0 to i then w ≥ r̄w makes all weights there 0,
    and nothing leaks; so let r̄ be connected and w > 0. From r̄w ≤ w and w_U > 0 the spectral radius of r̄_SS
    is below 1. Let g be column i of (I − r̄_SS)⁻¹. As for intervals, Σ_{j∈U} ε_j |β_j| ≤ Σ_{j∈U} w_j r̄_jS g.
    Because r̄_SS g = g − 1_i, that is (r̄w)_S·g − w_S·(g − 1_i) = (r̄w)_i + Σ_{s∈S} ((r̄w)_s − w_s) (g −
    1_i)_s, and g − 1_i ≥ 0. So it is at most (r̄w)_i. With w = ε it is reached when nothing is known, by the
    known covariance or by laws with correlations near −r̄, which are positive definite because the radius of
    r̄ is at most 1.

    Source. New here; an optimal stopping argument.
    """
    if model.units > MOST_UNITS:
        raise DoesNotApply(f"A table of {model.units} units is too large; the most is {MOST_UNITS}.")
    losses = round_up(loss.per_unit * model.scales, 1)
    strengths = model.strengths
    moved = strengths @ least_weights(strengths, losses)
    return Leakage(round_up((losses + moved) / model.scales, model.units + 8))


def least_weights(strengths: FloatArray, losses: FloatArray) -> FloatArray:
    """Find the least w with w ≥ losses and w ≥ strengths·w, or refuse; each round raises units or ends."""
    units = len(losses)
    raised = np.zeros(units, dtype=bool)
    weights = losses
    room = 1 + 4 * (units + 4) * ULP
    for _ in range(units + 1):
        outweighed = (strengths @ weights) * (1 + (units + 4) * ULP) > weights
        if not outweighed.any():
            return weights
        if (outweighed <= raised).all():
            break
        raised |= outweighed
        inner = np.eye(int(raised.sum())) - room * strengths[np.ix_(raised, raised)]
        pull = room * strengths[np.ix_(raised, ~raised)] @ losses[~raised]
        weights = losses.copy()
        try:
            weights[raised] = np.maximum(np.linalg.solve(inner, pull), losses[raised])
        except np.linalg.LinAlgError:
            break
    raise DoesNotApply(
        "The correlations are too strong: units are outweighed by others, and no weights put an end to it."
    )
