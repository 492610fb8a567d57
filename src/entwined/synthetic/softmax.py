"""A plain classifier of coded rows: multinomial logistic regression on cells and pairs of cells, without noise.

It is a measuring stick for tables that somebody may see, and never a release: classifiers that are released are
mechanisms of the door.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from entwined.learning.codes import Codes
from entwined.mechanisms.marginals.descent import inner, lowest
from entwined.numbers import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RIDGE: Final = 1e-4
ROUNDS: Final = 100
FLAT: Final = 1e-5  # slopes below it change no guess
MOST_PAIRS: Final = 300  # of columns
MOST_PAIRED: Final = 4096  # cells of a pair of columns


@dataclass(frozen=True, eq=False)
class Softmax:
    """Weights of every feature, one column a class."""

    weights: FloatArray

    def chances(self, features: "csr_array") -> FloatArray:
        """Give the chance of every class for every row."""
        return _chances(features @ self.weights)

    def guesses(self, features: "csr_array") -> IntArray:
        """Give the likeliest class of every row."""
        return np.asarray(np.argmax(features @ self.weights, axis=1), np.int64)


def features(codes: Codes, columns: Sequence[int], *, pairs: bool) -> "csr_array":
    """Give one place a cell of every column, an intercept, and perhaps one a cell of every two columns."""
    from scipy.sparse import csr_array

    blocks: list[IntArray] = [np.zeros(codes.rows, np.int64)]
    start = 1
    for at in columns:
        blocks.append(start + codes.values[:, at].astype(np.int64))
        start += codes.sizes[at]
    for one, other in _spread(columns) if pairs else ():
        if (cells := codes.sizes[one] * codes.sizes[other]) <= MOST_PAIRED:
            blocks.append(
                start + codes.values[:, one].astype(np.int64) * codes.sizes[other] + codes.values[:, other]
            )
            start += cells
    places = np.stack(blocks, axis=1).ravel()
    ends = np.arange(codes.rows + 1) * len(blocks)
    return csr_array((np.ones(len(places)), places, ends), shape=(codes.rows, start))


def _spread(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Give every two columns, or so many pairs evenly spread."""
    found = list(combinations(columns, 2))
    return found[:: max(1, -(-len(found) // MOST_PAIRS))]


def fitted(given: "csr_array", labels: IntArray, classes: int) -> Softmax:
    """Find the weights under which the labels are likeliest, with a small ridge."""
    wanted = np.eye(classes)[labels]
    turned, rows = given.T.tocsr(), len(labels)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(-1, classes)
        chances = _chances(given @ weights)
        told = np.log(np.maximum(chances[np.arange(rows), labels], 1e-300))
        slope = turned @ (chances - wanted) / rows + RIDGE * weights
        return float(-told.mean() + RIDGE / 2 * inner(flat, flat)), slope.ravel()

    start = np.zeros(given.shape[1] * classes)
    return Softmax(lowest(loss, start, ROUNDS, FLAT).reshape(-1, classes))


def _chances(scores: FloatArray) -> FloatArray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
