"""The best linear unbiased estimate of counts over any conditions: noisy numbers put onto what atoms allow.

The true counts are sums over atoms, so they lie in a known linear space, and the weighted projection onto it
has for every count the least variance that an unbiased linear estimate can have: never more than its noise
(Gauss and Markov). Tables over separate columns share the number of all rows alone; each is projected on its
own, then what all of them say about that number is weighed and handed back.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import QueryTooComplex
from entwined.estimate.atoms import Atoms
from entwined.numbers import FloatArray, IntArray

MOST_CELLS: Final = 1024  # measured cells of one component: a dense matrix weighs them against each other
SAME: Final = 1e-10  # the part of the largest eigenvalue below which one is zero
Incidence: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float32]]  # exact for so many atoms

NOTHING: Final = 1e-11  # a weight that is the rounding of floats, or that of noise beside an exact number
RIGHT: Final = 1e-6  # how exactly a projection must leave true counts as they are


@dataclass(frozen=True, eq=False, slots=True)
class Projection:
    """How the measured cells of one component become estimates, and what they say about all rows.

    `matrix` has a row for every estimate; `rows` are the weights of the measured cells in the best estimate of
    the number of all rows, and `variance` is its variance: infinite where they do not say it. `gains` say how
    much each estimate moves if that number turns out to be one more.
    """

    matrix: FloatArray
    rows: FloatArray
    variance: float
    gains: FloatArray

    @classmethod
    def of(cls, atoms: Atoms, variances: FloatArray) -> "Projection":
        """Project measured cells with these variances."""
        inside = incidence(atoms)
        if len(inside) > MOST_CELLS:
            raise QueryTooComplex(
                f"{len(inside):,} cells over different conditions are to agree, and {MOST_CELLS:,} can be weighed "
                "against each other. Ask for smaller tables, or in two releases."
            )
        basis, combining = _space(inside)
        roots = np.sqrt(variances)
        ways = np.linalg.qr(basis / roots[:, None])[0]
        matrix = (roots[:, None] * ways) @ (ways / roots[:, None]).T
        matrix[np.abs(matrix) < NOTHING] = 0.0
        some = inside @ np.cos(np.arange(inside.shape[1]))  # any numbers of rows will do
        if not np.allclose(matrix @ some, some, rtol=RIGHT, atol=RIGHT * max(1.0, np.abs(some).max())):
            raise QueryTooComplex(
                "How these conditions hang together cannot be worked out in floats. Ask for fewer of them."
            )
        if np.abs(combining @ inside - 1).max() > RIGHT:
            return cls(matrix, np.zeros(len(inside)), np.inf, np.zeros(len(inside)))
        rows = combining @ matrix
        variance = float(rows**2 @ variances)
        return cls(matrix, rows, variance, matrix @ (variances * rows) / variance)


def incidence(atoms: Atoms) -> Incidence:
    """Say by 1 and 0 of every measured cell and every atom whether the one holds the other."""
    return np.concatenate(
        [
            np.arange(table.cells)[:, None] == cells
            for table, cells in zip(atoms.tables, atoms.cell_of, strict=True)
        ]
    ).astype(np.float32)


def _space(inside: Incidence) -> tuple[FloatArray, FloatArray]:
    """Give a basis of the counts that can be, and the combination of cells nearest to all rows."""
    sizes = inside.sum(axis=1).astype(np.float64)
    lengths = np.sqrt(np.maximum(sizes, 1.0))
    gram = (inside @ inside.T).astype(np.float64) / lengths[:, None] / lengths
    values, vectors = np.linalg.eigh(gram)
    kept = values > SAME * max(values[-1], 1.0)
    found = vectors[:, kept]
    combining = found @ ((found.T @ (sizes / lengths)) / values[kept]) / lengths
    return found * lengths[:, None], combining


@dataclass(frozen=True, eq=False)
class Together:
    """The projections of all components, in the order of their measured cells, joined by the number of rows."""

    parts: tuple[Projection, ...]

    @cached_property
    def _shares(self) -> FloatArray:
        """The weight of each component in the estimated number of rows."""
        precisions = np.array([1 / part.variance for part in self.parts])
        total = precisions.sum()
        return np.asarray(precisions / total) if total else precisions

    @property
    def knows_rows(self) -> bool:
        """Whether the number of all rows can be estimated."""
        return bool(self._shares.any())

    @property
    def rows_variance(self) -> float:
        """The variance of the estimated number of all rows, infinite where nothing says it."""
        return float(1 / sum(1 / part.variance for part in self.parts)) if self.knows_rows else np.inf

    def rows(self, values: list[FloatArray]) -> FloatArray:
        """Estimate the number of all rows; the first axis of every array counts releases."""
        found = [value @ part.rows for part, value in zip(self.parts, values, strict=True)]
        return np.asarray(np.tensordot(self._shares, np.array(found), axes=1))

    def estimates(self, values: list[FloatArray]) -> list[FloatArray]:
        """Estimate all cells; the first axis of every array counts releases."""
        rows = self.rows(values)
        return [
            value @ part.matrix.T + np.multiply.outer(rows - value @ part.rows, part.gains)
            for part, value in zip(self.parts, values, strict=True)
        ]

    @cached_property
    def _in_rows(self) -> FloatArray:
        """The weight of every measured cell in the estimated number of rows."""
        return np.concatenate(
            [share * part.rows for share, part in zip(self._shares, self.parts, strict=True)]
        )

    @cached_property
    def _ends(self) -> IntArray:
        """Where the cells of each component begin, and where the last ends."""
        return np.cumsum([0, *(len(part.rows) for part in self.parts)])

    def weights(self, place: int) -> FloatArray:
        """Give the weights of all measured cells, of every component, in the estimates of one."""
        own = self.parts[place]
        found = np.multiply.outer(own.gains, self._in_rows)
        mine = slice(self._ends[place], self._ends[place + 1])
        found[:, mine] = found[:, mine] + own.matrix - np.multiply.outer(own.gains, own.rows)
        return found
