"""Rows of a public table as codes: an earlier wave, a pilot, a teaching file. Never the private rows."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from entwined.dependence import LearnedFrom
from entwined.errors import BadTable, EntwinedError
from entwined.progress import report
from entwined.schema import Coded, Schema
from entwined.tables.every_row import every_row
from entwined.tables.fingerprint import fingerprint, fingerprint_of_codes
from entwined.tables.rows import CodedRows
from entwined.tables.source import engine_of

MOST_VALUES: Final = 1_000  # a table of two columns then has at most a million cells
NOT_ASKED: Final = -1
READING: Final = "reading the public table"


@dataclass(frozen=True, eq=False)
class Codes:
    """One column an answer, one row a respondent; −1 where a respondent was not asked.

    >>> codes = Codes.of({"a": 2, "b": 3}, [[0, 2], [1, 0]])
    >>> codes.rows, codes.sizes
    (2, (2, 3))
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    values: NDArray[np.int32]
    origin: LearnedFrom | None = None
    """The table that the rows are of, or a part of; None for codes that stand for themselves."""

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):  # noqa: PLR2004  (rows and columns)
            raise BadTable(
                f"Codes of shape {self.values.shape} for {len(self.names)} columns. Give one column each."
            )
        if not self.names or len(set(self.names)) < len(self.names) or len(self.sizes) != len(self.names):
            raise BadTable(
                "A column has no name of its own or no size. Name each column once, with its size."
            )
        if max(self.sizes) > MOST_VALUES:
            name = self.names[int(np.argmax(self.sizes))]
            raise BadTable(
                f"Column {name!r} has {max(self.sizes):,} codes; learning takes {MOST_VALUES:,} at most. "
                "Declare it with a coarser step, or leave it out."
            )
        low, high = self.values.min(axis=0, initial=0), self.values.max(axis=0, initial=0)
        if (low < NOT_ASKED).any() or (high >= np.array(self.sizes)).any():
            raise BadTable("A code lies outside its column. Give codes from 0, or −1 for not asked.")
        self.values.flags.writeable = False

    @classmethod
    def of(cls, sizes: Mapping[str, int], values: Sequence[Sequence[int]] | NDArray[Any]) -> Self:
        """Hold codes that are known already, columns in the order of their names."""
        table = np.array(values, dtype=np.int32).reshape(-1, len(sizes))
        return cls(tuple(sizes), tuple(sizes.values()), table)

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        return len(self.values)

    @property
    def _source(self) -> LearnedFrom:
        return self.origin or fingerprint_of_codes(
            dict(zip(self.names, self.sizes, strict=True)), self.values
        )

    def learned_from(self, table: str) -> LearnedFrom:
        """What a model of these rows was learned from, under the name of its table."""
        return dataclasses.replace(self._source, table=table)

    def place(self, name: str) -> int:
        """Give the number of a column."""
        if name not in self.names:
            raise BadTable(f"There is no column {name!r} among the codes. Name one of them.")
        return self.names.index(name)

    def only(self, names: Sequence[str]) -> "Codes":
        """Keep some columns."""
        places = [self.place(name) for name in names]
        sizes = tuple(self.sizes[place] for place in places)
        return Codes(tuple(names), sizes, self.values[:, places], self._source)

    def some(self, rows: NDArray[Any]) -> "Codes":
        """Keep some rows."""
        return Codes(self.names, self.sizes, self.values[rows], self._source)

    def without_blanks(self, blanks: Mapping[str, int]) -> "Codes":
        """Take the code that stands for "not asked" out of the columns that have one; codes above it move down."""
        values, sizes = self.values.copy(), list(self.sizes)
        for name, code in blanks.items():
            place = self.place(name)
            column = self.values[:, place]
            values[:, place] = np.where(column == code, NOT_ASKED, column - (column > code))
            sizes[place] -= 1
        return Codes(self.names, tuple(sizes), values, self._source)

    def without_missing(self, names: Iterable[str]) -> "Codes":
        """Take missing, the last code, out of columns in which it is confirmed to say nothing."""
        return self.without_blanks({name: self.sizes[self.place(name)] - 1 for name in names})


def public_codes(source: Any, schema: Schema, *, table: str | None = None) -> Codes:
    """Read the rows of a public table under a schema, every column that can be queried.

    What is learned from them is free of charge, so they must not be the rows that are to be protected. Missing is
    an answer like any other, the last code of every column, also where tables of counts leave it out.
    """
    columns = [column for column in schema.columns if isinstance(column, Coded)]
    if not columns:
        raise BadTable("The schema has no column that can be queried. Declare categories or grids.")
    engine = engine_of(source, table=table, declared={one.name: one for one in schema.columns})
    try:
        rows = CodedRows(schema, engine)
        report(READING, 0, 2)
        found = every_row(rows, [column.name for column in columns])
        report(READING, 1, 2)
        origin = fingerprint(rows)
        report(READING, 2, 2)
    except EntwinedError:
        raise
    except Exception:  # noqa: BLE001  (its words may hold cells, and somebody may have named the private table)
        raise BadTable(
            "The table cannot be read under this schema. See what is in it with `entwined describe`."
        ) from None
    finally:
        engine.close()
    codes = Codes.of({column.name: column.size for column in columns}, found)
    return dataclasses.replace(codes, origin=origin)
