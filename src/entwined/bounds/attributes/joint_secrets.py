"""One secret over several protected columns: their figures must not be told, one by one or together.

**Theorem.** Let an answer be normal given the figures g₁ … g_k of all protected columns, with mean c + Σ s_j g_j and a
variance that does not depend on them. Two points of the secret have figures that differ by at most w_j each, so answers
move by Σ s_j d_j with |d_j| ≤ w_j. What noise has to keep grows with a convex form of that move, which is largest where
every d_j is w_j or −w_j. So noise that keeps, for each choice of signs, a secret of one figure of width 1 and
slope Σ ±w_j s_j, keeps the joint one. ∎

That effects of the columns add up, without one changing that of another, is part of what is believed. For jointly
normal columns it follows: the slopes are V_oP V_PP⁻¹.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Final, Self

from entwined.bounds.attributes.far_apart import FarApart, worst_of
from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.guards import AnswerBox
from entwined.bounds.attributes.linked import Linked, given_protected
from entwined.bounds.attributes.secrets import ColumnSecret, Reading, Span
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadInput, BadModel, Refused
from entwined.queries.plain import PlainSum

MOST_PARTS: Final = 4
TOGETHER: Final = "together"


@dataclass(frozen=True, slots=True)
class JointSecret:
    """Facts about several columns that must not be told, alone or together: each part by its worst points."""

    parts: tuple[ColumnSecret, ...]
    name: str = ""
    reading: ClassVar[Reading] = "worst point"
    level: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        columns = [one.column for one in self.parts]
        if not 2 <= len(columns) <= MOST_PARTS or len(set(columns)) < len(columns):  # noqa: PLR2004  (a pair)
            raise BadInput(
                f"One secret about {len(columns)} columns together. Give 2 to {MOST_PARTS}, each once."
            )
        for one in self.parts:
            alike = (one.rows, one.epsilon, one.delta) == (self.rows, self.epsilon, self.delta)
            if not alike or one.reading != self.reading or one.level != self.level:
                raise BadInput(
                    f"The secret {self.title!r}: its columns have one number of rows, one ε and δ, and are read by "
                    "their worst points. Give these once."
                )

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or " and ".join(one.title for one in self.parts)

    @property
    def column(self) -> str:
        """The protected columns."""
        return " and ".join(one.column for one in self.parts)

    @property
    def rows(self) -> int:
        """The public number of rows."""
        return self.parts[0].rows

    @property
    def epsilon(self) -> Fraction:
        """How far odds may change."""
        return self.parts[0].epsilon

    @property
    def delta(self) -> Fraction:
        """But for this chance."""
        return self.parts[0].delta

    @property
    def words(self) -> str:
        """What an observer must not be able to tell."""
        return f"{', or '.join(one.words for one in self.parts)}, alone or together"


@dataclass(frozen=True, slots=True)
class JointLaw:
    """The laws of one column given all protected ones: a span of slopes in each of them, and one of deviations."""

    column: str
    slopes: tuple[Span, ...]
    sd: Span

    def along(self, widths: Sequence[Fraction], *, sufficient: bool) -> Linked:
        """The law by one figure of width 1 that moves all protected ones by these widths."""
        ends = [
            sorted((width * one.low, width * one.high))
            for width, one in zip(widths, self.slopes, strict=True)
        ]
        low, high = (sum((end[side] for end in ends), Fraction(0)) for side in (0, 1))
        return Linked(self.column, Span(low, high), self.sd, sufficient=sufficient)

    @property
    def document(self) -> Document:
        """The laws as JSON."""
        return {
            "column": self.column,
            "slopes": [one.document for one in self.slopes],
            "sd": self.sd.document,
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read laws as they were written."""
        return cls(
            given["column"], tuple(map(Span.from_document, given["slopes"])), Span.from_document(given["sd"])
        )


