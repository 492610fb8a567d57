"""How far apart the outputs of small releases are, exactly: E_γ of every secret, with every set of known units.

Nothing here comes from the product. A joint law is an array with one axis a unit. A separable release is a list of
channels, one a unit, each with a row a value and a column an output. A noisy sum adds a weight for each unit that
is 1 to Gaussian noise; its E_γ is summed over cells of outputs, so it is never above the truth and close to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np
from scipy.special import ndtr

CELLS = 600


def secrets(joint, knowledge) -> Iterator[tuple[int, tuple[int, ...], np.ndarray, np.ndarray]]:
    """Give each unit, the unknown others, and their laws given two values of it and the values of the rest."""
    units = range(joint.ndim)
    for unit in units:
        others = [j for j in units if j != unit]
        for count in range(len(others) + 1) if knowledge == "any" else [0]:
            for known in combinations(others, count):
                unknown = tuple(j for j in others if j not in known)
                lying = joint.transpose([*known, unit, *unknown])
                for values in product(*(range(joint.shape[j]) for j in known)):
                    each = lying[values]
                    total = each.sum(axis=tuple(range(1, each.ndim)))
                    for a, b in permutations(np.flatnonzero(total > 0).tolist(), 2):
                        yield unit, unknown, each[a] / total[a], each[b] / total[b], (a, b)


@dataclass(frozen=True)
class ChannelCurve:
    """The profile of one channel: the worst pair of its rows."""

    rows: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, channel):
        """Of a channel with a row a value and a column an output."""
        return cls(tuple(map(tuple, channel.tolist())))

    def at(self, excess):
        """The largest E_γ of any two rows."""
        rows = np.array(self.rows)
        gap = rows[:, None, None, :] - (1 + np.asarray(excess)[:, None]) * rows[None, :, None, :]
        return np.maximum(gap, 0.0).sum(axis=-1).max(axis=(0, 1)) * (1 + 1e-14)


def stick(p, q, gammas):
    """E_γ of two laws."""
    return np.maximum(p.ravel() - gammas[:, None] * q.ravel(), 0.0).sum(axis=1)


def through_channels(law, channels):
    """The law of the outputs of the units, in their order."""
    for channel in channels:
        law = np.tensordot(law, channel, axes=([0], [0]))
    return law


def separable_sticks(joint, channels, gammas, knowledge="any"):
    """For each secret, its unit and E_γ of all that is released."""
    for unit, unknown, p, q, (a, b) in secrets(joint, knowledge):
        parts = [channels[j] for j in unknown]
        one = np.multiply.outer(channels[unit][a], through_channels(p, parts))
        other = np.multiply.outer(channels[unit][b], through_channels(q, parts))
        yield unit, stick(one, other, gammas)


def sum_sticks(joint, weights, scale, gammas, knowledge="any"):
    """For each secret of a law of bits, its unit and E_γ of Σ w_j x_j + noise; what is known is no part of the sum."""
    reach = np.abs(weights).sum() + 9 * scale
    edges = np.linspace(-reach, reach, CELLS + 1)
    for unit, unknown, p, q, (a, b) in secrets(joint, knowledge):
        values = np.zeros((2,) * len(unknown))
        for axis, j in enumerate(unknown):
            values = values + weights[j] * np.indices(values.shape)[axis]
        cells = [
            law.ravel() @ cell_chances((edges - values.ravel()[:, None] - weights[unit] * own) / scale)
            for law, own in ((p, a), (q, b))
        ]
        yield unit, stick(*cells, gammas)


def cell_chances(edges):
    """The chance of each cell of a normal law, from whichever tail keeps its digits."""
    below, above = np.diff(ndtr(edges), axis=1), -np.diff(ndtr(-edges), axis=1)
    return np.where(edges[:, 1:] > 0, above, below)


def mechanism_sticks(joint, likelihood, gammas, knowledge="any"):
    """For each secret, its unit and E_γ of a mechanism: `likelihood` has an axis a unit and one of outputs."""
    units = range(joint.ndim)
    for unit in units:
        others = [j for j in units if j != unit]
        for count in range(len(others) + 1) if knowledge == "any" else [0]:
            for known in combinations(others, count):
                unknown = [j for j in others if j not in known]
                law = joint.transpose([*known, unit, *unknown])
                shown = likelihood.transpose([*known, unit, *unknown, joint.ndim])
                for values in product(*(range(joint.shape[j]) for j in known)):
                    each = law[values].reshape(joint.shape[unit], -1)
                    total = each.sum(axis=1)
                    possible = np.flatnonzero(total > 0).tolist()
                    outputs = shown[values].reshape(*each.shape, -1)
                    laws = {a: each[a] @ outputs[a] / total[a] for a in possible}
                    for a, b in permutations(possible, 2):
                        yield unit, stick(laws[a], laws[b], gammas)


def released(sizes, parts):
    """The likelihood of all outputs of independent parts; a part is the units that it reads and their channel."""
    likelihood = np.ones((*sizes, 1))
    for units, channel in parts:
        shape = [size if j in units else 1 for j, size in enumerate(sizes)]
        rows = channel.transpose([*np.argsort(units), len(units)]).reshape(*shape, 1, -1)
        likelihood = (likelihood[..., None] * rows).reshape(*sizes, -1)
    return likelihood
