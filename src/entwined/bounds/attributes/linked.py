"""How answers go with a secret: the laws that an adversary may hold for possible, a class Θ of them.

A row's value in a column is normal given what the protected column says of that row. For a share or a count of a
protected value the mean differs by `slope` between rows with the value and the others; for the mean of a protected
column it is a line in it with this `slope`. So, rows being independent, the mean of the column over n rows is normal
given the secret figure g: its mean is a constant + slope · g, its variance the mean of the rows' variances over n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple, Self

import numpy as np

from entwined.bounds.attributes.secrets import ColumnSecret, Span
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadModel, Refused
from entwined.numbers import FloatArray
from entwined.schema.raw import is_text

MOST_COLUMNS: Final = 12


@dataclass(frozen=True, slots=True)
class Linked:
    """The laws of one column given the protected one: a box of slopes and of a row's standard deviations.

    `others_sd` is the deviation of rows without the protected value, where it is another one. Of laws that are
    `sufficient` the law of the column given the protected one is the same whatever parameter the protected one has.
    """

    column: str
    slope: Span
    sd: Span
    others_sd: Span | None = None
    sufficient: bool = True

    def __post_init__(self) -> None:
        for span in (self.sd, self.others_sd or self.sd):
            if span.low < 0:
                raise BadModel(
                    f"The column {self.column!r} has a deviation of {span}. Give numbers from 0 on."
                )

    @classmethod
    def of(cls, column: str, slope: object, sd: object, others_sd: object = None) -> Self:
        """Read spans as people give them."""
        return cls(column, Span.of(slope), Span.of(sd), None if others_sd is None else Span.of(others_sd))

    @classmethod
    def between(
        cls, column: str, inside: object, others: object, sd: object, others_sd: object = None
    ) -> Self:
        """Make the box from the means of rows with the protected value and of the others."""
        one, other = Span.of(inside), Span.of(others)
        return cls.of(column, [one.low - other.high, one.high - other.low], sd, others_sd)

    def outside(self, truth: "Linked") -> tuple[str, ...]:
        """Say how a declared truth is not in the class."""
        compared = {
            "slope": (self.slope, truth.slope),
            "deviation": (self.sd, truth.sd),
            "deviation of the others": (self.others_sd or self.sd, truth.others_sd or truth.sd),
        }
        return tuple(
            f"{self.column}: the {what} is {is_so}, and the class has {box}."
            for what, (box, is_so) in compared.items()
            if not (box.holds(is_so.low) and box.holds(is_so.high))
        )

    @property
    def document(self) -> Document:
        """The laws as JSON."""
        return {
            "column": self.column,
            "slope": self.slope.document,
            "sd": self.sd.document,
            "others_sd": None if self.others_sd is None else self.others_sd.document,
            "sufficient": self.sufficient,
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read laws as they were written."""
        others = given["others_sd"]
        return cls(
            given["column"],
            Span.from_document(given["slope"]),
            Span.from_document(given["sd"]),
            None if others is None else Span.from_document(others),
            bool(given["sufficient"]),
        )


