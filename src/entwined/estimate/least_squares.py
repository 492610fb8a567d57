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

from entwined.estimate.effects import Effect, Parts, Side, side_of
from entwined.estimate.layout import Cuts, Layout, cuts_of
from entwined.numbers import FloatArray, IntArray

MOST_SUMS: Final = 2_000  # sums over blocks of one effect that a dense matrix weighs against each other
AS_GOOD_AS_EXACT: Final = 1e-12  # the share of the smallest variance that a public table is given

Unknown: TypeAlias = tuple[tuple[str, int], ...]  # how many rows have codes at or above these


@dataclass(frozen=True, eq=False, slots=True)
class Gain:
    """How the sums of the tables that share an effect become estimates: a projection of low rank.

    `owners` and `sizes` say of which table each sum is, and over how many of its cells.
    """

    places: tuple[int, ...]
    owners: IntArray
    sizes: FloatArray
    down: FloatArray
    up: FloatArray

    def __call__(self, parts: list[FloatArray]) -> list[FloatArray]:
        """Weigh the sums of all tables against each other."""
        found = np.concatenate(parts, axis=-1) @ self.down @ self.up
        return [found[..., self.owners == place] for place in self.places]

    def alone(self, place: int, part: FloatArray) -> FloatArray:
        """Give all sums as they would be estimated if those of the other tables were zero."""
        return np.asarray(part @ self.down[self.owners == place] @ self.up)


@dataclass(frozen=True, eq=False, slots=True)
class Weights:
    """What goes into the estimates of some cells: so many cells of a table, each with this weight."""

    owners: IntArray
    copies: FloatArray
    weights: FloatArray  # the first axis counts the cells that are estimated


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

    def weights(self, place: int, cells: Sequence[tuple[int, ...]]) -> Weights:
        """Give the weights of all noisy cells in the estimates of some cells of one table.

        The covariance of two estimates is the weight of one cell in the other's estimate times that cell's
        variance, either way round: so what a unit in one cell adds to all estimates gives its own weights.
        In tables that share nothing with this one but the sums over blocks, cells of a block have one weight.
        """
        unit = np.zeros((len(cells), *self.layouts[place].shape))
        for number, cell in enumerate(cells):
            unit[(number, *cell)] = 1.0
        total, *effects = self.tables[place].effects
        near = {other for effect in effects for other in self.gains[effect].places}
        added = {other: np.zeros((len(cells), *self.layouts[other].shape)) for other in sorted(near)}
        for effect in (total, *effects):
            gain = self.gains[effect]
            sums = gain.alone(place, self.tables[place].taken(unit, effect))
            for other in near.intersection(gain.places):
                added[other] += self.tables[other].spread(sums[..., gain.owners == other], effect)
        whole = self.gains[total]
        far = ~np.isin(whole.owners, list(near))
        even = whole.alone(place, self.tables[place].taken(unit, total))[:, far] / whole.sizes[far]
        owners = np.concatenate(
            [whole.owners[far], *(np.full(added[other][0].size, other) for other in added)]
        )
        copies = np.concatenate([whole.sizes[far], np.ones(len(owners) - far.sum())])
        found = np.concatenate([even, *(array.reshape(len(cells), -1) for array in added.values())], axis=1)
        return Weights(owners, copies, found * (self.variances[place] / np.array(self.variances)[owners]))

    def _gain(self, effect: Effect) -> Gain:
        places = tuple(place for place, table in enumerate(self.tables) if table.has(effect))
        found = [_unknowns(self.tables[place].outside(effect)) for place in places]
        unknowns = dict.fromkeys(key for _, keys in found for key in keys)
        columns = {unknown: number for number, unknown in enumerate(unknowns)}
        design = np.zeros((sum(matrix.shape[0] for matrix, _ in found), len(columns)))
        owners = np.repeat(places, [len(matrix) for matrix, _ in found])
        for place, (matrix, keys) in zip(places, found, strict=True):
            design[np.ix_(owners == place, [columns[key] for key in keys])] = matrix
        sizes = np.concatenate([_block_sizes(self.tables[place].outside(effect)) for place in places])
        deviations = np.sqrt(np.array(self.variances)[owners] * sizes)
        basis = np.linalg.qr(design / deviations[:, None])[0]
        return Gain(places, owners, sizes, basis / deviations[:, None], basis.T * deviations)


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
    matrix: FloatArray = np.ones((1, 1))
    unknowns: list[Unknown] = [()]
    for side in sides:
        steps = np.eye(len(side.starts)) - np.eye(len(side.starts), k=1)
        matrix = np.asarray(np.kron(matrix, steps), dtype=float)
        unknowns = [
            (*known, *([(side.column, start)] if start else []))
            for known in unknowns
            for start in side.starts
        ]
    return matrix, [tuple(sorted(unknown)) for unknown in unknowns]


def _block_sizes(sides: list[Side]) -> FloatArray:
    """Count the cells in every block of a table."""
    sizes: FloatArray = np.ones(1)
    for side in sides:
        sizes = np.asarray(np.kron(sizes, side.sizes), dtype=float)
    return sizes
