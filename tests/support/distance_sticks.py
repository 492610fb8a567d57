"""The exact leakage by distance of a few people in a small city: a mechanism that reaches it, by a linear program."""

from itertools import product

import numpy as np
from scipy.optimize import linprog


def city_joint(units, ties, factor):
    """The law of people's cells: a factor for each tie, one axis a person."""
    joint = np.ones((len(factor),) * units)
    for first, second in ties:
        shape = [1] * units
        shape[first] = shape[second] = len(factor)
        joint = joint * (factor if first < second else factor.T).reshape(shape)
    return joint / joint.sum()


def reached(joint, rates, distances, unit, a, b):
    """How much a mechanism can tell two cells of a unit apart: allowed likelihoods, mended, and what they reach."""
    p, q = (np.take(joint, value, axis=unit).ravel() for value in (a, b))
    p, q = p / p.sum(), q / q.sum()
    others = [rate for place, rate in enumerate(rates) if place != unit]
    cells = np.array(list(product(range(len(distances)), repeat=len(others))))
    apart = sum(rate * distances[np.ix_(cells[:, k], cells[:, k])] for k, rate in enumerate(others))
    rows, columns = np.nonzero(~np.eye(len(cells), dtype=bool))
    limits = np.zeros((len(rows), len(cells)))
    limits[np.arange(len(rows)), rows] = 1.0
    limits[np.arange(len(rows)), columns] = -np.exp(apart[rows, columns])
    found = linprog(-p, A_ub=limits, b_ub=np.zeros(len(rows)), A_eq=q[None], b_eq=[1.0], method="highs")
    best = np.maximum(found.x, found.x.max() * np.exp(-apart.max()) * 0.5)
    allowed = np.min(best[None, :] * np.exp(apart), axis=1)  # obeys every limit
    return rates[unit] * distances[a, b] + float(np.log(p @ allowed) - np.log(q @ allowed))
