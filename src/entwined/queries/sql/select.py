"""One SELECT as questions: its table, its keys, its condition and its aggregates."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries.predicate import MOST_BOXES, Predicate, everything
from entwined.queries.query import Query
from entwined.queries.sides import Side, axis_along, column_of, words_of
from entwined.queries.sql.aggregates import Wanted, aggregate_of, written
from entwined.queries.sql.bands import BANDS, bands_in
from entwined.queries.sql.cases import case_in
from entwined.queries.sql.conditions import condition_of
from entwined.queries.sql.names import Names, free_name
from entwined.queries.sql.shares import is_quotient
from entwined.queries.sql.tree import bare, only, parsed
from entwined.queries.sql.words import refused
from entwined.schema import Bands, Schema

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

MOST_ASKED: Final = 100
LONGEST_NAME: Final = 100


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
        _refuse_many(len(given), aggregate, keys, schema)
        for group, query in aggregate.by(keys, where, schema) if keys else [("", aggregate.over(where))]:
            boxes += len(query.inside.boxes)
            if boxes > MOST_BOXES:
                raise QueryTooComplex(f"SQL: all conditions fall into over {MOST_BOXES:,} boxes. Ask less.")
            query.check(schema)
            given.append((_name(alias, aggregate, keys, group), query))
    if not given:
        raise refused("no aggregate is asked for")
    return Sql(table, tuple(query for _, query in given), tuple(name for name, _ in given))


def _name(alias: str, aggregate: Wanted, keys: tuple[Side, ...], group: str) -> str:
    if not alias and len(aggregate.text) > LONGEST_NAME:
        raise refused("a share or a count of a long condition has no name: call it something, as in AS ill")
    if alias or group or not keys:
        return (alias or aggregate.text) + group
    called = (key if isinstance(key, str) else key.name or key.column for key in keys)
    return f"{aggregate.text} by {', '.join(map(written, called))}"


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


def _keys(root: "Expr", names: Names) -> tuple[Side, ...]:
    """Give the keys in the order of the schema: that in which they are written means nothing."""
    group = root.args.get("group")
    if group is None:
        return ()
    only(group, "GROUP BY", "expressions")
    if not group.expressions:
        raise refused("GROUP BY names no key")
    called = _aliases(root, names)
    keys = dict.fromkeys(_key(one, called, names) for one in group.expressions)
    places = {name: place for place, name in enumerate(names.schema.names)}
    return tuple(sorted(keys, key=lambda key: places[column_of(key)]))


def _key(given: "Expr", called: Mapping[str, Side], names: Names) -> Side:
    """Give the key that a node stands for: a column, bands, or what AS calls so in the list of SELECT."""
    node = bare(given)
    if node.key == "column" and node.name.lower() in called:
        return called[node.name.lower()]
    return _side(node, names) or _named(node, names, "after GROUP BY")


def _named(node: "Expr", names: Names, where: str) -> Side:
    found = names.comparable(node, where)
    return found if isinstance(found, Bands) else found.name


def _side(node: "Expr", names: Names) -> Bands | None:
    """Give the bands that an expression makes; none if it makes none."""
    if node.key == "case":
        return case_in(node, names)
    return bands_in(node, names) if node.key in BANDS and not is_quotient(node) else None


def _aliases(root: "Expr", names: Names) -> dict[str, Side]:
    """Give what AS calls bands in the list of SELECT; a name that means something else already is refused."""
    called: dict[str, Side] = {}
    for node in root.expressions:
        bands = _side(node.this, names) if node.key == "alias" else None
        if bands is None:
            continue
        name = free_name(node.args["alias"], "a key").lower()
        if called.get(name, bands) != bands or (names.is_column(name) and name != bands.name.lower()):
            raise refused(f"{name!r} is called so after AS, and is a column or something else too: rename it")
        called[name] = bands
    return called


def _aggregates(root: "Expr", keys: tuple[Side, ...], names: Names) -> Iterator[tuple[str, Wanted]]:
    """Give the aggregates with their aliases, and check that all else in the list is a key."""
    for node in root.expressions:
        inner = node.this if node.key == "alias" else node
        shown = _named(node, names, "after SELECT") if node.key == "column" else _side(inner, names)
        if shown is not None:
            if shown not in keys:
                raise refused(f"{words_of(shown)!r} is shown, but is no key: list it after GROUP BY")
        elif node.key == "alias":
            only(node, "AS", "this", "alias")
            if node.this.key == "column":
                raise refused(f"the column {node.this.name!r} has another name after AS: a key keeps its own")
            yield free_name(node.args["alias"], "an answer"), aggregate_of(node.this, names)
        else:
            yield "", aggregate_of(node, names)


def _refuse_many(before: int, aggregate: Wanted, keys: tuple[Side, ...], schema: Schema) -> None:
    cells = math.prod(len(axis_along(key, schema).starts) for key in keys)
    groups = 1 if aggregate.kind in ("count", "sum") else cells
    if before + groups > MOST_ASKED:
        raise QueryTooComplex(
            f"SQL: with {aggregate.text} there are {before + groups:,} questions, and {MOST_ASKED} are the most. "
            "Ask for count and sum by group, which are one question each, or take fewer keys."
        )
