"""Gaussian units of which only the largest correlation is known: a closed form, and the published one."""

import numpy as np

from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import MaxCorrelation
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up, round_up_float

MOST_UNEVEN = 20_000  # the work below grows with its square


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def max_correlation_bound(loss: Loss, model: MaxCorrelation) -> Leakage:
    """Bound the worst law of which only the largest correlation is known.

    Theorem. Let m units be Gaussian with equal variances and no correlation above r in size, and let the
    mechanism lose ε_j per unit of distance of unit j. For k = 0 … m − 2 let T_k be the sum and Q_k the sum of
    squares of the m − 1 − k largest losses of units other than i. If (m − 2) r < 1, the leakage of unit i per
    unit of distance is at most ε_i plus the largest over k of min( T_k r/(1 − kr) , √( ((1 − r) Q_k + r T_k²)
    (1 − (k − 1) r) / ((1 + r)(1 − kr)) ) ). For equal losses and (m − 1) r ≤ 1 that is (1 + (m − 1) r) ε,
    reached by equal correlations r. If (m − 2) r ≥ 1 and m > 3, no bound holds.

    Checked. (m − 2) r is below 1 by more than rounding.

    Trusted. The units are jointly Gaussian with equal variances and no larger correlations, whatever
    their means are.

    Proof. Let K be k known units, S = K and i, and U the others. With r̄ equal to r off the diagonal, (I −
    r̄_SS)⁻¹ is (I + r J/(1 − kr))/(1 + r), J all ones, and the theorem "correlation intervals" says Σ ε_j
    |β_j| ≤ Σ_{j∈U} ε_j r/(1 − kr), and also at most the square root of its diagonal (1 − (k − 1) r)/((1 +
    r)(1 − kr)) times Σ_{j,k∈U} ε_j ε_k (r + (1 − r)[j=k]). Both grow with the losses in U, so the largest
    ones are worst. If r Σ_{j≠i} ε_j ≤ ε_i for all i, the theorem "weak correlation" says that k = 0 is worst.
    For the last claim let the m − 1 units of S have correlations −t with t → 1/(m − 2) ≤ r. Then λ = 1 − (m −
    2) t → 0 is an eigenvalue for the vector of ones. A last unit j with correlation √(λ/2(m − 1)) with each
    of them leaves the whole positive definite, and β_j = 1/√(2(m − 1) λ) → ∞.

    Source. New here; sharper than Lange et al. (2025) under the same condition.
    """
    distinct, place = distinct_losses(loss)
    total = float(loss.per_unit.sum()) if loss.common is None else loss.common * loss.units
    others = np.maximum(total - distinct, 0.0) + (
        2 * loss.units * ULP * total if loss.common is None else 0.0
    )
    moved = round_up(model.max_correlation * others)
    if not (moved <= distinct).all():
        room_left(model)
        if loss.units > MOST_UNEVEN:
            raise DoesNotApply(
                f"For {loss.units} units the losses are too uneven or the correlations too strong; "
                f"it can be computed up to {MOST_UNEVEN}."
            )
        moved = worst_count(model.max_correlation, loss, distinct)
    return Leakage(round_up(distinct + moved, 4)[place])


def distinct_losses(loss: Loss) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Give the losses that occur, and for each unit which is its own."""
    if loss.common is not None:
        return np.array([loss.common]), np.broadcast_to(np.int64(0), (loss.units,))
    distinct, place = np.unique(loss.per_unit, return_inverse=True)
    return distinct, place


def room_left(model: MaxCorrelation) -> float:
    """Give 1 − (m − 2) r, rounded down, or refuse where nothing is left."""
    room = 1 - (model.units - 2) * model.max_correlation - 4 * ULP
    if room <= 0:
        raise DoesNotApply(
            f"{model.units} units with correlations up to {model.max_correlation:g} can be nearly singular: "
            f"no bound holds. Bound the correlations below 1/{model.units - 2}, or give intervals."
        )
    return room


def worst_count(r: float, loss: Loss, own: FloatArray) -> FloatArray:
    """For each unit's own loss, what it moves when the worst number of units is known."""
    ranked = np.sort(loss.per_unit)[::-1]
    sums, squares = (np.concatenate([[0.0], np.cumsum(ranked**power)]) for power in (1, 2))
    first = loss.units - np.searchsorted(ranked[::-1], own, side="right")  # the rank of the first such loss
    rounding = 4 * loss.units * ULP
    worst = np.zeros(own.size)
    for known in range(loss.units - 1):
        unknown = loss.units - 1 - known
        counted = first < unknown  # then its own loss is among the largest, and one more takes its place
        last = unknown + counted
        total = sums[last] - counted * own + rounding * sums[last]
        square = squares[last] - counted * own**2 + rounding * squares[last]
        left = 1 - known * r - 4 * ULP
        variance = ((1 - r) * square + r * total**2) * (1 - (known - 1) * r) / ((1 + r) * left)
        worst = np.maximum(worst, np.minimum(total * r / left, np.sqrt(variance)))
    return round_up(worst, 32)


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def lange_max_correlation_bound(loss: Loss, model: MaxCorrelation) -> Leakage:
    """Bound the leakage by the published formula for a largest correlation, for comparison.

    Theorem. Let m units be Gaussian with equal variances and no correlation above ρ in size, ρ (m − 2) < 1,
    and let the mechanism lose at most ε per unit of distance of every unit. Then the leakage of every unit
    per unit of distance is at most (m²/(4(1/ρ − m + 2)) + 1) ε.

    Checked. ρ (m − 2) is below 1 by more than rounding; ε is the largest loss.

    Trusted. The units are jointly Gaussian with equal variances and no larger correlations, whatever
    their means are.

    Proof. Let k units be known, S these and unit i. In each row the correlations within S sum to at most kρ,
    so no entry of the inverse of their matrix is above 1/(1 − kρ) ≤ 1/(1 − (m − 2) ρ), and no regression
    coefficient above (k + 1) ρ/(1 − (m − 2) ρ). The m − 1 − k unknown units move by at most (k + 1)(m − 1 −
    k)/(1/ρ − m + 2) together, and (k + 1)(m − 1 − k) ≤ m²/4.

    Source. Lange, Guerra-Balboa, Parra-Arnau, Strufe, "Balancing Privacy and Utility in Correlated Data",
    PVLDB (2025).
    """
    units, rho = model.units, model.max_correlation
    factor = 1 + units**2 * rho / (4 * room_left(model))
    largest = loss.common if loss.common is not None else float(loss.per_unit.max())
    return Leakage(np.broadcast_to(np.float64(round_up_float(factor * largest, 8)), (units,)))
