"""One SELECT as questions: its table, its keys, its condition and its aggregates."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries.counts import axis_of
from entwined.queries.predicate import MOST_BOXES, Predicate, everything
from entwined.queries.query import Query
from entwined.queries.sql.aggregates import Wanted, aggregate_of, written
from entwined.queries.sql.conditions import condition_of
from entwined.queries.sql.names import Names, free_name
from entwined.queries.sql.tree import only, parsed
from entwined.queries.sql.words import refused
from entwined.schema import Coded, Schema

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

MOST_ASKED: Final = 100


@dataclass(frozen=True, slots=True)
class Sql:
    """What a SELECT asks: questions to one table, each with a name of its own."""

    table: str
    queries: tuple[Query, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.queries or len(self.queries) != len(self.names):
            raise BadQuery(
                f"{len(self.queries)} questions have {len(self.names)} names. Ask at least one, and name each."
            )
        for at, (name, query) in enumerate(zip(self.names, self.queries, strict=True)):
            if name in self.names[:at] or query in self.queries[:at]:
                raise BadQuery(f"{name!r} stands there twice, as a name or as a question. Ask each once.")


def read_sql(text: str, schema: Schema) -> Sql:
    """Compile a SELECT to questions about this schema, or refuse it.

    >>> from entwined.schema import Categorical, Integer
    >>> people = Schema((Integer("age", 0, 120), Categorical("sex", ("m", "f"))))
    >>> sql = read_sql("SELECT sex, count(*) FROM survey WHERE age > 20 GROUP BY sex", people)
    >>> sql.table, sql.names, sql.queries[0].inside.text
    ('survey', ('count(*) by sex',), '"age" in 21..120 of 122')
    """
    names = Names(schema)
    root = parsed(text, names.is_column)
    only(root, "SELECT", "expressions", "from_", "where", "group")
    table, keys, where = _table(root), _keys(root, names), _where(root, names)
    given: list[tuple[str, Query]] = []
    boxes = 0
    for alias, aggregate in _aggregates(root, keys, names):
        _refuse_many(len(given), aggregate, keys)
        for group, query in aggregate.by(keys, where) if keys else [("", aggregate.over(where))]:
            boxes += len(query.inside.boxes)
            if boxes > MOST_BOXES:
                raise QueryTooComplex(f"SQL: all conditions fall into over {MOST_BOXES:,} boxes. Ask less.")
            query.check(schema)
            given.append((_name(alias, aggregate, keys, group), query))
    if not given:
        raise refused("no aggregate is asked for")
    return Sql(table, tuple(query for _, query in given), tuple(name for name, _ in given))


def _name(alias: str, aggregate: Wanted, keys: tuple[Coded, ...], group: str) -> str:
    if alias or group or not keys:
        return (alias or aggregate.text) + group
    return f"{aggregate.text} by {', '.join(written(key.name) for key in keys)}"


def _table(root: "Expr") -> str:
    source = root.args.get("from_")
    if source is None or source.this is None or source.this.key != "table":
        raise refused("FROM does not name one table")
    only(source, "FROM", "this")
    only(source.this, "the table", "this")
    return free_name(source.this.this, "the table")


def _where(root: "Expr", names: Names) -> Predicate:
    where = root.args.get("where")
    inside = everything() if where is None else condition_of(where.this, names).true
    if inside.is_empty:
        raise refused("the condition is true of no row that there can be")
    return inside


def _keys(root: "Expr", names: Names) -> tuple[Coded, ...]:
    """Give the keys in the order of the schema: that in which they are written means nothing."""
    group = root.args.get("group")
    if group is None:
        return ()
    only(group, "GROUP BY", "expressions")
    if not group.expressions:
        raise refused("GROUP BY names no key")
    keys = {key.name: key for key in (names.column(one, "after GROUP BY") for one in group.expressions)}
    return tuple(keys[name] for name in names.schema.names if name in keys)


def _aggregates(root: "Expr", keys: tuple[Coded, ...], names: Names) -> Iterator[tuple[str, Wanted]]:
    """Give the aggregates with their aliases, and check that all else in the list is a key."""
    for node in root.expressions:
        if node.key == "column":
            column = names.column(node, "after SELECT")
            if column not in keys:
                raise refused(f"the column {column.name!r} is shown, but is no key: list it after GROUP BY")
        elif node.key == "alias":
            only(node, "AS", "this", "alias")
            if node.this.key == "column":
                raise refused(f"the column {node.this.name!r} has another name after AS: a key keeps its own")
            yield free_name(node.args["alias"], "an answer"), aggregate_of(node.this, names)
        else:
            yield "", aggregate_of(node, names)


def _refuse_many(before: int, aggregate: Wanted, keys: tuple[Coded, ...]) -> None:
    groups = 1 if aggregate.kind in ("count", "sum") else math.prod(axis_of(key).cells for key in keys)
    if before + groups > MOST_ASKED:
        raise QueryTooComplex(
            f"SQL: with {aggregate.text} there are {before + groups:,} questions, and {MOST_ASKED} are the most. "
            "Ask for count and sum by group, which are one question each, or take fewer keys."
        )
