"""How many rows the groups of a table have, and what a bound on them leaves out: for the holder, never published.

`describe` and `init` count them without noise when they look at all rows anyway, and write them into files whose names
say that they are the holder's alone. `plan` reads such a file, not the rows.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from entwined.errors import BadTable
from entwined.schema import Column, Schema
from entwined.tables.engine import Engine
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement
from entwined.writing import write_whole

WHOLE: Final = 0.95  # of the groups have no more rows than the bound that is proposed
SHOWN: Final = 7  # bounds


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """How many groups have each number of rows."""

    groups: Mapping[int, int]

    @property
    def rows(self) -> int:
        """How many rows are in a group."""
        return sum(size * times for size, times in self.groups.items())

    def left_out(self, most: int) -> float:
        """Give the share of the rows that a bound leaves out: what groups have beyond it.

        >>> GroupSizes({1: 3, 7: 1}).left_out(2)
        0.5
        """
        beyond = sum(max(size - most, 0) * times for size, times in self.groups.items())
        return beyond / max(self.rows, 1)

    @property
    def proposed(self) -> int:
        """The least of 1, 2, 5, 10, 20, … rows that 95 % of the groups do not exceed.

        >>> GroupSizes({48: 365}).proposed
        50
        """
        need, bound = WHOLE * sum(self.groups.values()), 1
        while sum(times for size, times in self.groups.items() if size <= bound) < need:
            bound = _next(bound)
        return bound

    @property
    def words(self) -> str:
        """Say what bounds would leave out: the one that is proposed, smaller ones and a larger one."""
        bounds, largest = [1], max(self.groups, default=1)
        while bounds[-1] < largest:
            bounds.append(_next(bounds[-1]))
        at = bounds.index(self.proposed)
        near = bounds[max(at - SHOWN + 3, 0) : at + 3]
        listed = "; ".join(f"{most:,}: {100 * self.left_out(most):.3g} %" for most in near)
        many = sum(self.groups.values())
        return (
            f"{many:,} groups of {self.rows / max(many, 1):.3g} rows on average; "
            f"share of the rows beyond a bound of {listed}"
        )

    @classmethod
    def measured(cls, engine: Engine, column: Column) -> Self | None:
        """Count the rows of every group that a column names; nothing where its values name none for sure."""
        rows = CodedRows(Schema((column,)), engine)
        try:
            ids, compared = rows.named((column.name,), "written")
        except BadTable:
            return None
        coded = rows.is_coded(column.name)
        steps, last = rows.steps([column.name] if coded else [], () if coded else (column.name,))
        steps = [
            *steps,
            ("spelled", f"SELECT {ids[0]} AS written, COUNT(*) AS times FROM {last} GROUP BY {ids[0]}"),
            ("ids", f"SELECT {compared} AS who, times FROM spelled"),
            (
                "sizes",
                "SELECT CAST(SUM(times) AS BIGINT) AS size FROM ids WHERE who IS NOT NULL GROUP BY who",
            ),
        ]
        with engine.reading() as reader:
            found = reader.rows(
                statement(steps, "SELECT size, COUNT(*) FROM sizes GROUP BY size ORDER BY size")
            )
        return cls({int(size): int(times) for size, times in found})


def _next(bound: int) -> int:
    """Give the bound that comes after another: 1, 2, 5, 10, 20 and so on."""
    return bound * 5 // 2 if str(bound)[0] == "2" else bound * 2


def sizes_beside(schema_file: str | os.PathLike[str]) -> Path:
    """Name the file of the sizes of groups that were counted beside a schema."""
    path = Path(schema_file)
    return path.with_name(f"{path.stem}.group-sizes.holder-only.json")


def write_sizes(schema_file: str | os.PathLike[str], sizes: Mapping[str, GroupSizes]) -> None:
    """Write what was counted, by the column that names groups, beside what an earlier look counted."""
    known = read_sizes(schema_file) | dict(sizes)
    if known:
        told = {name: sorted(found.groups.items()) for name, found in known.items()}
        write_whole(sizes_beside(schema_file), json.dumps(told, indent=1) + "\n", only_owner=True)


def read_sizes(schema_file: str | os.PathLike[str]) -> dict[str, GroupSizes]:
    """Read what was counted; nothing where no file is, or one that nobody could have written."""
    try:
        told = json.loads(sizes_beside(schema_file).read_text(encoding="utf-8"))
        return {
            name: GroupSizes({int(size): int(times) for size, times in found}) for name, found in told.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
