"""The second model of a panel of persons: whoever is in it is protected as a whole, beside each of their steps."""

from collections.abc import Iterable

from entwined.dependence import Independent
from entwined.errors import BadModel
from entwined.promise.declared import Declared
from entwined.schema import Schema


def with_whole_persons(declared: Iterable[Declared], schema: Schema) -> tuple[Declared, ...]:
    """Add to a panel of persons that they are independent of each other, whole, with all of their steps."""
    given = tuple(declared)
    if not _is_wanted(given, schema):
        return given
    return (*given, Declared(Independent(1), name=f"whole {schema.unit.name}"))


def require_whole_persons(declared: Iterable[Declared], schema: Schema) -> None:
    """Refuse a panel of persons that promises nothing but single steps."""
    if _is_wanted(tuple(declared), schema):
        raise BadModel(
            f"A panel, and the schema protects all rows of a {schema.unit.name} together, of which no model speaks. "
            "Add an independent one."
        )


def _is_wanted(declared: tuple[Declared, ...], schema: Schema) -> bool:
    if schema.unit.person is None or not any(one.panel for one in declared):
        return False
    return not any(isinstance(one.model, Independent) and not one.by for one in declared)
