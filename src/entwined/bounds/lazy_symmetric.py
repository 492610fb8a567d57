"""A closed form for chains of two states that rather stay, both alike: the chains of Chakrabarti et al."""

import math
from typing import Final

import numpy as np

from entwined.bounds.markov import stationary
from entwined.bounds.theorem import theorem
from entwined.dependence import MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, round_up

TWO: Final = 2
LARGEST: Final = 300.0  # above it exponentials leave the range of floats, and the limit is bound enough


@theorem("model", yields_to=("transport",))
def lazy_symmetric_bound(loss: Loss, model: MarkovChain) -> Leakage:
    """Bound the leakage on a chain of two states that flips either way with the same chance, in closed form.

    Theorem. Let the units be the steps of a stationary Markov chain of two states that changes its state with
    probability p, 0 < p ≤ 1/2, whichever it is. With q = (1 − p)/p, s = e^ε for the largest loss ε, and y = (q (s − 1)
    + √(q² (s − 1)² + 4s)) / 2s, for every unit i, values a and b and output set S: |log Pr[M ∈ S | x_i = a] − log Pr[M
    ∈ S | x_i = b]| ≤ ε + 2 ln y.

    Checked. There are two states, both flip with one known probability of at most 1/2, and the start is known and fair.

    Trusted. The true law is the model, and the adversary knows the value of no unit.

    Proof. Kernels are the same in both directions, and T_P(L) = ln (q e^L + 1)/(e^L + q) with the set A = {a}, for p ≤
    1/2. Messages F ← T_P(ε + F) of the theorem "transport" start at 0 and increase in F, so none is above the fixed
    point F = ln y, the root of s y² − q (s − 1) y − 1 = 0 that is positive. Smaller losses send less.

    Source. The chains are those of Chakrabarti et al. (2022), "Optimal Local Bayesian Differential Privacy over Markov
    Chains", whose mechanism reports each step by itself; the closed form, for any mechanism with these losses, is
    derived here. On chains of finite length transport says no more.
    """
    step = np.asarray(model.transition.low)
    if model.states != TWO or not model.transition.is_exact:
        raise DoesNotApply(
            "It is about chains of two states with known transitions. The messages cover others."
        )
    flip = float(step[0, 1])
    if step[0, 1] != step[1, 0] or not 0 < flip <= 1 / 2:
        raise DoesNotApply(
            "It needs a symmetric and lazy chain: both states flip with one probability above 0 and at most 1/2. "
            "The messages cover others."
        )
    if model.initial is None or not stationary(model.initial, model.transition):
        raise DoesNotApply("It needs a stationary start. Give `initial`, or use the messages.")
    largest = loss.common if loss.common is not None else float(loss.per_unit.max())
    found = largest + 2 * fixed_message(largest, (1 - flip) / flip)
    return Leakage(np.minimum(round_up(np.full(loss.units, found), 8), model.group_totals(loss)))


def fixed_message(epsilon: float, odds: float) -> float:
    """Give ln y, rounded up; it is never above ln q."""
    limit = math.log(odds) + 8 * ULP
    if epsilon > LARGEST:
        return limit
    grown = math.expm1(epsilon)
    root = (odds * grown + math.hypot(odds * grown, 2 * math.exp(epsilon / 2))) / (2 * math.exp(epsilon))
    return min(max(math.log(root), 0.0) + 32 * ULP, limit)
