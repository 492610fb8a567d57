"""Counts shrunk to every sum that is known: one number that was released, or is public, for some cells of a table.

A count of women is the sum of some cells of a table by sex and age. To such a sum counts are shrunk (`sparse_counts`).
Cells of which no sum is known need no shrinking, since nothing shows what their errors add up to. Which sums are known
follows from the atoms alone, before any number is released.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from entwined.estimate.atoms import Atoms
from entwined.estimate.projection import incidence
from entwined.estimate.sparse_counts import Fit, Shrinkage, Spread, fitted
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False, slots=True)
class KnownSum:
    """Some cells of a table, and the measured cell that is their sum.

    With `is_rest` these are the cells that others with sums of their own leave, and `whole` is the sum of the table;
    None where no number is.
    """

    cells: IntArray
    whole: int | None
    is_rest: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Shrinking:
    """Shrinks the counts of one component: its tables one after the other, and their cells by the known sums."""

    tables: tuple[slice, ...]
    sums: tuple[tuple[KnownSum, ...], ...]

    @classmethod
    def of(cls, atoms: Atoms) -> "Shrinking":
        """Find the known sums."""
        inside = incidence(atoms)
        shared = np.rint(inside @ inside.T).astype(np.int64)
        edges = np.cumsum([0, *(table.cells for table in atoms.tables)]).tolist()
        tables = tuple(slice(*ends) for ends in pairwise(edges))
        return cls(tables, tuple(tuple(_known_sums(shared, table)) for table in tables))

    def fits(
        self, estimates: FloatArray, spreads: Sequence[Spread], told: Sequence[float | None]
    ) -> list[Fit]:
        """Give counts near the estimates of all cells, none negative; `told` are sums of whole tables, where known.

        Small tables come first, so that the larger ones are shrunk to what was made of them.
        """
        counts = np.maximum(estimates, 0)
        fits: dict[int, Fit] = {}
        order = sorted(
            range(len(self.tables)), key=lambda number: self.tables[number].stop - self.tables[number].start
        )
        for number in order:
            fits[number] = self._fit(
                number, estimates[self.tables[number]], counts, spreads[number], told[number]
            )
            counts[self.tables[number]] = fits[number].counts
        return [fits[number] for number in range(len(self.tables))]

    def _fit(
        self, number: int, estimates: FloatArray, counts: FloatArray, spread: Spread, told: float | None
    ) -> Fit:
        """Shrink one table, given the counts of those before."""
        found, weights = np.maximum(estimates, 0), np.ones(estimates.shape)
        strongest, others = Shrinkage(spread), 0.0
        for known in self.sums[number]:
            total = told if known.whole is None else float(counts[known.whole])
            if total is None:
                continue
            some = Spread(spread.variances[known.cells], spread.drawn[known.cells])
            fit = fitted(estimates[known.cells], some, max(total - (others if known.is_rest else 0.0), 0.0))
            found[known.cells], weights[known.cells] = fit.counts, fit.weights
            strongest = max(strongest, fit.shrinkage, key=lambda shrinkage: shrinkage.strength)
            others += total
        return Fit(found, weights, strongest)


def _known_sums(shared: IntArray, table: slice) -> Iterator[KnownSum]:
    """Split the cells of a table by known sums, those of the fewest cells first."""
    places, sizes = np.arange(table.start, table.stop), np.diag(shared)
    wholes = sorted(_wholes(shared, sizes, places), key=lambda known: len(known.cells))
    left = np.ones(len(places), dtype=np.bool_)
    for known in wholes:
        if left[known.cells].all():
            left[known.cells] = False
            yield known
    if left.any():
        outer = next((known.whole for known in wholes if len(known.cells) == len(places)), None)
        yield KnownSum(np.flatnonzero(left), outer, is_rest=True)


def _wholes(shared: IntArray, sizes: IntArray, places: IntArray) -> Iterator[KnownSum]:
    """Find the measured cells of other tables that several cells of this one add up to."""
    for whole in np.flatnonzero(sizes).tolist():
        if not places[0] <= whole <= places[-1]:
            cells = np.flatnonzero((shared[places, whole] == sizes[places]) & (sizes[places] > 0))
            if len(cells) > 1 and sizes[places[cells]].sum() == sizes[whole]:
                yield KnownSum(cells, whole)
