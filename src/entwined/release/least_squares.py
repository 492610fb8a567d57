"""The best linear unbiased estimate of every cell from all tables of a batch, exact and without iteration.

An effect of some columns is the same unknown in every table that has them, with noise of the same shape but
for its variance. So tables only have to be weighed against each other, effect by effect, on their sums over
blocks. Where every column is cut in one way only, that is a weighted mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from entwined.numbers import FloatArray
from entwined.release.effects import Effect, Parts, Side, side_of
from entwined.release.layout import Cuts, Layout, cuts_of

MOST_SUMS: Final = 2_000  # sums over blocks of one effect that a dense matrix weighs against each other
AS_GOOD_AS_EXACT: Final = 1e-12  # the share of the smallest variance that a public table is given

Unknown: TypeAlias = tuple[tuple[str, int], ...]  # how many rows have codes at or above these


@dataclass(frozen=True, slots=True)
class Gain:
    """How the sums of the tables that share an effect become estimates: a projection of low rank."""

    places: tuple[int, ...]
    down: FloatArray
    up: FloatArray

    def __call__(self, parts: list[FloatArray]) -> list[FloatArray]:
        """Weigh the sums of all tables against each other."""
        found = np.concatenate(parts, axis=-1) @ self.down @ self.up
        ends = np.cumsum([part.shape[-1] for part in parts])[:-1]
        return np.split(found, ends, axis=-1)


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """The weights of every noisy cell in every estimate; they depend on the layouts alone.

    `apart` names the columns whose ways of cutting were too many cells to weigh against each other: for these
    the estimates of different widths need not agree.
    """

    layouts: tuple[Layout, ...]
    variances: tuple[float, ...] = field(init=False)
    apart: frozenset[str] = field(init=False)
    tables: tuple[Parts, ...] = field(init=False)
    gains: dict[Effect, Gain] = field(init=False)

    def __post_init__(self) -> None:
        given = [layout.variance for layout in self.layouts]
        least = AS_GOOD_AS_EXACT * min(filter(None, given), default=1.0)
        object.__setattr__(self, "variances", tuple(max(variance, least) for variance in given))
        apart, tables = _parts(self.layouts, cuts_of(self.layouts))
        object.__setattr__(self, "apart", apart)
        object.__setattr__(self, "tables", tables)
        effects = dict.fromkeys(effect for table in tables for effect in table.effects)
        object.__setattr__(self, "gains", {effect: self._gain(effect) for effect in effects})

    def estimates(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """Estimate every cell; the first axis of every array counts releases."""
        found = [np.zeros(noisy.shape) for noisy in values]
        for effect, gain in self.gains.items():
            parts = gain([self.tables[place].taken(values[place], effect) for place in gain.places])
            for place, part in zip(gain.places, parts, strict=True):
                found[place] += self.tables[place].spread(part, effect)
        return found

    def weights(self, place: int, cells: Sequence[tuple[int, ...]]) -> list[FloatArray]:
        """Give the weight of each noisy cell of each table in the estimates of some cells of one table.

        The covariance of two estimates is the weight of one cell in the other's estimate times that cell's
        variance, either way round: so what a unit in one cell adds to all estimates gives its own weights.
        """
        units = [np.zeros((len(cells), *layout.shape)) for layout in self.layouts]
        for number, cell in enumerate(cells):
            units[place][(number, *cell)] = 1.0
        return [
            estimate * (self.variances[place] / variance)
            for estimate, variance in zip(self.estimates(units), self.variances, strict=True)
        ]

    def _gain(self, effect: Effect) -> Gain:
        places = tuple(place for place, table in enumerate(self.tables) if table.has(effect))
        found = [_unknowns(self.tables[place].outside(effect)) for place in places]
        unknowns = dict.fromkeys(key for _, keys in found for key in keys)
        columns = {unknown: number for number, unknown in enumerate(unknowns)}
        design = np.zeros((sum(matrix.shape[0] for matrix, _ in found), len(columns)))
        spreads, row = [], 0
        for place, (matrix, keys) in zip(places, found, strict=True):
            design[row : row + matrix.shape[0], [columns[key] for key in keys]] = matrix
            spreads.append(self.variances[place] * _block_sizes(self.tables[place].outside(effect)))
            row += matrix.shape[0]
        deviations = np.sqrt(np.concatenate(spreads))
        basis = np.linalg.qr(design / deviations[:, None])[0]
        return Gain(places, basis / deviations[:, None], basis.T * deviations)


@lru_cache(maxsize=64)
def least_squares(layouts: tuple[Layout, ...]) -> LeastSquares:
    """Find the weights once for all releases of a batch."""
    return LeastSquares(layouts)


def _parts(layouts: tuple[Layout, ...], cuts: dict[str, Cuts]) -> tuple[frozenset[str], tuple[Parts, ...]]:
    """Split all tables, and set columns apart, the most blocks first, until the matrices are small enough."""
    apart: frozenset[str] = frozenset()
    while True:
        tables = tuple(
            Parts(tuple(side_of(axis, cuts[axis.column], apart=axis.column in apart) for axis in layout.axes))
            for layout in layouts
        )
        together = [column for column in cuts if column not in apart and len(cuts[column].coarse) > 1]
        if not together or _most_sums(tables) <= MOST_SUMS:
            return apart, tables
        apart |= {max(together, key=lambda column: len(cuts[column].coarse))}


def _most_sums(tables: tuple[Parts, ...]) -> int:
    sums: dict[Effect, int] = {}
    for table in tables:
        for effect in table.effects:
            sums[effect] = sums.get(effect, 0) + table.sums(effect)
    return max(sums.values(), default=0)


def _unknowns(sides: list[Side]) -> tuple[FloatArray, list[Unknown]]:
    """Write sums over blocks as differences of how many rows have codes at or above the blocks' first codes.

    These are the same unknowns in every table, however it cuts its columns; every row is at or above code 0.
    """
    matrix, unknowns = np.ones((1, 1)), [Unknown()]
    for side in sides:
        matrix = np.kron(matrix, np.eye(len(side.starts)) - np.eye(len(side.starts), k=1))
        unknowns = [
            (*known, *([(side.column, start)] if start else [])) for known in unknowns for start in side.starts
        ]
    return matrix, [tuple(sorted(unknown)) for unknown in unknowns]


def _block_sizes(sides: list[Side]) -> FloatArray:
    """Count the cells in every block of a table."""
    sizes = np.ones(1)
    for side in sides:
        sizes = np.kron(sizes, side.sizes)
    return sizes
