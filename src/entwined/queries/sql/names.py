"""The names in a SELECT: declared columns, and free names for the table and the answers."""

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from entwined.errors import BadQuery
from entwined.queries.sql.tree import bare, only
from entwined.queries.sql.words import refused
from entwined.schema import Bands, Coded, Schema

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

FREE: Final = re.compile(r"\w[\w -]{0,99}")


class Names:
    """Finds the columns of a schema by their names in SQL."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._by_lower: dict[str, list[str]] = defaultdict(list)
        for name in (*schema.names, *(bands.name for bands in schema.bands)):
            self._by_lower[name.lower()].append(name)

    def is_column(self, word: str) -> bool:
        """Say whether an unquoted word can be a column, or bands of one."""
        return word.lower() in self._by_lower

    def column(self, given: "Expr", where: str) -> Coded:
        """Give the declared column that a node names."""
        return self.schema.coded(self.named(given, where))

    def comparable(self, given: "Expr", where: str) -> Coded | Bands:
        """Give the declared column or bands that a node names."""
        return self.schema.comparable(self.named(given, where))

    def named(self, given: "Expr", where: str) -> str:
        """Give the name of a column or of bands as the schema writes it."""
        node = bare(given)
        if node.key != "column" or node.this.key != "identifier":
            raise refused(f"{where} stands {described(node)} where a column is wanted")
        only(node, "a column", "this")
        name: str = node.this.name
        if not node.this.args.get("quoted"):
            alike = self._by_lower.get(name.lower(), [name])
            if len(alike) > 1:
                raise BadQuery(
                    f'SQL: {name!r} may be any of the columns or bands {alike}. Put the one meant in "…".'
                )
            name = alike[0]
        return name


def free_name(node: "Expr", what: str) -> str:
    """Give the name of the table or of an answer."""
    if node.key != "identifier" or FREE.fullmatch(node.name) is None:
        raise refused(
            f"{what} has the name {node.name[:40]!r}: at most 100 letters, digits, _, - and spaces make one"
        )
    return node.name


def described(node: "Expr") -> str:
    """Say in a few words what stands somewhere it should not."""
    match node.key:
        case "column":
            return f"the column {node.name[:40]!r}"
        case "literal" | "identifier":
            return f"the constant {node.name[:40]!r}"
        case "null" | "boolean" | "star":
            return {"null": "NULL", "boolean": "a truth value", "star": "a *"}[node.key]
    return f"an expression ({node.key})"
