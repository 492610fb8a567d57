"""What a classifier is once it is out: coefficients by name. Everything here is post-processing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from entwined.errors import BadQuery
from entwined.mechanisms.classifiers.added_noise import AddedNoise
from entwined.mechanisms.classifiers.features import INTERCEPT, Features
from entwined.mechanisms.classifiers.margin_losses import chance
from entwined.mechanisms.sheet import Sheet
from entwined.numbers import FloatArray, IntArray
from entwined.schema import Coded

SCALED: Final = "A level counts 1 for rows that have it, a number −1 at its lower and 1 at its upper bound."
COVERED: Final = (
    "Intervals hold with 95 % confidence, each by itself: of what the rows would give without noise."
)
UNCOVERED: Final = (
    "There are no intervals: how far this noise moved a coefficient depends on the rows, and no theorem here bounds "
    "it. Ask for the method output, which has them."
)


@dataclass(frozen=True, slots=True)
class LinearRule:
    """A linear rule: the sum of the coefficients of a row's features; above 0 it says yes.

    A level that a row has counts 1, a number between −1 at its lower and 1 at its upper bound. `half_width` is how far
    noise moved a coefficient at most, with 95 % confidence, from that of least regularised loss, where that is known.
    `noise` says which noise was added, and on what.
    """

    features: Features
    values: tuple[float, ...]
    half_width: float | None
    has_chances: bool
    noise: tuple[AddedNoise, ...] = ()

    @property
    def intercept(self) -> float:
        """What every row starts with."""
        return self.values[0]

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficient of every feature, the intercept left out."""
        return {
            name: value
            for name, value in zip(self.features.names, self.values, strict=True)
            if name != INTERCEPT
        }

    @property
    def sheet(self) -> Sheet:
        """One row a feature; which noise is in them is noted."""
        added = tuple(one.words for one in self.noise)
        found = zip(self.features.names, self.values, strict=True)
        if self.half_width is None:
            return Sheet(("feature", "coefficient"), tuple(found), (SCALED, *added, UNCOVERED))
        rows = tuple((name, value, value - self.half_width, value + self.half_width) for name, value in found)
        return Sheet(("feature", "coefficient", "from", "to"), rows, (SCALED, *added, COVERED))

    def decision(self, frame: Mapping[str, Iterable[object]] | Any) -> FloatArray:
        """Score raw rows, given as columns by name: a mapping, a pandas, polars or Arrow table."""
        codes = np.column_stack(
            [_codes(column, _raw(frame, column.name)) for column in self.features.columns]
        )
        return self.features.margins(codes, np.array(self.values), self.features.scaled(codes))

    def predict(self, frame: Mapping[str, Iterable[object]] | Any) -> IntArray:
        """Say 1 for yes and 0 for no."""
        return (self.decision(frame) > 0).astype(np.int64)

    def predict_proba(self, frame: Mapping[str, Iterable[object]] | Any) -> FloatArray:
        """Give the chance of yes for each row; a support vector machine has none."""
        if not self.has_chances:
            raise BadQuery("A support vector machine gives no probabilities. Take `decision`.")
        return chance(self.decision(frame))


def _raw(frame: Any, name: str) -> list[object]:
    try:
        column = frame[name]
    except (KeyError, IndexError, TypeError, ValueError):
        raise BadQuery(
            f"The rows have no column {name!r}. Give every column that the rule looks at."
        ) from None
    for how in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, how):
            return list(getattr(column, how)())
    return list(column)


def _codes(column: Coded, raw: list[object]) -> IntArray:
    """Encode each value once."""
    known: dict[object, int] = {}
    for value in raw:
        if value not in known:
            known[value] = column.encode(value)
    return np.array([known[value] for value in raw], dtype=np.int64)
