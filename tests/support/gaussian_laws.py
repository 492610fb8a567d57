"""Gaussian laws to try, and their leakage in exact fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np

from entwined.bounds.gaussian import (
    gaussian_exact_bound,
    gaussian_influence_bound,
    gaussian_tree_bound,
    gaussian_variance_bound,
    gaussian_walk_bound,
    weak_correlation_bound,
)
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.oracle import gaussian_factor

KNOWN_COVARIANCE = (
    gaussian_exact_bound,
    gaussian_tree_bound,
    gaussian_walk_bound,
    gaussian_influence_bound,
    gaussian_variance_bound,
    weak_correlation_bound,
)


def equicorrelated(units, rho):
    return np.full((units, units), float(rho)) + (1.0 - rho) * np.eye(units)


def autoregression(units, phi):
    steps = np.arange(units)
    return float(phi) ** np.abs(steps[:, None] - steps)


def random_tree(rng, units, most=0.97):
    table = np.eye(units)
    for unit in range(1, units):
        parent, rho = rng.integers(unit), rng.uniform(-most, most)
        table[unit, :unit] = table[:unit, unit] = rho * table[parent, :unit]
    return table


def with_deviations(table, deviations):
    return table * deviations * deviations[:, None]


def as_correlation(table):
    deviations = np.sqrt(np.diagonal(table))
    return table / deviations / deviations[:, None]


def draw_correlation(rng, kind, units):
    if kind == "strong":
        wide = rng.standard_normal((units, units + 1))
        return as_correlation(wide @ wide.T)
    if kind == "weak":
        return random_correlation(rng, units, 0.9 / units)
    if kind == "tree":
        return random_tree(rng, units)
    if kind == "attractive":
        precision = np.abs(rng.standard_normal((units, units)))
        precision = -(precision + precision.T)
        np.fill_diagonal(precision, 0.0)
        np.fill_diagonal(precision, 1.1 * np.abs(precision).sum(axis=1))
        return as_correlation(np.linalg.inv(precision))
    direction = rng.standard_normal(units)  # nearly one number behind all units
    return as_correlation(np.outer(direction, direction) + 10 ** rng.uniform(-5, -1) * np.eye(units))


def random_correlation(rng, units, most):
    upper = np.triu(rng.uniform(-most, most, (units, units)), 1)
    return upper + upper.T + np.eye(units)


def draw_losses(rng, units):
    losses = 10 ** rng.uniform(-2, 0.5, units)
    losses[rng.random(units) < 0.15] = 0.0
    return np.ones(units) if rng.random() < 0.3 else losses


KINDS = ("strong", "weak", "tree", "attractive", "nearly one")


def draw(rng, kind, units):
    deviations = 10 ** rng.uniform(-2, 2, units)
    return with_deviations(draw_correlation(rng, kind, units), deviations), draw_losses(rng, units)


def drawn(count, seed, sizes):
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        yield kind, *draw(rng, kind, int(rng.choice(sizes)))


def exact_factors(covariance, losses):
    return np.array([gaussian_factor(covariance, losses, unit) for unit in range(len(losses))])


def said(theorem, losses, model):
    try:
        return theorem(Loss.of(losses), model).per_unit
    except DoesNotApply:
        return None


def solved(matrix, right):
    """Gauss and Jordan in fractions."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for pivot in range(len(rows)):
        rows[pivot] = [entry / rows[pivot][pivot] for entry in rows[pivot]]
        for other in range(len(rows)):
            if other != pivot:
                factor = rows[other][pivot]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    return [row[-1] for row in rows]


def fraction_factor(covariance, losses, unit):
    """The exact leakage of the very floats that were given: regress x_i and U on K, in fractions."""
    table = [[Fraction(float(entry)) for entry in row] for row in covariance]
    loss = [Fraction(float(entry)) for entry in losses]
    others, worst = [j for j in range(len(loss)) if j != unit], Fraction(0)
    for known in (k for count in range(len(others) + 1) for k in combinations(others, count)):
        given = [unit, *known]
        inner = [[table[a][b] for b in given] for a in given]
        column = solved(inner, [Fraction(int(place == 0)) for place in range(len(given))])
        slopes = (sum(table[j][s] * c for s, c in zip(given, column, strict=True)) for j in others)
        moved = (loss[j] * abs(s) for j, s in zip(others, slopes, strict=True) if j not in known)
        worst = max(worst, loss[unit] + sum(moved))
    return worst


def nearly_singular(rng, units):
    """A law whose last unit the others determine up to one part in 10³ to 10¹¹ of its variance."""
    table = draw_correlation(rng, "strong", units - 1)
    weights = rng.standard_normal(units - 1)
    link = table @ weights
    whole = np.block([[table, link[:, None]], [link, np.array(weights @ link)]])
    whole[-1, -1] *= 1 + 10 ** rng.uniform(-11, -3)
    return with_deviations(as_correlation(whole), 10 ** rng.uniform(-3, 3, units))


def fraction_inverse(matrix):
    rows = [[Fraction(float(entry)) for entry in row] for row in matrix]
    places = range(len(rows))
    return [solved(rows, [Fraction(int(row == column)) for row in places]) for column in places]


def members(rng, low, high, count):
    """Positive definite tables inside the box: corners, points on the way to them, and anything between."""
    units = len(low)
    for number in range(count):
        corner = rng.random((units, units)) < 0.5
        table = np.where(corner, low, high) if number % 3 else rng.uniform(low, high)
        table = np.triu(table, 1) + np.triu(table, 1).T + np.eye(units)
        middle = (low + high) / 2
        for share in (1.0, 0.9, 0.7, 0.5):
            inside = middle + share * (table - middle)
            np.fill_diagonal(inside, 1.0)
            if np.linalg.eigvalsh(inside)[0] > 1e-6:
                yield inside
                break


def box_of(rng, units, kind):
    if kind == "around a law":
        centre = draw_correlation(rng, "strong", units) * 0.9 + 0.1 * np.eye(units)
        width = rng.uniform(0, 0.05, (units, units))
        low, high = centre - width, centre + width
    else:
        high = rng.uniform(0, 1.3 / (units - 1), (units, units))
        low = -high if kind == "either sign" else high * rng.uniform(-1, 1, (units, units))
    low, high = (np.triu(table, 1) + np.triu(table, 1).T + np.eye(units) for table in (low, high))
    return tuple(np.where(np.eye(units) > 0, 1.0, np.clip(table, -0.95, 0.95)) for table in (low, high))
