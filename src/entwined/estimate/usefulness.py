"""Whether an answer says more than what is public already: the one place where that is judged, in plans and releases.

An answer is not called usable if its 95 % interval, before it is cut, is as wide as all that is possible: that of a
count as wide as the table. Nor is a table of counts whose expected error in a cell is above the largest that a uniform
guess can have, which gives every cell the same: with all n rows in one of k cells it is off by n√(k−1)/k, as a root
of the mean square over the cells. Only public figures go in, so the judgement tells nothing about any row.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Self, TypeAlias

from entwined.canonical import Document
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.spans import CONFIDENCE
from entwined.queries import Effective, Query, Quotient, Scores
from entwined.queries.extents import End, extent
from entwined.queries.shapes import Number
from entwined.schema import Schema
from entwined.schema.schema import USUAL_ROWS

Verdict: TypeAlias = Literal["usable", "wider than the table", "worse than a guess", "not known"]
LAST_BITS: Final = 1 - 1e-9
UNSAID: Final = "How many rows there may be is not said, so this is not judged: give expected_rows."


@dataclass(frozen=True, slots=True)
class Usefulness:
    """What an answer is good for: a verdict, why, and what would help where it is not usable."""

    verdict: Verdict = "usable"
    why: str = ""
    helps: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether nothing speaks against using the answer."""
        return self.verdict in ("usable", "not known")

    @property
    def document(self) -> Document:
        """The judgement as JSON."""
        told = {"usable": self.usable, "verdict": self.verdict, "why": self.why or None}
        return told | ({"helps": list(self.helps)} if self.helps else {})

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a judgement; without one an answer is usable."""
        return cls(
            document.get("verdict", "usable"), document.get("why") or "", tuple(document.get("helps", ()))
        )


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many rows an answer is held against, and who says so."""

    rows: int | None
    words: str

    @classmethod
    def of(cls, schema: Schema, expected: int | None = None) -> "TableSize":
        """Take the public number of rows, else the one expected, else the most that the schema allows."""
        if schema.rows is not None:
            return cls(schema.rows, f"{schema.rows:,} rows")
        if expected is not None:
            return cls(expected, f"about {expected:,} rows")
        if schema.most_rows < USUAL_ROWS:
            return cls(schema.most_rows, f"at most {schema.most_rows:,} rows")
        return cls(None, "rows whose number is not said")


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the error of an answer is held against: all that is possible, and the most that a guess is off by."""

    width: float
    guess: float | None = None
    cells: int = 1
    step: float = 1.0

    def judged(self, size: TableSize, reach: float | None, deviation: float | None) -> Usefulness:
        """Judge an answer by the half-width of its interval and its expected error in a cell, in its own unit."""
        if reach is not None and 2 * reach >= self.width * LAST_BITS:
            return Usefulness(
                "wider than the table",
                f"Its 95 % interval, ± {figure(reach)}, is as wide as all that is possible in a table of {size.words} "
                f"({figure(self.width)}): it says nothing.",
            )
        if self.guess is not None and deviation is not None and deviation >= self.guess:
            return Usefulness(
                "worse than a guess",
                f"Its expected error, {figure(deviation)} in a cell, is above the most that a uniform guess over its "
                f"{self.cells:,} cells can be off by in a table of {size.words} ({figure(self.guess)}).",
            )
        return Usefulness()


def yardstick(query: Query, schema: Schema, size: TableSize) -> Yardstick | None:
    """Give what an answer is held against; None where how many rows there are is not said and matters."""
    return query.shape(schema, _Yardsticks(query, schema, size.rows))


def judged(
    query: Query, schema: Schema, size: TableSize, reach: float | None, deviation: float | None = None
) -> Usefulness:
    """Judge one answer by the half-width of its interval, or its ranks, and its expected error in a cell."""
    found = yardstick(query, schema, size)
    return Usefulness("not known", UNSAID) if found is None else found.judged(size, reach, deviation)


def judged_by(laws: Mapping[ErrorLaw, float], query: Query, schema: Schema, size: TableSize) -> Usefulness:
    """Judge an answer of integers by the laws of their errors, each with the share of cells that have it."""
    found = yardstick(query, schema, size)
    if found is None:
        return Usefulness("not known", UNSAID)
    reach = max(law.half_width(CONFIDENCE) for law in laws)
    deviation = math.sqrt(sum(share * law.variance for law, share in laws.items()))
    return found.judged(size, reach * found.step, deviation * found.step)


@dataclass(frozen=True, slots=True)
class _Yardsticks:
    """What is possible for each shape of an answer."""

    query: Query
    schema: Schema
    rows: int | None

    def lattice(self, step: int | Fraction) -> Yardstick | None:
        """Between all rows adding their least and their greatest; of a table of counts also a guess."""
        width = self._added(step)
        asked = self.query.statistics(self.schema)[0].aggregate
        if width is None or asked.adds is not None or not asked.sides or asked.cells < 2:  # noqa: PLR2004
            return None if width is None else Yardstick(width, step=float(step))
        return Yardstick(width, width * math.sqrt(asked.cells - 1) / asked.cells, asked.cells, float(step))

    def rising(self, step: Fraction) -> Yardstick | None:
        """The same of one number."""
        width = self._added(step)
        return None if width is None else Yardstick(width)

    def _added(self, step: int | Fraction) -> float | None:
        if self.rows is None:
            return None
        ends = extent(self.query.statistics(self.schema)[0].aggregate, self.schema, self.rows)
        widest = max(high - low for low, high in zip(_each(ends[0]), _each(ends[1]), strict=True))
        return widest * float(step)

    def ratio(self, quotient: Quotient[Number]) -> Yardstick:
        """The range of the values."""
        return Yardstick(float((quotient.most - quotient.least) * quotient.step))

    def variance(self, quotient: Quotient[Number]) -> Yardstick:
        """The largest that the range allows."""
        return Yardstick(((quotient.most - quotient.least) / 2) ** 2 * float(quotient.step))

    def share(self) -> Yardstick:
        """From 0 to 1."""
        return Yardstick(1.0)

    def effective(self, effective: Effective) -> Yardstick | None:  # noqa: ARG002  (every shape is asked the same way)
        """All rows."""
        return None if self.rows is None else Yardstick(float(self.rows))

    def choice(self, choice: Scores, candidates: int) -> Yardstick | None:  # noqa: ARG002
        """All ranks."""
        return None if self.rows is None else Yardstick(float(self.rows))


def _each(end: End) -> tuple[int, ...]:
    return end if isinstance(end, tuple) else (end,)


def figure(value: float) -> str:
    """Write a figure of a sentence."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004  (where three digits end)
