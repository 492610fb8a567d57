"""Numbers that vary together: jointly Gaussian units, their covariance known or only bounded.

GaussianLaws                     every leakage is per unit of distance between two values of a unit
├── Gaussian                     one covariance
├── Correlations                 every correlation between two ends, deviations known
└── MaxCorrelation               no correlation above one number, equal deviations
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.learned_from import LearnedFrom, origin_fields
from entwined.dependence.model import Dependence, Source, checked_source, checked_units
from entwined.dependence.narrower import HALF, Narrower
from entwined.errors import BadModel, DoesNotApply
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, round_up

SAME = 1e-12  # two entries of a symmetric matrix that differ by less, as correlations, differ by rounding
LEAST, MOST = 1e-200, 1e200


class GaussianLaws(Dependence):
    """Jointly Gaussian units with any means; a loss and a leakage are per unit of distance."""

    kind: ClassVar[str] = "gaussian"
    plural: ClassVar[str] = "Gaussian laws"
    strength: ClassVar[str] = "every correlation"
    by_distance: ClassVar[bool] = True

    @property
    @abstractmethod
    def strengths(self) -> FloatArray:
        """Upper bounds on the size of every correlation, with a diagonal of zeros."""

    @property
    @abstractmethod
    def scales(self) -> FloatArray:
        """Each unit's standard deviation, up to a factor that all share."""

    def narrower(self) -> Iterator[Narrower]:
        """Correlations of half the size."""
        if self.strengths.any():
            largest = float(self.strengths.max())
            knowing = f"that every correlation is half as large (the largest is {largest:.3g} now)"
            yield Narrower("correlation", knowing, self.times_as_strong(HALF))

    def group_totals(self, loss: Loss) -> FloatArray:
        """Refuse: when a unit moves by one, what is known can make another move by more than one."""
        raise DoesNotApply(
            f"Per unit of distance the sum of {loss.units} losses is no bound: given what is known, "
            "a Gaussian unit can move another by more than its own distance."
        )


