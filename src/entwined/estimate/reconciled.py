"""Counts and tables over different conditions that agree, through the atoms of all their conditions.

Everything that depends on no answer is worked out once for all releases of a batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np

from entwined.estimate.atoms import Atoms, Component, Counting, atoms_of, components
from entwined.estimate.collected_laws import Laws, Noises, collected
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.known_sums import Shrinking
from entwined.estimate.least_squares import AS_GOOD_AS_EXACT
from entwined.estimate.number_of_rows import balanced
from entwined.estimate.projection import Projection, Together
from entwined.estimate.sparse_counts import Fit, Shrinkage, Spread
from entwined.estimate.whole_atoms import RealAtoms, WholeAtoms
from entwined.noise import Additive
from entwined.numbers import FloatArray, IntArray
from entwined.queries.predicate import Predicate

KEPT: Final = 32  # reconciliations that are remembered


class WholeTable(NamedTuple):
    """Whole numbers of a table that are sums of atoms, and how its counts were shrunk before."""

    numbers: IntArray
    shrinkage: Shrinkage


@dataclass(frozen=True)
class Reconciliation:
    """How counts and tables over any conditions are made to agree; it depends on public facts alone.

    `noises` has the noise that each cell of a table got a draw of, None for exact, public numbers. Tables are given
    as rows of cells, the last axis fastest.
    """

    tables: tuple[Counting, ...]
    noises: tuple[Additive | None, ...]
    impossible: tuple[Predicate, ...] = ()

    @cached_property
    def parts(self) -> tuple[Component, ...]:
        """The components, each with the places of its tables."""
        return components(self.tables, self.impossible)

    @cached_property
    def atoms(self) -> tuple[Atoms, ...]:
        """The atoms of every component."""
        return tuple(
            atoms_of(tuple(self.tables[place] for place in part.places), part.impossible)
            for part in self.parts
        )

    @cached_property
    def together(self) -> Together:
        """The projection of all measured cells."""
        return Together(tuple(map(Projection.of, self.atoms, self._variances(AS_GOOD_AS_EXACT))))

    @cached_property
    def laws(self) -> tuple[Laws, ...]:
        """The laws of the errors in each table, and which one each cell has."""
        noises = Noises.of(self.noises)
        found = []
        for weights in self.weights():
            known: dict[ErrorLaw, int] = {}
            laws = collected(self.owners, np.ones(len(self.owners)), weights, noises)
            kinds = [known.setdefault(law, len(known)) for law in laws]
            found.append((np.array(kinds, dtype=np.int64), tuple(known)))
        return tuple(found)

    def estimates(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """Estimate every cell of every table; the first axis counts releases."""
        return self._parted(self.together.estimates(self._joined(values)))

    def weights(self) -> list[FloatArray]:
        """Give for the cells of every table the weights of all measured cells, component by component."""
        rows = [self.together.weights(place).T for place in range(len(self.parts))]
        return [table.T for table in self._parted(rows)]

    def whole(self, values: Sequence[FloatArray], most: int | None = None) -> list[WholeTable]:
        """Give whole numbers for all cells of one release: none negative, and all sums of the same atoms.

        The atoms have no more rows than there are at most.
        """
        fits = self._fits([table[0] for table in self.estimates([value[None] for value in values])])
        rows = self._joined([fit.counts for fit in fits])
        weights = self._joined([fit.weights for fit in fits])
        wholes = [whole.weighted(part) for whole, part in zip(self._whole, weights, strict=True)]

        @cache
        def near(total: int | None) -> list[RealAtoms]:
            return [whole.real(row, total) for whole, row in zip(wholes, rows, strict=True)]

        total = self._total(rows, most, lambda rows: sum(one.pull for one in near(rows)))
        found: dict[int, IntArray] = {}
        for place, (part, whole) in enumerate(zip(self.parts, wholes, strict=True)):
            numbers = whole.whole(rows[place], near(total)[place], total)
            if most is not None and numbers.sum() > most:
                numbers = whole.whole(rows[place], whole.real(rows[place], most), most)
            found.update(zip(part.places, self.atoms[place].sums(numbers), strict=True))
        return [WholeTable(found[place], fits[place].shrinkage) for place in range(len(self.tables))]

    def _fits(self, estimates: Sequence[FloatArray]) -> list[Fit]:
        """Give counts near the estimates that are not negative, and shrunk where their sum is known.

        Where nobody is told how many rows meet a condition, that is the least sum of a table's positive estimates.
        """
        totals: dict[Predicate, tuple[bool, float]] = {}
        sums = [float(np.maximum(cells, 0).sum()) for cells in estimates]
        for table, total in zip(self.tables, sums, strict=True):
            told = bool(table.axes), total
            totals[table.where] = min(totals.get(table.where, told), told)
        known = [
            totals[table.where][1] if totals[table.where] < (True, total) else None
            for table, total in zip(self.tables, sums, strict=True)
        ]
        found: dict[int, Fit] = {}
        joined = self._joined(estimates)
        for part, cells, shrinking in zip(self.parts, joined, self._shrinking, strict=True):
            spreads = [self._spreads[place] for place in part.places]
            fits = shrinking.fits(cells, spreads, [known[place] for place in part.places])
            found.update(zip(part.places, fits, strict=True))
        return [found[place] for place in range(len(self.tables))]

    @cached_property
    def _shrinking(self) -> tuple[Shrinking, ...]:
        """Which sums are known in each component."""
        return tuple(map(Shrinking.of, self.atoms))

    @cached_property
    def _spreads(self) -> tuple[Spread, ...]:
        """The variances of all estimates and of what was drawn, table by table."""
        after = [np.array([law.variance for law in laws])[kinds] for kinds, laws in self.laws]
        drawn = (
            np.full(table.cells, variance) for table, variance in zip(self.tables, self._drawn, strict=True)
        )
        return tuple(map(Spread, after, drawn))

    def _total(self, counts: list[FloatArray], most: int | None, pull: Callable[[int], float]) -> int | None:
        """Give the number of all rows, if it is known or can be estimated, near what counts of components say."""
        if not self.together.knows_rows:
            return None
        total = max(round(float(self.together.rows([cells[None] for cells in counts])[0])), 0)
        start = total if most is None else min(total, most)
        return balanced(pull, start, self.together.rows_variance, most)

    def _variances(self, exact: float) -> tuple[FloatArray, ...]:
        """Give the variance of every measured cell of every component, for exact ones this part of the least."""
        least = exact * min(filter(None, self._drawn), default=1.0)
        return tuple(
            np.concatenate(
                [np.full(self.tables[place].cells, max(self._drawn[place], least)) for place in part.places]
            )
            for part in self.parts
        )

    @cached_property
    def _drawn(self) -> tuple[float, ...]:
        """The variance that each table was drawn with, of exact ones none."""
        return tuple(0.0 if noise is None else noise.variance for noise in self.noises)

    @cached_property
    def _whole(self) -> tuple[WholeAtoms, ...]:
        gains = self._joined([spread.drawn - spread.variances for spread in self._spreads])
        return tuple(map(WholeAtoms.of, self.atoms, self._variances(1.0), gains))

    @cached_property
    def owners(self) -> IntArray:
        """The place of the table that each measured cell is of, component by component."""
        places = [place for part in self.parts for place in part.places]
        return np.repeat(places, [self.tables[place].cells for place in places])

    def _joined(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """Lay the cells of all tables of a component side by side; the last axis has the cells."""
        return [np.concatenate([values[place] for place in part.places], axis=-1) for part in self.parts]

    def _parted(self, rows: Sequence[FloatArray]) -> list[FloatArray]:
        """Take the cells of a component's tables apart again."""
        found: dict[int, FloatArray] = {}
        for part, row in zip(self.parts, rows, strict=True):
            edges = np.cumsum([self.tables[place].cells for place in part.places])[:-1]
            found.update(zip(part.places, np.split(row, edges, axis=-1), strict=True))
        return [found[place] for place in range(len(self.tables))]


@lru_cache(maxsize=KEPT)
def reconciliation(
    tables: tuple[Counting, ...], noises: tuple[Additive | None, ...], impossible: tuple[Predicate, ...]
) -> Reconciliation:
    """Prepare tables to be made to agree, once for all releases of a batch."""
    return Reconciliation(tables, noises, impossible)
