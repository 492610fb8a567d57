"""Answers that agree: estimates from all tables of a batch together, then integers, with honest intervals.

Nothing here sees a row: released integers and the public layout of tables are all that goes in.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.estimate.collected_laws import Laws, Noises, collected
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.intervals import Interval, intervals
from entwined.estimate.layout import Layout, NoisyTable
from entwined.estimate.least_squares import LeastSquares, least_squares
from entwined.estimate.rounding import Errors, Loose, Rounding, loose
from entwined.estimate.sparse_counts import Bias, Shrinkage, Spread
from entwined.numbers import FloatArray, IntArray
from entwined.progress import report

LARGEST: Final = 2**44  # beyond it floats do not hold a table's sums to the unit
FINENESS: Final = 0.01  # the grid of published estimates, beside the smallest deviation in their table
AT_ONCE: Final = 2**22  # weights that are worked out together


@dataclass(frozen=True, eq=False, slots=True)
class ConsistentTable:
    """One reconciled table of a batch.

    `estimates` are the best linear unbiased ones, on which intervals rest; `values` are adjusted: integers that add up,
    and for counts none negative.
    """

    layout: Layout
    estimates: FloatArray
    values: IntArray
    counts: bool
    kinds: IntArray
    laws: tuple[ErrorLaw, ...]
    shrinkage: Shrinkage | None = None

    @property
    def spread(self) -> Spread:
        """The variances of the estimates, and of what was drawn."""
        return Spread(variances_of((self.kinds, self.laws)), np.full(self.kinds.shape, self.layout.variance))

    @property
    def bias(self) -> Bias | None:
        """For which counts the adjusted number has a larger mean squared error than the draw; None if for none."""
        return None if self.shrinkage is None else self.shrinkage.bias

    def law(self, *cell: int) -> ErrorLaw:
        """Give the law of the error of one estimate."""
        return self.laws[int(self.kinds[cell])]

    @property
    def unbiased(self) -> Sequence[int | Fraction]:
        """Give the estimates, last axis fastest, on a decimal grid that is fine beside their errors."""
        deviation = min((math.sqrt(law.variance) for law in self.laws if law.variance), default=1.0)
        if all(law.is_one_draw for law in self.laws):
            return [round(number) for number in self.estimates.reshape(-1).tolist()]
        step = Fraction(10) ** min(math.floor(math.log10(deviation * FINENESS)), 0)
        steps = [round(number / float(step)) for number in self.estimates.reshape(-1).tolist()]
        return steps if step == 1 else [number * step for number in steps]

    def intervals(self, confidence: str | float | Fraction = 0.95) -> Interval:
        """Give the lowest and highest integer of each cell's interval."""
        low, high = np.empty(self.values.shape, np.int64), np.empty(self.values.shape, np.int64)
        for kind, law in enumerate(self.laws):
            cells = self.kinds == kind
            low[cells], high[cells] = intervals(self.estimates[cells], law, confidence, counts=self.counts)
        return low, high


@dataclass(frozen=True, slots=True)
class Consistent:
    """All tables of a batch.

    `loose` names pairs of tables, and two or more columns that they share, whose integers need not agree;
    totals and single columns always do. `apart` names columns whose estimates need not agree between widths.
    `alone` has the places of counts that agree only with those of the same rows, since all together are too many.
    """

    tables: tuple[ConsistentTable, ...]
    loose: tuple[Loose, ...]
    apart: frozenset[str]
    alone: tuple[int, ...] = ()


def consistent(tables: Sequence[NoisyTable], *, counts: bool, most: int | None = None) -> Consistent:
    """Make tables agree that are about the same rows, and give integers to publish.

    All tables must add up the same thing over the same rows: counts, or sums of one column. Counts are not
    negative, and no more than `most` rows are counted. Each estimate is the best linear unbiased one, so no cell gets
    a larger variance than it had.
    """
    if not tables:
        raise BadQuery("No table to make consistent. Give one or more.")
    refuse_large(tables)
    layouts = tuple(table.layout for table in tables)
    weights = least_squares(layouts)
    laws = error_laws(layouts)
    estimates = [
        found[0] for found in weights.estimates([table.values[None].astype(float) for table in tables])
    ]
    errors = Errors.of(layouts, list(map(variances_of, laws))) if counts else None
    rounding = Rounding.of(layouts, estimates, errors=errors, most=most)
    whole = [rounding.table(layout, estimate) for layout, estimate in zip(layouts, estimates, strict=True)]
    made = [
        ConsistentTable(layout, estimate, integers, counts, *law, rounding.shrinkage(layout))
        for layout, estimate, integers, law in zip(layouts, estimates, whole, laws, strict=True)
    ]
    return Consistent(tuple(made), tuple(loose(layouts)), weights.apart)


def variances_of(laws: Laws) -> FloatArray:
    """Give the variance of every estimate in a table."""
    kinds, found = laws
    return np.asarray(np.array([law.variance for law in found])[kinds])


def refuse_large(tables: Sequence[NoisyTable]) -> None:
    """Refuse numbers that floats cannot add up."""
    largest = max(int(np.abs(table.values.astype(float)).max(initial=0)) for table in tables)
    if largest > LARGEST:
        raise QueryTooComplex(
            f"A number of {largest:.3g} is above 2⁴⁴, where sums are no longer exact to the unit. "
            "Release without making tables consistent, or count in a coarser unit."
        )


@lru_cache(maxsize=1024)
def error_laws(layouts: tuple[Layout, ...]) -> tuple[Laws, ...]:
    """Give the laws of the errors in each table of a batch, and which one each cell has.

    They do not depend on any answer, so they also tell before a release how exact it will be.
    """
    weights, found = least_squares(layouts), []
    noises = Noises.of([layout.noise for layout in layouts])
    for place in range(len(layouts)):
        report("laws of errors", place, len(layouts))
        found.append(_laws_of(weights, noises, place))
    return tuple(found)


def _laws_of(weights: LeastSquares, noises: Noises, place: int) -> Laws:
    """Find the laws in one table; cells of a block have the same weights, in another order."""
    sides = weights.tables[place].sides
    firsts = [np.concatenate([[0], np.cumsum(side.sizes)[:-1]]).tolist() for side in sides]
    cells = list(itertools.product(*firsts))
    step = max(1, AT_ONCE // sum(layout.cells for layout in weights.layouts))
    known: dict[ErrorLaw, int] = {}
    kinds = []
    for start in range(0, len(cells), step):
        some = cells[start : start + step]
        taken = weights.weights(place, some)
        laws = collected(taken.owners, taken.copies, taken.weights, noises)
        kinds += [known.setdefault(law, len(known)) for law in laws]
    table = np.array(kinds, dtype=np.int64).reshape([len(side.sizes) for side in sides])
    blocks = [np.repeat(np.arange(len(side.sizes)), side.sizes) for side in sides]
    return table[np.ix_(*blocks)] if sides else table, tuple(known)
