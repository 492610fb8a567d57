"""Can somebody tell a synthetic row from a real one? The propensity score, in the unit of right guesses."""

from typing import Final, NamedTuple

import numpy as np

from entwined.learning.codes import Codes
from entwined.numbers import FloatArray, IntArray
from entwined.synthetic.softmax import features, fitted

MOST_ROWS: Final = 10_000  # of each table
QUANTILE: Final = 1.96


class ToldApart(NamedTuple):
    """How often a classifier says rightly whether a row is real or synthetic; half the time is guessing."""

    right: float
    half_width: float
    area: float
    """The chance that a synthetic row looks more synthetic than a real one."""
    squares: float
    """The mean square of propensity less a half: 0 where nothing tells them apart, a quarter where all does."""
    rows: int


def told_apart(real: Codes, synthetic: Codes, *, pairs: bool) -> ToldApart:
    """Train on every other row of both tables, by columns alone or by pairs of columns, and guess the rest."""
    rows = min(real.rows, synthetic.rows, MOST_ROWS)
    halves = [_half(real, rows, start) + _half(synthetic, rows, start) for start in (0, 1)]
    (train, known), (test, truth) = (_joined(real, parts) for parts in halves)
    columns = range(len(real.names))
    model = fitted(features(train, columns, pairs=pairs), known, 2)
    score = model.chances(features(test, columns, pairs=pairs))[:, 1]
    right = float(((score > 1 / 2) == truth).mean())
    return ToldApart(
        right,
        QUANTILE * float(np.sqrt(0.25 / len(truth))),
        area_under_curve(score[truth == 1], score[truth == 0]),
        float(((score - 1 / 2) ** 2).mean()),
        len(truth),
    )


def area_under_curve(higher: FloatArray, lower: FloatArray) -> float:
    """The chance that a number of the first kind is above one of the second, ties counting half.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    order = np.sort(lower)
    below = np.searchsorted(order, higher, side="left") + np.searchsorted(order, higher, side="right")
    return float(below.mean() / (2 * len(lower)))


def evenly(rows: int, most: int) -> IntArray:
    """Give the places of at most so many rows, evenly spread."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.int64))


def _half(codes: Codes, rows: int, start: int) -> list[Codes]:
    return [codes.some(evenly(codes.rows, rows)[start::2])]


def _joined(like: Codes, parts: list[Codes]) -> tuple[Codes, IntArray]:
    values = np.concatenate([part.values for part in parts])
    labels = np.concatenate([np.full(part.rows, at) for at, part in enumerate(parts)])
    return Codes(like.names, like.sizes, values), labels
