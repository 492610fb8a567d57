"""The group bound for concentrated losses: whatever the dependence inside a group, their roots add."""

import math
from fractions import Fraction

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.theorem import theorem
from entwined.dependence import Dependence
from entwined.loss import Leakage, Loss
from entwined.noise.concentrated import LARGEST_RHO, epsilon_at
from entwined.numbers import FloatArray, IntArray, float_above, round_up


@theorem("any")
def concentrated_group_bound(loss: ConcentratedLoss, model: Dependence) -> Leakage:
    """Bound the leakage of a concentrated loss by moving a unit's whole group at once.

    Theorem. Let replacing unit j be ρ_j-zCDP, and let units have a bearing on each other only inside groups that
    are independent of each other. Then for every unit i, values a and b, whatever is known of other units one by
    one (their values, or anything that depends on one unit's value alone), and every event S:
    Pr[M ∈ S | x_i = a, known] ≤ exp(ε) · Pr[M ∈ S | x_i = b, known] + δ, where ε is that of ρ-zCDP at δ with
    √ρ = Σ √ρ_j over i's group: k²ρ for k units of equal ρ.

    Checked. The groups are the connected components of the model, or the declared largest size with the largest
    losses in it; ε is rounded up.

    Trusted. Units in different groups are independent, and no group is larger than declared. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. Given x_i and what is known of single units, only the rest of the group has a law that depends on x_i.
    The two laws of M are mixtures of output laws that are one replacement of each unit of the group apart. If P
    and R are aα apart in Rényi divergence of every order α, and R and Q bα, then for every p > 1 P and Q are at
    most aα (pα − 1)/(α − 1) + b (pα − 1)/(p − 1) apart by Hölder's inequality (Mironov 2017, Proposition 11), and
    at p = 1 + √(b/a) (α − 1)/α this is (√a + √b)² α; so one unit after another the roots of the losses add. Rényi
    divergence is jointly quasi-convex, so the mixtures are no further apart; Proposition 12 of Canonne, Kamath
    and Steinke (2020) turns ρ into ε at δ.

    Source. New here as a statement about dependence and for unequal losses; for equal ones group privacy is Bun
    and Steinke's (2016, Proposition 1.9).
    """
    if loss.common is not None:
        sizes, place = np.unique(group_sizes(model, loss.units), return_inverse=True)
        rhos = [size**2 * loss.common for size in sizes.tolist()]
    else:
        together, place = np.unique(added_roots(loss, model), return_inverse=True)
        rhos = [Fraction(rho) for rho in together.tolist()]
    return Leakage(np.array([epsilon_of(rho, loss.delta) for rho in rhos])[place])


def group_sizes(model: Dependence, units: int) -> IntArray:
    """For each unit, how many units its value can have a bearing on; whole numbers, so what is rounded up is cut."""
    return np.floor(model.group_totals(Loss.uniform(1, units))).astype(np.int64)


def added_roots(loss: ConcentratedLoss, model: Dependence) -> FloatArray:
    """For each unit (Σ √ρ_j)² over its group, rounded up."""
    roots = round_up(np.sqrt([float_above(rho) for rho in loss.rhos]), 2)
    return round_up(model.group_totals(Loss(roots)) ** 2, 2)


def epsilon_of(rho: Fraction, delta: Fraction) -> float:
    """Give the ε of a concentrated loss at δ: nothing shows nothing, and too much has no bound."""
    if rho > LARGEST_RHO:
        return math.inf
    return epsilon_at(rho, delta) if rho else 0.0
