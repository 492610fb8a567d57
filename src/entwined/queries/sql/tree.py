"""The tree of a SELECT as sqlglot reads it, and the means to accept nothing in it by accident."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from entwined.errors import BadQuery
from entwined.queries.sql.words import SPACES, check_words, refused
from entwined.schema.raw import is_text

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

LONGEST: Final = 20_000


def parsed(text: str, is_column: Callable[[str], bool]) -> "Expr":
    """Read one SELECT, all of whose words are known."""
    if not is_text(text) or len(text) > LONGEST:
        raise refused(f"it is not a text of at most {LONGEST:,} characters")
    statement = text.strip(SPACES).removesuffix(";")
    found = _tree(statement, is_column)
    if found is None:
        raise refused(
            "it does not hang together: a word, a comma, a bracket or a quote is missing or too many"
        )
    return found


def _tree(text: str, is_column: Callable[[str], bool]) -> "Expr | None":
    """Give the tree, or nothing where the parser fails, in whatever way."""
    import sqlglot

    try:
        check_words(text, sqlglot.tokenize(text), is_column)
        trees = sqlglot.parse(text)
    except BadQuery:
        raise
    except Exception:  # noqa: BLE001  (a foreign parser on a foreign text: its words and its bugs stay inside)
        return None
    root = trees[0] if len(trees) == 1 else None
    return root if root is not None and root.key == "select" else None


def only(node: "Expr", what: str, *parts: str) -> None:
    """Refuse a node that has any part but these."""
    for part, value in node.args.items():
        if part not in parts and value is not None and value is not False and value != []:
            raise refused(f"{what} has more in it ({part.strip('_').replace('_', ' ')}) than is known here")


def bare(node: "Expr") -> "Expr":
    """Take the brackets off."""
    while node.key == "paren":
        only(node, "a bracket", "this")
        node = node.this
    return node