@dataclass(frozen=True, slots=True)
class JointGuard:
    """A secret over several columns with the laws of others given all of them."""

    secret: JointSecret
    laws: tuple[JointLaw, ...]
    correlation: tuple[tuple[Fraction, ...], ...] | None = None
    normal: bool = False
    free: ClassVar[str] = Guarded.free

    def __post_init__(self) -> None:
        if any(len(law.slopes) != len(self.secret.parts) for law in self.laws):
            raise BadModel(
                f"The secret {self.secret.title!r}: a law has another number of slopes than there are protected "
                "columns. Give one for each."
            )
        if self.normal and any(one.figure != "mean" for one in self.secret.parts):
            raise BadModel(
                "Jointly normal columns have means, not shares or counts. Give laws of columns instead."
            )
        ways_of(self)

    @classmethod
    def from_covariance(
        cls, secret: JointSecret, names: Sequence[str], covariance: Sequence[Sequence[float]]
    ) -> Self:
        """Take the laws of jointly normal columns given the protected ones."""
        given = given_protected([one.column for one in secret.parts], names, covariance)
        laws = tuple(map(JointLaw, given.names, given.slopes, given.scales))
        return cls(secret, laws, given.correlation, normal=True)

    def least(self, asked: PlainSum) -> Fraction:
        """The variance of noise that keeps the secret for one answer; 0 if none is needed."""
        self._require_column(asked)
        return max(way.least(asked) for way in ways_of(self))

    def slip(self, asked: PlainSum, epsilon: Fraction, variance: Fraction) -> float:
        """The δ at which one answer with this noise keeps ε, but for what rounding a normal answer costs."""
        self._require_column(asked)
        return max(way.slip(asked, epsilon, variance) for way in ways_of(self))

    def cases(self, asked: Sequence[PlainSum]) -> list[AnswerBox]:
        """Of several answers the box of differences for each choice of signs, and their own covariance."""
        for one in asked:
            self._require_column(one)
        return [box for way in ways_of(self) for box in way.cases(asked)]

    def combined(self, weights: Mapping[str, Fraction]) -> FarApart:
        """How far a weighted sum of jointly normal columns moves, and how little it varies; refuse any others."""
        return worst_of([way.combined(weights) for way in ways_of(self)])

    def spread(self, steps: Mapping[str, Fraction]) -> float:
        """How little columns vary in any direction given all protected ones, in squared steps."""
        return ways_of(self)[0].spread(steps)

    def _require_column(self, asked: PlainSum) -> None:
        if not asked.column:
            raise Refused(
                f"The secret {self.secret.title!r} is about several columns, whose shares do not say how many rows "
                "have both: nothing is proved of counts. Ask for means and totals."
            )

    @property
    def trusted(self) -> tuple[str, ...]:
        """What has to be believed for the secret to be kept."""
        columns = ", ".join(repr(one.column) for one in self.secret.parts)
        added = (
            f"The effects of {columns} on the mean of a row's value add up, and none changes how it varies."
        )
        return (*ways_of(self)[0].trusted, added)

    @property
    def document(self) -> Document:
        """The secret with its laws as JSON."""
        told = self.correlation and [[fraction_text(one) for one in row] for row in self.correlation]
        return {
            TOGETHER: [one.document for one in self.secret.parts],
            "name": self.secret.name,
            "laws": [one.document for one in self.laws],
            "correlation": told,
            "normal": self.normal,
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a secret with its laws as it was written."""
        told = given["correlation"]
        return cls(
            JointSecret(tuple(map(ColumnSecret.from_document, given[TOGETHER])), given["name"]),
            tuple(map(JointLaw.from_document, given["laws"])),
            told and tuple(tuple(map(fraction_from, row)) for row in told),
            bool(given["normal"]),
        )


@lru_cache(maxsize=64)
def ways_of(guard: JointGuard) -> tuple[Guarded, ...]:
    """For each choice of signs, one of each with its mirror image, a secret of one figure that moves by 1."""
    secret = guard.secret
    whole = ((Span.of(0), Span.of(1)),)
    alone = ColumnSecret(
        secret.column, "mean", whole, secret.rows, secret.epsilon, secret.delta, name=secret.title
    )
    found = []
    for signs in product((1, -1), repeat=len(secret.parts) - 1):
        widths = [sign * one.width for sign, one in zip((1, *signs), secret.parts, strict=True)]
        linked = tuple(law.along(widths, sufficient=not guard.normal) for law in guard.laws)
        found.append(Guarded(alone, linked, (), guard.correlation))
    return tuple(found)
