"""The search for Markov quilts on networks and fields with cycles: all sets of units, or what lies around a unit."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Final

import numpy as np

from entwined.bounds.joint import Joint, component_joints, factors_of
from entwined.bounds.kernel import TOO_SMALL
from entwined.bounds.shown_ratios import shown_ratios
from entwined.dependence import Coupled
from entwined.errors import BadInput, DoesNotApply, Refused
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, IntArray, round_up

ALL_SETS: Final = 8  # units of a component beside the secret one, up to which every set is tried
MOST_TOGETHER: Final = 16_384  # joint values of a component that is multiplied out whole
MOST_UNITS: Final = 64  # beyond, nothing is searched
MOST_SHOWN: Final = 4_096  # joint values of a secret and the units of a quilt
FARTHEST: Final = 3  # factors between a secret and a quilt in a larger component
Quilt = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class UnitQuilts:
    """The quilts of one unit: which units each leaves inside (rows), and what it shows of each pair of values."""

    inside: FloatArray
    shown: FloatArray

    def leakage(self, losses: FloatArray) -> float:
        """Give the worst pair of values, each with its best quilt."""
        costs = round_up(self.inside @ losses, losses.size)[:, None, None] + self.shown
        secret = ~np.eye(self.shown.shape[1], dtype=bool)
        return float(costs.min(axis=0).max(initial=0.0, where=secret))


def network_quilt_leakage(loss: Loss, model: Coupled) -> FloatArray:
    """For each unit the worst pair of values, each pair with its best quilt."""
    each = quilts_of_units(model)
    return round_up(np.array([quilts.leakage(loss.per_unit) for quilts in each]), 4)


@lru_cache(maxsize=4)
def quilts_of_units(model: Coupled) -> tuple[UnitQuilts, ...]:
    """Keep what quilts show: it does not depend on the losses, so calibration asks for it once."""
    if model.units > MOST_UNITS:
        raise DoesNotApply(f"Quilts are searched among {MOST_UNITS} units at most. The messages cover more.")
    if is_forest(model):
        raise DoesNotApply("A tree or forest has quilts of its own. The tree quilt theorem covers it.")
    blocks, sizes = factors_of(model)
    beside = neighbours(model.units, [scope for block in blocks for scope in block.scope.tolist()])
    error = 4 * ULP * (2 * sum(len(block.scope) for block in blocks) + sum(sizes) + 8)
    laws = small_laws(model)
    return tuple(searched(model, unit, beside, laws.get(unit), error) for unit in range(model.units))


def is_forest(model: Coupled) -> bool:
    """Whether units depend on each other in pairs without a cycle."""
    binding = model.couplings.binding
    if not binding.pairwise:
        return False
    pairs = np.unique(np.sort(binding.unit.reshape(-1, 2), axis=1), axis=0)
    return len(pairs) == model.units - np.unique(binding.components).size


def small_laws(model: Coupled) -> dict[int, Joint]:
    """Give each unit the whole law of its component, if all are small."""
    sizes, labels = np.array(factors_of(model)[1]), model.couplings.components
    cells = np.bincount(labels, np.log(sizes))
    if cells.max() > np.log(MOST_TOGETHER):
        return {}
    joints = component_joints(model, MOST_UNITS, MOST_TOGETHER)
    return {unit: joint for joint in joints for unit in joint.units}


def neighbours(units: int, scopes: list[list[int]]) -> list[set[int]]:
    """Give each unit those that share a factor with it."""
    beside: list[set[int]] = [set() for _ in range(units)]
    for scope in scopes:
        for unit in scope:
            beside[unit].update(other for other in scope if other != unit)
    return beside


def searched(
    model: Coupled, unit: int, beside: list[set[int]], whole: Joint | None, error: float
) -> UnitQuilts:
    """Try the quilts of one unit; the empty one, which leaves its component inside, is among them."""
    labels = model.couplings.components
    component = np.flatnonzero(labels == labels[unit])
    inside, shown = [component], [np.zeros((values_of(model, unit, whole),) * 2)]
    for cut, near in tried(unit, component, beside):
        try:
            weights = law_of(model, (unit, *cut), whole)
        except Refused:
            continue  # too wide to sum out: one quilt fewer
        inside.append(near)
        shown.append(shown_ratios(weights, error))
    rows = np.zeros((len(inside), model.units))
    for row, near in zip(rows, inside, strict=True):
        row[near] = 1.0
    return UnitQuilts(rows, np.stack(shown))


def values_of(model: Coupled, unit: int, whole: Joint | None) -> int:
    """How many values of a unit are looked at."""
    return factors_of(model)[1][unit] if whole is None else whole.law.shape[whole.units.index(unit)]


def tried(unit: int, component: IntArray, beside: list[set[int]]) -> Iterator[tuple[Quilt, IntArray]]:
    """Give quilts with the units that they leave inside: all sets of few units, of more what lies around the secret."""
    others = [other for other in component.tolist() if other != unit]
    if len(others) <= ALL_SETS:
        for size in range(1, len(others) + 1):
            for cut in combinations(others, size):
                yield cut, np.setdiff1d(component, cut)
        return
    inside, edge = {unit}, beside[unit]
    for _ in range(FARTHEST):
        if edge:
            yield tuple(sorted(edge)), np.array(sorted(inside))
        inside = inside | edge
        edge = set().union(*(beside[other] for other in edge)) - inside


def law_of(model: Coupled, units: Quilt, whole: Joint | None) -> FloatArray:
    """Give the joint chances of a secret (rows) and of a quilt's units (columns), up to a constant."""
    if whole is not None:
        places = [whole.units.index(unit) for unit in units]
        gone = tuple(place for place in range(whole.law.ndim) if place not in places)
        law = np.asarray(whole.law.sum(axis=gone).transpose(np.argsort(np.argsort(places))))
        return law.reshape(law.shape[0], -1)
    sizes = factors_of(model)[1]
    if prod(sizes[unit] for unit in units) > MOST_SHOWN:
        raise Refused(f"A quilt of {len(units)} units has too many joint values to look at.")
    with np.errstate(under="raise", over="raise"):
        try:
            law = model.member().joint(units, {})
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None
        except BadInput as reason:  # nothing can happen
            raise DoesNotApply(str(reason)) from None
    return law.reshape(law.shape[0], -1)
