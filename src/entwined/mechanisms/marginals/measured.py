"""What was released for a synthetic table: marginals with noise, their errors, and the law that they are fitted by."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Final, Self

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.law import CellLaw, fitted, total_of
from entwined.mechanisms.marginals.meter import Noted, Transcript
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.mechanisms.sheet import Sheet
from entwined.numbers import FloatArray

CROWDED: Final = 0.8  # of all rows
SURE: Final = 2  # deviations of noise
WIDE: Final = 10  # values
FINAL_STEPS: Final = 1000  # columns alone come out last, where noise is small


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMarginals:
    """Tables of counts with noise, in the order in which they were drawn."""

    domain: Domain
    notes: Transcript

    @property
    def document(self) -> Document:
        """All of it as JSON."""
        return self.notes.document(self.domain.names)

    @classmethod
    def from_document(cls, domain: Domain, drawn: Mapping[str, Any]) -> Self:
        """Read back what was drawn."""
        names = domain.names
        far = {tuple(map(names.index, one["columns"])): int(one["rows"]) for one in drawn["distances"]}
        chosen = [tuple(map(names.index, one)) for one in drawn["chosen"]]
        tables, earlier = (
            [Noted.from_document(one, names) for one in drawn.get(key, ())] for key in ("tables", "earlier")
        )
        if any(one.counts.size != one.cells(domain) for one in (*tables, *earlier)):
            raise BadInput("A table has other cells than its columns have. Give what was released.")
        return cls(domain, Transcript(tables, far, chosen, earlier))

    def __eq__(self, other: object) -> bool:
        """Two are equal if the same was drawn."""
        return isinstance(other, NoisyMarginals) and self.document == other.document

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @property
    def rows(self) -> float:
        """About how many rows there are."""
        return total_of(self.notes.counted)

    def law(self, never: Mapping[Scope, FloatArray] | None = None) -> CellLaw:
        """Fit a law to all tables; cells that `never` marks are left empty."""
        return fitted(self.notes.counted, self.domain.sizes, never=never, steps=FINAL_STEPS)

    def errors(self) -> list[tuple[Noted, float]]:
        """How far each table is expected to be from the true one, as a share of rows moved; noise alone."""
        return [
            (one, min(NOISE_OF_A_CELL * one.counted.deviation * one.counts.size / (2 * self.rows), 1.0))
            for one in self.notes.tables
        ]

    @property
    def sheet(self) -> Sheet:
        """The tables with their errors."""
        names = self.domain.names
        rows = tuple(
            (
                " × ".join(names[at] for at in one.scope),
                one.counts.size,
                float(np.sqrt(one.noise.variance)),
                one.noise.half_width(Fraction(19, 20)),
                error,
            )
            for one, error in self.errors()
        )
        heads = (
            "table",
            "cells",
            "deviation of a count",
            "± of a count (95 %)",
            "share of rows misplaced",
        )
        return Sheet(
            heads, rows, (f"About {self.rows:,.0f} rows.", *self._related(), *self._twice(), *self._crowded())
        )

    @property
    def measured_pairs(self) -> int:
        """How many pairs of columns were counted together."""
        return len({pair for one in self.notes.tables for pair in combinations(sorted(one.scope), 2)})

    def _related(self) -> list[str]:
        """Say how many relations of columns were measured."""
        pairs, measured = math.comb(len(self.domain.axes), 2), self.measured_pairs
        if not pairs:
            return []
        if not measured:
            return [
                f"Relations: none of {pairs:,} pairs of columns was measured: columns are independent of each other."
            ]
        return [f"Relations: {measured:,} of {pairs:,} pairs of columns were counted together."]

    def _twice(self) -> list[str]:
        """Say why a table stands there twice."""
        scopes = [one.scope for one in self.notes.tables if one.grain is None]
        if len(set(scopes)) == len(scopes):
            return []
        return ["What stands there twice was counted twice; rows follow the mean of both, weighed by noise."]

    def _crowded(self) -> list[str]:
        """Name columns nearly all of whose rows are in one wide range, by the noisy counts alone."""
        counts = {one.scope[0]: one for one in self.notes.tables if len(one.scope) == 1 and one.grain is None}
        said = []
        for at, one in counts.items():
            axis = self.domain.axes[at]
            cell = int(np.argmax(one.counts[:-1])) if one.counts.size > 1 else 0
            share = (float(one.counts[cell]) - SURE * one.counted.deviation) / self.rows
            values = [*axis.starts[1:], axis.levels][cell] - axis.starts[cell]
            if share > CROWDED and values >= WIDE:
                said.append(
                    f"In one range of {axis.column}, of {values:,} values, are nearly all rows, and there any value is "
                    f"as likely: bins = {{{axis.column} = […]}} with more ranges there would tell more."
                )
        return said
