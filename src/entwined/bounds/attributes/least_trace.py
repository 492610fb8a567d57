"""Several answers that leave together: the least noise, in total variance, that keeps a secret for all of them at once.

**Theorem.** Let the answers be jointly normal given each point of a secret, with the same covariance C, and means that
differ by v. With independent Gaussian noise of covariance N they keep (ε, δ) if vᵀ(N + C)⁻¹v ≤ μ² for every v and C of
the class, μ being the largest shift, in deviations, of Gaussian noise with ε at δ. Proof. The best test looks along
(N + C)⁻¹v alone, where the two laws are normal with the same variance. ∎

The condition says N ⪰ vvᵀ/μ² − C. For one v and C the least trace of such an N ⪰ 0 is that of the positive part of the
right side, of rank one: noise along a single direction. Noise that is drawn for each answer by itself is
diagonal; vᵀ(N + C)⁻¹v is convex in N, so the least diagonal one is found by a convex solver and verified afterwards.
"""

from collections.abc import Sequence
from itertools import permutations, product
from typing import Final

import numpy as np

from entwined.errors import Refused, Unreachable
from entwined.numbers import FloatArray

MARGIN: Final = 1e-9
MOST_SHIFTS: Final = 4096
FEW: Final = 5
Case = tuple[FloatArray, FloatArray]
"""A difference of means, and the covariance that the answers have by themselves."""


def corners(lows: Sequence[float], highs: Sequence[float]) -> list[FloatArray]:
    """The corners of a box of differences, one of each with its mirror image: a convex form is largest there."""
    ends = [sorted({low, high}) for low, high in zip(lows, highs, strict=True)]
    total = int(np.prod([len(one) for one in ends]))
    if total > MOST_SHIFTS:
        raise Refused(
            f"A class with {total:,} corners. Ask for fewer answers at once, or declare exact slopes."
        )
    found: list[FloatArray] = []
    for corner in product(*ends):
        vector = np.array(corner)
        if not any(np.array_equal(vector, -other) for other in found):
            found.append(vector)
    return found


def strain(cases: Sequence[Case], noise: FloatArray) -> float:
    """The largest vᵀ(N + C)⁻¹v, rounded up; infinite where a direction has no spread."""
    worst = 0.0
    for shift, own in cases:
        if not shift.any():
            continue
        values, vectors = np.linalg.eigh(noise + own)
        along = vectors.T @ shift
        floor = max(values.max(), 0.0) * 1e-13
        kept = values > floor
        if (np.abs(along[~kept]) > 1e-12 * np.abs(shift).max()).any():
            return np.inf
        worst = max(worst, float(np.sum(along[kept] ** 2 / values[kept])))
    return worst * (1 + MARGIN)


def least_trace(cases: Sequence[Case], mu: float) -> FloatArray:
    """A noise covariance of least trace: exactly for one case, for several near it and never too small."""
    orders = permutations(cases) if len(cases) <= FEW else [tuple(cases)]
    found = min((_stacked(order, mu) for order in orders), key=lambda one: float(np.trace(one)))
    return _inflated(cases, mu, found)


def least_diagonal(cases: Sequence[Case], mu: float, weights: FloatArray) -> FloatArray:
    """The variances of independent noises of least weighted sum; all 0 if none is needed."""
    from scipy.optimize import NonlinearConstraint, minimize

    sides = len(weights)
    if strain(cases, np.zeros((sides, sides))) <= mu**2:
        return np.zeros(sides)
    largest = np.max([np.abs(shift) for shift, _ in cases], axis=0)
    scaled = np.sqrt(weights)
    start = largest * (largest @ scaled) / np.where(scaled > 0, scaled, 1) / mu**2  # enough without C
    unit = np.where(start > 0, start, 1.0)

    def room(x: FloatArray) -> FloatArray:
        spread = np.maximum(x, 0) * unit + 1e-12 * unit
        return np.array(
            [1 - shift @ np.linalg.solve(np.diag(spread) + own, shift) / mu**2 for shift, own in cases]
        )

    price = weights * unit / float(weights @ unit)
    solved = minimize(  # type: ignore[call-overload]  # its stubs know no settings of SLSQP
        lambda x: float(price @ x),
        np.where(start > 0, 1.0, 0.0).astype(np.float64),
        bounds=[(0.0, 2.0)] * sides,
        constraints=NonlinearConstraint(room, 0.0, np.inf),
        method="SLSQP",
        options={"maxiter": 200},
    )
    tries = [start]
    if np.isfinite(solved.x).all():
        tries.append(np.maximum(solved.x, 0.0) * unit)
    fitting = [np.diag(_inflated(cases, mu, np.diag(one))) for one in tries]
    return min(fitting, key=lambda one: float(weights @ one))


def _stacked(order: Sequence[Case], mu: float) -> FloatArray:
    """Add, case by case, what is lacking: each step dominates its case, and nothing is taken away."""
    sides = len(order[0][0])
    noise = np.zeros((sides, sides))
    for shift, own in order:
        values, vectors = np.linalg.eigh(np.outer(shift, shift) / mu**2 - own - noise)
        noise = noise + (vectors * np.maximum(values, 0.0)) @ vectors.T
    return (noise + noise.T) / 2


def _inflated(cases: Sequence[Case], mu: float, noise: FloatArray) -> FloatArray:
    """Make noise larger until it keeps what it has to, checked as it is."""
    size = max(float(np.trace(noise)), max(float(shift @ shift) for shift, _ in cases) / mu**2)
    for step in range(200):
        grown = noise * (1 + MARGIN * 2.0**step) + np.diag(
            np.where(np.diag(noise) > 0, size * 1e-12 * 2.0**step, 0.0)
        )
        if strain(cases, grown) <= mu**2:
            return np.asarray(grown)
    raise Unreachable("No noise was found that keeps the secret for all answers. Ask for fewer at once.")
