"""Units that all lean the same way: what the worst release shows is what the sum of all of them shows."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Final

import numpy as np

from entwined.bounds.joint import Joint, component_joints, factors_of
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

MOST_UNITS: Final = 14
MOST_CELLS: Final = 1 << MOST_UNITS
MOST_AXES: Final = 4
MOST_TABLES: Final = 2_000
Signs = dict[int, int]


@theorem("model")
def affiliation_bound(loss: Loss, model: Coupled) -> Leakage:
    """Give the exact leakage of positively affiliated units of two values to an adversary who knows no values.

    Theorem. Let every unit have two values, which can be called 0 and 1 so that the law is positively affiliated:
    p(x ∧ y) p(x ∨ y) ≥ p(x) p(y) for all x and y. Let the mechanism have losses ε_j, and let w(x) = exp(Σ ε_j x_j).
    Then the leakage of unit i is at most the larger of log E[w | x_i = 1] / E[w | x_i = 0] and log E[1/w | x_i = 0] /
    E[1/w | x_i = 1]; and there are mechanisms with these losses that reach it, such as one that says yes with a chance
    in proportion to w.

    Checked. Each factor of the model is affiliated, checked in fractions, after values were renamed so that as many
    are as can be; no more than 14 units depend on each other, and their law is multiplied out. What rounding loses is
    added.

    Trusted. The true law is the model, and the adversary knows no unit's value.

    Proof. A product of affiliated functions is affiliated. Let f be the likelihood of an output, and g = f/w: it falls
    in every x_j, because f rises by a factor of at most exp(ε_j). The law with density p·w is affiliated too, so under
    it the other units given x_i = 1 are above those given x_i = 0 (Holley 1974), and the mean of g is not larger. So
    E[f | 1] / E[f | 0] = (E[w | 1] / E[w | 0]) · (E_w[g | 1] / E_w[g | 0]) is at most the first factor. The other order
    is the same with 0 and 1 exchanged.

    Source. Ghosh and Kleinberg (2016), "Inferential Privacy Guarantees for Differentially Private Mechanisms", for one
    loss; losses that differ and renamed values are added here.
    """
    joints, signs = joints_of(model), signs_of(model)  # what is too large is refused first
    leakage = np.array(loss.per_unit, dtype=np.float64)
    for joint in joints:
        losses = loss.per_unit[list(joint.units)]
        for place, unit in enumerate(joint.units):
            if joint.law.shape[place] == 2:  # noqa: PLR2004  (a value that never occurs leaves no secret)
                leakage[unit] = max(leakage[unit], _worst(joint, losses, place, signs))
    return Leakage(round_up(leakage, 2))


def _worst(joint: Joint, losses: FloatArray, place: int, signs: Signs) -> float:
    """The larger of the two log ratios of one unit, rounding added."""
    found = 0.0
    for way in (1, -1):
        tilted = np.log(joint.law, where=joint.law > 0, out=np.full(joint.law.shape, -np.inf))
        plain = tilted
        for axis, unit in enumerate(joint.units):
            if joint.law.shape[axis] == 2:  # noqa: PLR2004
                shape = [2 if other == axis else 1 for other in range(joint.law.ndim)]
                up = np.array([0.0, way * signs[unit] * losses[axis]])
                tilted = tilted + up.reshape(shape)
        ratio = _log_odds(tilted, place) - _log_odds(plain, place)
        finite = tilted[np.isfinite(tilted)]
        lost = 8 * ULP * (joint.law.size + 256 + 4 * float(np.abs(finite).max()))
        found = max(found, abs(ratio) + lost)
    return found


def _log_odds(logs: FloatArray, place: int) -> float:
    """The log odds of a unit under a law given by logs, up to a constant."""
    one, other = np.moveaxis(logs, place, 0).reshape(2, -1)
    return _log_sum(other) - _log_sum(one)


def _log_sum(logs: FloatArray) -> float:
    most = float(logs.max())
    return most + float(np.log(np.exp(logs - most).sum()))


@lru_cache(maxsize=4)
def joints_of(model: Coupled) -> tuple[Joint, ...]:
    """The law of each component, multiplied out once."""
    return tuple(component_joints(model, MOST_UNITS, MOST_CELLS))


@lru_cache(maxsize=4)
def signs_of(model: Coupled) -> Signs:
    """Which value of each unit is called 1 (its sign) so that every factor is affiliated; refuse where none will do."""
    blocks, sizes = factors_of(model)
    if max(sizes) > 2:  # noqa: PLR2004
        raise DoesNotApply("A unit has more than two values, and affiliation is worked out for two.")
    if sum(len(block.scope) for block in blocks) > MOST_TABLES:
        raise DoesNotApply(f"The model has more than {MOST_TABLES:,} tables to check in fractions.")
    tables = [
        (
            scope,
            [[Fraction(one) for one in row] for row in table.reshape(-1, table.shape[-1]).tolist()],
            table.shape,
        )
        for block in blocks
        for scope, table in zip(block.scope.tolist(), block.table.low, strict=True)
    ]
    ties: dict[int, list[tuple[int, int]]] = {}
    for scope, rows, shape in tables:
        for one, other, sign in _leanings(scope, np.array(rows, dtype=object).reshape(shape)):
            ties.setdefault(one, []).append((other, sign))
            ties.setdefault(other, []).append((one, sign))
    return _signed(model.units, ties)


def _leanings(scope: list[int], table: FloatArray) -> Iterator[tuple[int, int, int]]:
    """Each two units of a factor with the way they lean: together, or apart; refuse those that do neither."""
    if table.ndim > MOST_AXES or (table.ndim > 2 and not all(one > 0 for one in table.ravel())):  # noqa: PLR2004
        raise DoesNotApply(
            "A table of more than two units has zeros or is large, and its leaning is not checked."
        )
    for first, second in combinations(range(table.ndim), 2):
        if table.shape[first] < 2 or table.shape[second] < 2:  # noqa: PLR2004
            continue
        rest = [range(size) for axis, size in enumerate(table.shape) if axis not in (first, second)]
        slices = np.moveaxis(table, (first, second), (-2, -1))
        gaps = [
            slices[at][0, 0] * slices[at][1, 1] - slices[at][0, 1] * slices[at][1, 0] for at in product(*rest)
        ]
        if min(gaps) < 0 < max(gaps):
            raise DoesNotApply(
                "Two units lean together or apart, as others have it: the law is not affiliated."
            )
        if any(gaps):
            yield scope[first], scope[second], 1 if max(gaps) > 0 else -1


def _signed(units: int, ties: dict[int, list[tuple[int, int]]]) -> Signs:
    """Give every unit a sign so that those that lean apart have different ones."""
    signs: Signs = {}
    for start in range(units):
        left = [] if start in signs else [start]
        signs.setdefault(start, 1)
        while left:
            unit = left.pop()
            for other, sign in ties.get(unit, ()):
                if signs.setdefault(other, 0) == 0:
                    signs[other] = sign * signs[unit]
                    left.append(other)
                elif signs[other] != sign * signs[unit]:
                    raise DoesNotApply(
                        "Around a cycle units lean apart however they are named: the law is not affiliated."
                    )
    return signs
