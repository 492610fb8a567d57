"""CASE as bands: conditions on one column, taken in turn, whose labels make ranges that follow each other."""

from typing import TYPE_CHECKING

from entwined.errors import BadQuery
from entwined.queries.predicate import Predicate, codes_in, nothing
from entwined.queries.sql.bands import known
from entwined.queries.sql.conditions import condition_of
from entwined.queries.sql.names import Names, described
from entwined.queries.sql.tree import bare, only
from entwined.queries.sql.words import refused
from entwined.schema import Bands, Ordered

if TYPE_CHECKING:
    from sqlglot.expressions import Expr


def case_in(node: "Expr", names: Names) -> Bands:
    """Read CASE WHEN … THEN 'label' … ELSE 'label' END; missing is in no band, whatever ELSE says."""
    only(node, "CASE", "ifs", "default")
    turns: list[tuple[Predicate, str]] = []
    for one in node.args["ifs"]:
        only(one, "WHEN", "this", "true")
        turns.append((condition_of(one.this, names).true, _label(one.args["true"])))
    column = _column([where for where, _ in turns], names)
    there = codes_in(column.name, column.size, ((0, column.levels - 1),))
    pieces: dict[str, Predicate] = {}
    left = there
    for where, label in turns:
        if not where.implies(there):
            raise refused(f"a WHEN is true of what is missing: {column.name!r} says what becomes of that")
        if where.disjoint(left):
            raise refused(f"WHEN … THEN {label!r} is true of no value that is left")
        pieces[label] = pieces.get(label, nothing()) | (where & left)
        left -= where
    default = node.args.get("default")
    if default is not None and not left.is_empty:
        label = _label(default)
        pieces[label] = pieces.get(label, nothing()) | left
    elif not left.is_empty:
        raise refused(f"values of {column.name!r} are in no band: end CASE with ELSE 'label'")
    return known(_joined(column, pieces), names.schema)


def _column(conditions: list[Predicate], names: Names) -> Ordered:
    """Give the one column that all conditions read."""
    read = {name for one in conditions for name in one.columns}
    found = names.schema.coded(read.pop()) if len(read) == 1 else None
    if not isinstance(found, Ordered):
        raise refused(
            "CASE makes bands of one column of numbers or times, and each WHEN compares that column"
        )
    return found


def _joined(column: Ordered, pieces: dict[str, Predicate]) -> Bands:
    ranges = {label: where.codes(column.name, column.size) for label, where in pieces.items()}
    torn = next((label for label, found in ranges.items() if len(found) > 1), None)
    if torn is not None:
        raise refused(f"the band {torn!r} is made of ranges of {column.name!r} that do not follow each other")
    order = sorted(ranges, key=lambda label: ranges[label])
    try:
        return Bands(column.name, column.size, tuple(ranges[label][0][0] for label in order), tuple(order))
    except BadQuery as wrong:
        raise refused(str(wrong).removesuffix(".")) from None


def _label(given: "Expr") -> str:
    node = bare(given)
    if node.key != "literal" or not node.name.isprintable() or not node.name:
        raise refused(f"after THEN or ELSE stands {described(node)} where the label of a band is wanted")
    return str(node.name)
