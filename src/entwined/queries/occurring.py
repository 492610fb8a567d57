"""Which cells of a table some row can be in, by its condition and by what the holder declares impossible."""

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from itertools import product
from operator import and_, or_
from typing import Final

import numpy as np

from entwined.numbers import BoolArray
from entwined.queries.axes import Axis
from entwined.queries.conditions import is_missing
from entwined.queries.predicate import Predicate, codes_in, nothing
from entwined.schema import Schema

MOST_CELLS: Final = 4096  # of larger tables each side is looked at by itself


def never_missing(schema: Schema, columns: Collection[str]) -> tuple[Predicate, ...]:
    """Give the rows that lack a value in one of those columns of which the schema says that none does.

    >>> from entwined.schema import Boolean
    >>> [one.text for one in never_missing(Schema((Boolean("ill", missing="never"), Boolean("old"))), ["ill", "old"])]
    ['"ill" in 2 of 3']
    """
    coded = (schema.coded(name) for name in sorted(columns))
    return tuple(is_missing(column).true for column in coded if column.missing == "never")


def occurring(
    axes: Sequence[Axis], where: Predicate, impossible: Sequence[Predicate], schema: Schema
) -> BoolArray | None:
    """Mark the cells that some row can be in, the last axis fastest; None where that is all of them."""
    columns = {axis.column for axis in axes}
    ruled_out = reduce(or_, impossible, nothing())
    if columns.isdisjoint(where.columns) and columns.isdisjoint(ruled_out.columns):
        return None
    inside = where - ruled_out
    sides = [list(_sides(axis, schema)) for axis in axes]
    if np.prod([len(side) for side in sides]) <= MOST_CELLS:
        marks = np.array([not inside.disjoint(reduce(and_, cell)) for cell in product(*sides)])
    else:
        alone = [np.array([not inside.disjoint(cell) for cell in side]) for side in sides]
        marks = np.array(reduce(np.logical_and.outer, alone)).reshape(-1)
    return None if marks.all() or not marks.any() else marks


def _sides(axis: Axis, schema: Schema) -> Iterator[Predicate]:
    """Give the rows of each cell along an axis."""
    column = schema.coded(axis.column)
    for start, end in zip(axis.starts, [*axis.starts[1:], axis.levels], strict=True):
        yield codes_in(column.name, column.size, ((start, end - 1),))
    if axis.keeps_missing:
        yield is_missing(column).true
