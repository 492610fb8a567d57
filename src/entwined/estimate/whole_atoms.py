"""Whole numbers of rows in atoms, none negative, whose sums are near to given estimates.

Whatever whole numbers the atoms have, their sums agree: parts are not above wholes, and what is cut into parts
is their sum. So only nearness is sought: first real numbers that are not negative, then whole ones beside them,
then single rows are moved as long as that brings the sums nearer.

Rounding adds an error of its own. It is put where others took more away: a sum counts there by what agreeing has left
of its variance, so that a count of which nothing else tells keeps the number that was drawn. Where noise is seldom as
large as one row, whole numbers that agree must be further from the truth than those drawn: if one of a whole and its
two parts is off by one, nobody can tell which, and two of three ways to mend it make it worse.
"""

from dataclasses import dataclass, replace
from math import gcd
from typing import Final, NamedTuple

import numpy as np

from entwined.estimate.atoms import Atoms
from entwined.estimate.cone import nearest_not_negative
from entwined.estimate.projection import Incidence, incidence
from entwined.numbers import FloatArray, IntArray

FEW: Final = 768  # atoms that are looked at together; of more those are taken that bring sums nearer
MORE: Final = 192  # how many are taken in at a time
NO_NEARER: Final = 0.999  # what is left of the square of the distance, if taking more atoms in is of no use
NEAR: Final = 0.01  # as near as this, in rows, no more are taken in
UNUSED: Final = 1e-7  # the part of the largest number below which an atom is not needed
GOLDEN: Final = 0.618
WHOLE: Final = 100.0  # how much more the number of all rows counts than any set
MOVES: Final = 20_000
TRIED: Final = 48  # atoms from which, and to which, a row may be moved next
DIGITS: Final = 9  # beyond them a fraction is the rounding of floats, which must not decide anything
FINE: Final = 12  # the same for gains, which are weighed
ENOUGH: Final = 1e-11  # a gain that is not the rounding of floats
LEAST: Final = 1e-8  # the least weight, beside a largest of 1
TIGHT: Final = 0.01  # the part of a variance that rounding may add where agreeing took nothing away
REACHED: Final = 1e-4  # as near as this an estimate is met by real numbers, and is rounded as it is
NOWHERE: Final = np.intp(-1)
NEVER: Final = 1e30  # the gain of taking a row where there is none


class RealAtoms(NamedTuple):
    """Real numbers of rows in some atoms, and how hard they pull at the number of all rows: above 0 for more."""

    places: IntArray
    real: FloatArray
    pull: float


@dataclass(frozen=True, eq=False, slots=True)
class WholeAtoms:
    """Finds numbers of rows in the atoms of one component.

    `weights` say how much each measured cell counts while real numbers are sought, `rounding` while whole ones are.
    A weight of 1 is that of the `least` variance.
    """

    inside: Incidence
    weights: FloatArray
    rounding: FloatArray
    least: float
    variances: FloatArray

    @classmethod
    def of(cls, atoms: Atoms, variances: FloatArray, gains: FloatArray) -> "WholeAtoms":
        """Let every measured cell count by its precision, so that on the whole sums come no further from the truth.

        The truth is a sum of atoms that are not negative: the nearest such sum to an estimate is not further from it.
        `gains` have what agreeing took away from the variance of each cell: rounding may add that much.
        """
        rounding = _weights(np.maximum(gains, TIGHT * variances))
        return cls(incidence(atoms), _weights(variances), rounding, float(variances.min()), variances)

    def weighted(self, weights: FloatArray) -> "WholeAtoms":
        """Let cells give way by these weights: a cell that is almost surely empty hardly moves."""
        variances = self.variances * weights
        return replace(self, weights=_weights(variances), least=float(variances.min()))

    def whole(self, estimates: FloatArray, near: RealAtoms, total: int | None) -> IntArray:
        """Give whole numbers ≥ 0 whose sums are near the estimates, and which add up to a total if there is one."""
        found = np.zeros(self.inside.shape[1], dtype=np.int64)
        places, real, _ = near
        if not len(places):
            return found
        goal = np.round(estimates, DIGITS)
        inside = self.inside[:, places].astype(np.float64)
        sums = inside @ real
        wanted = np.where(np.abs(sums - goal) < REACHED, goal, np.round(sums, DIGITS))
        start = _beside(real, total)
        found[places] = _settled(start, inside, self.rounding, wanted, fixed=total is not None)
        return found

    def real(self, estimates: FloatArray, total: int | None) -> RealAtoms:
        """Find real numbers ≥ 0; from very many atoms only those are taken in that bring the sums nearer."""
        goal = np.round(estimates, DIGITS)
        roots = np.append(np.sqrt(self.weights), [] if total is None else [np.sqrt(WHOLE)])
        wanted = roots * np.append(goal, [] if total is None else [total])
        atoms = (
            np.arange(self.inside.shape[1]) if total is not None else np.flatnonzero(self.inside.any(axis=0))
        )
        places = atoms[_spread(len(atoms))]
        if not len(places):
            return RealAtoms(places, np.zeros(0), 0.0)
        before = np.inf
        while True:
            some = self.inside[:, places].astype(np.float64)
            rows = some if total is None else np.vstack([some, np.ones(len(places))])
            matrix = roots[:, None] * rows
            real = nearest_not_negative(matrix, wanted)
            left = wanted - matrix @ real
            now = float(left @ left)
            if len(places) == len(atoms) or np.abs(left / roots).max() < NEAR or now > NO_NEARER * before:
                return RealAtoms(places, real, self._pull(goal - some @ real, some, real, total))
            pulls = (roots * left)[: len(goal)] @ self.inside + (
                0.0 if total is None else roots[-1] * left[-1]
            )
            pulls[places] = -np.inf
            best = np.argsort(-pulls, kind="stable")[:MORE]
            places, before = np.union1d(places[real > UNUSED * real.max()], best[pulls[best] > 0]), now

    def _pull(self, off: FloatArray, inside: FloatArray, real: FloatArray, total: int | None) -> float:
        """Say how hard cells pull at the number of rows: where atoms have rows, both are in balance."""
        rows = float(real.sum())
        if total is None:
            return 0.0
        pull = real @ ((self.weights * off) @ inside) / rows if rows > 0 else -WHOLE * total
        return float(pull) / self.least


