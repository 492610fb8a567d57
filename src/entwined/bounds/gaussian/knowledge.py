"""Every set of units an adversary can know, all at once: the worst regression of what is left on the secret.

For a set S of units (the secret unit and the known ones) and the other units U, the regression of U on S is B
= R_US R_SS⁻¹, and what unit i in S moves when the rest of S is known is column i of B. A law is a centre R
and a spread e: it may differ from the centre by at most e, entry by entry. For any approximations B̂ and Â of
the centre's B and inverse,

    B − B̂ = (R_US − B̂ R_SS) R_SS⁻¹           |R_SS⁻¹| ≤ |Â| (I − f)⁻¹,   f ≥ |R_SS Â − I|

so both are bounded for every law of the class, whatever was rounded on the way to B̂ and Â. With no spread
only the rounding is left; around the centre I, with B̂ = 0 and Â = I, it is the series Σ r̄ⁿ over bounds r̄
of the correlations.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from entwined.bounds.gaussian.series import shortfall, walk_sums
from entwined.numbers import ULP, FloatArray, IntArray, round_up


class LawsAround(NamedTuple):
    """The symmetric matrices that differ from a centre by at most a spread, entry by entry."""

    centre: FloatArray
    spread: FloatArray


class KnownSets(NamedTuple):
    """Sets of one size, a set a row: the secret and known units `inside`, the unknown ones `outside`."""

    inside: IntArray
    outside: IntArray


class Regressions(NamedTuple):
    """For each set: B and how far it can be off, bounds on the diagonal of R_SS⁻¹, and whether they were proved."""

    near: FloatArray
    error: FloatArray
    inverse: FloatArray
    proved: NDArray[np.bool_]


def components(linked: NDArray[np.bool_]) -> Iterator[IntArray]:
    """Give the units that have a bearing on each other, group by group."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(csr_array(linked.astype(np.int8)), directed=False)[1]
    order = np.argsort(labels, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def worst_of_known(
    losses: FloatArray, laws: Sequence[LawsAround], sizes: FloatArray | None = None
) -> FloatArray:
    """Bound each unit's leakage over all sets of known units; infinite where nothing was proved.

    Each of `laws` holds all laws of the class, and the best of them is used for each set. `sizes`, bounds on
    the size of every entry of the matrix, adds the bound from variances: Σ ε_j |B_ji| ≤ √(ε_Uᵀ |R_UU| ε_U ·
    (R_SS⁻¹)_ii).
    """
    units = len(losses)
    moved = np.zeros(units)
    for count in range(1, units):
        known = sets_of(units, count)
        left = losses[known.outside]
        total = np.where(left.sum(axis=1) > 0, np.inf, 0.0)[:, None] * np.ones(count)
        for law in laws:
            near, error, inverse, proved = regressions(known, law)
            through = np.einsum("nu,nus->ns", left, np.abs(near) + error)
            if sizes is not None:
                across = sizes[known.outside[:, :, None], known.outside[:, None, :]]
                variance = np.einsum("nu,nuv,nv->n", left, across, left)
                through = np.minimum(through, np.sqrt(variance[:, None] * inverse))
            total = np.where(proved[:, None], np.minimum(total, through), total)
        np.maximum.at(moved, known.inside, total)
    return round_up(losses + moved, 4 * units + 8)


def sets_of(units: int, count: int) -> KnownSets:
    """Give all sets of `count` out of `units` units."""
    return known_sets(np.array(list(combinations(range(units), count)), dtype=np.int64), units)


def known_sets(inside: IntArray, units: int) -> KnownSets:
    """Put beside sets of one size the units that are not in them."""
    count = inside.shape[1]
    is_outside = np.ones((len(inside), units), dtype=bool)
    np.put_along_axis(is_outside, inside, values=False, axis=1)
    return KnownSets(inside, np.nonzero(is_outside)[1].reshape(len(inside), units - count))


def regressions(known: KnownSets, law: LawsAround) -> Regressions:
    """Find the regression of the unknown units on each set, with its distance from that of any law of the class."""
    inside, outside = known
    count, rows = inside.shape[1], inside[:, :, None]
    own, other = law.centre[rows, inside[:, None, :]], law.centre[rows, outside[:, None, :]]
    identity = np.broadcast_to(np.eye(count), own.shape)
    try:
        solved = np.linalg.solve(own, np.concatenate([other, identity], axis=2))
    except np.linalg.LinAlgError:  # then the zero matrix, whose check fails, stands for what was not solved
        solved = np.zeros((*own.shape[:2], outside.shape[1] + count))
    slopes, inverse = solved[:, :, : outside.shape[1]], solved[:, :, outside.shape[1] :]
    rounding = (count + 3) * ULP
    own_sizes, slope_sizes, inverse_sizes = np.abs(own), np.abs(slopes), np.abs(inverse)
    excess = np.abs(own @ slopes - other) + rounding * (own_sizes @ slope_sizes + np.abs(other))
    missing = shortfall(own, own_sizes, inverse)
    if law.spread.any():
        spread, spread_other = law.spread[rows, inside[:, None, :]], law.spread[rows, outside[:, None, :]]
        excess = excess + spread_other + spread @ slope_sizes
        missing = missing + spread @ inverse_sizes
    sums = walk_sums(missing * (1 + (count + 8) * ULP))
    ceiling = inverse_sizes @ np.maximum(sums.high, 0.0) * (1 + (count + 2) * ULP)
    error = ceiling @ excess * (1 + 2 * (count + 8) * ULP)
    diagonal = np.diagonal(ceiling, axis1=1, axis2=2)
    return Regressions(np.swapaxes(slopes, 1, 2), np.swapaxes(error, 1, 2), diagonal, sums.converged)
