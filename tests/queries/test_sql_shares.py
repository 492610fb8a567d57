"""Shares of rows in SQL: every way to write one is the same question, and an engine that runs the text agrees."""

import random
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

from entwined.errors import BadQuery
from entwined.queries import Count, GroupBy, Share, parse
from entwined.queries.sql import read_sql
from entwined.schema import Boolean, Categorical, Integer, Schema
from entwined.tables import open_table

COLUMNS = (Integer("n", -3, 5), Categorical("g", ("a", "b")), Boolean("flag"), Boolean("filter"))
SCHEMA = Schema(COLUMNS, neighbours="add_remove", most_rows=1000)


def where(text):
    return parse(text, SCHEMA)


def asked(what, rest="", schema=SCHEMA):
    return read_sql(text(what, rest), schema)


def text(what, rest=""):
    return f"SELECT {what} FROM t{rest}"  # noqa: S608  (it is never run on anything but our own few rows)


@pytest.fixture(scope="module")
def table():
    draw = random.Random(4)

    def some(values):
        return [None if draw.random() < 0.2 else draw.choice(values) for _ in range(120)]

    held = pa.table(
        {
            "n": pa.array(some(range(-3, 6)), pa.int64()),
            "g": pa.array(some(["a", "b"]), pa.string()),
            "flag": pa.array(some([True, False]), pa.bool_()),
            "filter": pa.array(some([True, False]), pa.bool_()),
        }
    )
    engine = duckdb.connect()
    engine.register("t", held)
    with open_table(held, SCHEMA) as opened:
        yield opened, engine
    engine.close()


ALIKE = [
    "avg(CASE WHEN n > 1 THEN 1 ELSE 0 END)",
    "AVG( case when n > 1 then 1.0 else 0.0 end )",
    "avg((CASE WHEN NOT n > 1 OR n IS NULL THEN 0 ELSE 1 END))",
    "avg(CASE WHEN n > 3 THEN 1 WHEN n <= 1 THEN 0 WHEN n IS NULL THEN 0 ELSE 1 END)",
    "count(*) FILTER (WHERE n > 1) * 1.0 / count(*)",
    "1.0 * count(*) filter (where n > 1) / count(*)",
    "(count(*) FILTER (WHERE n > 1) * 1.0) / count(*)",
    "sum(CASE WHEN n > 1 THEN 1 ELSE 0 END) * 1.0 / count(*)",
]


@pytest.mark.parametrize("what", ALIKE)
def test_every_way_to_write_a_share_is_the_same_question(what, table):
    (query,) = asked(what).queries
    assert query == Share(where=where("n > 1")) == asked(f"{what} AS big").queries[0]
    opened, engine = table
    theirs = engine.execute(text(what)).fetchone()[0]
    assert float(answered(query, opened)) == pytest.approx(theirs)


def answered(query, opened):
    found = opened.answer([one.aggregate for one in query.statistics(SCHEMA)])
    return query.answer(SCHEMA, [one.tolist() for one in found])


@pytest.mark.parametrize(
    ("what", "rest"),
    [
        ("avg(CASE WHEN n > 1 THEN 1 WHEN flag THEN 0 END)", ""),  # of rows with neither nothing is said
        ("avg(CASE WHEN n IS NULL THEN NULL WHEN n > 1 THEN 1 ELSE 0 END)", " WHERE g = 'a'"),
        ("count(*) FILTER (WHERE n > 1 AND flag) * 1.0 / count(*) FILTER (WHERE flag)", ""),
        ("count(*) FILTER (WHERE n > 1) * 1.0 / count(n)", " WHERE flag OR g = 'b'"),
        ("avg(CAST(flag AS int))", " WHERE n > 0"),
    ],
)
def test_the_engine_agrees_on_what_a_share_is_of(what, rest, table):
    opened, engine = table
    ours = what.replace("CAST(flag AS int)", "flag")
    theirs = engine.execute(text(what, rest)).fetchone()[0]
    assert float(answered(asked(ours, rest).queries[0], opened)) == pytest.approx(theirs)


def test_groups_have_a_share_each_and_the_condition_of_the_select_is_whom_it_is_of(table):
    opened, engine = table
    what, rest = "avg(CASE WHEN n > 1 THEN 1 ELSE 0 END) AS big", " WHERE flag GROUP BY g"
    sql = asked(f"g, {what}", rest)
    assert sql.names == ("big, g = a", "big, g = b")
    assert sql.queries[0] == Share(where=where("n > 1"), of=where("flag and g = 'a'"))
    theirs = dict(engine.execute(text(f"g, {what}", rest)).fetchall())
    for name, query in zip(("a", "b"), sql.queries, strict=True):
        assert float(answered(query, opened)) == pytest.approx(theirs[name])


