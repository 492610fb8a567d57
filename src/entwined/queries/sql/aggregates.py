"""The aggregates of a SELECT: from their trees to questions, for all rows inside or for every group."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from entwined.queries.axes import Axis
from entwined.queries.conditions import compare, is_missing
from entwined.queries.counts import Count
from entwined.queries.groups import GroupBy
from entwined.queries.predicate import Predicate, codes_in, everything
from entwined.queries.quantile import Quantile
from entwined.queries.query import Query
from entwined.queries.share import Share
from entwined.queries.sides import Side, axis_along
from entwined.queries.sql.conditions import number
from entwined.queries.sql.names import Names, described
from entwined.queries.sql.shares import filtered, ones_in, quotient
from entwined.queries.sql.tree import bare, only
from entwined.queries.sql.words import WORD, refused
from entwined.queries.sums import Mean, Total, Variance
from entwined.schema import Boolean, Coded, Numeric, Schema
from entwined.schema.exact import number_text

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

Kind: TypeAlias = Literal["count", "sum", "avg", "var_pop", "quantile", "share"]

SIMPLE: Final[dict[str, Kind]] = {"count": "count", "sum": "sum", "avg": "avg", "variancepop": "var_pop"}
RANKS: Final = {
    "min": Fraction(0),
    "median": Fraction(1, 2),
    "max": Fraction(1),
}  # extremes are refused there


@dataclass(frozen=True, slots=True)
class Wanted:
    """One aggregate: `text` is how it may be written; only counts and shares have no column, only a quantile a place.

    A share is of the rows `inside` among those `of`; a count is of the rows inside.
    """

    text: str
    kind: Kind
    column: Coded | None
    at: Fraction = Fraction(0)
    weight: str | None = None
    inside: Predicate = field(default_factory=everything)
    of: Predicate = field(default_factory=everything)

    def over(self, where: Predicate) -> Query:
        """Ask about all rows inside."""
        if self.kind == "share":
            return Share(where=self.inside, of=self.of & where)
        if self.column is None:
            return Count(where=where & self.inside)
        match self.kind:
            case "count":
                return Count(where=where & is_missing(self.column).false)
            case "sum":
                return Total(self.column.name, where=where, weight=self.weight)
            case "avg":
                return Mean(self.column.name, where=where)
            case "var_pop":
                return Variance(self.column.name, where=where)
            case "quantile":
                return Quantile(self.column.name, self.at, where=where)

    def by(self, keys: tuple[Side, ...], where: Predicate, schema: Schema) -> Iterator[tuple[str, Query]]:
        """Ask about every group: in one question, or in one a group with the words that tell it apart."""
        match self.kind:
            case "count":
                yield "", GroupBy(keys, where=self.over(where).inside)
            case "sum" if self.column is not None:
                yield "", GroupBy(keys, self.column.name, where=where, weight=self.weight)
            case _:
                for group, rows in _groups(tuple(axis_along(key, schema) for key in keys), schema):
                    if not where.disjoint(rows):
                        yield f", {group}", self.over(where & rows)


def aggregate_of(node: "Expr", names: Names) -> Wanted:
    """Read one aggregate."""
    match node.key:
        case "count" if node.this is not None and node.this.key == "star":
            only(node, "count", "this", "big_int")
            only(node.this, "count(*)")
            return Wanted("count(*)", "count", None)
        case "sum" if node.this is not None and node.this.key == "mul":
            return _product(node, names)
        case "filter":
            inside = filtered(node, names)
            return Wanted(f"count(*) with {inside.text}", "count", None, inside=inside)
        case "avg" if node.this is not None and bare(node.this).key == "case":
            only(node, "avg(…)", "this")
            return _share(*ones_in(bare(node.this), names))
        case "div":
            return _share(*quotient(node, names))
        case key if key in SIMPLE:
            return _simple(SIMPLE[key], _argument(node, SIMPLE[key], names))
        case key if key in RANKS:
            column = _argument(node, key, names)
            return Wanted(f"{key}({written(column.name)})", "quantile", column, RANKS[key])
        case "anonymous" if str(node.this).lower() == "quantile_cont":
            return _quantile(node, names)
        case "withingroup":
            return _percentile(node, names)
    raise refused(f"in the list of SELECT stands {described(node)} where a key or an aggregate is wanted")


def _simple(kind: Kind, column: Coded) -> Wanted:
    """Ask for an aggregate of a column; the mean of truth values is a share."""
    text = f"{kind}({written(column.name)})"
    if kind == "avg" and isinstance(column, Boolean):
        true = compare(column, "=", constant=True).true
        return Wanted(text, "share", None, inside=true, of=is_missing(column).false)
    return Wanted(text, kind, column)


def _share(inside: Predicate, of: Predicate) -> Wanted:
    among = "" if of.is_everything else f" among {of.text}"
    return Wanted(f"share{among} with {inside.text}", "share", None, inside=inside, of=of)


def written(name: str) -> str:
    """Write a column's name as SQL does."""
    return name if WORD.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _argument(node: "Expr", what: str, names: Names) -> Coded:
    only(node, f"{what}(…)", "this", "big_int")
    if node.this is None:
        raise refused(f"{what}() is of no column")
    return names.column(node.this, f"in {what}(…)")


