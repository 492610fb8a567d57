"""What is asked of which columns, and how far the answer moves if whole columns change."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.numbers import round_up_float


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """One number that reads some columns and stays within `span` whatever is in them."""

    columns: tuple[str, ...]
    span: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(sorted(set(self.columns))))
        if not self.columns or not (math.isfinite(self.span) and self.span > 0):
            raise BadQuery(
                f"A part that reads {len(self.columns)} columns and moves by {self.span:g}. Name at least one column, "
                "and give a positive number that it can move by."
            )


@dataclass(frozen=True, slots=True)
class ColumnQuery:
    """A list of answers, each a part; it moves by what all its numbers move together.

    >>> tall_and_good = ColumnQuery.count(["height", "sat"], rows=100)
    >>> tall_and_good.moved_by(["sat"]), tall_and_good.moved_by(["weight"])
    (100.0, 0.0)
    """

    parts: tuple[ColumnPart, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise BadQuery("Nothing is asked. Give at least one part.")

    @classmethod
    def count(cls, columns: Sequence[str], rows: int) -> Self:
        """Count rows by what some columns hold: if one of these changes as a whole, so can the answer of every row."""
        return cls((ColumnPart(tuple(columns), float(rows)),))

    @classmethod
    def total(cls, column: str, low: float, high: float, rows: int) -> Self:
        """Add up a column whose values are clipped to an interval."""
        return cls((ColumnPart((column,), round_up_float((high - low) * rows)),))

    @classmethod
    def mean(cls, column: str, low: float, high: float) -> Self:
        """Average a column whose values are clipped to an interval."""
        return cls((ColumnPart((column,), round_up_float(high - low)),))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return tuple(sorted({column for part in self.parts for column in part.columns}))

    def moved_by(self, changed: Collection[str]) -> float:
        """Give the most that the answer moves if whole columns change, all at once."""
        spans = [part.span for part in self.parts if not set(changed).isdisjoint(part.columns)]
        return round_up_float(math.fsum(spans), 1) if len(spans) > 1 else math.fsum(spans)

    def length_moved_by(self, changed: Collection[str]) -> float:
        """Give the most that a list of answers moves, as a length, if whole columns change."""
        spans = [part.span for part in self.parts if not set(changed).isdisjoint(part.columns)]
        return round_up_float(math.hypot(*spans)) if len(spans) > 1 else math.fsum(spans)

    def __add__(self, other: "ColumnQuery") -> "ColumnQuery":
        """Ask both."""
        return ColumnQuery((*self.parts, *other.parts))

    @property
    def document(self) -> Document:
        """The parts as they are written down."""
        return {"parts": [{"columns": list(part.columns), "span": part.span} for part in self.parts]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""
        return cls(
            tuple(ColumnPart(tuple(part["columns"]), float(part["span"])) for part in document["parts"])
        )
