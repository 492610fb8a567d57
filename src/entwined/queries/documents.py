"""Queries from the fields of a release file, with conditions as text."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Final

from entwined.errors import BadQuery
from entwined.queries.counts import Count, Histogram, Marginal
from entwined.queries.custom import Custom
from entwined.queries.filled import FilledHistogram
from entwined.queries.groups import GroupBy
from entwined.queries.parser import parse
from entwined.queries.predicate import Predicate, predicate_from
from entwined.queries.quantile import INSTEAD, Median, Quantile, refuse_extreme
from entwined.queries.query import Query
from entwined.queries.sampling import Sampling
from entwined.queries.share import Share
from entwined.queries.sums import Mean, Total, Variance
from entwined.queries.where import settled
from entwined.schema import Schema
from entwined.schema.raw import is_text, is_whole

KINDS: Final[Mapping[str, type[Query]]] = {
    "count": Count,
    "total": Total,
    "mean": Mean,
    "variance": Variance,
    "quantile": Quantile,
    "median": Median,
    "histogram": Histogram,
    "filled_histogram": FilledHistogram,
    "marginal": Marginal,
    "group_by": GroupBy,
    "share": Share,
    "sampling": Sampling,
}

WRITTEN: Final[Mapping[str, type[Query]]] = {**KINDS, Custom.kind: Custom}
"""What can be read back; a function of the holder's own cannot be asked for in a file."""


def query_from(given: Mapping[str, object], schema: Schema) -> Query:
    """Make a query of its fields and check it against the schema.

    >>> from entwined.schema import Integer
    >>> ages = Schema((Integer("age", 0, 120),))
    >>> query_from({"query": "mean", "column": "age", "where": "age > 17"}, ages).columns
    ('age',)
    """
    kind = given.get("query")
    if isinstance(kind, str) and kind in INSTEAD:
        refuse_extreme(kind, str(given.get("column", "column")))
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
        name: _condition(value, schema) if name in KINDS[kind].conditions else _value(kind, name, value)
        for name, value in given.items()
        if name != "query"
    }
    query = _made(KINDS[kind], values).bound(schema)
    query.check(schema)
    return query


def written(query: Query) -> dict[str, object]:
    """Write a query so that it is read back as the same one, its condition included."""
    conditions = {name: settled(getattr(query, name)).document for name in query.conditions}
    return {"query": query.kind, **query.fields, **conditions}


def as_written(document: Mapping[str, object]) -> Query:
    """Read a query back; refuse what no query could have written."""
    try:
        kind = WRITTEN[str(document["query"])]
        conditions = {name: predicate_from(document[name]) for name in kind.conditions}
        query = _made(kind, _fields(document, kind) | conditions)
        same = json.dumps(written(query), sort_keys=True) == json.dumps(document, sort_keys=True)
    except (KeyError, TypeError, ValueError, AttributeError):
        same = False
    if not same:
        raise BadQuery(f"{document!r:.100} is no query that entwined wrote.")
    return query


def question_of(text: str) -> Query:
    """Make the question of its canonical text, its conditions left out: they are written in codes.

    >>> question_of('{"bins":null,"column":"age","query":"histogram","where":"all"}').columns
    ('age',)
    """
    document = json.loads(text)
    kind = WRITTEN[document["query"]]
    return _made(kind, _fields(document, kind))


def _condition(given: object, schema: Schema) -> Predicate:
    if not isinstance(given, str):
        raise BadQuery(f"{given!r:.60} is no condition. Give a text such as age > 20.")
    return parse(given, schema)


def _made(kind: Callable[..., Query], given: Mapping[str, object]) -> Query:
    return kind(**given)


def _fields(document: Mapping[str, object], kind: type[Query]) -> dict[str, object]:
    left_out = ("query", *kind.conditions)
    return {
        key: tuple(one) if isinstance(one, list) else one
        for key, one in document.items()
        if key not in left_out
    }


def _is_needed(field: "Field[object]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(kind: str, name: str, value: object) -> object:
    right, wanted = SHAPES[name]
    if not right(value):
        raise BadQuery(f"The {kind} has {name} = {value!r}. Give {wanted}.")
    return tuple(value) if isinstance(value, list) else value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_wholes(value: object) -> bool:
    return isinstance(value, list) and all(map(is_whole, value))


SHAPES: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "column": (is_text, "the name of a column or of bands"),
    "total": (is_text, "a column's name"),
    "count": (is_text, '"noisy" or "public"'),
    "of": (_is_texts, "a list of names of columns or bands"),
    "keys": (_is_texts, "a list of names of columns or bands"),
    "weight": (is_text, "a column's name"),
    "weights": (_is_wholes, "a list of whole numbers"),
    "even": (lambda value: isinstance(value, bool), "true or false"),
    "strata": (is_text, "a column's name"),
    "bins": (lambda value: isinstance(value, int), "a number"),
    "at": (lambda value: not isinstance(value, list | dict), "a share from 0 to 1"),
}
