"""The rows of a table as codes: the part of a statement that every question shares.

Column number i of the schema is called r‹i› while raw, c‹i› when coded. Names of the source stand only where the
engine quotes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from entwined.errors import BadTable
from entwined.schema import Coded, Person, Schema
from entwined.tables.coding import code_of, found_code, is_dear, keys_of, looks_up
from entwined.tables.engine import Engine, Kind, Shown
from entwined.tables.reading import Expression

Steps: TypeAlias = list[tuple[str, str]]  # the names and statements of a WITH

IBIS_TYPES: Mapping[Kind, str] = {
    "truth": "boolean",
    "whole": "int64",
    "number": "float64",
    "text": "string",
    "day": "int64",
    "moment": "int64",
    "code": "int64",
    "nothing": "int64",
}


@dataclass(frozen=True)
class CodedRows:
    """How to read a schema's columns from an engine; `_made` remembers compiled expressions."""

    schema: Schema
    engine: Engine
    _made: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Steps] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lacking = [name for name in self.schema.names if name not in self.engine.columns]
        if lacking:
            raise BadTable(
                f"The schema declares the column {lacking[0]!r}, which the source does not have. "
                "Correct the schema, or open the table it describes."
            )
        for column in self.schema.columns:
            shown = self.engine.columns[column.name]
            if isinstance(column, Coded) and shown.kind == "other":
                raise BadTable(
                    f"Column {column.name!r} is of type {shown.type} in the source, which has no codes. "
                    "Declare it as text, or turn it into text, a number or a time there."
                )

    @property
    def by_person(self) -> Person | None:
        """The person unit, if it is one."""
        return self.schema.unit if isinstance(self.schema.unit, Person) else None

    def raw(self, name: str) -> str:
        """Name a column while it is raw."""
        return f"r{self.schema.names.index(name)}"

    def code(self, name: str) -> str:
        """Name a column's code."""
        return f"c{self.schema.names.index(name)}"

    def shown(self, name: str) -> Shown:
        """Say how the engine shows a column."""
        return self.engine.columns[name]

    def is_dear(self, name: str) -> bool:
        """Say whether a column is better counted raw and coded afterwards; never where rows are picked by code."""
        return self.by_person is None and is_dear(self.schema.coded(name), self.shown(name).kind)

    def steps(self, coded: Sequence[str], raw: Sequence[str] = ()) -> tuple[Steps, str]:
        """Give the steps from the source to rows with these codes, other columns raw, and the last step's name."""
        person = self.by_person
        if person is None:
            steps, last = self._coded(tuple(coded), tuple(raw))
            return steps, last
        everything = tuple(column.name for column in self.schema.columns if isinstance(column, Coded))
        steps, last = self._coded(everything, (person.column,))
        return [*steps, *self._picked(person, everything, last)], "picked"

    def _coded(self, coded: tuple[str, ...], raw: tuple[str, ...]) -> tuple[Steps, str]:
        needed = sorted({*coded, *raw}, key=self.schema.names.index)
        shown = [f"{self.shown(name).sql} AS {self.raw(name)}" for name in needed] or ["1 AS one"]
        source = ("rows", f"SELECT {', '.join(shown)} FROM {self.engine.relation}")
        return [source, *self.coding("rows", coded, raw)], "coded_rows"

    def coding(self, rows: str, coded: tuple[str, ...], kept: tuple[str, ...], numbers: tuple[str, ...] = ()) -> Steps:
        """Give the steps from raw `rows` to `coded_rows`; columns kept raw and further integers stay as they are."""
        if not coded:
            return [(f"coded_{rows}", f"SELECT * FROM {rows}")]
        key = (rows, (*coded, "", *kept), numbers)
        if key not in self._made:
            self._made[key] = self._compile(rows, coded, kept, numbers)
        return self._made[key]

    def _compile(self, rows: str, coded: tuple[str, ...], kept: tuple[str, ...], numbers: tuple[str, ...]) -> Steps:
        import ibis

        sought = [name for name in coded if looks_up(self.schema.coded(name), self.shown(name).kind)]
        last = f"coded_{rows}"
        steps: Steps = []
        if sought:
            steps.append((f"found_{rows}", self._joined(rows, sought)))
            rows = f"found_{rows}"

        types = {self.raw(name): IBIS_TYPES.get(self.shown(name).kind, "string") for name in {*coded, *kept}}
        types |= {f"f{self.raw(name)}": "int64" for name in sought} | dict.fromkeys(numbers, "int64")
        table = ibis.table(types, name=rows)
        codes = {self.code(name): self._code(table, name, name in sought) for name in coded}
        asis = {name: table[name] for name in (*map(self.raw, kept), *numbers)}
        return [*steps, (last, compiled(table.select(**codes, **asis), self.engine.dialect))]

    def _code(self, table: Expression, name: str, sought: bool) -> Expression:  # noqa: FBT001  (two ways to a code)
        column = self.schema.coded(name)
        if sought:
            return found_code(column, table[f"f{self.raw(name)}"])
        return code_of(column, table[self.raw(name)], self.shown(name).kind, self.engine.dialect)

    def _joined(self, rows: str, sought: Sequence[str]) -> str:
        """Find values in the engine's own lists; a list has each value once, so that no row is doubled."""
        found, joins = [f"{rows}.*"], ""
        for name in sought:
            raw, list_name = self.raw(name), f"list_{self.raw(name)}"
            relation = self.engine.lookup(keys_of(self.schema.coded(name), self.shown(name).kind))  # type: ignore[arg-type]  # only categories are looked up
            found.append(f"{list_name}.code AS f{raw}")
            joins += f" LEFT JOIN {relation} AS {list_name} ON {rows}.{raw} = {list_name}.value"
        return f"SELECT {', '.join(found)} FROM {rows}{joins}"

    def _picked(self, person: Person, coded: Sequence[str], rows: str) -> Steps:
        """Keep at most so many rows a person: the first by all their codes, whatever else the table holds.

        Rows with equal codes are interchangeable. A row that names no person belongs to nobody and is left out.
        """
        who = self.raw(person.column)
        named = f"{who} IS NOT NULL" + (f" AND {who} <> ''" if self.shown(person.column).kind == "text" else "")
        order = ", ".join(map(self.code, coded)) or who
        turn = f"ROW_NUMBER() OVER (PARTITION BY {who} ORDER BY {order}) AS turn"
        return [
            ("turns", f"SELECT {rows}.*, {turn} FROM {rows} WHERE {named}"),
            ("picked", f"SELECT * FROM turns WHERE turn <= {person.most}"),
        ]


def compiled(expression: Expression, dialect: str) -> str:
    """Let Ibis write an expression in the SQL of an engine."""
    import ibis

    if dialect == "pyspark":
        ibis.pyspark  # noqa: B018  (its options exist only once it is loaded)
    return str(ibis.to_sql(expression, dialect=dialect, pretty=False))


def statement(steps: Steps, last: str) -> str:
    """Write steps and what is asked of them as one statement."""
    return f"WITH {', '.join(f'{name} AS ({sql})' for name, sql in steps)} {last}"
