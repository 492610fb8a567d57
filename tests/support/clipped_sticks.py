"""Clipped and rounded Gaussian values added up with noise: exactly what an adversary sees, for groups of two and three."""

import numpy as np
from scipy.stats import norm


def code_law(mean, deviation, low, high, step):
    """The law of a normal value's code, clipped and rounded to the grid."""
    edges = np.arange(low, high, step) + step / 2
    return np.diff(np.concatenate([[0.0], norm.cdf(edges, mean, deviation), [1.0]]))


def sum_law(covariance, means, secret, known, grid):
    """The law of the sum of all codes, given the values of some units: those of `secret` and `known` together.

    At most two units are unknown; of two, one is drawn given each place of the other.
    """
    low, high, step = grid
    there = {**secret, **known}
    at, unknown = list(there), [unit for unit in range(len(means)) if unit not in there]
    fixed = sum(
        int(np.clip(np.floor((value - low) / step + 0.5), 0, round((high - low) / step)))
        for value in there.values()
    )
    shift = np.array([there[unit] - means[unit] for unit in at])
    solved = np.linalg.solve(covariance[np.ix_(at, at)], covariance[np.ix_(at, unknown)])
    mean = np.array([means[unit] for unit in unknown]) + shift @ solved
    spread = covariance[np.ix_(unknown, unknown)] - covariance[np.ix_(unknown, at)] @ solved
    if not unknown:
        return fixed, np.ones(1)
    if len(unknown) == 1:
        return fixed, code_law(mean[0], np.sqrt(spread[0, 0]), low, high, step)
    deviation = np.sqrt(spread[0, 0])
    slope = spread[0, 1] / spread[0, 0]
    rest = np.sqrt(spread[1, 1] - slope * spread[0, 1])
    edges = np.concatenate([[-np.inf], np.arange(low, high, step) + step / 2, [np.inf]])
    law = np.zeros(2 * (len(edges) - 1) - 1)
    for place in range(len(edges) - 1):  # the first unit's code, and where in that cell it may lie
        ends = norm.cdf(edges[[place, place + 1]], mean[0], deviation)
        chances = ends[0] + (np.arange(16) + 0.5) / 16 * (ends[1] - ends[0])
        if ends[1] - ends[0] < 1e-14:
            continue
        for value in norm.ppf(chances, mean[0], deviation):
            second = code_law(mean[1] + slope * (value - mean[0]), rest, low, high, step)
            law[place : place + len(second)] += second * (ends[1] - ends[0]) / 16
    return fixed, law


def noisy(fixed, law, noise, reach):
    """The law of the noisy sum on −reach … reach."""
    outputs = np.arange(-reach, reach + 1)
    sums = fixed + np.arange(len(law))
    return np.array([(law * noise(output - sums)).sum() for output in outputs])


def laplace(scale):
    weight = (1 - np.exp(-1 / scale)) / (1 + np.exp(-1 / scale))
    return lambda away: weight * np.exp(-np.abs(away) / scale)


def gaussian(scale):
    total = np.exp(-0.5 * (np.arange(-int(20 * scale), int(20 * scale) + 1) / scale) ** 2).sum()
    return lambda away: np.exp(-0.5 * (away / scale) ** 2) / total


def log_ratio(first, second):
    """The largest |log P/Q|."""
    return float(np.abs(np.log(first) - np.log(second)).max())


def hockey_stick(first, second, epsilon):
    """The larger of Σ (P − e^ε Q)₊ both ways round."""
    gamma = np.exp(epsilon)
    return float(
        max(np.maximum(first - gamma * second, 0).sum(), np.maximum(second - gamma * first, 0).sum())
    )
