"""From cells to values: within a cell every declared value is as likely as any other, and nothing is copied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from entwined.mechanisms.marginals.rules import USUAL_LENGTHS
from entwined.numbers import IntArray
from entwined.queries import Axis
from entwined.schema import Coded, Schema

CLOCKS: Final = ("second", "minute", "hour")
LETTERS: Final = np.array(list("abcdefghijklmnopqrstuvwxyz"))

Luck: TypeAlias = np.random.Generator


def codes_in_cells(axis: Axis, cells: IntArray, luck: Luck, *, one_each: bool = False) -> IntArray:
    """Draw a code in each cell, all as likely; with `one_each` always the one in the middle."""
    firsts = np.array([*axis.starts, axis.levels])
    widths = np.diff([*axis.starts, axis.levels, axis.levels + 1])[cells]
    within = (widths - 1) // 2 if one_each else (luck.random(len(cells)) * widths).astype(np.int64)
    return np.asarray(firsts[cells] + np.minimum(within, widths - 1), np.int64)


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """How the values of a column stand in a table of Arrow."""

    kind: pa.DataType
    plain: Callable[[Any], Any]

    @classmethod
    def of(cls, column: Coded) -> "ColumnKind":
        """Find it from the first value: whole days are dates, numbers in fixed point are doubles."""
        match column.value(0):
            case bool():
                return cls(pa.bool_(), _as_it_is)
            case int():
                return cls(pa.int64(), _as_it_is)
            case Fraction():
                return cls(pa.float64(), float)
            case datetime():
                clock = column.document.get("step") in CLOCKS
                return cls(pa.timestamp("s"), _as_it_is) if clock else cls(pa.date32(), datetime.date)
        return cls(pa.string(), _as_it_is)

    def array(self, column: Coded, codes: IntArray) -> pa.Array:
        """Give the values of codes; missing is null."""
        distinct, places = np.unique(codes, return_inverse=True)
        values = [column.value(code) for code in distinct.tolist()]
        plain = [None if value is None else self.plain(value) for value in values]
        return pa.array(plain, self.kind).take(pa.array(places.reshape(-1)))


def made_up_texts(
    schema: Schema, lengths: Mapping[str, tuple[int, int]], rows: int, luck: Luck, begin: int
) -> dict[str, pa.Array]:
    """Make up what columns of text say: unique ids where texts tell persons apart, else letters by chance."""
    found: dict[str, pa.Array] = {}
    for name in schema.text_columns:
        if name not in lengths and schema.column(name).document.get("compare"):
            ids = np.char.mod("%09d", np.arange(begin + 1, begin + rows + 1))
            found[name] = pa.array(np.char.add(f"{name}-", ids))
        else:
            shortest, longest = lengths.get(name, USUAL_LENGTHS)
            found[name] = pa.array(_letters(shortest, longest, rows, luck), pa.string())
    return found


def _letters(shortest: int, longest: int, rows: int, luck: Luck) -> list[str | None]:
    """Make up texts; one without a letter is missing."""
    letters = LETTERS[luck.integers(len(LETTERS), size=(rows, longest))]
    sizes = luck.integers(shortest, longest + 1, size=rows)
    return ["".join(row[:size]) or None for row, size in zip(letters, sizes, strict=True)]


def _as_it_is(value: object) -> object:
    return value
