"""All tables of two columns in one pass: the product of the answers, one place a value, with themselves."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadTable
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.numbers import FloatArray, IntArray

SLICE: Final = 1 << 14  # rows at a time: sums of so many ones are exact in single precision
MOST_CELLS: Final = 20_000  # 400 million counts, 1.6 gigabytes
BAND: Final = 4_000_000  # counts at a time where logarithms are taken


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How many respondents gave each two answers, for every two columns at once.

    `table` has a row and a column for every value of every column; column j owns the places from `starts[j]`.
    A respondent who was not asked a question is in none of its places.

    >>> pairs = pair_counts(Codes.of({"a": 2, "b": 2}, [[0, 0], [0, 1], [1, 1]]))
    >>> pairs.between(0, 1).tolist()
    [[1, 1], [0, 1]]
    """

    codes: Codes
    table: NDArray[np.int32]

    @cached_property
    def starts(self) -> IntArray:
        """Where each column's places begin, and where the last ends."""
        return np.concatenate([[0], np.cumsum(self.codes.sizes)]).astype(np.int64)

    def between(self, first: int, second: int) -> IntArray:
        """Count two columns' answers, the first's along the rows."""
        rows, columns = (slice(self.starts[j], self.starts[j + 1]) for j in (first, second))
        return self.table[rows, columns].astype(np.int64)

    def single(self, column: int) -> IntArray:
        """Count one column's answers."""
        return np.diagonal(self.between(column, column)).copy()

    @cached_property
    def totals(self) -> IntArray:
        """How many respondents gave each answer, all places."""
        return np.diagonal(self.table).astype(np.int64)

    @cached_property
    def asked(self) -> IntArray:
        """How many respondents were asked both of two questions."""
        there = (self.codes.values != NOT_ASKED).astype(np.float64)
        return np.asarray(np.rint(there.T @ there), dtype=np.int64)

    @cached_property
    def information(self) -> FloatArray:
        """The mutual information of every two columns, in nats, among the respondents asked both.

        Σ n_ab log n_ab − Σ n_a log n_a − Σ n_b log n_b + n log n, over n: no division before the end.
        """
        first = self.starts[:-1]
        joint, margin = (np.empty((len(first), len(first))) for _ in range(2))
        for low, high in _bands(self.starts):
            band = self.table[self.starts[low] : self.starts[high]].astype(np.float64)
            rows = np.add.reduceat(band, first, axis=1)  # n_a among those also asked the other question
            inside = first[low:high] - first[low]
            joint[low:high] = _by_column(_n_log_n(band), inside, first)
            margin[low:high] = np.add.reduceat(_n_log_n(rows), inside, axis=0)
        count = np.maximum(self.asked, 1).astype(np.float64)
        found = (joint - margin - margin.T + _n_log_n(count)) / count
        found[self.asked == 0] = 0.0
        return np.maximum((found + found.T) / 2, 0.0)


def pair_counts(codes: Codes) -> PairCounts:
    """Count every two answers of every two columns, exactly."""
    cells = sum(codes.sizes)
    if cells > MOST_CELLS:
        raise BadTable(
            f"The columns have {cells:,} codes in all; {MOST_CELLS:,} are the most. "
            "Declare coarser steps, or learn from fewer columns."
        )
    if codes.rows >= np.iinfo(np.int32).max:
        raise BadTable(f"{codes.rows:,} rows are too many to learn from. Take a sample of them.")
    starts = np.concatenate([[0], np.cumsum(codes.sizes)[:-1]])
    table = np.zeros((cells, cells), np.int32)
    for low in range(0, codes.rows, SLICE):
        part = codes.values[low : low + SLICE]
        there = part != NOT_ASKED
        row, _ = np.nonzero(there)
        answers = np.zeros((len(part), cells), np.float32)
        answers[row, (part + starts)[there]] = 1.0
        table += (answers.T @ answers).astype(np.int32)
    return PairCounts(codes, table)


def _bands(starts: IntArray) -> list[tuple[int, int]]:
    """Cut the columns into runs whose tables with all the others fit in memory."""
    cells, columns = int(starts[-1]), len(starts) - 1
    found, low = [], 0
    while low < columns:
        high = int(np.searchsorted(starts, starts[low] + max(1, BAND // cells), side="right")) - 1
        high = min(max(high, low + 1), columns)
        found.append((low, high))
        low = high
    return found


def _by_column(cells: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    return np.asarray(np.add.reduceat(np.add.reduceat(cells, columns, axis=1), rows, axis=0))


def _n_log_n(counts: FloatArray) -> FloatArray:
    return counts * np.log(np.maximum(counts, 1.0))
