"""The WHERE of a SELECT: from its tree to the rows where it is true."""

from collections.abc import Callable
from fractions import Fraction
from operator import and_, or_
from typing import TYPE_CHECKING, Final

from entwined.errors import QueryTooComplex
from entwined.queries.conditions import Condition, among, compare, is_missing, time_constant
from entwined.queries.parser import MOST_TESTS
from entwined.queries.predicate import everything, nothing
from entwined.queries.sql.bands import comparable_of
from entwined.queries.sql.names import Names, described
from entwined.queries.sql.tree import bare, only
from entwined.queries.sql.words import refused
from entwined.schema import Bands, Boolean, Coded, Numeric
from entwined.schema.exact import exact_number

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

SIGNS: Final = {"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
CONSTANTS: Final = frozenset({"literal", "neg", "boolean", "null", "cast"})
MOST_NODES: Final = 30_000


def condition_of(node: "Expr", names: Names) -> Condition:
    """Say where a condition is true and where it is false."""
    return _Reader(names).condition(node)


class _Reader:
    """Reads one condition, and gives up when it is too long or its parts grow too large."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._tests = 0
        self._nodes = 0

    def condition(self, node: "Expr") -> Condition:
        match node.key:
            case "and":
                return self._joined(node, and_)
            case "or":
                return self._joined(node, or_)
            case "not":
                only(node, "NOT", "this")
                return ~self.condition(node.this)
            case "paren":
                return self.condition(bare(node))
        self._tests += 1
        if self._tests > MOST_TESTS:
            raise refused(f"there are more than {MOST_TESTS:,} comparisons: use IN (…)")
        return self._test(node)

    def _joined(self, node: "Expr", join: Callable[[Condition, Condition], Condition]) -> Condition:
        """Join a chain of ANDs or ORs two by two, so that what is joined stays small."""
        key, parts = node.key, []
        while node.key == key:
            only(node, key.upper(), "this", "expression")
            parts.append(node.expression)
            node = node.this
        conditions = [self.condition(part) for part in (node, *reversed(parts))]
        while len(conditions) > 1:
            pairs = zip(conditions[::2], conditions[1::2], strict=False)
            rest = conditions[len(conditions) // 2 * 2 :]
            conditions = [*(self._counted(join(one, two)) for one, two in pairs), *rest]
        return conditions[0]

    def _counted(self, condition: Condition) -> Condition:
        self._nodes += len(condition.true.diagram.nodes) + len(condition.false.diagram.nodes)
        if self._nodes > MOST_NODES:
            raise QueryTooComplex("SQL: the condition takes too long to work out exactly. Ask a simpler one.")
        return condition

    def _test(self, node: "Expr") -> Condition:
        match node.key:
            case "boolean":
                return Condition(*((everything(), nothing()) if node.this else (nothing(), everything())))
            case "null":
                return Condition(nothing(), nothing())
            case "column":
                return self._flag(node)
            case "is":
                return self._is(node)
            case "in":
                return self._in(node)
            case "between":
                only(node, "BETWEEN", "this", "low", "high")
                column = comparable_of(node.this, self._names, "before BETWEEN")
                low, high = _constant(node.args["low"]), _constant(node.args["high"])
                return _compared(column, ">=", low) & _compared(column, "<=", high)
            case key if key in SIGNS:
                only(node, "a comparison", "this", "expression")
                return self._comparison(SIGNS[key], bare(node.this), bare(node.expression))
        raise refused(f"in the condition stands {described(node)} where a comparison is wanted")

    def _flag(self, node: "Expr") -> Condition:
        column = self._names.column(node, "in the condition")
        if not isinstance(column, Boolean):
            raise refused(
                f"the column {column.name!r} stands alone and is {column.kind}: compare it with a constant"
            )
        return compare(column, "=", constant=True)

    def _comparison(self, sign: str, left: "Expr", right: "Expr") -> Condition:
        if left.key in CONSTANTS:
            left, right, sign = right, left, MIRRORED[sign]
        column = comparable_of(left, self._names, f"beside {sign}")
        return _compared(column, sign, _constant(right))

    def _is(self, node: "Expr") -> Condition:
        only(node, "IS", "this", "expression")
        wanted = node.expression
        if wanted.key == "null":
            return is_missing(comparable_of(node.this, self._names, "before IS NULL"))
        if wanted.key != "boolean" or node.this.key not in ("column", "paren"):
            raise refused("IS compares a column with NULL, or a column or a bracket with TRUE or FALSE")
        inner = self.condition(node.this)
        holds = inner.true if wanted.this else inner.false
        return Condition(holds, ~holds)

    def _in(self, node: "Expr") -> Condition:
        only(node, "IN", "this", "expressions")
        column = comparable_of(node.this, self._names, "before IN")
        constants = [_constant(one) for one in node.expressions]
        if not constants:
            raise refused("IN has no list of constants in brackets")
        found = among(column, (_fitting(column, one) for one in constants if one is not None))
        return Condition(found.true, nothing()) if None in constants else found


def _compared(column: Coded | Bands, sign: str, constant: object) -> Condition:
    """Compare as SQL does: with NULL the outcome is unknown everywhere."""
    if constant is None:
        return Condition(nothing(), nothing())
    return compare(column, sign, _fitting(column, constant))


def _fitting(column: Coded | Bands, constant: object) -> object:
    """Refuse texts for numbers, which engines read in different ways."""
    if isinstance(column, Numeric) and isinstance(constant, str):
        raise column.wrong(constant, "a number such as 20 or 0.5, without quotes")
    return constant


def _constant(given: "Expr") -> object:
    """Give the constant that a node stands for, None for NULL."""
    node = bare(given)
    match node.key:
        case "literal" if node.is_string:
            return node.name
        case "literal":
            return number(node)
        case "neg" if node.this.key == "literal" and not node.this.is_string:
            return -number(node.this)
        case "boolean":
            return bool(node.this)
        case "null":
            return None
        case "cast":
            return _moment(node)
    raise refused(f"there stands {described(node)} where a constant is wanted")


def number(node: "Expr") -> Fraction:
    """Read a number exactly."""
    found = exact_number(node.name)
    if found is None:
        raise refused(f"{node.name[:40]!r} is no number, or one too long or too far from zero")
    return found


def _moment(node: "Expr") -> object:
    """Read DATE '…' or TIMESTAMP '…', the only casts whose words come this far."""
    only(node, "a constant", "this", "to", "_type")
    kind = node.args["to"].this.name
    text = node.this.name if node.this.key == "literal" and node.this.is_string else ""
    found = time_constant(kind, text)
    if found is None:
        raise refused(
            f"{text[:40]!r} is no {kind}: write DATE '2020-01-31' or TIMESTAMP '2020-01-31 12:00:00'"
        )
    return found
