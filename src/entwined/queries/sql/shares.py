"""A share of rows as SQL writes it: the mean of a CASE of ones and zeros, or rows that pass a FILTER over all rows."""

from typing import TYPE_CHECKING, Final

from entwined.queries.conditions import is_missing
from entwined.queries.predicate import Predicate, everything, nothing
from entwined.queries.sql.conditions import condition_of, number
from entwined.queries.sql.names import Names, described
from entwined.queries.sql.tree import bare, only
from entwined.queries.sql.words import refused

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

AGGREGATES: Final = ("count", "filter", "sum", "avg")
QUOTIENT: Final = (
    "it divides aggregates, and known is a share alone, count(*) FILTER (WHERE condition) * 1.0 / count(*): ask for "
    "both sums, or for a mean with a weight"
)
WHOLE: Final = (
    "a share is no division of whole numbers: write count(*) FILTER (WHERE condition) * 1.0 / count(*)"
)


def ones_in(node: "Expr", names: Names) -> tuple[Predicate, Predicate]:
    """Give the rows of which a CASE says 1, and those of which it says 1 or 0; the others are NULL, and not counted."""
    only(node, "CASE", "ifs", "default")
    left, said = everything(), {0: nothing(), 1: nothing(), None: nothing()}
    for one in node.args["ifs"]:
        only(one, "WHEN", "this", "true")
        here = condition_of(one.this, names).true & left
        value = _value(one.args["true"])
        said[value] |= here
        left -= here
    default = node.args.get("default")
    said[None if default is None else _value(default)] |= left
    return said[1], said[1] | said[0]


def _value(given: "Expr") -> int | None:
    node = bare(given)
    if node.key == "null":
        return None
    if node.key == "literal" and not node.is_string and number(node) in (0, 1):
        return int(number(node))
    raise refused(
        f"after THEN or ELSE stands {described(node)}: a CASE inside an aggregate says 1, 0 or NULL, and its mean is a "
        "share"
    )


def filtered(node: "Expr", names: Names) -> Predicate:
    """Give the rows that count(*) FILTER (WHERE condition) counts."""
    only(node, "FILTER", "this", "expression")
    if node.expression is None or node.expression.key != "where" or not _is_all_rows(node.this):
        raise refused("FILTER (WHERE condition) belongs to count(*)")
    only(node.expression, "FILTER", "this")
    return condition_of(node.expression.this, names).true


def is_quotient(node: "Expr") -> bool:
    """Whether something is divided by an aggregate; else it may be bands of a column."""
    return bool(node.key == "div" and bare(node.expression).key in AGGREGATES)


def quotient(node: "Expr", names: Names) -> tuple[Predicate, Predicate]:
    """Read rows inside * 1.0 / rows in all: the rows inside, and those that they are among."""
    only(node, "a quotient", "this", "expression", "typed", "safe")
    inside, whole = _counted(_once(bare(node.this)), names), _counted(bare(node.expression), names)
    if inside is None or whole is None:
        raise refused(QUOTIENT)
    if not inside.implies(whole):
        raise refused("a share counts above the line only rows that it counts below it")
    return inside, whole


def _once(node: "Expr") -> "Expr":
    """Take 1.0 off a product: without it engines divide whole numbers, each in its own way."""
    if node.key == "mul":
        only(node, "a product", "this", "expression")
        factors = [bare(node.this), bare(node.expression)]
        ones = [one for one in factors if one.key == "literal" and one.name == "1.0"]
        others = [one for one in factors if one not in ones]
        if len(others) == 1 == len(ones):
            return others[0]
    raise refused(WHOLE if node.key == "filter" else QUOTIENT)


def _counted(node: "Expr", names: Names) -> Predicate | None:
    """Give the rows that an aggregate counts; nothing if it counts no rows."""
    if _is_all_rows(node):
        return everything()
    match node.key:
        case "filter":
            return filtered(node, names)
        case "count" if node.this is not None and node.this.key == "column":
            only(node, "count(…)", "this", "big_int")
            return is_missing(names.column(node.this, "in count(…)")).false
        case "sum" if node.this is not None and bare(node.this).key == "case":
            only(node, "sum(…)", "this")
            ones, _ = ones_in(bare(node.this), names)
            return ones
    return None


def _is_all_rows(node: "Expr") -> bool:
    if node.key != "count" or node.this is None or node.this.key != "star":
        return False
    only(node, "count", "this", "big_int")
    only(node.this, "count(*)")
    return True
