"""Folds: a public function of each row's codes, added up over the rows in batches of bounded memory.

Where the columns have few codes the function is asked about every one of them, and the counts do the rest: it never
meets a row. Else it is given the rows' codes as they come.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.errors import BadQuery, QueryTooComplex
from entwined.numbers import Codes, IntArray
from entwined.queries.folds import FoldOf
from entwined.queries.query import TOO_LARGE
from entwined.schema import Schema
from entwined.tables.engine import ROWS_AT_ONCE
from entwined.tables.threads import in_threads, threads

ENTRIES_AT_ONCE: Final = 2**22
PROBES: Final = (0, 1, 2, 3, 12_345, 67_890)


def check_fold(fold: FoldOf, schema: Schema) -> None:
    """Refuse, before any row is read, a fold that may not fit or whose function fails on codes that are public."""
    sizes = [schema.coded(name).size for name in fold.columns]
    if fold.largest * schema.most_rows >= TOO_LARGE:
        raise QueryTooComplex(
            f"A fold of {', '.join(fold.columns)} could pass 2^63 in {schema.most_rows:,} rows. Declare a smaller "
            "most_rows, or give closer bounds."
        )
    if fold.adds_codes and fold.most != (1, *(size - 1 for size in sizes)):
        raise BadQuery(
            f"A fold adds the codes of {', '.join(fold.columns)} within other bounds than these have."
        )
    if any(schema.coded(name).size != size for one in fold.placed for name, size in one.named):
        raise BadQuery(
            f"A fold places numbers by codes of {', '.join(fold.columns)}, and the schema has others. Build it on this "
            "one."
        )
    probes = [[(-1 - probe * (at + 1)) % size for at, size in enumerate(sizes)] for probe in PROBES]
    codes = np.array([[0] * len(sizes), *probes], dtype=np.int64)
    if not _is_of_rows(fold, codes):
        raise BadQuery(
            f"The function of a fold of {', '.join(fold.columns)} does not give {fold.given:,} 64-bit integers a row "
            f"that depend on that row alone. Give a function from an array of codes, rows × {len(sizes)}, to one of "
            f"numbers, rows × {fold.given:,}, both numpy.int64."
        )


def _is_of_rows(fold: FoldOf, codes: IntArray) -> bool:
    """Say whether a function gives vectors at all, and the same of a row wherever it stands."""
    try:
        whole, back = fold.said(codes), codes[::-1]
        alone, others = fold.said(back[:1]), fold.said(back[1:])
    except ValueError:
        return False
    return np.array_equal(whole, np.concatenate([alone, others])[::-1])


def tabled(fold: FoldOf, sizes: Sequence[int], counts: IntArray) -> list[int]:
    """Add up a fold from how many rows have each combination of codes, the last column fastest."""
    exact = _fitting(int(counts.sum()), fold)
    total: IntArray = np.zeros(fold.cells, exact)
    for piece in _pieces(np.arange(len(counts)), fold.cells):
        vectors = fold.vectors(np.column_stack(np.unravel_index(piece, sizes)).astype(np.int64))
        total += counts[piece].astype(exact) @ vectors.astype(exact)
    return [int(number) for number in total]


@dataclass(frozen=True, slots=True)
class Folding:
    """Folds that share a scan: which numbers of a scanned row each is given, and which says that the row is inside."""

    folds: tuple[FoldOf, ...]
    places: tuple[tuple[int, ...], ...]
    inside: tuple[int | None, ...]

    def over(self, batches: Iterable[Codes]) -> list[int]:
        """Add up over batches of scanned rows; one fold's numbers after another's.

        Whole numbers are added up, so it does not matter which batch is done first, nor by how many threads. Only folds
        that add codes are shared out: others are made of calls that let no thread work beside them.
        """
        at_once = threads() if all(fold.adds_codes for fold in self.folds) else 1
        return [sum(each) for each in zip(*in_threads(self._alone, batches, at_once), strict=True)]

    def _alone(self, batches: Iterable[Codes]) -> list[int]:
        """Add up over batches, by one thread."""
        totals = [np.zeros(fold.cells, np.int64) for fold in self.folds]
        seen = 0
        for rows, sums in map(self._sums, batches):
            seen += rows
            for at, (fold, added) in enumerate(zip(self.folds, sums, strict=True)):
                exact = _fitting(seen, fold)
                totals[at] = totals[at].astype(exact, copy=False) + added.astype(exact, copy=False)
        return [int(number) for total in totals for number in total]

    def _sums(self, batch: Codes) -> tuple[int, list[IntArray]]:
        """Add up over one batch, and say how many rows it has."""
        found = []
        for at, fold in enumerate(self.folds):
            exact = _fitting(len(batch), fold)
            total: IntArray = np.zeros(fold.cells, exact)
            for piece in _pieces(self._given(at, batch), fold.given):
                total += fold.sums(piece, exact)
            found.append(total)
        return len(batch), found

    def _given(self, at: int, batch: Codes) -> Codes:
        """Give a fold the codes that it reads of the rows inside."""
        inside = self.inside[at]
        rows = batch if inside is None else batch[batch[:, inside] == 1]
        places = self.places[at]
        return rows if places == tuple(range(rows.shape[1])) else rows.T[list(places)].T

    def split(self, numbers: Sequence[int]) -> list[Sequence[int]]:
        """Give each fold its numbers back."""
        ends = np.cumsum([fold.cells for fold in self.folds]).tolist()
        return [numbers[end - fold.cells : end] for fold, end in zip(self.folds, ends, strict=True)]


def _fitting(rows: int, fold: FoldOf) -> type:
    """Say in what so many rows are added up without overflow, be they more than were declared."""
    return np.int64 if rows * fold.largest < TOO_LARGE else object


def _pieces(rows: Codes, cells: int) -> Iterator[Codes]:
    """Cut rows so that their vectors fit in memory."""
    size = min(max(ENTRIES_AT_ONCE // cells, 1), ROWS_AT_ONCE)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
