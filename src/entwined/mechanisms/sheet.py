"""What a mechanism shows people and programs: a small table, and sentences about it."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from entwined.canonical import Document

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """Named columns, rows of cells, and notes; a number that is not known is None."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    facts: Document = field(default_factory=dict)
    """What programs read beside the table."""

    @property
    def document(self) -> Document:
        """The table as JSON."""
        rows = [dict(zip(self.headings, map(_plain, row), strict=True)) for row in self.rows]
        return {"columns": list(self.headings), "rows": rows, "notes": list(self.notes), **self.facts}


def short(number: Fraction) -> str:
    """Write a number in a few digits."""
    return f"{float(number):.4g}"


def _plain(cell: Cell) -> Cell:
    """Give a cell as JSON has it: no infinite number."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
