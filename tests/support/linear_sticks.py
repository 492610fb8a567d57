"""What noisy weighted sums of Gaussian values show, exactly: the laws of the answers by other routes than the product's.

A law is a covariance, a release the weights of its answers and the deviations of their noise.
"""

from itertools import combinations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm


def answers_given(covariance, weights, deviations, inside):
    """Regress the answers on known units by a Schur complement of the joint law; give slopes and what is left."""
    joint = np.block(
        [
            [covariance, covariance @ weights.T],
            [weights @ covariance, weights @ covariance @ weights.T + np.diag(deviations**2)],
        ]
    )
    units, inside = len(covariance), list(inside)
    answers = list(range(units, len(joint)))
    slopes = np.linalg.solve(joint[np.ix_(inside, inside)], joint[np.ix_(inside, answers)]).T
    return slopes, joint[np.ix_(answers, answers)] - slopes @ joint[np.ix_(inside, answers)]


def shift(covariance, weights, deviations, unit, known):
    """By precisions: those of x_i given what is known, with the answers and without, differ by the shift's square."""
    scaled, precision = weights / deviations[:, None], np.linalg.inv(covariance)
    free = [j for j in range(len(covariance)) if j != unit and j not in known]

    def left(matrix):
        inner = np.linalg.solve(matrix[np.ix_(free, free)], matrix[free, unit]) if free else np.zeros(0)
        return matrix[unit, unit] - matrix[unit, free] @ inner

    return np.sqrt(max(left(precision + scaled.T @ scaled) - left(precision), 0.0))


def worst_shift(covariance, weights, deviations, unit, knowledge):
    """The largest over all sets of known units, or if none is known."""
    others = [j for j in range(len(covariance)) if j != unit]
    sizes = range(len(covariance)) if knowledge == "any" else [0]
    return max(
        shift(covariance, weights, deviations, unit, known)
        for c in sizes
        for known in combinations(others, c)
    )


def delta_of(moved, epsilon):
    """The δ of Gaussian noise of deviation 1 whose centre moves."""
    return norm.sf(epsilon / moved - moved / 2) - np.exp(epsilon + norm.logsf(epsilon / moved + moved / 2))


def epsilon_of(moved, delta):
    """Its ε at δ."""
    if moved == 0 or delta_of(moved, 0.0) <= delta:
        return 0.0
    return brentq(
        lambda at: delta_of(moved, at) - delta, 0.0, moved * (moved / 2 + 9), xtol=1e-14, rtol=1e-14
    )


def summed_stick(covariance, weights, deviations, secret, epsilon, cells=400):
    """E_γ of one or two answers for a secret (unit, known units, distance), summed over a grid of outputs."""
    unit, known, distance = secret
    slopes, left = answers_given(covariance, weights, deviations, [unit, *known])
    ends = [np.zeros(len(weights)), slopes[:, 0] * distance]
    axes = [
        np.linspace(min(e[k] for e in ends) - 9 * s, max(e[k] for e in ends) + 9 * s, cells)
        for k, s in enumerate(np.sqrt(np.diagonal(left)))
    ]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    one, other = (multivariate_normal(mean, left).pdf(places) for mean in ends)
    cell = np.prod([axis[1] - axis[0] for axis in axes])
    return np.maximum(one - np.exp(epsilon) * other, 0.0).sum() * cell
