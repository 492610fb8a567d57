"""Bands in SQL: date_trunc, EXTRACT(YEAR …), width_bucket and division, each as ranges of a column's codes.

Values are those of the public grid. What an engine would answer otherwise, or what puts ranges together that do not
follow each other, is refused. Where the schema declares the same bands they have the name that it gives them.
"""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from entwined.errors import BadQuery
from entwined.queries.sql.names import Names, described
from entwined.queries.sql.tree import bare, only
from entwined.queries.sql.words import refused
from entwined.schema import Bands, Coded, Integer, Moment, Numeric, Schema, bands_of
from entwined.schema.bands import Begin, cut
from entwined.schema.calendar import PERIODS
from entwined.schema.exact import exact_number

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

TRUNCATED: Final = ("datetrunc", "timestamptrunc")
BANDS: Final = frozenset({*TRUNCATED, "extract", "widthbucket", "div", "floor"})
"""What may stand in the place of a column as a look at its bands."""
MOST_BUCKETS: Final = 1000


def comparable_of(given: "Expr", names: Names, where: str) -> Coded | Bands:
    """Give what a node compares: a column, bands that the schema declares, or bands that SQL makes."""
    node = bare(given)
    return bands_in(node, names) if node.key in BANDS else names.comparable(node, where)


def bands_in(node: "Expr", names: Names) -> Bands:
    """Read an expression that puts the values of one column into bands."""
    match node.key:
        case key if key in TRUNCATED:
            found = _truncated(node, names)
        case "extract":
            found = _year(node, names)
        case "widthbucket":
            found = _buckets(node, names)
        case "floor":
            only(node, "floor(…)", "this")
            found = _quotients(bare(node.this), names, floored=True)
        case _:
            found = _quotients(node, names, floored=False)
    return known(found, names.schema)


def known(bands: Bands, schema: Schema) -> Bands:
    """Call bands as the schema does, if it declares the same."""
    return next(
        (replace(bands, name=one.name) for one in schema.bands if replace(one, name="") == bands), bands
    )


def _truncated(node: "Expr", names: Names) -> Bands:
    only(node, "date_trunc(…)", "this", "unit")
    unit = node.args["unit"]
    period = str(unit.name).lower() if unit is not None else ""
    if period not in PERIODS:
        raise refused(f"date_trunc takes one of {', '.join(map(repr, PERIODS))}")
    return _told(_moment(node.this, names, "in date_trunc(…)"), period)


def _year(node: "Expr", names: Names) -> Bands:
    only(node, "EXTRACT(…)", "this", "expression")
    if str(node.this.name).lower() != "year":
        raise refused(
            "EXTRACT takes YEAR; anything finer puts rows of several years together: write date_trunc"
        )
    found = _told(_moment(node.expression, names, "in EXTRACT(…)"), "year")
    years = [Fraction(begin.year) for begin in found.values if isinstance(begin, datetime)]
    return replace(found, values=tuple(years))


def _buckets(node: "Expr", names: Names) -> Bands:
    """Cut between two ends into ranges of one width, and what lies below or above them into one range each."""
    only(node, "width_bucket(…)", "this", "min_value", "max_value", "num_buckets")
    column = _numeric(node.this, names, "in width_bucket(…)")
    low, high, many = (_number(node.args.get(part)) for part in ("min_value", "max_value", "num_buckets"))
    if low >= high or many.denominator != 1 or not 1 <= many <= MOST_BUCKETS:
        raise refused(f"width_bucket(x, low, high, n) wants low below high and n from 1 to {MOST_BUCKETS:,}")
    least, most = column.origin, column.origin + (column.levels - 1) * column.spacing
    ends = [low + turn * (high - low) / many for turn in range(int(many) + 1)]
    inside = [(turn, end) for turn, end in enumerate(ends, 1) if end <= most]
    below = [turn for turn, end in inside if end <= least]
    kept = inside[max(len(below) - 1, 0) :]
    starts: list[tuple[int, Fraction]] = kept if below else [(0, least), *kept]
    begins: list[Begin] = [("", begin) for _, begin in starts]
    return replace(cut(column, begins), values=tuple(Fraction(turn) for turn, _ in starts))


def _quotients(node: "Expr", names: Names, *, floored: bool) -> Bands:
    """Divide and leave the rest out, where every engine gives the same whole number."""
    if node.key != "div":
        raise refused(f"floor(…) holds {described(node)} where a column divided by a number is wanted")
    only(node, "a quotient", "this", "expression", "typed", "safe")
    column, by = _numeric(node.this, names, "before /"), bare(node.expression)
    width = _number(by)
    whole = isinstance(column, Integer) and "." not in by.name
    if not whole and not floored:
        raise refused(
            f"the quotient of {column.name!r} is no whole number: write floor({column.name} / {by.name})"
        )
    if whole and column.origin < 0:
        raise refused(
            f"{column.name!r} has values below 0, where engines round {column.name} / {by.name} in different ways: "
            f"write floor({column.name} / {by.name}.0)"
        )
    if width <= 0:
        raise refused(f"{column.name!r} is divided by {by.name}: take a number above 0")
    found = bands_of(column, width)
    return replace(found, values=tuple(Fraction(begin) / width for begin in found.values))  # type: ignore[arg-type]  # of a number


def _told(column: Moment, period: str) -> Bands:
    try:
        return bands_of(column, period)
    except BadQuery as wrong:
        raise refused(str(wrong).removesuffix(".")) from None


def _moment(node: "Expr", names: Names, where: str) -> Moment:
    column = names.column(node, where)
    if not isinstance(column, Moment):
        raise refused(f"the column {column.name!r} is {column.kind}, and {where} a column of times is wanted")
    return column


def _numeric(node: "Expr", names: Names, where: str) -> Numeric:
    column = names.column(node, where)
    if not isinstance(column, Numeric):
        raise refused(
            f"the column {column.name!r} is {column.kind}, and {where} a column of numbers is wanted"
        )
    return column


def _number(given: "Expr | None") -> Fraction:
    """Read a number, perhaps below zero."""
    node = None if given is None else bare(given)
    sign = -1 if node is not None and node.key == "neg" else 1
    inner = node.this if node is not None and node.key == "neg" else node
    found = (
        exact_number(inner.name)
        if inner is not None and inner.key == "literal" and not inner.is_string
        else None
    )
    if found is None:
        raise refused("bands are cut by numbers, as in width_bucket(age, 0, 100, 10) or age / 10")
    return sign * found
