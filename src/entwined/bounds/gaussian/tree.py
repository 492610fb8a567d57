"""Gaussian units on a tree: one message along each edge in each direction gives the exact leakage."""

import math
from typing import NamedTuple

import numpy as np

from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import Gaussian
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, IntArray, round_up

MOST_REMAINDER = 1e-3  # of the sum of all losses, in units of their deviations


class Tree(NamedTuple):
    """Units in an order in which each comes after its parent; the root is its own parent."""

    order: IntArray
    parent: IntArray
    depth: IntArray
    strength: FloatArray
    """The size of the correlation of each unit with its parent, 0 for the root."""


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def gaussian_tree_bound(loss: Loss, model: Gaussian) -> Leakage:
    """Pass the leakage along the edges of a Gaussian tree.

    Theorem. Let the units be Gaussian on a tree or forest: every correlation is the product of the
    correlations along the path between the two units, or 0 where there is none. Let the mechanism lose ε_j
    per unit of distance of unit j, and let r_ij = |Σ_ij|/Σ_ii be the size of the regression of j on i alone.
    With messages m_{j→i} = r_ij (ε_j + Σ_{k≠i} m_{k→j}) along the edges, the leakage of unit i per unit of
    distance is ε_i + Σ_j m_{j→i}, exactly.

    Checked. Every correlation was compared with the product along its path in the tree of the strongest
    correlations. What they differ by, rounding included, is added to the bound with its worst effect, and the
    theorem refuses where that is more than a thousandth of the sum of the losses (in units of the units'
    deviations).

    Trusted. The units are jointly Gaussian with this covariance, whatever their means are.

    Proof. On a tree signs can be flipped, unit by unit from the root, until no correlation is negative;
    leakage does not change. Then the precision matrix is D (I − W) with W ≥ 0 and spectral radius of W below
    1, and the regression of the unknown units U on unit i given the known ones is β = −Q_UU⁻¹ Q_Ui = Σ_n
    W_UUⁿ W_Ui: the weights of all walks from i that stay in U. The more is unknown, the more walks there are,
    so to know nothing is worst: β_j = Σ_ji/Σ_ii, the product of the regressions along the path. Summing ε_j
    β_j over the branches of the tree is the recursion. It is exact because Σ ε_j |β_j| is (theorem "gaussian
    exact"). For the remainder: let R be the correlations of the tree and R + E the true ones, no row of |E|
    summing to more than e, and B = R_US R_SS⁻¹ for S = K and i. The true regression differs from B by (E_US −
    B E_SS)(R + E)_SS⁻¹. A row of B has length at most √q, q ≥ ‖R⁻¹‖, so no entry differs by more than e (1 +
    √q) q/(1 − qe); and on a tree q is at most the largest 1 + Σ |ρ|/(1 − |ρ|) over a unit's edges.

    Source. Gaussian belief propagation on trees; as a leakage bound new here.
    """
    correlations = model.balanced.matrix / np.sqrt(np.diagonal(model.balanced.matrix))
    correlations = correlations / np.sqrt(np.diagonal(model.balanced.matrix))[:, None]
    tree = strongest_tree(np.abs(correlations))
    remainder = effect_of(apart_from(tree, correlations), tree)
    if not remainder <= MOST_REMAINDER:
        raise DoesNotApply("The units are no Gaussian tree: a correlation is not the product along its path.")
    losses = loss.per_unit * model.scales
    total = messages(tree, losses) + remainder * losses.sum()
    return Leakage(round_up(total / model.scales, 8 * (int(tree.depth.max()) + 2) + model.units))


def strongest_tree(sizes: FloatArray) -> Tree:
    """Grow a tree from the first unit, each time by the strongest correlation that leads out of it."""
    units = len(sizes)
    order, parent, depth = (np.zeros(units, dtype=np.int64) for _ in range(3))
    strength = np.zeros(units)
    nearest, reach = np.zeros(units, dtype=np.int64), sizes[0].copy()
    reach[0] = -1.0
    for step in range(1, units):
        unit = int(np.argmax(reach))
        order[step], parent[unit], strength[unit] = unit, nearest[unit], reach[unit]
        depth[unit] = depth[parent[unit]] + 1
        better = (sizes[unit] > reach) & (reach >= 0)
        nearest[better], reach[better] = unit, sizes[unit][better]
        reach[unit] = -1.0
    return Tree(order, parent, depth, strength)


def apart_from(tree: Tree, correlations: FloatArray) -> float:
    """Bound the largest sum over a row of what correlations differ by from the products along their paths."""
    along, edges = np.eye(len(correlations)), np.ones_like(correlations)
    for step, unit in enumerate(tree.order[1:].tolist(), start=1):
        before, above = tree.order[:step], tree.parent[unit]
        along[unit, before] = along[before, unit] = correlations[unit, above] * along[above, before]
        edges[unit, before] = edges[before, unit] = edges[above, before] + 1
    rounding = 4 * ULP * (edges * np.abs(along) + np.abs(correlations))
    return float((np.abs(correlations - along) + rounding).sum(axis=1).max())


def effect_of(apart: float, tree: Tree) -> float:
    """Bound what correlations that are `apart` from a tree's can add to any regression coefficient."""
    units = len(tree.order)
    slack = tree.strength / np.maximum(1 - tree.strength - 8 * ULP, ULP)
    inverse = float((1 + slack + np.bincount(tree.parent, weights=slack, minlength=units)).max())
    room = 1 - 1.01 * inverse * apart
    if room <= 0:
        return math.inf
    return 1.01 * apart * (1 + math.sqrt(inverse)) * inverse / room  # 1 % covers the rounding of these lines


def messages(tree: Tree, losses: FloatArray) -> FloatArray:
    """Sum the losses as seen from each unit, weakened along each edge: from leaves to root, then back."""
    order, parent, strength = tree.order.tolist(), tree.parent.tolist(), tree.strength.tolist()
    below = losses.tolist()
    for unit in reversed(order[1:]):
        below[parent[unit]] += strength[unit] * below[unit]
    whole = below.copy()
    for unit in order[1:]:
        behind = max(whole[parent[unit]] - strength[unit] * below[unit], 0.0)
        whole[unit] = below[unit] + strength[unit] * behind
    return np.array(whole)