@dataclass(frozen=True, slots=True)
class LinkedColumns:
    """The laws of several columns, and how their values in a row correlate given the protected one.

    Without `correlation` nothing is known of it, and then the spread of the data is not counted as noise where several
    answers leave together.
    """

    columns: tuple[Linked, ...]
    correlation: tuple[tuple[Fraction, ...], ...] | None = None

    def __post_init__(self) -> None:
        names = [one.column for one in self.columns]
        if not 1 <= len(names) <= MOST_COLUMNS or len(set(names)) < len(names):
            raise BadModel(
                f"Laws of the columns {', '.join(names)[:80]!r}. Give 1 to {MOST_COLUMNS}, each once."
            )
        if self.correlation is not None:
            matrix = np.array(self.correlation, float)
            size = len(names)
            if (
                matrix.shape != (size, size)
                or not np.allclose(matrix, matrix.T)
                or (np.diag(matrix) != 1).any()
            ):
                raise BadModel("A correlation is a symmetric matrix with ones, one row a column. Mend it.")
            if np.linalg.eigvalsh(matrix).min() < 0:
                raise BadModel(
                    "No columns can correlate like this: the matrix has a negative eigenvalue. Mend it."
                )

    def of(self, column: str) -> Linked:
        """Give the law of a column; refuse one of which nothing is said."""
        for one in self.columns:
            if one.column == column:
                return one
        raise not_said_of(column)

    def covariance(self, columns: Sequence[str]) -> FloatArray | None:
        """The covariance of a row's values given the protected one, if all of it is declared and one for all."""
        asked = [self.of(name) for name in columns]
        if len(asked) == 1 and asked[0].others_sd is None:
            return np.array([[float(asked[0].sd.low) ** 2]])
        if self.correlation is None or any(one.others_sd or not one.sd.is_point for one in asked):
            return None
        names = [one.column for one in self.columns]
        places = [names.index(name) for name in columns]
        matrix = np.array(self.correlation, float)[np.ix_(places, places)]
        scales = np.array([float(one.sd.low) for one in asked])
        return matrix * np.outer(scales, scales)

    @property
    def document(self) -> Document:
        """The laws as JSON."""
        told = self.correlation and [[fraction_text(one) for one in row] for row in self.correlation]
        return {"columns": [one.document for one in self.columns], "correlation": told}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read laws as they were written."""
        told = given["correlation"]
        columns = tuple(map(Linked.from_document, given["columns"]))
        return cls(columns, told and tuple(tuple(map(fraction_from, row)) for row in told))


def not_said_of(column: str) -> Refused:
    """Say that a column has no law."""
    return Refused(
        f"Nothing is said of how {column!r} goes with the secret, so nothing can be promised about it. Add its "
        "law to the secret, or do not ask about it."
    )


def from_covariance(
    protected: str, names: Sequence[str], covariance: Sequence[Sequence[float]]
) -> LinkedColumns:
    """The laws of jointly normal columns given one of them: slope V_ij/V_ii, rest V_jj − V_ij²/V_ii.

    They are not sufficient: given the mean of the rows, the others still depend on the mean of the law.

    >>> found = from_covariance("x", ["x", "y"], [[4, 2], [2, 10]])
    >>> str(found.columns[0].slope), str(found.columns[0].sd)
    ('0.5', '3')
    """
    given = given_protected([protected], names, covariance)
    columns = tuple(
        Linked(name, slope, scale, sufficient=False)
        for name, (slope,), scale in zip(given.names, given.slopes, given.scales, strict=True)
    )
    return LinkedColumns(columns, given.correlation)


class GivenProtected(NamedTuple):
    """What jointly normal columns are given some of them: slopes in each of these, deviations and correlation."""

    names: list[str]
    slopes: list[tuple[Span, ...]]
    scales: list[Span]
    correlation: tuple[tuple[Fraction, ...], ...] | None


def given_protected(
    protected: Sequence[str], names: Sequence[str], covariance: Sequence[Sequence[float]]
) -> GivenProtected:
    """Give slopes V_oP V_PP⁻¹ and the rest V_oo − V_oP V_PP⁻¹ V_Po; without a correlation where nothing varies."""
    matrix = _matrix(covariance)
    if not isinstance(names, list | tuple) or not all(map(is_text, names)):
        raise BadModel(f"columns = {names!r:.60}. Give the names of the columns of a covariance, as a list.")
    if matrix.shape != (len(names), len(names)) or not set(protected) <= set(names):
        raise BadModel(
            f"A covariance of {matrix.shape} for {len(names)} columns. Name each, {', '.join(map(repr, protected))} "
            "among them."
        )
    at = [list(names).index(name) for name in protected]
    inside = matrix[np.ix_(at, at)]
    if (
        not np.allclose(matrix, matrix.T)
        or min(map(_least, (matrix, inside - 1e-12 * np.diag(np.diag(inside))))) < 0
    ):
        raise BadModel("This is no covariance, or the protected column does not vary. Give a positive one.")
    if (np.diag(inside) <= 0).any():
        raise BadModel("The protected column does not vary. Give a positive variance.")
    others = [place for place in range(len(names)) if place not in at]
    slopes = np.linalg.solve(inside, matrix[np.ix_(at, others)]).T
    rest = matrix[np.ix_(others, others)] - slopes @ inside @ slopes.T
    scales = np.sqrt(np.maximum(np.diag(rest), 0.0))
    told = None
    if (scales > 0).all():
        tied = rest / np.outer(scales, scales)
        np.fill_diagonal(tied, 1.0)
        told = tuple(tuple(Fraction(float(one)) for one in row) for row in (tied + tied.T) / 2)
    return GivenProtected(
        [names[place] for place in others],
        [tuple(Span.of(Fraction(float(one))) for one in row) for row in slopes],
        [Span.of(Fraction(float(scale))) for scale in scales],
        told,
    )


def _matrix(covariance: Sequence[Sequence[float]]) -> FloatArray:
    """Read a table of finite numbers."""
    try:
        matrix = np.array(covariance, float)
    except (TypeError, ValueError):
        raise BadModel(
            f"matrix = {covariance!r:.60}. Give rows of numbers, such as [[4, 2], [2, 10]]."
        ) from None
    if not np.isfinite(matrix).all():
        raise BadModel("A covariance holds a number that is not finite. Give finite ones.")
    return matrix


def _least(matrix: FloatArray) -> float:
    return float(np.linalg.eigvalsh(matrix).min())


def require_sufficient(secret: ColumnSecret, links: Sequence[Linked]) -> None:
    """Refuse to protect a parameter through the figure of the rows, unless the figure is all that answers say of it.

    Theorem. If given the figure g the answer is independent of the parameter φ, and every two values of g are kept
    apart by (ε, δ), so are every two values of φ. Proof. Given φ the answer is a mixture over g of laws that do not
    depend on φ, and E_γ is jointly convex. Where the answer depends on φ beside g, as for an unbiased estimate g that
    is not sufficient, this fails: of two rows let g be the first, and the answer the second.
    """
    if secret.level == "table":
        return
    loose = [one.column for one in links if not one.sufficient]
    if loose:
        raise Refused(
            f"The secret {secret.title!r} is about the law of {secret.column!r}, and given the rows' own "
            f"{secret.figure} the law of {loose[0]!r} still depends on it: the figure is not sufficient. Protect "
            'the rows themselves (level = "table"), or declare laws given the protected value, the same whatever it is.'
        )
    if not secret.covers_everything:
        raise Refused(
            f"The secret {secret.title!r} is about the law of {secret.column!r}: rows drawn by any parameter can have "
            f"any {secret.figure}, so every two have to be kept apart. Give apart = [[0, 1], [0, 1]] for a share."
        )
