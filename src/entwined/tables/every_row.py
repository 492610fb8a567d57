"""All rows of a table as codes, for eyes that may see them: a public table's, and a holder's own on their own machine.

Nothing that is released comes this way: what is released is lent by the door, after a charge.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from entwined.numbers import IntArray
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement

ALONE: Final = "0"


def every_row(rows: CodedRows, names: Sequence[str]) -> IntArray:
    """Give the codes of the named columns, a line a row that counts."""
    steps, last = rows.steps(names)
    wanted = ", ".join(rows.code(name) for name in names)
    with rows.engine.reading() as reader:
        found = reader.rows(statement(steps, f"SELECT {wanted} FROM {last}"))
    return np.array(found, np.int64).reshape(-1, len(names))


def every_step(rows: CodedRows, *, state: str, order: str, by: str | None) -> IntArray:
    """Give series, step and state of every row with a step; without `by` all rows are one series."""
    raw = () if by is None or rows.is_coded(by) else (by,)
    coded = [name for name in (by, order, state) if name is not None and name not in raw]
    taken, last = rows.steps(rows.in_order(coded), raw)
    ids, compared = ([ALONE], "written") if by is None else rows.named((by,), "written")
    listed = f"{ids[0]} AS written, {rows.code(order)} AS step, {rows.code(state)} AS state"
    seen = f"SELECT {listed} FROM {last}"
    steps = rows.schema.coded(order).levels
    told = f"SELECT {compared} AS who, step, state FROM seen WHERE step < {steps}"
    wanted = "SELECT DENSE_RANK() OVER (ORDER BY who) AS who, step, state FROM told WHERE who IS NOT NULL"
    with rows.engine.reading() as reader:
        found = reader.rows(statement([*taken, ("seen", seen), ("told", told)], wanted))
    return np.array(found, np.int64).reshape(-1, 3)


def every_member(rows: CodedRows, names: Sequence[str], by: str) -> IntArray:
    """Give the number of the household and the codes of the named columns, a line a row that names a household."""
    everybody = rows.of_everybody()
    raw = () if everybody.is_coded(by) else (by,)
    taken, last = everybody.steps(everybody.in_order((*names, *(() if raw else (by,)))), raw)
    ids, compared = everybody.named((by,), "written")
    codes = ", ".join(everybody.code(name) for name in names)
    seen = f"SELECT {ids[0]} AS written, {codes} FROM {last}"
    told = f"SELECT {compared} AS who, {codes} FROM seen"
    wanted = f"SELECT DENSE_RANK() OVER (ORDER BY who) AS who, {codes} FROM told WHERE who IS NOT NULL"
    with everybody.engine.reading() as reader:
        found = reader.rows(statement([*taken, ("seen", seen), ("told", told)], wanted))
    return np.array(found, np.int64).reshape(-1, 1 + len(names))
