"""Queries from the fields of a release file, with conditions as text."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from entwined.errors import BadQuery
from entwined.queries.counts import Count, Histogram, Marginal
from entwined.queries.groups import GroupBy
from entwined.queries.parser import parse
from entwined.queries.predicate import everything, predicate_from
from entwined.queries.quantile import Maximum, Median, Minimum, Quantile
from entwined.queries.query import Query
from entwined.queries.sums import Mean, Total, Variance
from entwined.schema import Schema
from entwined.schema.raw import is_text

KINDS: Final[Mapping[str, type[Query]]] = {
    "count": Count,
    "total": Total,
    "mean": Mean,
    "variance": Variance,
    "quantile": Quantile,
    "median": Median,
    "minimum": Minimum,
    "maximum": Maximum,
    "histogram": Histogram,
    "marginal": Marginal,
    "group_by": GroupBy,
}


def query_from(given: Mapping[str, Any], schema: Schema) -> Query:
    """Make a query of its fields and check it against the schema.

    >>> from entwined.schema import Integer
    >>> ages = Schema((Integer("age", 0, 120),))
    >>> query_from({"query": "mean", "column": "age", "where": "age > 17"}, ages).columns
    ('age',)
    """
    kind = given.get("query")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadQuery(f"query = {kind!r}. Ask for one of {', '.join(KINDS)}.")
    known = {field.name: field for field in fields(KINDS[kind])}
    unknown = sorted(given.keys() - known.keys() - {"query"})
    if unknown:
        raise BadQuery(f"The {kind} has the field {unknown[0]!r}. It has {', '.join(known)}.")
    lacking = [name for name, field in known.items() if _is_needed(field) and name not in given]
    if lacking:
        raise BadQuery(f"The {kind} has no {lacking[0]!r}. Give it.")
    values = {
        name: _value(kind, name, value) for name, value in given.items() if name not in ("query", "where")
    }
    where = parse(given["where"], schema) if "where" in given else everything()
    query = KINDS[kind](**values, where=where)
    query.check(schema)
    return query


def written(query: Query) -> dict[str, Any]:
    """Write a query so that it is read back as the same one, its condition included."""
    return {"query": query.kind, **query.fields, "where": query.inside.document}


def as_written(document: Any) -> Query:
    """Read a query back; refuse what no query could have written."""
    try:
        rest = {key: one for key, one in document.items() if key not in ("query", "where")}
        given = {key: tuple(one) if isinstance(one, list) else one for key, one in rest.items()}
        query = KINDS[document["query"]](**given, where=predicate_from(document["where"]))
        same = json.dumps(written(query), sort_keys=True) == json.dumps(document, sort_keys=True)
    except (KeyError, TypeError, ValueError, AttributeError):
        same = False
    if not same:
        raise BadQuery(f"{document!r:.100} is no query that entwined wrote.")
    return query


def _is_needed(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(kind: str, name: str, value: object) -> Any:
    right, wanted = SHAPES[name]
    if not right(value):
        raise BadQuery(f"The {kind} has {name} = {value!r}. Give {wanted}.")
    return tuple(value) if isinstance(value, list) else value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


SHAPES: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "column": (is_text, "a column's name"),
    "total": (is_text, "a column's name"),
    "count": (is_text, '"noisy" or "public"'),
    "of": (_is_texts, "a list of columns' names"),
    "keys": (_is_texts, "a list of columns' names"),
    "bins": (lambda value: isinstance(value, int), "a number"),
    "at": (lambda value: not isinstance(value, list | dict), "a share from 0 to 1"),
}
