"""Whole numbers of rows in atoms, none negative, whose sums are near to given estimates.

Whatever whole numbers the atoms have, their sums agree: parts are not above wholes, and what is cut into parts
is their sum. So only nearness is sought: first real numbers that are not negative, by projected Newton steps,
then whole ones beside them, then single rows are moved as long as that brings the sums nearer. Wide sets come
before the sets inside them, so that many small cells at zero do not push a total away from its estimate.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.estimate.atoms import Atoms
from entwined.estimate.projection import Incidence, incidence
from entwined.numbers import FloatArray, IntArray

FEW: Final = (
    4096  # atoms that are looked at together; from more of them those are taken that bring the sums nearer
)
MORE: Final = 256  # how many are taken at a time
WIDER: Final = 100.0  # how much more a set counts than the sets inside it
DEEPEST: Final = 3  # sets inside sets inside sets: from there on all count the same
WHOLE: Final = 100.0  # how much more the number of all rows counts than any set
RIDGE: Final = 1e-12
STEPS: Final = 60
HALVINGS: Final = 30
MOVES: Final = 20_000
TRIED: Final = 48  # atoms from which, and to which, a row may be moved next
DIGITS: Final = 9  # beyond them a fraction is the rounding of floats, which must not decide anything
FINE: Final = 12  # the same for gains, which are weighed
ENOUGH: Final = 1e-11  # a gain that is not the rounding of floats
LEAST: Final = 1e-8  # the least weight, beside a largest of 1
NOWHERE: Final = np.intp(-1)


@dataclass(frozen=True, eq=False, slots=True)
class WholeAtoms:
    """Finds numbers of rows in the atoms of one component; `weights` say how much each measured cell counts."""

    inside: Incidence
    weights: FloatArray

    @classmethod
    def of(cls, atoms: Atoms, variances: FloatArray) -> "WholeAtoms":
        """Let precise cells and wide cells count most, exact ones as the most precise noisy ones do."""
        inside = incidence(atoms)
        weights = WIDER ** -np.minimum(_depths(inside), DEEPEST) / variances
        return cls(inside, np.maximum(weights / weights.max(), LEAST))

    def near(self, estimates: FloatArray, total: int | None) -> IntArray:
        """Give whole numbers ≥ 0 whose sums are near the estimates, and which add up to a total if there is one."""
        goal = np.round(estimates, DIGITS)
        places, real = self._real(goal, total)
        inside = self.inside[:, places].astype(np.float64)
        found = np.zeros(self.inside.shape[1], dtype=np.int64)
        found[places] = _settled(_beside(real, total), inside, self.weights, goal, fixed=total is not None)
        return found

    def _real(self, goal: FloatArray, total: int | None) -> tuple[IntArray, FloatArray]:
        """Find real numbers, taking more atoms in as long as some would bring the sums nearer."""
        atoms = self.inside.shape[1]
        places = np.unique(
            np.linspace(0, atoms - 1, min(atoms, FEW // 2 if atoms > FEW else FEW)).astype(int)
        )
        roots = np.sqrt(self.weights)
        heavy = np.sqrt(WHOLE * self.weights.max())
        wanted = np.append(roots * goal, [] if total is None else [heavy * total])
        while True:
            matrix: FloatArray = roots[:, None] * self.inside[:, places].astype(np.float64)
            if total is not None:
                matrix = np.vstack([matrix, np.full(len(places), heavy)])
            real = not_negative(matrix, wanted)
            left = wanted - matrix @ real
            if len(places) in (atoms, FEW):
                return places, real
            pulls = (roots * left[: len(roots)]) @ self.inside + (0.0 if total is None else heavy * left[-1])
            pulls[places] = 0.0
            best = np.argsort(-pulls, kind="stable")[: min(MORE, FEW - len(places))]
            best = best[pulls[best] > 1e-9 * max(1.0, float(np.abs(wanted).max()))]
            if not best.size:
                return places, real
            places = np.sort(np.append(places, best))


def not_negative(matrix: FloatArray, wanted: FloatArray) -> FloatArray:
    """Find numbers ≥ 0 whose products with a matrix are nearest to what is wanted."""
    found = np.zeros(matrix.shape[1])
    ridge = RIDGE * float((matrix**2).sum(axis=0).max())
    left = wanted.copy()
    for _ in range(STEPS):
        free = (found > 0) | (matrix.T @ left > 1e-12 * max(1.0, float(np.abs(wanted).max())))
        if not free.any():
            break
        some = matrix[:, free]
        step = np.zeros(len(found))
        step[free] = some.T @ np.linalg.solve(some @ some.T + ridge * np.eye(len(wanted)), left)
        size, before = 1.0, float(left @ left)
        for _ in range(HALVINGS):
            next_ = np.maximum(found + size * step, 0.0)
            left = wanted - matrix @ next_
            if float(left @ left) < before:
                break
            size /= 2
        else:
            return found
        nearer = before - float(left @ left)
        found = next_
        if nearer <= 1e-12 * before or float(left @ left) < 1e-18 * float(wanted @ wanted):
            break
    return found


def _depths(inside: Incidence) -> IntArray:
    """Say how many wider sets, one inside the other, each set lies inside."""
    both, sizes = inside @ inside.T, inside.sum(axis=1)
    depths = np.zeros(len(sizes), dtype=np.int64)
    for place in np.argsort(-sizes, kind="stable"):
        wider = (both[place] == sizes[place]) & (sizes > sizes[place])
        depths[place] = 1 + depths[wider].max() if wider.any() else 0
    return depths


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
        take = np.where(found > 0, np.round(sizes + 2 * pulls, FINE), np.inf)
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
