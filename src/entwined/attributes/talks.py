"""Which columns a release talks about: how far it would move the odds of each column's mean being high or low.

For jointly normal rows the answers are normal given the mean of a column, and what they say of it is one number: by how
many deviations they move between two means, high and low, that are one deviation of the mean above and below what is
expected. It does not depend on the number of rows. The odds move by a factor of exp(μ²/2) on average over the logs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput, BadModel
from entwined.learning.codes import Codes
from entwined.numbers import FloatArray
from entwined.schema import Schema

MOST_VALUES: Final = 20
SURE: Final = 40.0  # so many deviations leave no doubt


@dataclass(frozen=True, slots=True)
class Talk:
    """What answers without noise say about one column: by how many deviations they tell high from low."""

    column: str
    deviations: float

    @property
    def factor(self) -> float:
        """By what the odds of high against low move, on average over the logs."""
        return math.exp(min(self.deviations**2 / 2, 700.0)) if self.deviations < SURE else math.inf

    @property
    def guess(self) -> float:
        """How often who holds both for equally likely guesses right."""
        return NormalDist().cdf(self.deviations / 2)

    @property
    def document(self) -> Document:
        """The same as JSON; no number where nothing is left in doubt."""
        sure = math.isinf(self.factor)
        return {
            "column": self.column,
            "odds_factor": None if sure else self.factor,
            "guessed_right": self.guess,
        }


def talks_about(
    names: Sequence[str], covariance: Sequence[Sequence[float]], asked: Sequence[str]
) -> list[Talk]:
    """Say of every column how far the means of those asked about, without noise, talk about its mean; most first.

    >>> found = talks_about(["x", "y", "z"], [[1, 0.6, 0], [0.6, 1, 0], [0, 0, 1]], ["y"])
    >>> [(one.column, round(one.deviations, 2), round(one.guess, 2)) for one in found]
    [('y', inf, 1.0), ('x', 1.5, 0.77), ('z', 0.0, 0.5)]
    """
    matrix = np.array(covariance, float)
    unknown = sorted(set(asked) - set(names))
    if unknown or not asked:
        raise BadInput(
            f"Nothing is said of {(unknown or ['any column'])[0]!r:.60}. Give a law of every column asked about."
        )
    if matrix.shape != (len(names),) * 2 or not np.allclose(matrix, matrix.T):
        raise BadModel(
            f"A covariance of {matrix.shape} for {len(names)} columns. Give a symmetric one, a row a column."
        )
    places = [list(names).index(name) for name in dict.fromkeys(asked)]
    found = [Talk(name, _deviations(matrix, at, places)) for at, name in enumerate(names)]
    return sorted(found, key=lambda one: -one.deviations)


def _deviations(matrix: FloatArray, at: int, places: Sequence[int]) -> float:
    if at in places or matrix[at, at] <= 0:
        return math.inf if at in places else 0.0
    slope = matrix[places, at] / matrix[at, at]
    rest = matrix[np.ix_(places, places)] - np.outer(slope, slope) * matrix[at, at]
    shift = 2 * slope * math.sqrt(matrix[at, at])
    values, vectors = np.linalg.eigh(rest)
    along = vectors.T @ shift
    kept = values > 1e-12 * max(float(matrix.diagonal().max()), 1e-300)
    if (np.abs(along[~kept]) > 1e-9 * max(float(np.abs(shift).max()), 1e-300)).any():
        return math.inf
    return math.sqrt(float(np.sum(along[kept] ** 2 / values[kept])))


def covariance_of(codes: Codes, schema: Schema) -> tuple[list[str], FloatArray]:
    """The covariance of a public table's columns: numbers as they are, of texts one column a value."""
    names: list[str] = []
    columns: list[FloatArray] = []
    for place, name in enumerate(codes.names):
        column, values = schema.coded(name), codes.values[:, place].astype(float)
        if column.has_order or column.levels == 2:  # noqa: PLR2004  (two values are as good as a number)
            names.append(name)
            columns.append(np.where(values < column.levels, values, np.nan))
        elif column.levels <= MOST_VALUES:
            for code in range(column.levels):
                names.append(f"{name} = {column.value(code)}")
                columns.append((values == code).astype(float))
    table = np.array(columns)
    table = np.where(np.isnan(table), np.nanmean(table, axis=1, keepdims=True), table)
    return names, np.atleast_2d(np.cov(table))


def talks_of(law: Mapping[str, Any], asked: Sequence[str]) -> list[Talk]:
    """Read a declared law of the columns, their names and their covariance, and say what is talked about."""
    if law.keys() != {"columns", "covariance"}:
        raise BadInput(
            'A law of columns is {"columns": ["x", "y"], "covariance": [[1, 0], [0, 1]]}. Give that alone.'
        )
    return talks_about(law["columns"], law["covariance"], asked)
