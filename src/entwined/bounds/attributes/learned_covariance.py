"""A covariance that was learned: all laws that the sample, and the noise on it, leave open at a confidence.

**Theorem.** Let n rows be independent and jointly normal, and S the sums of products of their centred columns. Given a
column z, another one has slope b = V_zy/V_zz and deviation σ. Then (S_zy/S_zz − b)√S_zz / s is distributed as
Student's t of n − 2 degrees, s² = R/(n − 2), R = S_yy − S_zy²/S_zz, and R/σ² as χ² of n − 2 degrees, both whatever z
is. So with a chance of at least 1 − β each b is within t s/√S_zz of S_zy/S_zz, and σ² between R/χ²_high and R/χ²_low.
Where S is known to lie in a box, by noise on it, the widest of these over the box are taken, end by end.

What is learned so is a class of laws: slopes and deviations by their ends, any of which may be true. Noise for a secret
is that of the worst of them.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import Span
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.dependence import LearnedFrom
from entwined.dependence.fields import Fields
from entwined.dependence.files import learned_from
from entwined.dependence.learned_from import origin_fields
from entwined.errors import BadModel

KIND: Final = "learned covariance"
LEAST_ROWS: Final = 4
OUTWARD: Final = 1e-9  # quantiles are right to far less


class Interval(NamedTuple):
    """Two ends."""

    low: Fraction
    high: Fraction

    @property
    def sizes(self) -> "Interval":
        """Between which ends its size lies."""
        ends = abs(self.low), abs(self.high)
        return Interval(Fraction(0) if self.low <= 0 <= self.high else min(ends), max(ends))


@dataclass(frozen=True, slots=True)
class LearnedCovariance:
    """Columns with boxes of their sums of centred products, the rows that these are of, and how sure the class is."""

    columns: tuple[str, ...]
    rows: int
    scatter: tuple[tuple[Interval, ...], ...]
    means: tuple[Interval, ...]
    confidence: Fraction
    learned_from: LearnedFrom

    def __post_init__(self) -> None:
        sides = len(self.columns)
        if (
            self.rows < LEAST_ROWS
            or len(self.scatter) != sides
            or any(len(row) != sides for row in self.scatter)
        ):
            raise BadModel(
                f"A learned covariance of {sides} columns and {self.rows} rows does not fit its sums. Mend it."
            )
        if not 0 < self.confidence < 1:
            raise BadModel(f"A confidence of {float(self.confidence):g}. Give one between 0 and 1.")

    @property
    def words(self) -> str:
        """Where it comes from."""
        return f"learned from {self.learned_from.table} ({self.rows:,} rows, confidence {float(self.confidence):g})"

    def linked(self, protected: str) -> tuple[Linked, ...]:
        """The laws of all other columns given one of them."""
        if protected not in self.columns:
            raise BadModel(
                f"The learned covariance has no column {protected!r:.60}. Learn it with that column."
            )
        at = self.columns.index(protected)
        missed = (1 - self.confidence) / 2 / (4 * (len(self.columns) - 1))
        return tuple(self._law(at, other, missed) for other in range(len(self.columns)) if other != at)

    def _law(self, at: int, other: int, missed: Fraction) -> Linked:
        """The slope and the deviation of a column given another, each end missed with at most this chance."""
        from scipy.stats import chi2, t

        own, both, theirs = self.scatter[at][at], self.scatter[at][other], self.scatter[other][other]
        if own.low <= 0:
            raise BadModel(
                f"By noise and sample {self.columns[at]!r} may not vary at all, so nothing is known of how others go "
                "with it. Spend more on learning, or declare a covariance."
            )
        freedom = self.rows - 2
        ends = [end / side for end in both for side in own]
        most = theirs.high - both.sizes.low**2 / own.high
        least = max(theirs.low - both.sizes.high**2 / own.low, Fraction(0))
        spread = math.sqrt(max(most, Fraction(0)) / own.low / freedom) * float(t.isf(float(missed), freedom))
        reach = Fraction(spread * (1 + OUTWARD))
        low, high = (math.sqrt(rest / Fraction(float(quantile))) for rest, quantile in (
            (least, chi2.isf(float(missed), freedom)), (max(most, Fraction(0)), chi2.ppf(float(missed), freedom))
        ))  # fmt: skip
        deviation = Span(Fraction(low * (1 - OUTWARD)), Fraction(high * (1 + OUTWARD)))
        return Linked(
            self.columns[other], Span(min(ends) - reach, max(ends) + reach), deviation, sufficient=False
        )

    @property
    def document(self) -> Document:
        """The class as JSON."""
        return {
            "kind": KIND,
            "columns": list(self.columns),
            "rows": self.rows,
            "scatter": [[list(map(fraction_text, one)) for one in row] for row in self.scatter],
            "means": [list(map(fraction_text, one)) for one in self.means],
            "confidence": fraction_text(self.confidence),
            **origin_fields(self.learned_from),
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a class as it was written."""
        if given.get("kind") != KIND:
            raise BadModel(
                f"A file of kind {given.get('kind')!r:.60} is no {KIND}. Make one: entwined learn covariance."
            )

        def interval(ends: list[str]) -> Interval:
            return Interval(*map(fraction_from, ends))

        scatter = tuple(tuple(map(interval, row)) for row in given["scatter"])
        means = tuple(map(interval, given["means"]))
        confidence = fraction_from(given["confidence"])
        origin = learned_from(Fields(dict(given)))
        if origin is None:
            raise BadModel(
                f"A {KIND} does not say what it was learned from. Make one: entwined learn covariance."
            )
        return cls(tuple(given["columns"]), given["rows"], scatter, means, confidence, origin)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file that was learned."""
        try:
            return cls.from_document(json.loads(path.read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            raise BadModel(f"{path} is no {KIND}. Make one: entwined learn covariance.") from None
