"""Weighted questions to every engine, against plain Python over the rows as they were stored."""

import random

from entwined.queries import Count, GroupBy, Histogram, Mean, Sampling, Share, Total
from entwined.schema import Categorical, Integer, Real, Schema
from entwined.tables import open_table
from support import engines

SCHEMA = Schema(
    (
        Categorical("region", ("a", "b"), missing="drop"),
        Real("weight", 0, 5, "0.01"),
        Integer("income", 0, 100_000),
        Integer("age", 0, 99),
    ),
    most_rows=10_000,
)
MEAN = Mean("income", weight="weight", where="age > 20")
SHARE = Share(where="age > 60", of="region = 'a'", weight="weight")
QUERIES = [
    Count(weight="weight", where="age > 50"),
    Histogram("region", weight="weight"),
    Total("income", weight="weight"),
    GroupBy(("region",), "age", weight="weight"),
    MEAN,
    SHARE,
    Sampling.behind(MEAN, "region"),
    Sampling.behind(SHARE, "region"),
]


def check_weights(keep, folder, rows=120):
    """Ask all questions at once, and hold each integer against the rows."""
    rng = random.Random(4)

    def some(kind, values):
        return kind, [rng.choice([*values, None]) for _ in range(rows)]

    stored = {
        "region": some("text", ["a", "b", "x"]),
        "weight": some("number", [0.0, 0.25, 1.0, 3.337, 9.0, float("nan")]),
        "income": some("whole", [0, 17, 40_000, 99_999, 10**7, -5]),
        "age": some("whole", [3, 30, 61, 99]),
    }
    source, seen = keep(stored, folder)
    asked = [one.aggregate for query in QUERIES for one in query.bound(SCHEMA).statistics(SCHEMA)]
    with open_table(source, SCHEMA) as table:
        found = table.answer(asked)
    assert engines.equal(found, engines.reference(SCHEMA, seen, asked))
    assert all(any(numbers) for numbers in found)
