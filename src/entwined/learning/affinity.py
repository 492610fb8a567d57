"""Affinity graphs: people whose profiles are alike, found block by block in bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadInput, Refused
from entwined.numbers import FloatArray, IntArray
from entwined.progress import report

BLOCK_CELLS: Final = 1 << 24  # similarities that are held at once: 64 MB
SPARSE: Final = 0.02  # rows with a smaller share of entries are multiplied as sparse ones
MOST_TIES: Final = 50_000_000
Likeness = Literal["cosine", "l1"]
ROUNDING: Final = (
    1e-6  # similarities are of single precision; a pair this close to the least one counts as a tie
)


@dataclass(frozen=True, slots=True, eq=False)
class Affinity:
    """How alike profiles are: products of rows of numbers ≥ 0, each divided by its length.

    With `cosine` equal profiles have similarity 1. With `l1`, the form printed by Liu, Chakraborty and Mittal
    (2016), rows are divided by the sum of their entries, and equal profiles of m entries 1 have only 1/m.
    """

    rows: Any  # scipy's sparse array or a dense one, of single precision

    @classmethod
    def of(cls, profiles: Any, likeness: Likeness = "cosine") -> Self:
        """Divide each profile by its length."""
        from scipy.sparse import csr_array, diags_array, issparse

        given = csr_array(profiles, dtype=np.float64)
        if not np.isfinite(given.data).all() or (given.data < 0).any():
            raise BadInput(
                "A profile has an entry that is negative or not a number. Give numbers of at least 0."
            )
        lengths = given.sum(axis=1) if likeness == "l1" else np.sqrt((given * given).sum(axis=1))
        scaled = diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ given
        dense = scaled.nnz > SPARSE * scaled.shape[0] * scaled.shape[1]
        rows = scaled.toarray() if dense else csr_array(scaled)
        return cls(rows.astype(np.float32) if issparse(rows) else np.ascontiguousarray(rows, np.float32))

    @property
    def people(self) -> int:
        """How many profiles there are."""
        return int(self.rows.shape[0])

    def similarities(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Go through all pairs once: the first row of a block, and its rows against everybody from that row on.

        What a block says of a person and itself, or of a pair for the second time, is −1.
        """
        from scipy.sparse import issparse

        sparse = issparse(self.rows)
        height = max(1, BLOCK_CELLS // max(1, self.people))
        for start in range(0, self.people, height):
            rest = self.rows[start:]
            product = rest[:height] @ rest.T
            block = np.asarray(product.toarray() if sparse else product)
            block[:, : len(block)][np.tri(len(block), dtype=np.bool_)] = -1
            report("similarities", start + len(block), self.people)
            yield start, block

    def ties_per_person(self, least: float) -> IntArray:
        """With how many others each person has a similarity above `least`."""
        counts = np.zeros(self.people, np.int64)
        for start, block in self.similarities():
            tied = block > np.float32(least - ROUNDING)
            counts[start : start + len(block)] += tied.sum(axis=1)
            counts[start:] += tied.sum(axis=0)
        return counts

    def largest(self) -> float:
        """The largest similarity of two people."""
        return min(1.0, max((float(block.max(initial=-1)) for _, block in self.similarities()), default=-1.0))

    def ties(self, least: float, most: int = MOST_TIES) -> IntArray:
        """Every pair with a similarity above `least`, the smaller number first."""
        found, total = [np.zeros((0, 2), np.int64)], 0
        for start, block in self.similarities():
            pairs = np.argwhere(block > np.float32(least - ROUNDING)) + start
            found.append(pairs)
            total += len(pairs)
            if total > most:
                raise Refused(
                    f"More than {most} pairs have a similarity above {least}. "
                    "Ask for a larger one, or for ties_per_person."
                )
        return np.concatenate(found)


def one_hot(codes: IntArray, sizes: tuple[int, ...]) -> Any:
    """Profiles of coded answers: one column an answer, a sparse array of ones.

    >>> one_hot(np.array([[0, 1], [1, 1]]), (2, 3)).toarray().astype(int).tolist()
    [[1, 0, 0, 1, 0], [0, 1, 0, 1, 0]]
    """
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = (codes + starts[:-1]).reshape(-1)
    rows = np.arange(len(codes) + 1) * codes.shape[1]
    return csr_array((np.ones(columns.size), columns, rows), shape=(len(codes), int(starts[-1])))


def spread(values: FloatArray) -> FloatArray:
    """Numbers by their place between the least and the largest of their column."""
    low, high = values.min(axis=0), values.max(axis=0)
    return np.asarray((values - low) / np.where(high > low, high - low, 1.0))
