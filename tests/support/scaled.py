"""Rows of persons scaled to a bound, held against plain Python over the rows as they were stored."""

import random
from collections import Counter

from entwined.queries import Count, GroupBy, Histogram, Mean, Share, Total
from entwined.queries.statistic import Statistic
from entwined.schema import Categorical, Integer, Person, Schema, Text
from entwined.schema.unit import ROW_SHARE, WHOLE_ROW
from entwined.tables import open_table
from support import engines

COLUMNS = (
    Text("who", compare="loose"),
    Text("home", compare="exact"),
    Categorical("page", ("a", "b", "c")),
    Integer("age", 0, 99),
)
QUERIES = [
    Count(),
    Count(where="age > 50"),
    Histogram("page"),
    Total("age", where="page = 'a'"),
    Mean("age"),
    Share(where="age > 60", of="page <> 'c'"),
    GroupBy(("page",), "age"),
]
PEOPLE = ["ann", " Ann", "bob", "cid", "dan", "eve", "7", "07", "", None]


def scaled_schema(most, **more):
    return Schema(
        COLUMNS, unit=Person("who", most, "scale"), neighbours="add_remove", most_rows=10_000, **more
    )


def statistics(schema) -> list[Statistic]:
    return [one for query in QUERIES for one in query.bound(schema).statistics(schema)]


def check_scaled(keep, folder, rows=90, most=4):
    """Hold each integer against the rows, all of which count; then those of the persons that are kept of each home."""
    rng = random.Random(6)
    stored = {
        "who": ("text", [rng.choice(PEOPLE) for _ in range(rows)]),
        "home": ("text", [rng.choice(["h1", "h2", None]) for _ in range(rows)]),
        "page": ("text", [rng.choice(["a", "b", "c", "x", None]) for _ in range(rows)]),
        "age": ("whole", [rng.choice([3, 30, 61, 99, None]) for _ in range(rows)]),
    }
    source, seen = keep(stored, folder)
    schema = scaled_schema(most)
    asked = [one.aggregate for one in statistics(schema)]
    with open_table(source, schema) as table:
        assert engines.equal(
            table.answer(asked), [engines.counted(weighed(schema, seen), one) for one in asked]
        )
        if keep is not engines.arrow_stream:
            kept = engines.persons(schema, seen, "home", 2)
            expected = [engines.counted(weighed(schema, seen, kept), one) for one in asked]
            assert engines.equal(table.keeping("home", 2).answer(asked), expected)


def weighed(schema, seen, kept=None):
    """All rows of the persons that are kept, with what each counts."""
    rows = engines.coded(Schema(COLUMNS), seen)
    names = [engines.shared(schema, seen, row, at, "who") for at, row in enumerate(rows)]
    often, most = Counter(names), schema.unit.most
    return [
        row | {ROW_SHARE.name: min(WHOLE_ROW, WHOLE_ROW * most // often[who])}
        for who, row in zip(names, rows, strict=True)
        if who is not None and (kept is None or who in kept)
    ]
