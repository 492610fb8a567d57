"""Gaussian units in weighted sums with Gaussian noise: what is not known of the others is noise too."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.gaussian.distances import EXACTLY_OR_NOT
from entwined.bounds.gaussian.knowledge import (
    KnownSets,
    LawsAround,
    components,
    known_sets,
    regressions,
)
from entwined.bounds.gaussian.series import MOST_UNITS, NEARLY_SINGULAR
from entwined.bounds.noisy_linear import NoisyLinear
from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta
from entwined.bounds.theorem import Secret, theorem
from entwined.dependence.gaussian import Gaussian
from entwined.errors import DoesNotApply
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray, IntArray, round_up, round_up_float

MOST_SETS: Final = 2**12
MOST_TOGETHER: Final = 64
MOST_WEIGHTS: Final = 1_000_000
FARTHEST: Final = 0.01  # of the noise: a covariance of the answers that is not known better is not used
TOO_SHARP: Final = (
    "The noise is too small beside the spread of the values for floating point. Add more noise."
)
WITHIN_A_DISTANCE: Final = Secret(
    between="any two values of any one unit at most the stated distance apart",
    trusted="The leakage is that of values at most the stated distance apart; for values further apart it is larger, "
    "and an ε at one δ is not proportional to the distance.",
)
UNCLIPPED: Final = (
    "The values enter the sums as they are: clipping them would change their spread and what they move."
)


@theorem("model", secret=WITHIN_A_DISTANCE, trusted=UNCLIPPED)
def noisy_linear_without_knowledge_bound(release: NoisyLinear, model: Gaussian) -> Leakage:
    """Find exactly what noisy sums of Gaussian values show to one who knows no values: their spread is noise.

    Theorem. Let the units be Gaussian with covariance R, and let the release be Y = AX + Gaussian noise of
    covariance N, independent of X. Let g = A R e_i / R_ii and C = N + A R Aᵀ − R_ii g gᵀ. Then for two values of unit i
    that are d apart, the largest Pr[Y ∈ S | x_i = a] − e^ε Pr[Y ∈ S | x_i = b] is exactly that of Gaussian noise whose
    centre moves by μ = d √(gᵀ C⁻¹ g) deviations, and the leakage is its ε at δ.

    Checked. The covariance is positive definite. All rounding, of C and of the solution of C w = g, is bounded by
    multiplying back and added; where it is more than a hundredth of the noise the theorem refuses.

    Trusted. The adversary knows no unit's value: one who does can learn more. The units are jointly Gaussian
    with this covariance, whatever their means are.

    Proof. Given x_i the others are Gaussian with mean β x_i plus a constant, β_j = R_ji/R_ii, and a covariance that
    does not depend on x_i. So Y given x_i is Gaussian with mean g x_i plus a constant, because A (e_i + β) = g, and
    covariance C. Two Gaussian laws of one covariance C whose means are d g apart differ only along C⁻¹g, where they
    are normal laws μ deviations apart; it grows with d.

    Source. The Gaussian mechanism (Balle, Wang 2018) with the spread of the data counted as in attribute privacy
    (Zhang, Ohrimenko, Cummings 2022); for rows new here.
    """
    matrix, scales = model.balanced
    if model.units > MOST_UNITS or len(release.weights) * model.units > MOST_WEIGHTS:
        raise DoesNotApply(f"Weights for {model.units} units in {len(release.weights)} answers are too many.")
    moved = release.moved * scales
    rounding, own = (2 * model.units + 8) * ULP, np.diagonal(matrix)
    sizes = np.abs(moved) @ np.abs(matrix)
    across, spread = moved @ matrix, moved @ matrix @ moved.T
    per_pair = rounding * (sizes @ np.abs(moved).T)
    seen = np.zeros(model.units)
    for unit in range(model.units):
        column = across[:, [unit]]
        told = AnswerLaws(
            column / own[unit],
            rounding * sizes[:, [unit]] / own[unit],
            spread - column @ column.T / own[unit],
            per_pair + 4 * rounding * sizes[:, [unit]] @ sizes[:, [unit]].T / own[unit],
        )
        seen[unit] = shifts(AnswerLaws(*(part[None] for part in told)))[0, 0]
    return epsilons(seen / scales, release)


@theorem("any", secret=WITHIN_A_DISTANCE, trusted=f"{UNCLIPPED} {EXACTLY_OR_NOT}")
def noisy_linear_bound(release: NoisyLinear, model: Gaussian) -> Leakage:
    """Find exactly what noisy sums of Gaussian values show, by trying every set of known units.

    Theorem. Let the units be Gaussian, and let the release be Y = AX + Gaussian noise of covariance N, independent
    of X. Let K be known, U the other units but i, β the regression of U on unit i given K, g = A (e_i + β) and C =
    N + A Cov(X_U | x_i, x_K) Aᵀ. Then for two values of unit i that are d apart and known values of K, the largest
    Pr[Y ∈ S | x_i = a, x_K] − e^ε Pr[Y ∈ S | x_i = b, x_K] is exactly that of Gaussian noise whose centre moves by
    d √(gᵀ C⁻¹ g) deviations. The leakage is the ε at δ of the largest such shift over all K. Units of groups
    independent of i's are all known in the worst case, and of units that can be swapped it matters only how many
    are: with equal weights, variances v and covariances c ≥ 0, if k are known and u not, the answers move by 1 +
    uc/(v + kc) times what one unit moves, and Var(Σ x_U | x_i, x_K) = u (v − c)(1 + uc/(v + kc)).

    Checked. The covariance is positive definite. Units are independent, or can be swapped, where the covariances and
    weights say so exactly. All rounding is bounded by multiplying back and added; where it is more than a hundredth of
    the noise the theorem refuses. There are no more than 4,096 sets to try (any 12 units), of no more than 64 units, or
    all units of a group can be swapped and none has a negative correlation.

    Trusted. The units are jointly Gaussian with this covariance, whatever their means are.

    Proof. Given x_i and x_K the law of x_U is Gaussian, with mean β x_i plus a constant and a covariance that does
    not depend on x_i, so Y is Gaussian with mean g x_i plus a constant and covariance C; what is known moves Y by a
    constant. Two Gaussian laws of one covariance whose means are d g apart are, along C⁻¹g, normal laws that many
    deviations apart. To know a unit that is independent of unit i, given the rest, leaves g as it is and makes C
    smaller. A swap that changes neither covariances nor weights changes no shift.

    Source. The Gaussian mechanism (Balle, Wang 2018) with the spread of the unknown counted as noise; new here.
    """
    matrix, scales = model.balanced
    if len(release.weights) * model.units > MOST_WEIGHTS:
        raise DoesNotApply(f"Weights for {model.units} units in {len(release.weights)} answers are too many.")
    moved = release.moved * scales
    seen, found = np.zeros(model.units), dict[bytes, FloatArray]()
    for group in components(matrix != 0):
        own, weights = matrix[np.ix_(group, group)], moved[:, group]
        key = own.tobytes() + weights.tobytes()
        if key not in found:
            found[key] = worst_shifts(own, weights)
        seen[group] = found[key]
    return epsilons(seen / scales, release)


class AnswerLaws(NamedTuple):
    """What answers with noise of deviation 1 tell of each unit of each set: g, the spread, and their errors."""

    moved: FloatArray
    moved_error: FloatArray
    spread: FloatArray
    spread_error: FloatArray


def shifts(told: AnswerLaws) -> FloatArray:
    """Bound √(gᵀ C⁻¹ g), C the spread and 1 on its diagonal, for each column g of each set.

    With w near C⁻¹g and r = g − Cw it is gᵀw + wᵀr + rᵀC⁻¹r. Both C and the true one are at least 1, but for the
    error η of the spread, so the true square is at most 1/(1 − η/(1 − η)) times it, and an error of g adds no more than
    its length.
    """
    moved, answers = told.moved, told.moved.shape[1]
    rounding = (answers + 8) * ULP
    spread = (told.spread + np.swapaxes(told.spread, 1, 2)) / 2
    whole = spread + np.eye(answers)
    off = told.spread_error + 4 * ULP * (np.abs(spread) + np.eye(answers))
    eta = np.maximum(off.sum(axis=1).max(axis=1), off.sum(axis=2).max(axis=1)) * (1 + rounding)
    if not (eta < FARTHEST).all():
        raise DoesNotApply(TOO_SHARP)
    solved = np.linalg.solve(whole, moved)
    sizes = np.abs(solved)
    rest = np.abs(moved - whole @ solved) + rounding * (np.abs(moved) + np.abs(whole) @ sizes)
    least = (1 - eta)[:, None]
    square = (solved * moved).sum(axis=1) + rounding * (sizes * np.abs(moved)).sum(axis=1)
    square = np.maximum(square, 0.0) + (sizes * rest).sum(axis=1) + (rest**2).sum(axis=1) / least
    square = square / (1 - eta / (1 - eta))[:, None]
    error = np.sqrt((told.moved_error**2).sum(axis=1))
    return round_up(np.sqrt(square) + error, 4 * answers + 32)


def worst_shifts(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    """Bound the shift of each unit of a group over all sets of known units."""
    units, alike = len(matrix), swappable(matrix, weights)
    if len(alike) == 1 and units > 1 and matrix[0, 1] >= 0:
        return np.full(units, equal_shift(float(matrix[0, 0]), float(matrix[0, 1]), weights[:, 0], units))
    sets = prod(len(some) + 1 for some in alike)
    if sets > MOST_SETS or units > MOST_TOGETHER:
        raise DoesNotApply(
            f"{units} units depend on each other and have {sets:,} sets of known ones that differ; up to {MOST_SETS:,} "
            f"sets of up to {MOST_TOGETHER} units can be tried."
        )
    law, worst = LawsAround(matrix, np.zeros_like(matrix)), np.zeros(units)
    for known in distinct_sets(alike, units):
        np.maximum.at(worst, known.inside, shifts(told_of(known, law, weights)))
    for some in alike:
        worst[some] = worst[some].max()
    return worst


def equal_shift(variance: float, joint: float, weights: FloatArray, units: int) -> float:
    """Bound the shift of a unit among others of equal weights and covariances ≥ 0, over how many are known.

    With k known and u not, the others move by β = c/(v + kc) each, and their sum varies by u (v − c)(1 + uβ).
    """
    known = np.arange(units)
    unknown = units - 1 - known
    answers = float(np.square(weights).sum())
    reach = 1 + unknown * joint / (variance + known * joint)
    spread = unknown * (variance - joint) * reach
    squares: FloatArray = answers * reach**2 / (1 + answers * spread)
    return round_up_float(float(np.sqrt(squares.max())), weights.size + 32)


def swappable(matrix: FloatArray, weights: FloatArray) -> list[IntArray]:
    """Put units together of which any two can change places, weights and covariances staying as they are."""
    kinds: list[list[int]] = []
    for unit in range(len(matrix)):
        for kind in kinds:
            first = kind[0]
            others = np.delete(np.arange(len(matrix)), [first, unit])
            if (
                matrix[first, first] == matrix[unit, unit]
                and (matrix[first, others] == matrix[unit, others]).all()
                and (weights[:, first] == weights[:, unit]).all()
            ):
                kind.append(unit)
                break
        else:
            kinds.append([unit])
    return [np.array(kind) for kind in kinds]


def distinct_sets(alike: Sequence[IntArray], units: int) -> Iterator[KnownSets]:
    """Give all sets but the empty one, of units that can be swapped the first so many, those of one size at once."""
    by_size: dict[int, list[IntArray]] = {}
    for counts in product(*(range(len(some) + 1) for some in alike)):
        inside = np.concatenate([some[:count] for some, count in zip(alike, counts, strict=True)])
        by_size.setdefault(inside.size, []).append(inside)
    for size in range(1, units + 1):
        yield known_sets(np.array(by_size[size], dtype=np.int64), units)


def told_of(known: KnownSets, law: LawsAround, weights: FloatArray) -> AnswerLaws:
    """What the answers tell of each unit of each set when the rest of the set is known."""
    inside, outside = known
    near, error, _, proved = regressions(known, law)
    if not proved.all():
        raise DoesNotApply(NEARLY_SINGULAR)
    mine, others = (np.swapaxes(weights.T[part], 1, 2) for part in (inside, outside))
    joint = law.centre[outside[:, :, None], inside[:, None, :]]
    free = law.centre[outside[:, :, None], outside[:, None, :]]
    rounding, sizes = (2 * sum(law.centre.shape) + 8) * ULP, np.abs(others)
    backed = np.abs(near) @ np.swapaxes(np.abs(joint), 1, 2)
    spread = free - near @ np.swapaxes(joint, 1, 2)
    off = error @ np.swapaxes(np.abs(joint), 1, 2) + rounding * (np.abs(free) + backed)
    return AnswerLaws(
        mine + others @ near,
        sizes @ error * (1 + rounding) + rounding * (np.abs(mine) + sizes @ np.abs(near)),
        others @ spread @ np.swapaxes(others, 1, 2),
        sizes @ off @ np.swapaxes(sizes, 1, 2) * (1 + rounding),
    )


def epsilons(shift: FloatArray, release: NoisyLinear) -> Leakage:
    """The ε at δ of shifts per unit of distance."""
    different, place = np.unique(round_up(shift * release.distance), return_inverse=True)
    found = [
        epsilon_at_delta(GaussianCurve(round_up_float(one)), release.delta) for one in different.tolist()
    ]
    return Leakage(np.array(found)[place])
