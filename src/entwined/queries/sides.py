"""What a table is counted by: columns, or bands of columns.

A question names declared bands as it names columns. When it meets the schema the names become the bands themselves,
so that what was asked can be read without the schema and stays the same under another one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.queries.axes import Axis
from entwined.schema import Bands, Coded, Schema

Side: TypeAlias = str | Bands


def sides_from(given: Iterable[object], kind: str) -> tuple[Side, ...]:
    """Take columns and bands as they are given or written; refuse none at all, or a column twice."""
    sides = tuple(side_from(one) for one in given)
    columns = [column_of(side) for side in sides]
    if not sides or len(set(columns)) < len(columns):
        named = ", ".join(map(repr, map(words_of, sides)))
        raise BadQuery(
            f"A {kind} over the columns [{named}]. Name one or more, each once, with bands or without."
        )
    return sides


def side_from(given: object) -> Side:
    """Take a column's name, bands, or bands as a question writes them."""
    match given:
        case str() | Bands():
            return given
        case Mapping():
            return Bands.from_document(given)
    raise BadQuery(f"A table is counted by {given!r:.60}. Give the name of a column or of bands.")


def bound_sides(sides: tuple[Side, ...], schema: Schema, kind: str) -> tuple[Side, ...]:
    """Give bands for the names of declared bands."""
    return sides_from((schema.side(side) if isinstance(side, str) else side for side in sides), kind)


def column_of(side: Side) -> str:
    """Give the column that is read."""
    return side if isinstance(side, str) else side.column


def document_of(side: Side) -> str | Document:
    """Write a side as it stands in a question."""
    return side if isinstance(side, str) else side.document


def words_of(side: Side) -> str:
    """Say what is counted by."""
    return side if isinstance(side, str) else side.what


def titled_side(side: Side, titled: Callable[[str], str]) -> str:
    """Say what is counted by, with the column called as told."""
    return titled(side) if isinstance(side, str) else f"{side.name or 'bands'} of {titled(side.column)}"


def for_each(sides: tuple[Side, ...], titled: Callable[[str], str]) -> str:
    """Say that there is a number for each value of a column, or each combination of several."""
    what = "value" if len(sides) == 1 else "combination"
    return f"for each {what} of {' and '.join(titled_side(side, titled) for side in sides)}"


def axis_of(column: Coded, width: int = 1) -> Axis:
    """Lay a column out as one side of a table."""
    return Axis(column.name, column.levels, width, column.missing == "value")


def axis_along(side: Side, schema: Schema) -> Axis:
    """Lay a column, or bands of one, out as one side of a table; bands of one width are cells of that width."""
    if isinstance(side, str):
        return axis_of(schema.coded(side))
    column = schema.coded(side.column)
    if column.size != side.size:
        raise BadQuery(f"The {side.what} were cut on another schema: the column differs. Cut it again.")
    width = side.starts[1] if side.levels > 1 else column.levels
    even = side.starts == tuple(range(0, column.levels, width))
    cells = axis_of(column, width) if even else replace(axis_of(column), cuts=side.starts)
    return replace(cells, labels=side.labels, name=side.name)
