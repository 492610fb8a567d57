"""What was released of households: tables of them with noise, and their errors."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.mechanisms.households.masses import parts_of
from entwined.mechanisms.households.seating import HOME, Seating, Sides
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.mechanisms.sheet import Sheet
from entwined.noise import Additive, noise_from
from entwined.numbers import IntArray
from entwined.queries.seats import HEAD

CONFIDENCE: Final = Fraction(19, 20)
HEADINGS: Final = (
    "table", "cells", "deviation of a count", "± households of a cell (95 %)", "share of households misplaced",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class NoisyHomes:
    """A table of households, in parts, with noise."""

    sides: Sides
    counts: IntArray
    noise: Additive

    @property
    def deviation(self) -> float:
        """The deviation of the noise, in parts of a household."""
        return math.sqrt(self.noise.variance)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyHouseholds:
    """Tables of households with noise, in the order in which they were drawn, and distances of pairs."""

    seating: Seating
    tables: list[NoisyHomes] = field(default_factory=list)
    distances: dict[Sides, int] = field(default_factory=dict)

    def count(self, exact: Mapping[Sides, IntArray], noises: Mapping[Sides, Additive]) -> None:
        """Add noise to tables, and keep them."""
        self.tables.extend(
            NoisyHomes(sides, noise.add(exact[sides]), noise) for sides, noise in noises.items()
        )

    @property
    def document(self) -> Document:
        """All of it as JSON; counts are in parts of a household."""
        return {
            "parts": parts_of(self.seating),
            "tables": [
                {
                    "columns": self._named(one.sides),
                    "noise": one.noise.document,
                    "counts": one.counts.tolist(),
                }
                for one in self.tables
            ],
            "distances": [
                {"columns": self._named(sides), "parts": far} for sides, far in self.distances.items()
            ],
        }

    @classmethod
    def from_document(cls, seating: Seating, drawn: Mapping[str, Any]) -> Self:
        """Read back what was drawn."""
        tables = [
            NoisyHomes(
                _sides(seating, one["columns"]), np.array(one["counts"], np.int64), noise_from(one["noise"])
            )
            for one in drawn["tables"]
        ]
        if any(one.counts.size != math.prod(map(seating.size, one.sides)) for one in tables):
            raise BadInput("A table has other cells than its columns have. Give what was released.")
        far = {_sides(seating, one["columns"]): int(one["parts"]) for one in drawn["distances"]}
        return cls(seating, tables, far)

    def __eq__(self, other: object) -> bool:
        """Two are equal if the same was drawn."""
        return isinstance(other, NoisyHouseholds) and self.document == other.document

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @property
    def households(self) -> float:
        """About how many households there are that have a head; at least one."""
        found = [one for one in self.tables if all(kind in (HOME, HEAD) for kind, _ in one.sides)]
        precisions = [1 / (one.deviation**2 * one.counts.size) for one in found]
        total = sum(p * float(one.counts.sum()) for p, one in zip(precisions, found, strict=True))
        return max(total / sum(precisions) / parts_of(self.seating), 1.0)

    def misplaced(self, one: NoisyHomes) -> float:
        """How far noise is expected to take a table, as the share of all households that it moves."""
        moved = NOISE_OF_A_CELL * one.deviation * one.counts.size / parts_of(self.seating)
        return min(moved / (2 * self.households), 1.0)

    def _named(self, sides: Sides) -> list[str]:
        return [self.seating.name(place) for place in sides]

    @property
    def sheet(self) -> Sheet:
        """The tables with their errors, in households."""
        whole = parts_of(self.seating)
        rows = tuple(
            (
                " × ".join(self._named(one.sides)),
                one.counts.size,
                one.deviation / whole,
                float(one.noise.half_width(CONFIDENCE)) / whole,
                self.misplaced(one),
            )
            for one in self.tables
        )
        return Sheet(HEADINGS, rows, (f"About {self.households:,.0f} households.",))


def _sides(seating: Seating, names: Iterable[str]) -> Sides:
    return tuple(map(seating.place, names))


def named_cells(seating: Seating, several: Sequence[Sides]) -> list[tuple[str, int]]:
    """What tables are called, and how many cells they have."""
    return [(" × ".join(map(seating.name, sides)), math.prod(map(seating.size, sides))) for sides in several]
