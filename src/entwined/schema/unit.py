"""Whose secret is protected: a row, a person with a bounded number of rows, or one cell."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from entwined.errors import BadSchema
from entwined.schema.raw import is_text, is_whole

Neighbours: TypeAlias = Literal["replace", "add_remove"]
MOST_ROWS_EACH: Final = 1_000_000


@dataclass(frozen=True)
class Rows:
    """Each row is a unit of its own."""

    kind: ClassVar[str] = "rows"

    @property
    def document(self) -> dict[str, Any]:
        """The unit as the fields of its file."""
        return {"kind": self.kind}


@dataclass(frozen=True)
class Person:
    """All rows with the same value in `column` are one unit; at most `most` of them are used.

    Which of a person's rows are used may depend on that person's rows alone, settled before any condition.
    """

    column: str
    most: int
    kind: ClassVar[str] = "person"

    def __post_init__(self) -> None:
        if not is_text(self.column):
            raise BadSchema(f"A person's rows share the column {self.column!r}. Give a column's name.")
        if not is_whole(self.most) or not 1 <= self.most <= MOST_ROWS_EACH:
            raise BadSchema(
                f"A person has at most {self.most!r} rows. Give a number from 1 to {MOST_ROWS_EACH:,}."
            )

    @property
    def document(self) -> dict[str, Any]:
        """The unit as the fields of its file."""
        return {"kind": self.kind, "column": self.column, "most": self.most}


@dataclass(frozen=True)
class Cells:
    """Each answer of each row is a unit; a loss falls on the columns that are read."""

    kind: ClassVar[str] = "cells"

    @property
    def document(self) -> dict[str, Any]:
        """The unit as the fields of its file."""
        return {"kind": self.kind}


Unit: TypeAlias = Rows | Person | Cells


def unit_from(fields: object) -> Unit:
    """Make a unit of the fields of its file."""
    match fields:
        case {"kind": "rows", **rest} if not rest:
            return Rows()
        case {"kind": "cells", **rest} if not rest:
            return Cells()
        case {"kind": "person", "column": str(column), "most": int(most), **rest} if not rest:
            return Person(column, most)
    raise BadSchema(
        f'unit = {fields!r}. Give {{kind = "rows"}}, {{kind = "cells"}} or '
        '{kind = "person", column = "id", most = 5}.'
    )