def _weights(variances: FloatArray) -> FloatArray:
    """Let what varies least count most, by 1."""
    return np.maximum(float(variances.min()) / variances, LEAST)


def _spread(atoms: int) -> IntArray:
    """Choose the atoms to begin with: all, or some that are spread over all conditions alike."""
    if atoms <= FEW:
        return np.arange(atoms)
    stride = next(step for step in range(int(GOLDEN * atoms), atoms) if gcd(step, atoms) == 1)
    return np.sort(np.arange(FEW // 3) * stride % atoms)


def _beside(real: FloatArray, total: int | None) -> IntArray:
    """Give whole numbers that have nearly the same sums over every run of neighbouring atoms."""
    ends = np.round(np.cumsum(np.round(real, DIGITS)), DIGITS)
    if total is not None:
        ends = np.minimum(ends, total)
        ends[-1] = total
    return np.asarray(np.diff(np.floor(ends + 0.5).astype(np.int64), prepend=0))


def _settled(
    found: IntArray, inside: FloatArray, weights: FloatArray, goal: FloatArray, *, fixed: bool
) -> IntArray:
    """Move rows between atoms as long as that brings the sums nearer; `fixed` keeps their number.

    To first order a row more in an atom brings the sums nearer by its pull.
    """
    pulls, sizes = (weights * (goal - inside @ found)) @ inside, weights @ inside
    for _ in range(MOVES):
        add = np.round(sizes - 2 * pulls, FINE)
        take = np.where(found > 0, np.round(sizes + 2 * pulls, FINE), NEVER)
        moves = [_best_pair(add, take, inside, weights)]
        if not fixed:
            moves += [(add.min(), add.argmin(), NOWHERE), (take.min(), NOWHERE, take.argmin())]
        gain, to, from_ = min(moves, key=lambda move: float(move[0]))
        if gain > -ENOUGH:
            break
        change = np.zeros(len(weights))
        for place, sign in ((to, 1), (from_, -1)):
            if place != NOWHERE:
                found[place] += sign
                change += sign * inside[:, place]
        pulls -= (weights * change) @ inside
    return found


def _best_pair(
    add: FloatArray, take: FloatArray, inside: FloatArray, weights: FloatArray
) -> tuple[np.float64, np.intp, np.intp]:
    """Find the best atom to take a row from together with the best to put it in."""
    to = np.argsort(add, kind="stable")[:TRIED]
    from_ = np.argsort(take, kind="stable")[:TRIED]
    shared = (inside[:, to].T * weights) @ inside[:, from_]
    gains = np.round(add[to][:, None] + take[from_] - 2 * shared, FINE)
    one, other = np.unravel_index(gains.argmin(), gains.shape)
    return gains[one, other], to[one], from_[other]
