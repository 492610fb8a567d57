"""Random tables of every type of column, and what may be asked of them."""

import dataclasses

import numpy as np

from entwined.queries import (
    Axis,
    CountOf,
    DegreesOf,
    FoldOf,
    MovesOf,
    SumOf,
    TableOf,
    Term,
    TotalsOf,
    codes_in,
    everything,
    is_missing,
    nothing,
)
from entwined.schema import Boolean, Categorical, Integer, Moment, Real, Text
from support.raw_values import RAW

COLUMNS = (
    Categorical("word", ("a", "b", "c")),
    Categorical("place", tuple(f"p{n}" for n in range(12)), missing="drop"),
    Boolean("flag"),
    Integer("age", -5, 20),
    Real("size", 0, 2, "0.25", outside="missing"),
    Moment("day", "2019-12-30", "2020-01-08"),
    Integer("far", -(2**40), 2**40, missing_codes=("7",)),
    Text("who", compare="exact"),
)


def random_table(rng, rows):
    def some(kind, values):
        return kind, [rng.choice([*values, None]) for _ in range(rows)]

    return {
        "word": some("text", ["a", "b", "c", "A", "x", ""]),
        "place": some("text", [*(f"p{n}" for n in range(12)), "q", "P1"]),
        "flag": some("truth", [True, False]),
        "age": some("whole", [-100, *range(-6, 22), 2**60]),
        "size": some("number", [0.0, 0.1, 0.125, 0.3, 1.9, 2.2, -1.0, float("nan"), float("inf")]),
        "day": some("day", [RAW["day"][1], *(RAW["day"][1:])]),
        "far": some("whole", [-(2**41), -(2**40), 0, 7, 8, 2**39, 2**40, 2**62]),
        "who": some("text", ["", "ann", "bob", "cid", "Ann"]),
    }


def random_predicate(rng, schema):
    if rng.random() < 0.2:
        return rng.choice([everything(), everything(), nothing()])
    found = random_range(rng, schema)
    for _ in range(rng.randrange(3)):
        other = random_range(rng, schema)
        found = rng.choice([found & other, found | other, found - other, ~found])
    return found


def random_range(rng, schema):
    column = schema.coded(rng.choice([name for name in schema.names if name != "who"]))
    cuts = sorted(rng.sample(range(min(column.size, 1000) + 1), 2))
    stretch = 1 if column.size <= 1000 else column.size // 1001
    return codes_in(column.name, column.size, ((cuts[0] * stretch, cuts[1] * stretch - 1),))


def random_aggregate(rng, schema):
    where = random_predicate(rng, schema)
    coded = [name for name in schema.names if name != "who"]
    term = Term(
        rng.choice([*coded, "far"]), rng.choice([1, 1, 2]), rng.choice([1, 2, -3]), rng.randrange(-9, 9)
    )
    if term.column == "far":
        term = dataclasses.replace(term, power=1)
    others = [name for name in coded if name not in (term.column, "far")]
    if term.power == 1 and rng.random() < 0.5:
        term = dataclasses.replace(
            term, times=Term(rng.choice(others), 1, rng.choice([1, 3]), rng.randrange(9))
        )
    axes = tuple(random_axis(rng, schema.coded(name)) for name in rng.sample(coded[:-1], rng.randrange(1, 4)))
    return rng.choice(
        [
            CountOf(where),
            SumOf(term, where),
            TableOf(axes, where),
            TotalsOf(axes[:2], term, where),
            random_fold(rng, coded, where),
            DegreesOf((rng.choice(coded),), rng.randrange(1, 6), where),
            random_moves(rng, schema, coded, where),
        ]
    )


def random_moves(rng, schema, coded, where):
    by, order, state = rng.sample([name for name in coded if schema.coded(name).size < 300], 3)
    return MovesOf(by, order, state, schema.coded(order).levels, schema.coded(state).size, where)


def random_fold(rng, coded, where):
    columns, cells = rng.sample(coded, rng.randrange(1, 4)), rng.randrange(1, 5)
    factors = [[rng.randrange(-3, 4) for _ in range(cells)] for _ in columns]

    groups = rng.choice([1, 3])

    def function(codes):  # made here, so that Spark sends it along
        numbers = codes % 7 @ factors
        return numbers if groups == 1 else np.column_stack([codes[:, 0] % 5 - 1, numbers])

    least = [rng.randrange(-9, 1) for _ in range(cells)]
    most = [low + rng.randrange(12) for low in least]
    return FoldOf(columns, least, most, function, where, rng.choice([None, 5]), groups)


def random_axis(rng, column):
    if column.levels > 2 and rng.random() < 0.3:
        cuts = (0, *sorted(rng.sample(range(1, column.levels), rng.randrange(1, min(column.levels, 6)))))
        return Axis(column.name, column.levels, 1, rng.random() < 0.7, cuts)
    return Axis(column.name, column.levels, rng.choice([1, 1, 2, 3, 7]), rng.random() < 0.7)


def said(aggregates, schema):
    """What a plan makes of a question: a row without the value that is summed is outside."""
    return [
        dataclasses.replace(one, where=there(one.term, one.where, schema))
        if isinstance(one, SumOf | TotalsOf)
        else one
        for one in aggregates
    ]


def there(term, where, schema):
    for name in term.columns:
        where &= is_missing(schema.coded(name)).false
    return where