class Balanced(NamedTuple):
    """A covariance divided by powers of two in rows and columns: variances from 1 to 4, nothing rounded."""

    matrix: FloatArray
    scales: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(GaussianLaws):
    """One Gaussian law.

    >>> heights = Gaussian.of([[49.0, 24.5], [24.5, 49.0]])
    >>> heights.strengths.round(3).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """

    covariance: FloatArray
    source: Source = "declared"
    learned_from: LearnedFrom | None = None
    plural: ClassVar[str] = "Gaussian laws of known covariance"

    def __post_init__(self) -> None:
        checked_source(self.source)
        given = np.asarray(self.covariance, dtype=np.float64)
        refuse_other_than_square(given.shape, "A covariance")
        if not np.isfinite(given).all():
            raise BadModel("A covariance has an entry that is infinite or not a number. Give finite numbers.")
        refuse_variances(np.diagonal(given))
        with np.errstate(over="ignore"):  # an entry that overflows here is refused in the next line
            correlations = as_correlations(given)
        refuse_oversized(given, correlations, "A covariance")
        refuse_asymmetric(given, correlations, "A covariance")
        matrix = (given + given.T) / 2
        matrix.flags.writeable = False
        object.__setattr__(self, "covariance", matrix)
        refuse_indefinite(self.balanced.matrix)

    @classmethod
    def of(cls, covariance: Any, source: Source = "declared") -> "Gaussian":
        """Read a covariance from nested lists."""
        table = Box.read(covariance, 2)
        if not table.is_exact:
            raise BadModel(
                'A covariance has an interval. Give intervals as "correlation", with the "deviations" beside.'
            )
        return cls(table.low, source)

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.covariance)

    @cached_property
    def balanced(self) -> Balanced:
        """The covariance of the units in units of nearly their deviation."""
        exponents = (np.frexp(np.diagonal(self.covariance))[1] - 1) // 2
        once = np.ldexp(self.covariance, -exponents)
        return Balanced(np.ldexp(once, -exponents[:, None]), np.ldexp(np.ones(self.units), exponents))

    @cached_property
    def strengths(self) -> FloatArray:
        """The size of every correlation, rounded up, with a diagonal of zeros."""
        sizes = np.abs(as_correlations(self.balanced.matrix))
        np.fill_diagonal(sizes, 0.0)
        return round_up(sizes)

    @cached_property
    def scales(self) -> FloatArray:
        """Each unit's standard deviation."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        origin = origin_fields(self.learned_from)
        return {"kind": self.kind, "covariance": self.covariance.tolist(), "source": self.source, **origin}

    def times_as_strong(self, factor: float) -> "Gaussian":
        """Multiply every covariance, the variances kept; refuse where that is no law."""
        return replace(self, covariance=off_diagonal_times(self.covariance, factor))


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(GaussianLaws):
    """Every Gaussian law whose correlations lie in the table; without `deviations` they are equal."""

    correlation: Box
    deviations: FloatArray | None = None
    source: Source = "declared"
    plural: ClassVar[str] = "Gaussian laws whose correlations lie in intervals"

    def __post_init__(self) -> None:
        checked_source(self.source)
        low, high = self.correlation.low, self.correlation.high
        refuse_other_than_square(low.shape, "A correlation table")
        refuse_asymmetric(low, low, "A correlation table")
        refuse_asymmetric(high, high, "A correlation table")
        if not ((np.diagonal(low) == 1) & (np.diagonal(high) == 1)).all():
            raise BadModel("A correlation table has a diagonal entry that is not 1. Put 1 on the diagonal.")
        if self.strengths.max() >= 1:
            raise BadModel(
                f"A correlation can be {self.strengths.max():g} in size, which is not below 1. "
                "Merge units that always agree, or give a bound below 1."
            )
        if self.deviations is not None:
            object.__setattr__(self, "deviations", checked_deviations(self.deviations, self.units))

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.correlation.shape[0]

    @cached_property
    def strengths(self) -> FloatArray:
        """The larger end of every interval in size, with a diagonal of zeros."""
        sizes = np.maximum(np.abs(self.correlation.low), np.abs(self.correlation.high))
        sizes = np.maximum(sizes, sizes.T)
        np.fill_diagonal(sizes, 0.0)
        return sizes

    @property
    def scales(self) -> FloatArray:
        """Each unit's standard deviation; all 1 where they are only known to be equal."""
        return np.ones(self.units) if self.deviations is None else self.deviations

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        spread = {} if self.deviations is None else {"deviations": self.deviations.tolist()}
        table = self.correlation.document
        return {"kind": self.kind, "correlation": table, **spread, "source": self.source}

    def times_as_strong(self, factor: float) -> "Correlations":
        """Multiply both ends of every interval."""
        ends = (off_diagonal_times(end, factor) for end in (self.correlation.low, self.correlation.high))
        return replace(self, correlation=Box(*ends))


@dataclass(frozen=True, eq=False)
class MaxCorrelation(GaussianLaws):
    """Every Gaussian law of equal variances in which no correlation is above one number in size."""

    size: int
    max_correlation: float
    source: Source = "declared"
    learned_from: LearnedFrom | None = None
    plural: ClassVar[str] = "Gaussian laws with a bound on every correlation"

    def __post_init__(self) -> None:
        checked_units(self.size)
        checked_source(self.source)
        if not 0 <= self.max_correlation < 1:
            raise BadModel(
                f"A largest correlation of {self.max_correlation:g} is impossible or leaves nothing unknown. "
                "Give a number from 0 up to but not including 1."
            )

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.size

    @property
    def strengths(self) -> FloatArray:
        """The same number everywhere but on the diagonal; as large as the square of the units."""
        return np.full((self.size, self.size), self.max_correlation) * (1.0 - np.eye(self.size))

    @property
    def scales(self) -> FloatArray:
        """All 1: the deviations are equal."""
        return np.ones(self.size)

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        fields = {"size": self.size, "max_correlation": self.max_correlation}
        return {"kind": self.kind, **fields, "source": self.source, **origin_fields(self.learned_from)}

    def times_as_strong(self, factor: float) -> "MaxCorrelation":
        """Multiply the bound."""
        return replace(self, max_correlation=self.max_correlation * factor)


def members_of(document: Mapping[str, Any]) -> int:
    """Say how many units the document of a Gaussian model speaks of."""
    return int(document.get("size") or len(document.get("covariance") or document["correlation"]))


def off_diagonal_times(matrix: FloatArray, factor: float) -> FloatArray:
    """Multiply all but the diagonal."""
    return np.where(np.eye(len(matrix), dtype=bool), matrix, matrix * factor)


