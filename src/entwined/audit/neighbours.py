"""Made-up rows that published numbers tell apart best: the two tables of an audit, and whoever may hold anything."""

import itertools
from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, TypeAlias

import numpy as np

from entwined.audit.row_adds import Codes, RowAdds
from entwined.mechanisms.asked import Asked
from entwined.mechanisms.batch import Batch
from entwined.numbers import IntArray
from entwined.schema import Coded

FEW_CODES: Final = 12
MOST_TRIED: Final = 4096
FEW_ROWS: Final = 64
OTHERS: Final = 3
ROUNDS: Final = 2

Row: TypeAlias = Codes | None  # None for a unit that is in no row at all
MadeUp: TypeAlias = tuple[Codes, ...]
"""Rows that nobody has."""


def neighbouring(batch: Batch) -> tuple[MadeUp, MadeUp]:
    """Give two small tables that differ in one unit: in a cell, a row, or all rows of a person."""
    rows = candidates(batch)
    others = tuple(rows[:: max(len(rows) // OTHERS, 1)][:OTHERS])
    if batch.promise.is_of_persons:
        here, there = _two_courses(batch, rows)
    else:
        pair = _apart_in_one_cell(batch, rows) if batch.schema.unit.by_column else two_rows(batch)
        most = batch.schema.unit.most_rows
        here, there = (() if row is None else (row,) * most for row in pair)
    return (*others, *here), (*others, *there)


def _two_courses(batch: Batch, rows: Sequence[Codes]) -> tuple[MadeUp, MadeUp]:
    """Give a person of a panel two courses: at each step the two rows, or none, that are told apart best there."""
    order = batch.promise.steps
    courses: tuple[list[Codes], list[Codes]] = [], []
    for step in range(0 if order is None else order.levels):
        tried: list[Row] = [None, *(at_step(row, order, step) for row in rows if order is not None)]
        numbers = _scaled(batch, tried)
        first = int(np.abs(numbers).sum(axis=1).argmax())
        second = int(np.abs(numbers - numbers[first]).sum(axis=1).argmax())
        for course, row in zip(courses, (tried[second], tried[first]), strict=True):
            course.extend(() if row is None else (row,))
    return tuple(courses[0]), tuple(courses[1])


def at_step(row: Codes, order: Coded, step: int) -> Codes:
    """Give the same row at another step, where it says at which it is."""
    return {**row, order.name: step} if order.name in row else row


def two_rows(batch: Batch) -> tuple[Row, Row]:
    """Find two rows that are told apart best; where rows may be absent, one of them is."""
    rows = candidates(batch)
    numbers = _scaled(batch, rows)
    if batch.schema.neighbours == "add_remove":
        return None, _nearer(batch, None, rows[int(np.abs(numbers).sum(axis=1).argmax())])
    first = int(np.abs(numbers - numbers[0]).sum(axis=1).argmax())
    second = int(np.abs(numbers - numbers[first]).sum(axis=1).argmax())
    here, there = rows[second], rows[first]
    for _ in range(ROUNDS):
        there = _nearer(batch, here, there)
        here = _nearer(batch, there, here)
    return here, there


def _nearer(batch: Batch, here: Row, there: Codes) -> Codes:
    """Change a row column by column, each time to what tells it best from the other."""
    (fixed,) = _scaled(batch, [here])
    for name in columns_read(batch):
        tried = [there, *({**there, name: code} for code in _told_apart(batch.schema.coded(name), batch))]
        there = tried[int(np.abs(_scaled(batch, tried) - fixed).sum(axis=1).argmax())]
    return there


def candidates(batch: Batch) -> list[Codes]:
    """Give rows with all codes of the columns that are read; of too many, rows inside each condition and near them."""
    columns = columns_read(batch)
    choices = [_told_apart(batch.schema.coded(name), batch) for name in columns]
    if prod(map(len, choices)) <= MOST_TRIED:
        return [dict(zip(columns, one, strict=True)) for one in itertools.product(*choices)]
    inside = [
        {name: _codes_inside(one, batch.schema.coded(name))[0] for name in columns}
        for one in batch.statistics
    ]
    ends = [dict(zip(columns, (codes[side] for codes in choices), strict=True)) for side in (0, -1)]
    turned = [
        {**row, name: code}
        for row in inside
        for name in columns
        for code in _told_apart(batch.schema.coded(name), batch)
    ]
    return [*inside, *ends, *turned[:MOST_TRIED]]


def _codes_inside(asked: Asked, column: Coded) -> list[int]:
    """Give codes of a column at which the rows inside a condition begin and end."""
    return [code for ends in asked.statistic.aggregate.where.codes(column.name, column.size) for code in ends]


def columns_read(batch: Batch) -> list[str]:
    """Name the columns that some statistic reads."""
    return sorted({name for one in batch.statistics for name in one.statistic.aggregate.reads})


def added(asked: Asked, rows: Sequence[Row]) -> IntArray:
    """Give what rows add to a statistic; one that is absent adds nothing."""
    there = [row for row in rows if row is not None]
    numbers = np.zeros((len(rows), asked.statistic.aggregate.cells), np.int64)
    if there:
        numbers[[row is not None for row in rows]] = RowAdds(there).to(asked.statistic.aggregate)
    return numbers


def _scaled(batch: Batch, rows: Sequence[Row]) -> IntArray:
    """Give what rows add to all numbers, each in units of its noise."""
    return np.hstack([added(one, rows) / one.spread for one in batch.statistics])


def _told_apart(column: Coded, batch: Batch) -> list[int]:
    if column.size <= FEW_CODES:
        return list(range(column.size))
    ends = {0, column.levels - 1, column.missing_code}
    for one in batch.statistics:
        ends.update(_codes_inside(one, column))
    return sorted(ends)


def _apart_in_one_cell(batch: Batch, rows: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Find the cell whose change moves the numbers most."""
    pairs = list(_changed(batch, rows[:: max(len(rows) // FEW_ROWS, 1)]))
    here, there = (_scaled(batch, [pair[side] for pair in pairs]) for side in (0, 1))
    return pairs[int(np.abs(here - there).sum(axis=1).argmax())]


def _changed(batch: Batch, rows: Sequence[Codes]) -> Iterator[tuple[Codes, Codes]]:
    secret = [name for name in columns_read(batch) if not batch.schema.coded(name).public]
    for row, name in itertools.product(rows, secret):
        for code in _told_apart(batch.schema.coded(name), batch):
            yield row, {**row, name: code}
