"""Which rows are inside a predicate, by arrays of their codes: the rule that engines are held against."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import IntArray
from entwined.queries.predicate import Predicate

Marks: TypeAlias = NDArray[np.bool_]


def rows_inside(predicate: Predicate, codes: Mapping[str, IntArray], rows: int) -> Marks:
    """Mark the rows that are inside; each column that matters has one code a row."""
    marks = np.zeros(rows, dtype=np.bool_)
    for box in predicate.boxes:
        here = np.ones(rows, dtype=np.bool_)
        for column, ranges in box.items():
            found = codes[column]
            here &= np.any([(low <= found) & (found <= high) for low, high in ranges], axis=0)
        marks |= here
    return marks