def test_truth_values_have_a_share_and_counts_a_filter(table):
    opened, _ = table
    (flags,) = asked("avg(flag)").queries
    assert flags == Share(where=where("flag"), of=where("flag is not null"))
    assert asked("avg(flag)").names == ("avg(flag)",)
    assert asked("count(*) FILTER (WHERE flag)", " WHERE n > 1").queries == (
        Count(where=where("n > 1 and flag")),
    )
    (by,) = asked("g, count(*) FILTER (WHERE flag) AS c", " GROUP BY g").queries
    assert by == GroupBy(("g",), where=where("flag"))
    assert 0 < answered(flags, opened) < 1
    assert asked("sum(filter)").queries  # a column may still be called so


def test_the_public_number_of_rows_is_used_where_it_is_one():
    known = Schema(COLUMNS, rows=100, most_rows=100)
    (query,) = asked(ALIKE[0], schema=known).queries
    assert query.needs_public_rows(known)
    assert len(query.statistics(known)) == 1
    assert query.answer(known, [[25]]) == Fraction(1, 4)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("avg(CASE WHEN flag THEN 1 END)", "public"),  # its mean is always 1
        ("avg(CASE WHEN flag THEN 100 ELSE 0 END)", "1, 0 or NULL"),
        ("avg(CASE WHEN flag THEN n ELSE 0 END)", "1, 0 or NULL"),
        ("avg(CASE flag WHEN TRUE THEN 1 ELSE 0 END)", "has more in it"),
        ("avg(CASE WHEN n > 9 THEN 1 ELSE 0 END)", "none can be inside"),
        ("count(*) FILTER (WHERE flag) / count(*)", "no division of whole numbers"),
        ("count(*) FILTER (WHERE flag) * 1 / count(*)", "product"),
        ("count(*) FILTER (WHERE flag) * 100.0 / count(*)", "product"),
        ("count(*) FILTER (WHERE flag) * 1.0 / count(flag)", None),
        ("count(*) FILTER (WHERE flag) * 1.0 / count(n)", "only rows that it counts below"),
        ("count(*) FILTER (WHERE flag) * 1.0 / count(*) FILTER (WHERE n > 1)", "only rows that it counts below"),
        ("count(*) * 1.0 / count(*)", "public"),
        ("sum(n) * 1.0 / count(*)", "known is a share alone"),
        ("sum(n) / count(*)", "known is a share alone"),
        ("count(*) FILTER (WHERE flag) * 1.0", "where a key or an aggregate is wanted"),
        ("count(*) FILTER (WHERE flag) * 1.0 / 7", "divides"),
        ("sum(n) FILTER (WHERE flag)", "belongs to count"),
        ("count(*) FILTER (flag)", None),
        ("count(*) FILTER (WHERE flag) FILTER (WHERE n > 1)", None),
        ("count(*) FILTER (WHERE flag) OVER ()", None),
        ("avg(CASE WHEN flag THEN 1 ELSE 0 END) FILTER (WHERE n > 1)", "belongs to count"),
        ("sum(CASE WHEN flag THEN 1 ELSE 0 END)", None),
        ("avg(DISTINCT CASE WHEN flag THEN 1 ELSE 0 END)", None),
        ("avg(CASE WHEN count(*) > 1 THEN 1 ELSE 0 END)", None),
        ("avg(CASE WHEN n IN (-3, -1, 1, 3, 5) OR (flag AND g = 'a') OR (NOT flag AND g = 'b') THEN 1 ELSE 0 END)",
         "call it something"),
    ],
)  # fmt: skip
def test_what_is_no_share_is_refused_in_our_words(what, says):
    if what.endswith("count(flag)"):  # whoever is counted above has a flag
        assert asked(what).queries == (Share(where=where("flag"), of=where("flag is not null")),)
        return
    with pytest.raises(BadQuery, match=says) as refusal:
        asked(what)
    assert any(word in str(refusal.value) for word in ("Write", "Ask", "Give"))


def test_a_long_condition_is_asked_under_a_name():
    long = "n IN (-3, -1, 1, 3, 5) OR (flag AND g = 'a') OR (NOT flag AND g = 'b')"
    assert asked(f"avg(CASE WHEN {long} THEN 1 ELSE 0 END) AS odd").names == ("odd",)
