"""Small joint laws: average out one unknown unit at a time, with its exact law given the rest."""

import math
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import combinations, permutations

import numpy as np

from entwined.bounds.frontier import rising_sets
from entwined.bounds.joint import component_joints
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray

MOST_UNITS = 7
MOST_CELLS = 2_187
ALL_ORDERS = 3  # unknown units up to which every order is tried; beyond, a few good ones
SLACK = 128 * ULP  # covers the sums over at most MOST_CELLS cells and what is done with them
Sets = tuple[FloatArray, FloatArray]  # base and gain of the sets of values that can be worst
Laws = Callable[[tuple[int, ...], int, int], Sets]  # by who is gone, who is kept and who goes next


@theorem("values")
def elimination_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage in small sets of dependent units by averaging out the unknown ones, one at a time.

    Theorem. Fix the known units K. Average out the unknown units in any order: when u goes, every
    remaining unknown unit k (and the secret i) takes over ε_k ← ε_k + max T_P(ε_u), where P is the law of
    u given k and all the others that remain, T_P(L) = max over values a, b of k and sets A of log (1 +
    (e^L − 1) P(A|a)) / (1 + (e^L − 1) P(A|b)), and the maximum is over the values of the others. What ε_i
    has become in the end bounds the leakage of i to an adversary who knows K; the largest over all K
    bounds the leakage to one who knows the values of any units.

    Checked. The law is multiplied out from the model's factors; every set of known units, all values, and
    several orders are enumerated, the best order is kept, or the group of secret and unknown units where that
    is less, and every operation is rounded up.

    Trusted. The true law is the model. The adversary knows the values of some other units and nothing of the
    rest: who knows something about a value but not the value, such as a set that it is in, may learn more.

    Proof. Let f be the likelihood of an output, and f̄ its mean over u given all the others. By the tower
    rule f and f̄ have the same mean given x_i and x_K. Along k, log f̄ moves by at most ε_k for f itself
    and by T_P(ε_u) for the change of u's law, since the worst function of u with log range ε_u takes two
    values. When all unknown units are gone, f̄ is the likelihood given x_i and x_K. Where the law has
    zeros, mix in a little of the product of the marginals and let it vanish: a row without mass then
    shows the marginal of u.

    Source. New here; T_P as in Cao et al. (2017).
    """
    return eliminated(loss, model, hidden=False)


@theorem("model")
def elimination_without_knowledge_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage in small sets of dependent units to an adversary who knows no values.

    Theorem. Average out all other units in any order, as in elimination; what the loss of the secret unit
    has become in the end bounds its leakage to an adversary who knows the law but no values.

    Checked. The law is multiplied out from the model's factors; several orders are tried, the best is
    kept, and every operation is rounded up.

    Trusted. The true law is the model, and the adversary knows no unit's value.

    Proof. It is the case K = ∅ of elimination.

    Source. New here; T_P as in Cao et al. (2017).
    """
    return eliminated(loss, model, hidden=True)


def eliminated(loss: Loss, model: Coupled, *, hidden: bool) -> Leakage:
    """Go through the components; `hidden` says that nothing is known."""
    leakage = np.array(loss.per_unit)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for units, laws in component_laws(model):
            losses = loss.per_unit[list(units)]
            for place, unit in enumerate(units):
                leakage[unit] = worst_case(laws, losses, place, hidden=hidden)
    return Leakage(leakage)


@lru_cache(maxsize=1)
def component_laws(model: Coupled) -> list[tuple[tuple[int, ...], Laws]]:
    """The units and laws of each component: both theorems and every loss ask for the same."""
    joints = component_joints(model, MOST_UNITS, MOST_CELLS)
    return [(joint.units, laws_of(joint.law)) for joint in joints]


def worst_case(laws: Laws, losses: FloatArray, secret: int, *, hidden: bool) -> float:
    """The leakage of one unit, over all sets of unknown units."""
    others = [place for place in range(len(losses)) if place != secret]
    worst = float(losses[secret])
    for size in range(len(others), len(others) - 1 if hidden else 0, -1):
        for unknown in combinations(others, size):
            group = float(losses[[secret, *unknown]].sum()) * (1 + len(losses) * ULP)
            if group > worst:  # an order that gives more than the group is not needed
                worst = max(worst, min(group, best_order(laws, losses, secret, unknown, worst)))
    return worst


def best_order(laws: Laws, losses: FloatArray, secret: int, unknown: tuple[int, ...], enough: float) -> float:
    """The least that some order of elimination gives; less than `enough` need not be known exactly."""
    best = np.inf
    for order in orders(unknown, losses):
        best = min(best, last_loss(laws, losses, secret, order))
        if best <= enough:
            break
    return float(best)


def orders(unknown: tuple[int, ...], losses: FloatArray) -> Iterator[tuple[int, ...]]:
    """Orders of elimination to try."""
    if len(unknown) <= ALL_ORDERS:
        yield from permutations(unknown)
        return
    rising = tuple(sorted(unknown, key=lambda place: float(losses[place])))
    for shift in range(len(rising)):
        yield rising[shift:] + rising[:shift]
    yield rising[::-1]


def last_loss(laws: Laws, losses: FloatArray, secret: int, order: tuple[int, ...]) -> float:
    """What the secret's loss has become when all the unknown units are averaged out in this order."""
    loss = losses.tolist()
    for step, going in enumerate(order):
        gone = tuple(sorted(order[:step]))
        for kept in (secret, *order[step + 1 :]):
            loss[kept] = (loss[kept] + passed_on(laws(gone, kept, going), loss[going])) * (1 + 2 * ULP)
    return float(loss[secret])


def passed_on(sets: Sets, loss: float) -> float:
    """The largest T_P(ε) of the law of one unit given another, over all values of the rest."""
    base, gain = sets
    lowest, rest = math.exp(-loss), -math.expm1(-loss)
    best = float((gain * rest / (lowest + base * rest)).max(initial=0.0))
    return min(math.log1p(best) * (1 + 16 * ULP), loss)


def laws_of(law: FloatArray) -> Laws:
    """The law of a unit given another, whoever is gone already; each is worked out once for all orders and secrets."""

    @cache
    def left(gone: tuple[int, ...]) -> FloatArray:
        return left(gone[:-1]).sum(axis=gone[-1], keepdims=True) if gone else law

    @cache
    def sets(gone: tuple[int, ...], kept: int, going: int) -> Sets:
        return worst_sets(np.moveaxis(left(gone), (kept, going), (-2, -1)))

    return sets


def worst_sets(rows: FloatArray) -> Sets:
    """The sets that can be worst, of a law whose last axis goes and whose last but one is kept."""
    marginal = rows.sum(axis=tuple(range(rows.ndim - 1)))
    rows = rows.reshape(-1, *rows.shape[-2:])
    mass = rows.sum(axis=-1, keepdims=True)
    kernels = np.where(mass > 0, rows / np.where(mass > 0, mass, 1.0), marginal / marginal.sum())
    above, below = kernels[:, :, None] * (1 + SLACK), kernels[:, None] * (1 - SLACK)
    gap, own = above - below, np.arange(kernels.shape[1])
    gap[:, own, own] = 0.0  # a value is no secret against itself
    base, gain = rising_sets(gap, above, below)
    return base[gain > 0], gain[gain > 0]