def correlated(
    correlation: Any, deviations: Sequence[float] | None = None, source: Source = "declared"
) -> Gaussian | Correlations:
    """Read a correlation table; where no entry is an interval it is one Gaussian law.

    >>> correlated([[1, 0.5], [0.5, 1]], [2, 3]).document["covariance"]
    [[4.0, 3.0], [3.0, 9.0]]
    """
    laws = Correlations(Box.read(correlation, 2), exact(deviations), source)
    if not laws.correlation.is_exact:
        return laws
    return Gaussian(laws.correlation.low * laws.scales * laws.scales[:, None], source)


def exact(deviations: Sequence[float] | None) -> FloatArray | None:
    """Read deviations, which cannot be intervals."""
    if deviations is None:
        return None
    values = Box.read(deviations, 1)
    if not values.is_exact:
        raise BadModel(
            "A deviation is an interval. Give each as one number; only correlations can be intervals."
        )
    return values.low


def checked_deviations(deviations: FloatArray, units: int) -> FloatArray:
    """Refuse deviations that are not one positive number a unit."""
    values = np.array(deviations, dtype=np.float64)
    if values.shape != (units,):
        raise BadModel(f"There are {values.size} deviations for {units} units. Give one a unit.")
    with np.errstate(over="ignore"):  # what overflows is refused
        refuse_variances(values * np.abs(values))  # the sign stays, and must be plus
    values.flags.writeable = False
    return values


def as_correlations(covariance: FloatArray) -> FloatArray:
    """Divide each entry by the deviations of its row and column."""
    deviations = np.sqrt(np.diagonal(covariance))
    return np.asarray(covariance / deviations / deviations[:, None])


def refuse_variances(variances: FloatArray) -> None:
    """Refuse a variance that is not above 0, or so extreme that its square is no float."""
    usable = (variances > LEAST) & (variances < MOST)
    if not usable.all():
        wrong = float(variances[np.argmin(usable)])
        raise BadModel(
            f"A unit has the variance {wrong:g}. Give variances above 0, from {LEAST:g} to {MOST:g}."
        )


def refuse_other_than_square(shape: tuple[int, ...], what: str) -> None:
    """Refuse anything but one row and one column a unit, for at least one unit."""
    if len(shape) != 2 or shape[0] != shape[1]:  # noqa: PLR2004  (a matrix has two axes)
        raise BadModel(f"{what} of shape {shape} is not square. Give one row and one column a unit.")
    if shape[0] == 0:
        raise BadModel(f"{what} is empty. Give at least one unit.")


def refuse_oversized(given: FloatArray, correlations: FloatArray, what: str) -> None:
    """Refuse an entry that is larger than the variances allow."""
    sizes = np.abs(correlations)
    if sizes.max() > 1 + SAME:
        i, j = (int(place) for place in np.unravel_index(np.argmax(sizes), sizes.shape))
        raise BadModel(
            f"{what} has {given[i, j]:g} in row {i + 1}, column {j + 1}: a correlation above 1 in size. "
            "Check it against the variances."
        )


def refuse_asymmetric(given: FloatArray, correlations: FloatArray, what: str) -> None:
    """Refuse a table whose entry for i and j is not its entry for j and i."""
    apart = np.abs(correlations - correlations.T)
    if apart.max() > SAME:
        i, j = (int(place) for place in np.unravel_index(np.argmax(apart), apart.shape))
        raise BadModel(
            f"{what} is not symmetric: row {i + 1}, column {j + 1} is {given[i, j]:g}, "
            f"row {j + 1}, column {i + 1} is {given[j, i]:g}. Give both the same number."
        )


def refuse_indefinite(balanced: FloatArray) -> None:
    """Refuse a matrix that is not positive definite by more than its own rounding.

    Where Cholesky's method ends in floating point on a matrix lowered by this much, the matrix is positive
    definite.
    """
    margin = (len(balanced) + 3) * ULP * float(np.trace(balanced))
    try:
        np.linalg.cholesky(balanced - margin * np.eye(len(balanced)))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(as_correlations(balanced))[0])
        raise BadModel(
            f"A covariance is not positive definite: as correlations its smallest eigenvalue is {least:.2g}. "
            "Leave out units that others determine; shrink an estimated covariance towards its diagonal."
        ) from None
