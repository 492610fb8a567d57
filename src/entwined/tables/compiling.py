"""From raw rows to coded ones as SQL: what Ibis wrote once is remembered, for it takes longer than the engine does.

The steps hang on the declared columns and on how an engine shows them, and on nothing that is in a table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from entwined.schema import Coded
from entwined.tables.coding import clean_of, code_of, found_code, read_of, worked_out
from entwined.tables.engine import Dialect, Kind
from entwined.tables.reading import Expression
from entwined.tables.steps import Steps, added, compiled, of, typed, unbound

MOST_REMEMBERED: Final = 200

Read: TypeAlias = Mapping["Raw", Mapping[str, Expression]]  # what was read of each column
Names: TypeAlias = dict["Raw", dict[str, str]]  # how that is called


@dataclass(frozen=True, slots=True)
class Raw:
    """A column of a statement: its number in the schema, how the engine shows it, and what is declared of it."""

    place: int
    kind: Kind
    declared: Coded | None = None  # none is needed where it stays raw
    sought: bool = False  # whether its values were found in a list before

    @property
    def raw(self) -> str:
        """Its name while it is raw."""
        return f"r{self.place}"

    @property
    def found(self) -> str:
        """Its name after it was looked up."""
        return f"{self.raw}_found"

    @property
    def code(self) -> str:
        """The name of its code."""
        return f"c{self.place}"

    @property
    def coded(self) -> Coded:
        """What is declared of it."""
        if self.declared is None:
            raise LookupError(self.raw)
        return self.declared


@lru_cache(maxsize=MOST_REMEMBERED)
def coding_steps(
    rows: str,
    coded: tuple[Raw, ...],
    kept: tuple[Raw, ...],
    numbers: tuple[str, ...],
    dialect: Dialect,
) -> tuple[tuple[str, str], ...]:
    """Read texts, work times out, code: one step each, so that nothing is written twice."""
    sought, rest = [one for one in coded if one.sought], [one for one in coded if not one.sought]
    types = {one.raw: typed(one.kind) for one in (*coded, *kept)}
    types |= {one.found: "int64" for one in sought} | dict.fromkeys(numbers, "int64")
    steps: Steps = []
    table = unbound(types, f"found_{rows}" if sought else rows)
    clean = {one: clean_of(one.coded, table[one.raw], one.kind, dialect) for one in rest}
    table, texts = _step(steps, f"clean_{rows}", table, clean, dialect)
    read = {one: read_of(one.coded, table[one.raw], one.kind, of(table, texts[one]), dialect) for one in rest}
    table, parts = _step(steps, f"read_{rows}", table, read, dialect)
    times = {one: worked_out(of(table, found)) for one, found in parts.items() if "year" in found}
    table, worked = _step(steps, f"timed_{rows}", table, times, dialect)
    parts |= worked
    codes = {one.code: code_of(one.coded, table[one.raw], one.kind, of(table, parts[one])) for one in rest}
    codes |= {one.code: found_code(one.coded, table[one.found]) for one in sought}
    asis = {name: table[name] for name in (*(one.raw for one in kept), *numbers)}
    return (*steps, (f"coded_{rows}", compiled(table.select(**codes, **asis), dialect)))


def _step(
    steps: Steps, name: str, table: Expression, read: Read, dialect: Dialect
) -> tuple[Expression, Names]:
    """Add a step that makes columns of what was read, and say how they are called."""
    names = {one: {part: f"{one.raw}_{name}_{part}" for part in found} for one, found in read.items()}
    made = {names[one][part]: value for one, found in read.items() for part, value in found.items()}
    return added(steps, name, table, made, dialect), names
