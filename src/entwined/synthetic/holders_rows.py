"""A real and a synthetic table in the same public cells, for the holder of the real one and for nobody else.

These are rows without noise. No charge is made for them because nothing of them leaves: what is made of them here is
written to files that say so in their names and first lines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from entwined.errors import BadInput, BadTable, EntwinedError, HolderError
from entwined.learning.codes import MOST_VALUES, Codes
from entwined.numbers import IntArray
from entwined.queries.axes import Axis
from entwined.schema import Categorical, Coded, Column, Rows, Schema
from entwined.synthetic.middles import Middle
from entwined.tables.every_row import every_member, every_row
from entwined.tables.rows import CodedRows
from entwined.tables.source import engine_of
from entwined.writing import harmless

MOST_CELLS_OF_NUMBERS: Final = 20
FEWEST: Final = 2  # rows: one to learn from and one to test on


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Two tables in the same cells; columns that could not be compared are named with the reason."""

    schema: Schema
    axes: tuple[Axis, ...]
    real: Codes
    synthetic: Codes
    left_out: Mapping[str, str]
    middles: tuple[Mapping[str, Middle], Mapping[str, Middle]] = ({}, {})
    """Where the numbers of both lie."""

    def __post_init__(self) -> None:
        if (self.real.names, self.real.sizes) != (self.synthetic.names, self.synthetic.sizes):
            raise BadTable("Two tables of other columns or cells are compared. Give both the same.")
        for name, table in (("real", self.real), ("synthetic", self.synthetic)):
            if table.rows < FEWEST:
                raise HolderError(
                    f"The {name} table has {table.rows or 'no'} rows that count; {FEWEST} are the fewest that can be "
                    "compared. Give one of more rows."
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are compared."""
        return self.real.names

    @property
    def ordered(self) -> tuple[int, ...]:
        """The places of the columns whose cells follow each other."""
        return tuple(at for at, axis in enumerate(self.axes) if self.schema.coded(axis.column).has_order)


def side_by_side(real: Any, synthetic: Any, schema: Schema, axes: Sequence[Axis] | None = None) -> SideBySide:
    """Read two tables under one schema: all rows of the synthetic one, of the real one those that count."""
    schema.require_approval()
    cells, left_out = public_cells(schema) if axes is None else (list(axes), {})
    engine = engine_of(synthetic, declared={})
    there = set(engine.columns)
    engine.close()
    left_out |= {axis.column: "not in the synthetic table" for axis in cells if axis.column not in there}
    kept = tuple(axis for axis in cells if axis.column in there)
    if not kept:
        raise BadInput(
            "The synthetic table has no column of the schema. Give the schema that it was made under."
        )
    (one, lies), (other, made) = (
        _read(real, schema, kept),
        _read_made_up(synthetic, _bare(schema, kept), kept),
    )
    return SideBySide(schema, kept, one, other, left_out, (lies, made))


def held_out(source: Any, both: SideBySide) -> Codes:
    """Read people who are like those of the real table and were never in it, in the same cells."""
    return _read(source, _bare(both.schema, both.axes), both.axes)[0]


def public_cells(schema: Schema) -> tuple[list[Axis], dict[str, str]]:
    """Cut numbers and times into cells of one width, and leave out what has too many categories."""
    axes, left_out = [], {}
    for column in schema.columns:
        if not isinstance(column, Coded):
            left_out[column.name] = "text is never compared"
            continue
        width = -(-column.levels // MOST_CELLS_OF_NUMBERS) if column.has_order else 1
        axis = Axis(column.name, column.levels, width)
        if axis.cells > MOST_VALUES:
            left_out[column.name] = f"more than {MOST_VALUES:,} categories"
        else:
            axes.append(axis)
    return axes, left_out


def _bare(schema: Schema, axes: Sequence[Axis]) -> Schema:
    """Give the same columns where every row is read as it stands."""
    columns = tuple(schema.column(axis.column) for axis in axes)
    return replace(schema, columns=columns, unit=Rows(), rows=None, approved_digest="", signature=None)


def members_of(source: Any, schema: Schema, names: Sequence[str], by: str) -> tuple[IntArray, IntArray]:
    """Read the holder's rows for a rehearsal: the number of each one's household, and the codes of some columns."""
    schema.require_approval()
    found = _opened(source, schema, lambda rows: every_member(rows, names, by))
    if not len(found):
        raise HolderError("The table has no rows that name a household. Give another, or another column.")
    return found[:, 0], found[:, 1:]


def _read(source: Any, schema: Schema, axes: Sequence[Axis]) -> tuple[Codes, dict[str, Middle]]:
    return _in_cells(_codes(source, schema, axes), schema, axes)


def _read_made_up(source: Any, schema: Schema, axes: Sequence[Axis]) -> tuple[Codes, dict[str, Middle]]:
    """Read a synthetic table; texts that a spreadsheet would take for formulas may be marked there."""
    codes = _codes(source, schema, axes)
    marked = {one.name: column for one in schema.columns if (column := _marked(one)) is not None}
    if marked:
        columns = tuple(marked.get(one.name, one) for one in schema.columns)
        again = _codes(source, replace(schema, columns=columns), axes)
        missing = np.array([axis.levels for axis in axes])
        codes = np.where(codes >= missing, again, codes)
    return _in_cells(codes, schema, axes)


def _marked(column: Column) -> Categorical | None:
    """Give a column as a CSV file has it, if a value of it is marked there."""
    if not isinstance(column, Categorical):
        return None
    values = tuple(map(harmless, column.values))
    return (
        replace(column, values=values)
        if values != column.values and len(set(values)) == len(values)
        else None
    )


def _codes(source: Any, schema: Schema, axes: Sequence[Axis]) -> IntArray:
    return _opened(source, schema, lambda rows: every_row(rows, [axis.column for axis in axes]))


def _in_cells(codes: IntArray, schema: Schema, axes: Sequence[Axis]) -> tuple[Codes, dict[str, Middle]]:
    cells = [cells_of(codes[:, at], axis) for at, axis in enumerate(axes)]
    lies = {
        axis.column: middle
        for at, axis in enumerate(axes)
        if schema.coded(axis.column).has_order
        and (middle := Middle.of(codes[:, at], axis.levels)) is not None
    }
    return Codes.of({axis.column: axis.cells for axis in axes}, np.stack(cells, axis=1)), lies


def _opened(source: Any, schema: Schema, read: Callable[[CodedRows], IntArray]) -> IntArray:
    engine = engine_of(source, declared={one.name: one for one in schema.columns})
    try:
        return read(CodedRows(schema, engine))
    except EntwinedError:
        raise
    except Exception:  # noqa: BLE001  (its words may hold cells of rows)
        raise HolderError(
            "A table cannot be read under this schema. See what is in it with `entwined describe`."
        ) from None
    finally:
        engine.close()


def cells_of(codes: IntArray, axis: Axis) -> IntArray:
    """Give the cell of every code, missing in the last."""
    if axis.levels < len(codes):  # each value is looked for once
        return _searched(np.arange(axis.levels + 1), axis)[np.minimum(codes, axis.levels)]
    return _searched(codes, axis)


def _searched(codes: IntArray, axis: Axis) -> IntArray:
    inside = np.searchsorted(np.asarray(axis.starts), codes, side="right") - 1
    return np.where(codes < axis.levels, inside, axis.cells - 1)
