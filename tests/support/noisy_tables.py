"""Tables with simulated noise, and the dense algebra that the fast one is held against."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.random import Generator

from entwined.estimate.layout import Layout, NoisyTable
from entwined.noise import DiscreteGaussian, DiscreteLaplace
from entwined.queries.axes import Axis


def laplace(scale: str | int) -> DiscreteLaplace:
    return DiscreteLaplace(Fraction(scale))


def draws(noise: DiscreteLaplace | DiscreteGaussian | None, shape: tuple[int, ...], random: Generator):
    """Draw noise fast: for tests alone, the floats of numpy are no safe source."""
    if noise is None:
        return np.zeros(shape, dtype=np.int64)
    if isinstance(noise, DiscreteGaussian):
        places, chances = law_of(noise)
        return random.choice(places, size=shape, p=chances / chances.sum())
    rate = -np.expm1(-1 / float(noise.scale))
    return random.geometric(rate, shape) - random.geometric(rate, shape)


def law_of(noise: DiscreteLaplace | DiscreteGaussian):
    """Give the integers that matter and their chances."""
    scale = float(noise.scale)
    if isinstance(noise, DiscreteGaussian):
        places = np.arange(-int(12 * scale) - 3, int(12 * scale) + 4)
        weights = np.exp(-0.5 * (places / scale) ** 2)
        return places, weights / weights.sum()
    places = np.arange(-int(40 * scale) - 3, int(40 * scale) + 4)
    return places, np.tanh(0.5 / scale) * np.exp(-np.abs(places) / scale)


def marginal(joint, columns: Sequence[Axis], layout: Layout):
    """Add up a joint table of codes to the cells of a layout."""
    codes = np.indices(joint.shape).reshape(joint.ndim, -1)
    names = [column.column for column in columns]
    found = np.zeros(layout.shape, dtype=np.int64)
    cells = [
        np.array([axis.cell(code) for code in codes[names.index(axis.column)].tolist()])
        for axis in layout.axes
    ]
    np.add.at(found, tuple(cells) if cells else (), joint.ravel() if cells else joint.sum())
    return found


def released(joint, columns: Sequence[Axis], layouts: Sequence[Layout], random: Generator):
    """Add noise to the tables of a joint table."""
    tables = []
    for layout in layouts:
        exact = marginal(joint, columns, layout)
        tables.append(NoisyTable(layout, exact + draws(layout.noise, exact.shape, random)))
    return tables


def dense(columns: Sequence[Axis], layouts: Sequence[Layout]):
    """Give the matrix from the joint table to all cells of all tables."""
    shape = tuple(column.cells for column in columns)
    rows = []
    for unit in np.eye(int(np.prod(shape))):
        joint = unit.reshape(shape).astype(np.int64)
        rows.append(np.concatenate([marginal(joint, columns, layout).ravel() for layout in layouts]))
    return np.array(rows, dtype=float).T
