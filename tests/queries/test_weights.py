"""Weighted queries: exact answers, and sensitivities in L1 and L2 against every pair of small neighbouring tables."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from entwined.dependence import Groups
from entwined.errors import BadModel, BadQuery, BadSchema
from entwined.promise.declared import Declared
from entwined.promise.places import place_of
from entwined.promise.promise import promise_of
from entwined.queries import (
    Count,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Sampling,
    Share,
    Total,
    Variance,
    parse,
    query_from,
)
from entwined.queries.documents import as_written, written
from entwined.queries.sampling import COARSE, FINE
from entwined.queries.sql import read_sql
from entwined.request.desk import open_desk
from entwined.request.verification import verify
from entwined.schema import Boolean, Categorical, Cells, Integer, Person, Real, Rows, Schema, Text
from entwined.schema.files import schema_of, text_of
from support.exact_answers import exact_answer


def columns(*, public=False):
    return (
        Real("w", Fraction(1, 2), Fraction(5, 2), Fraction(1), public=public),
        Integer("v", 0, 2),
        Integer("n", -1, 2),
        Categorical("g", ("a", "b")),
        Boolean("flag", missing="drop"),
        Text("id", compare="exact"),
    )


SCHEMA = Schema(columns())
SIZES = {column.name: column.size for column in columns()[:-1]}


def schema_with(unit=None, neighbours="replace", *, public=False):
    return Schema(columns(public=public), unit or Rows(), neighbours)


def where(text):
    return parse(text, SCHEMA)


QUERIES = [
    Count(weight="w"),
    Count(weight="v", where=where("g = 'a'")),
    Count(weight="w", where=where("w < 2")),
    Histogram("g", weight="w"),
    Histogram("n", bins=2, weight="v"),
    Histogram("flag", weight="w", where=where("flag")),
    Marginal(("g", "flag"), weight="w"),
    GroupBy(("g",), weight="w"),
    GroupBy(("g",), "n", weight="w"),
    GroupBy(("flag",), "n", weight="v", where=where("n > 0")),
    Total("n", weight="w"),
    Total("n", weight="w", where=where("n < 0")),
    Total("n", weight="w", where=where("n > 0 and w < 1 or n < 1 and w > 2")),
    Total("flag", weight="w"),
    Mean("n", weight="w"),
    Mean("n", weight="v", where=where("g = 'a'")),
    Share(where=where("g = 'a'"), weight="w"),
    Share(where=where("n > 0"), of=where("g = 'a'"), weight="w"),
]


def rows_of(query):
    names = query.columns
    return [
        dict(zip(names, codes, strict=True)) for codes in itertools.product(*(range(SIZES[n]) for n in names))
    ]


def moved(statistic, one, two):
    """The L1 change and the squared L2 change between two tables."""
    found = (exact_answer(statistic.aggregate, rows) for rows in (one, two))
    changes = [a - b for a, b in zip(*found, strict=True)]
    return sum(map(abs, changes)), sum(change**2 for change in changes)


def worst(schema, statistic, measured):
    """What is claimed of the change between neighbours."""
    change = max(part.worst(schema) for part in statistic.parts(schema))
    squared = max(
        type(part)(part.where, statistic.squared(part.sensitivity), part.column).worst(schema)
        for part in statistic.parts(schema)
    )
    return (change, squared)[measured]


@pytest.mark.parametrize("query", QUERIES, ids=str)
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_the_claimed_changes_in_l1_and_l2_are_the_largest_and_are_reached(query, neighbours):
    schema, rows = schema_with(neighbours=neighbours), rows_of(query)
    for statistic in query.statistics(schema):
        pairs = itertools.combinations([[row] for row in rows], 2)
        near = (([row], []) for row in rows) if neighbours == "add_remove" else pairs
        found = [moved(statistic, one, two) for one, two in near]
        assert max(line for line, _ in found) == worst(schema, statistic, 0) > 0
        assert max(square for _, square in found) == worst(schema, statistic, 1)


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_a_person_of_two_rows_moves_no_further_than_claimed(query):
    schema = schema_with(Person("id", 2))
    rows = rows_of(query)
    rows = rows[:: len(rows) // 10 + 1] + rows[-2:]
    persons = [list(own) for n in range(3) for own in itertools.combinations_with_replacement(rows, n)]
    for statistic in query.statistics(schema):
        line, square = (worst(schema, statistic, measured) for measured in (0, 1))
        for one, two in itertools.combinations(persons[::3], 2):
            found = moved(statistic, one, two)
            assert found[0] <= line
            assert found[1] <= square


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_cells_are_charged_on_every_column_read_but_public_ones(query, public):
    schema = schema_with(Cells(), public=public)
    rows = rows_of(query)
    for statistic in query.statistics(schema):
        parts = {part.column: part for part in statistic.parts(schema)}
        assert ("w" in parts) == ("w" in query.columns and not public)
        for name, part in parts.items():
            squares = statistic.squared(part.sensitivity)
            reached = 0
            for row, code in itertools.product(rows, range(SIZES[name])):
                other = row | {name: code}
                held = part.where.holds(row) + part.where.holds(other)
                line, square = moved(statistic, [row], [other])
                assert line <= (0, part.sensitivity.one, part.sensitivity.both)[held]
                assert square <= (0, squares.one, squares.both)[held]
                reached = max(reached, line)
            assert reached == part.worst(schema) or query is QUERIES[12]  # its boxes are taken together


TABLE = [
    {"w": 0, "v": 1, "n": 3, "g": 0, "flag": 1},
    {"w": 2, "v": 2, "n": 0, "g": 1, "flag": 1},
    {"w": 1, "v": 0, "n": 2, "g": 1, "flag": 0},
    {"w": 3, "v": 3, "n": 2, "g": 0, "flag": 2},
    {"w": 1, "v": 1, "n": 4, "g": 2, "flag": 1},
]
HALF = Fraction(1, 2)
ANSWERS = [
    (Count(weight="w"), 6),
    (Count(weight="v"), 4),
    (Histogram("g", weight="w"), (HALF, 4, 3 * HALF)),
    (Marginal(("g", "flag"), weight="w"), (0, HALF, 3 * HALF, 5 * HALF, 0, 3 * HALF)),
    (Total("n", weight="w"), 1 - 5 * HALF + 3 * HALF),
    (GroupBy(("g",), "n", weight="w"), (1, -1, 0)),
    (Mean("n", weight="w"), Fraction(0)),
    (Mean("n", weight="v"), Fraction(2 - 2 + 0, 3)),
    (Share(where=where("flag"), weight="w"), (HALF + 4) / Fraction(6)),
]


@pytest.mark.parametrize(("query", "answer"), ANSWERS, ids=str)
def test_exact_numbers_give_exact_answers(query, answer):
    query.check(SCHEMA)
    numbers = [exact_answer(statistic.aggregate, TABLE) for statistic in query.statistics(SCHEMA)]
    assert query.answer(SCHEMA, numbers) == answer


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_a_weighted_query_is_read_back_as_itself(query):
    assert as_written(written(query)) == query
    assert query.fields["weight"] in query.columns
    assert f"weighted by {query.weight}" in query.words + query.subject(str)


def test_a_query_without_weight_is_written_as_before():
    for query in (Count(), Histogram("n"), Total("n"), Mean("n"), GroupBy(("g",)), Marginal(("g",)), Share()):
        assert "weight" not in query.fields
        assert query.weight is None


def test_a_release_file_names_the_weight():
    found = query_from({"query": "mean", "column": "n", "weight": "w", "where": "flag"}, SCHEMA)
    assert found == Mean("n", weight="w", where=where("flag"))


REFUSED = [
    (lambda: Count(weight="g"), "rows are weighted by it"),
    (lambda: Count(weight="n"), "rows are weighted by it"),
    (lambda: Count(weight="flag"), "rows are weighted by it"),
    (lambda: Count(weight="absent"), "no column"),
    (lambda: Count(weight="id"), "never queried"),
    (lambda: Count(weight=3), "column's name"),
    (lambda: Total("w", weight="w"), "the same column"),
    (lambda: Histogram("w", weight="w"), "the same column"),
    (lambda: GroupBy(("g",), "w", weight="w"), "the same column"),
    (lambda: Mean("n", "public", weight="w"), "not public"),
    (lambda: Share(where=where("flag"), count="public", weight="w"), "not public"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_what_is_no_weight_is_refused_in_words(make, words):
    with pytest.raises(BadQuery, match=words):
        make().check(SCHEMA)
    with pytest.raises(TypeError):
        Variance("n", weight="w")


def test_a_count_by_public_weights_is_public_with_unit_cells():
    with pytest.raises(BadQuery, match="it is public"):
        Count(weight="w").check(schema_with(Cells(), public=True))


SQL = [
    ("SELECT sum(w * n) FROM t", Total("n", weight="w")),
    ("SELECT sum(n*w) FROM t WHERE flag", Total("n", weight="w", where=where("flag"))),
    ("SELECT g, sum(w * n) AS x FROM t GROUP BY g", GroupBy(("g",), "n", weight="w")),
    ("SELECT sum(w * v) FROM t", Total("w", weight="v")),
    ("SELECT sum(v * w) FROM t", Total("w", weight="v")),
]


@pytest.mark.parametrize(("text", "query"), SQL)
def test_a_product_in_sql_is_a_weighted_total(text, query):
    assert read_sql(text, SCHEMA).queries == (query.bound(SCHEMA),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT sum(w * n) / sum(w) FROM t", "divides"),
        ("SELECT sum(n * n) FROM t", "neither column"),
        ("SELECT sum(w * w) FROM t", "the same column"),
        ("SELECT sum(w * 2) FROM t", "product"),
        ("SELECT sum(w * n * v) FROM t", "a column is wanted"),
        ("SELECT avg(w * n) FROM t", "a column is wanted"),
        ("SELECT w * n FROM t", "a key or an aggregate is wanted"),
        ("SELECT count(*) FROM t WHERE w * n > 2", "a column is wanted"),
    ],
)
def test_other_products_in_sql_are_refused_in_words(text, words):
    with pytest.raises(BadQuery, match=words):
        read_sql(text, SCHEMA)


SAMPLINGS = [
    Sampling(weight="w"),
    Sampling("n", "g", weight="w"),
    Sampling("n", "flag", weight="v", where=where("n > -1")),
    Sampling(weight="w", strata="g", where=where("flag"), of=where("n > 0")),
]


@pytest.mark.parametrize("query", SAMPLINGS, ids=str)
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_no_row_moves_what_a_sampling_error_is_made_of_further_than_claimed(query, neighbours):
    schema, rows = schema_with(neighbours=neighbours), rows_of(query)
    (statistic,) = query.statistics(schema)
    vectors = [np.array(exact_answer(statistic.aggregate, [row]), dtype=object) for row in rows]
    inside = [statistic.aggregate.where.holds(row) for row in rows]
    squares = statistic.squared(statistic.row)
    for one, here in zip(vectors, inside, strict=True):
        assert sum(abs(one)) <= (statistic.row.one if here else 0)
        assert sum(one**2) <= (squares.one if here else 0)
    moves = [
        (abs(one - two).sum(), ((one - two) ** 2).sum()) for one, two in itertools.combinations(vectors, 2)
    ]
    line, square = (max(move[at] for move in moves) for at in (0, 1))
    assert line <= statistic.row.both
    assert square <= squares.both
    assert max(map(sum, vectors)) > 0.99 * statistic.row.one  # the claim is not idle
    assert square > 0.7 * squares.both or neighbours == "add_remove" or query.strata is None


def test_a_sampling_error_is_made_of_the_sums_it_says():
    query = Sampling("n", "g", weight="w")
    (statistic,) = query.statistics(SCHEMA)
    found = np.array(exact_answer(statistic.aggregate, TABLE)) / FINE
    u, a = np.array([1, 5, 3]) / 5, np.array([1, 0, 2 / 3])  # the fourth has no weight, the fifth no value
    by_stratum = found[:-4].reshape(3, 3) * FINE / COARSE
    assert by_stratum[:, 0].tolist() == [2, 2, 1]
    assert by_stratum[0, 1:] == pytest.approx([0, u[0]], abs=1e-3)
    assert by_stratum[1, 1:] == pytest.approx([(u * (1 - a))[1:].sum(), (u * a)[1:].sum()], abs=1e-3)
    assert found[-4] * FINE / COARSE == 3
    powers = [((1 - a) ** 2), 2 * a * (1 - a), a**2]
    assert found[-3:] == pytest.approx([(u**2 * power).sum() for power in powers], abs=1e-3)
    effective = query.answer(SCHEMA, [exact_answer(statistic.aggregate, TABLE)])
    assert float(effective) == pytest.approx(u.sum() ** 2 / (u**2).sum(), rel=1e-3)


@pytest.mark.parametrize("query", SAMPLINGS, ids=str)
def test_a_sampling_error_is_read_back_and_never_breaks(query):
    assert as_written(written(query)) == query
    (statistic,) = query.statistics(SCHEMA)
    for noise in (-(2**70), -5, 0, 5, 2**70):
        assert 0 <= query.answer(SCHEMA, [[noise] * statistic.aggregate.cells]) <= SCHEMA.most_rows


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sampling("n"), "not weighted"),
        (lambda: Sampling("n", "n", weight="w"), "which is asked about"),
        (lambda: Sampling("g", weight="w"), "do not add up"),
        (lambda: Sampling("n", weight="w", of=where("flag")), "Leave `of` out"),
        (lambda: Sampling.behind(Histogram("g", weight="w")), "weighted count, total, mean or share"),
        (lambda: Sampling("n", weight="w", even=1), "true or false"),
    ],
)
def test_a_sampling_error_of_nothing_is_refused(make, words):
    with pytest.raises(BadQuery, match=words):
        make().check(SCHEMA)


@pytest.mark.parametrize("public", [False, True])
def test_secret_weights_are_charged_through_the_door_and_public_ones_are_told(public, tmp_path):
    """With unit cells a weighted histogram reads two columns of a row."""
    schema = Schema(columns(public=public)[:-1], Cells(), most_rows=100).approve()
    rows = pd.DataFrame(
        {"w": [0.5, 1.5, 2.5], "v": [0, 1, 2], "n": [0, 1, 2], "g": ["a", "b", "a"], "flag": True}
    )
    asked = {"g": Histogram("g", weight="w")}
    models = Declared(Groups(4 if public else 5))
    with open_desk(rows, schema, ledger=tmp_path / "l.sqlite", cap=9, dependence=models) as door:
        planned = door.plan(asked, leakage=1)
        assert {place_of(part.key)[0] for part in planned.charged} == ({"g"} if public else {"g", "w"})
        found = door.release(asked, leakage=1)
        told = [line for line in found.certificate["trusted"] if "'w'" in line]
        assert len(told) == public
        assert verify(found.certificate, schema, release=found.document()).valid
    assert schema_of(text_of(schema)) == schema


def test_a_model_of_a_public_column_is_refused():
    schema = Schema(columns(public=True)[:-1], Cells(), most_rows=100)
    promise_of(schema, Declared(Groups(2), columns=("n", "g")))
    with pytest.raises(BadModel, match="it is public"):
        promise_of(schema, Declared(Groups(2), columns=("n", "w")))
    with pytest.raises(BadSchema, match="true or false"):
        Integer("w", 0, 3, public="yes")