def _product(node: "Expr", names: Names) -> Wanted:
    """Read sum(w * x): either may be the weight, whose values are not negative; of two that can, the one named last."""
    only(node, "sum(…)", "this")
    only(node.this, "a product", "this", "expression")
    factors = [names.column(one, "in sum(…)") for one in (node.this.this, node.this.expression)]
    ordered = sorted(factors, key=lambda column: names.schema.names.index(column.name))
    weights = [column for column in ordered if isinstance(column, Numeric) and column.origin >= 0]
    if not weights:
        raise refused("neither column of the product in sum(…) is one of weights, numbers from 0 on")
    weight = weights[-1].name
    column = next((one for one in ordered if one.name != weight), weights[-1])
    return Wanted(f"sum({written(weight)} * {written(column.name)})", "sum", column, weight=weight)


def _quantile(node: "Expr", names: Names) -> Wanted:
    only(node, "quantile_cont(…)", "this", "expressions")
    match node.expressions:
        case [of, share]:
            return _at(names.column(of, "in quantile_cont(…)"), share)
    raise refused("quantile_cont takes a column and a share, as in quantile_cont(x, 0.9)")


def _percentile(node: "Expr", names: Names) -> Wanted:
    only(node, "WITHIN GROUP", "this", "expression")
    order, inner = node.expression, node.this
    if inner.key not in ("percentilecont", "percentiledisc") or order is None or order.key != "order":
        raise refused("WITHIN GROUP (ORDER BY x) belongs to percentile_cont(p) or percentile_disc(p)")
    only(inner, "a percentile", "this")
    only(order, "ORDER BY", "expressions")
    if len(order.expressions) != 1 or order.expressions[0].key != "ordered":
        raise refused("WITHIN GROUP orders by one column")
    only(order.expressions[0], "ORDER BY", "this", "nulls_first")
    found = _at(names.column(order.expressions[0].this, "after ORDER BY"), inner.this)
    if inner.key == "percentiledisc" and found.at not in RANKS.values():
        raise refused(
            f"percentile_disc({found.at}) may differ by a rank from what is released: write percentile_cont"
        )
    return found


def _at(column: Coded, share: "Expr") -> Wanted:
    if share.key != "literal" or share.is_string:
        raise refused(
            f"there stands {described(share)} where the share of a quantile, from 0 to 1, is wanted"
        )
    at = number(share)
    return Wanted(f"quantile_cont({written(column.name)}, {number_text(at)})", "quantile", column, at)


def _groups(axes: tuple[Axis, ...], schema: Schema) -> Iterator[tuple[str, Predicate]]:
    """Name every declared combination of keys, with its rows; those that lack a key are no group."""
    sides = (_cells(axis, schema.coded(axis.column)) for axis in axes)
    for cells in itertools.product(*map(list, sides)):
        yield ", ".join(words for words, _ in cells), reduce(and_, (rows for _, rows in cells))


def _cells(axis: Axis, column: Coded) -> Iterator[tuple[str, Predicate]]:
    """Name every cell along an axis, with its rows."""
    called = written(axis.title)
    ends = [*axis.starts[1:], axis.levels]
    for place, (start, end) in enumerate(zip(axis.starts, ends, strict=True)):
        rows = codes_in(column.name, column.size, ((start, end - 1),))
        yield f"{called} = {axis.labels[place] if axis.labels else _value(column.value(start))}", rows


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case Fraction():
            return number_text(value)
        case datetime():
            return value.isoformat(sep=" ")
    return str(value)
