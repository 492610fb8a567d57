"""What a row adds to a sum, as an integer on a public grid, and how far that can move the sum.

A weighted sum adds a product: a term of one column times a term of the column of weights.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from entwined.errors import BadQuery
from entwined.queries.axes import Term
from entwined.queries.diagram import Range
from entwined.queries.predicate import Predicate
from entwined.queries.sensitivity import Sensitivity
from entwined.schema import Boolean, Coded, Moment, Numeric, Schema

LEAST_FACTOR: Final = Fraction(231, 100)
"""From 1 to 2.31: the standard error of a 95 % interval of that length is 1/3 of its lower end."""
Scale: TypeAlias = Literal["ratio", "interval", "share"]
"""What a relative error is relative to: the number; nothing, where zero is arbitrary; or a share and its complement."""


def grid_of(column: Coded, *, moments: bool = False) -> tuple[Fraction, Fraction]:
    """Give the value of code 0 and the step of a column that can be added up."""
    match column:
        case Numeric():
            return column.origin, column.spacing
        case Boolean():
            return Fraction(0), Fraction(1)
        case Moment() if moments:
            return Fraction(0), Fraction(1)
    wanted = "integer, real, boolean or moment" if moments else "integer, real or boolean"
    raise BadQuery(
        f"Column {column.name!r} is {column.kind}: its values do not add up. Take a column of type {wanted}."
    )


def scale_of(column: Coded) -> Scale:
    """Give the level of measurement of a column's values, by its type and its declared range.

    A zero far below the range, as of years, makes every relative error small; it is taken to be arbitrary where that of
    an interval as long as the whole range would be.
    """
    match column:
        case Boolean():
            return "share"
        case Numeric():
            low, high = column.origin, column.origin + (column.levels - 1) * column.spacing
            nearest, farthest = sorted((abs(low), abs(high)))
            return "ratio" if low <= 0 <= high or farthest > LEAST_FACTOR * nearest else "interval"
    return "interval"


def grid_value(column: Coded, steps: Fraction) -> Fraction | datetime:
    """Give the value so many steps above that of code 0."""
    if isinstance(column, Moment):
        return column.at(steps)
    origin, step = grid_of(column)
    return origin + steps * step


def total_term(column: Coded) -> tuple[Term, Fraction]:
    """Give what a row adds to a total, and the unit it is in."""
    origin, step = grid_of(column)
    under = origin.denominator * step.denominator
    unit = Fraction(math.gcd(int(origin * under), int(step * under)), under)
    return Term(column.name, 1, int(step / unit), int(origin / unit)), unit


def middle_term(column: str, codes: tuple[Range, ...]) -> Term:
    """Give a row's distance from the middle of the codes, in steps or half steps."""
    ends = codes[0][0] + codes[-1][1]
    return Term(column, 1, 1, -ends // 2) if ends % 2 == 0 else Term(column, 1, 2, -ends)


def moves(term: Term, codes: tuple[Range, ...]) -> Sensitivity:
    """Say how far a row with one of these codes can move the sum of a term."""
    return _moved(*_extremes(term, codes))


def moves_inside(term: Term, where: Predicate, schema: Schema) -> Sensitivity:
    """Say how far a row inside a condition can move the sum of a term; if no row can be inside, any will do."""
    return _moved(*extremes_inside(term, where, schema))


def extremes_inside(term: Term, where: Predicate, schema: Schema) -> tuple[int, int]:
    """Give the least and the greatest that a row inside a condition can add; if none can be inside, any will do."""
    if term.times is None:
        return _extremes(term, codes_inside(where, term.column, schema))
    added = [product for box in _boxes(term, where, schema) for product in _corners(term, box)]
    return min(added), max(added)


def _extremes(term: Term, codes: tuple[Range, ...]) -> tuple[int, int]:
    zero = Fraction(-term.offset, term.factor)  # powers fall before it and rise after it, or only rise
    places = {end for ends in codes for end in ends}
    places |= {
        near for low, high in codes for near in (math.floor(zero), math.ceil(zero)) if low <= near <= high
    }
    sums = [term.value(code) for code in places]
    return min(sums), max(sums)


def _moved(least: int, most: int) -> Sensitivity:
    return Sensitivity(Fraction(max(abs(least), abs(most))), Fraction(most - least))


def moves_alone(term: Term, where: Predicate, schema: Schema) -> tuple[tuple[str, int], ...]:
    """Say how far the sum of a term can move when one of its columns alone changes, and the row stays inside."""
    single = [replace(one, times=None) for one in term.factors]
    changes = [moves_inside(one, where, schema) for one in single]
    return tuple(
        (one.column, int(math.prod(other.one for other in changes if other is not mine) * mine.both))
        for one, mine in zip(single, changes, strict=True)
    )


def codes_inside(where: Predicate, column: str, schema: Schema) -> tuple[Range, ...]:
    """Give the codes that rows inside can have in a column; if there are none, any will do."""
    return where.codes(column, schema.coded(column).size) or ((0, 0),)


def _boxes(term: Term, where: Predicate, schema: Schema) -> Iterator[list[tuple[Range, ...]]]:
    """Give the codes of each column of a term, box by box of the condition."""
    for box in where.boxes or ({},):
        yield [tuple(box.get(name, ((0, schema.coded(name).size - 1),))) for name in term.columns]


def _corners(term: Term, box: Iterable[tuple[Range, ...]]) -> Iterator[int]:
    """Give the products among which the least and the greatest of a box are: each factor is least or greatest."""
    products = {1}
    for one, codes in zip(term.factors, box, strict=True):
        ends = {one.value(end) for low, high in codes for end in (low, high)}
        products = {product * end for product in products for end in ends}
    return iter(products)
