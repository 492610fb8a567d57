"""A small schema with conditions and tables over it, and the dense algebra of all its points."""

import itertools

import numpy as np

from entwined.estimate.atoms import Counting
from entwined.queries import Count, Histogram, Marginal, parse
from entwined.queries.predicate import everything
from entwined.schema import Boolean, Categorical, Integer, Schema

SCHEMA = Schema(
    (
        Categorical("sex", ("Male", "Female")),
        Integer("age", 0, 7, bands={"stage": [3, 4]}),
        Boolean("owns"),
        Boolean("well"),
    ),
    neighbours="add_remove",
)
TEXTS = (
    "sex = 'Male'", "sex = 'Female'", "age > 2", "age > 5", "age < 4 and sex = 'Male'", "owns", "not owns",
    "owns or age > 5", "sex is null", "well", "well and not well", "age > 2 and age < 6 and sex = 'Female'",
)  # fmt: skip


def where(text):
    return parse(text, SCHEMA)


def counting(query):
    aggregate = query.statistics(SCHEMA)[0].aggregate
    return Counting(aggregate.where, getattr(aggregate, "axes", ()))


TABLES = (
    Counting(everything()),
    *(counting(Count(where=where(text))) for text in TEXTS),
    counting(Histogram("sex")),
    counting(Histogram("age", bins=3, where=where("owns"))),
    counting(Histogram("age")),
    counting(Histogram("stage", where="owns or stage = '3'").bound(SCHEMA)),
    counting(Marginal(("owns", "sex"))),
    counting(Histogram("well")),
)
NEVER_MISSING = tuple(where(f"{name} is null") for name in SCHEMA.names)


def points():
    sizes = {name: SCHEMA.coded(name).size for name in SCHEMA.names}
    return [dict(zip(sizes, codes, strict=True)) for codes in itertools.product(*map(range, sizes.values()))]


POINTS = points()


def cell(table, point):
    """Give the cell of a table that a row is in, last axis fastest; None if it is in none."""
    if not table.where.holds(point):
        return None
    found = 0
    for axis in table.axes:
        own = axis.cell(point[axis.column])
        if own is None:
            return None
        found = found * axis.cells + own
    return found


def dense(tables, impossible=()):
    """Give the matrix from all points that are possible to all cells of all tables."""
    possible = [point for point in POINTS if not any(one.holds(point) for one in impossible)]
    rows = []
    for table in tables:
        found = [cell(table, point) for point in possible]
        rows += [[float(own == number) for own in found] for number in range(table.cells)]
    return np.array(rows)


def projection(tables, variances, impossible=()):
    """Solve the normal equations by the pseudo-inverse: the weights of all cells in all estimates."""
    matrix, roots = dense(tables, impossible), np.sqrt(variances)
    return matrix @ np.linalg.pinv(matrix / roots[:, None], rcond=1e-10) / roots
