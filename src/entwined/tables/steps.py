"""Statements step by step: each step is a part of one WITH, written by Ibis in the SQL of an engine."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from entwined.tables.engine import Dialect, Kind
from entwined.tables.reading import Expression

Steps: TypeAlias = list[tuple[str, str]]  # names and statements, each reading the one before

TYPES: Final[Mapping[Kind, str]] = {
    "truth": "boolean",
    "whole": "int64",
    "number": "float64",
    "text": "string",
    "day": "int64",
    "moment": "int64",
    "code": "int64",
    "nothing": "int64",
    "other": "string",
}


def typed(kind: Kind) -> str:
    """Name the type of a kind of column as Ibis does."""
    return TYPES[kind]


def unbound(types: Mapping[str, str], name: str) -> Expression:
    """Name a table that another step gives."""
    import ibis

    return ibis.table(types, name=name)


def of(table: Expression, columns: Mapping[str, str]) -> dict[str, Expression]:
    """Give columns of a table by other names."""
    return {name: table[column] for name, column in columns.items()}


def added(
    steps: Steps, name: str, table: Expression, made: Mapping[str, Expression], dialect: Dialect
) -> Expression:
    """Add a step that makes further columns, and give the table that it makes."""
    if not made:
        return table
    fence = " OFFSET 0" if dialect == "postgres" else ""  # else it would write the step into each use of it
    steps.append((name, compiled(table.select(*table.columns, **made), dialect) + fence))
    types = {column: str(kind) for column, kind in table.schema().items()}
    return unbound(types | {column: str(value.type()) for column, value in made.items()}, name)


def compiled(expression: Expression, dialect: Dialect) -> str:
    """Let Ibis write an expression in the SQL of an engine."""
    import ibis

    if dialect == "pyspark":
        ibis.pyspark  # noqa: B018  (its options exist only once it is loaded)
    return str(ibis.to_sql(expression, dialect=dialect, pretty=False))


def statement(steps: Steps, last: str) -> str:
    """Write steps and what is asked of them as one statement."""
    return f"WITH {', '.join(f'{name} AS ({sql})' for name, sql in steps)} {last}"
