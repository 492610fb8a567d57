"""Which rows a question is about: a set of rows, or a condition that becomes one when it meets the schema."""

from typing import TypeAlias

from entwined.errors import BadQuery
from entwined.queries.expressions import Expression
from entwined.queries.parser import parse
from entwined.queries.predicate import Predicate
from entwined.schema import Schema

Where: TypeAlias = Predicate | Expression | str


def checked(given: object) -> None:
    """Refuse what is no condition in any form."""
    if not isinstance(given, Predicate | Expression | str):
        raise BadQuery(f'{given!r:.60} is no condition. Give a text such as "age > 20", or col("age") > 20.')


def bound(given: Where, schema: Schema) -> Predicate:
    """Give the rows where a condition is true under a schema."""
    match given:
        case Predicate():
            return given
        case Expression():
            return given.bind(schema)
    return parse(given, schema)


def settled(given: Where) -> Predicate:
    """Give the rows of a condition that has met a schema, and refuse one that has not."""
    if not isinstance(given, Predicate):
        raise BadQuery(f"The condition {given!s:.60} has met no schema. Take query.bound(schema) first.")
    return given
