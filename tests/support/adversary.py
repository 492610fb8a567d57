"""An exact adversary of small tables: how likely each release is, and what is gained from it."""

import itertools

import numpy as np


def log_likelihoods(planned, tables):
    """One row a released vector, one column a table; `tables` answer aggregates."""
    aggregates = [one.statistic.aggregate for one in planned.statistics]
    scales = [
        float(one.law.scale) for one in planned.statistics for _ in range(one.statistic.aggregate.cells)
    ]
    exact = np.array([np.concatenate(table.answer(aggregates)) for table in tables], dtype=float)
    ends = zip(exact.min(axis=0).astype(int), exact.max(axis=0).astype(int), strict=True)
    outputs = np.array(
        list(itertools.product(*(range(low - 1, high + 2) for low, high in ends))), dtype=float
    )
    return -np.abs(outputs[:, None, :] - exact[None, :, :]) @ (1 / np.array(scales))


def gain(joint, logs, knowledge="any", secrets=None):
    """The most that any released vector moves the log odds between two values of a unit."""
    sizes, units = joint.shape, range(joint.ndim)
    weights = np.exp(logs).T.reshape(*sizes, -1)
    worst = 0.0
    for unit in units if secrets is None else secrets:
        others = [other for other in units if other != unit]
        for count in range(len(others) + 1) if knowledge == "any" else [len(others)]:
            for unknown in itertools.combinations(others, count):
                mass = joint.sum(axis=unknown, keepdims=True)[..., None]
                seen = (joint[..., None] * weights).sum(axis=unknown, keepdims=True)
                with np.errstate(divide="ignore", invalid="ignore"):
                    odds = np.where(mass > 0, np.log(seen / mass), np.nan)
                odds = np.moveaxis(odds, unit, 0).reshape(sizes[unit], -1)
                known = odds[:, ~np.isnan(odds).any(axis=0)]
                if known.size:
                    worst = max(worst, float((known.max(axis=0) - known.min(axis=0)).max()))
    return worst


def certified(planned):
    return max(planned.price.leakage.values())
