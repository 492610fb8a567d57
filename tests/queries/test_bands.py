"""Questions about bands: by name, in conditions and in SQL, always as sets of the column's codes."""

import json
import random
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest

from entwined.errors import BadQuery
from entwined.queries import (
    Count,
    Custom,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Share,
    col,
    parse,
    query_from,
)
from entwined.queries.documents import as_written, question_of, written
from entwined.queries.sql import read_sql
from entwined.schema import Categorical, Cells, Integer, Moment, Real, Schema

COLUMNS = (
    Integer("age", 0, 99, bands={"stage": {"child": 0, "adult": 18, "old": 65}, "decade": 10}),
    Moment("day", "2023-12-15", "2024-03-20", bands={"month": "month", "quarter": "quarter"}),
    Real("size", 0, 2, "0.25"),
    Integer("cold", -20, 20),
    Categorical("sex", ("m", "f")),
)
SCHEMA = Schema(COLUMNS)
FIRST = date(2023, 12, 15)
DAYS = [FIRST + timedelta(days=turn) for turn in range(97)]


def sql(text):
    return read_sql(f"SELECT {text}", SCHEMA).queries


ASKED = [
    Histogram("stage"),
    Marginal(("sex", "month")),
    GroupBy(("month", "sex"), "age", where="stage = 'old'"),
    GroupBy(("stage",), weight="size"),
    Share(where="stage = 'child'", of="month > DATE '2024-01-01'"),
]


@pytest.mark.parametrize("given", ASKED, ids=lambda given: given.words)
def test_questions_are_read_back_without_the_schema(given):
    query = given.bound(SCHEMA)
    assert query.bound(SCHEMA) == query
    assert as_written(json.loads(json.dumps(written(query)))) == query
    assert question_of(query.fingerprint).axes(SCHEMA) == query.axes(SCHEMA)
    assert {"stage", "month"}.isdisjoint(query.columns)


def test_files_and_expressions_name_bands_like_columns():
    fields = {"query": "marginal", "of": ["month", "sex"], "where": "stage in ('child', 'old')"}
    inside = col("stage").isin(["child", "old"])
    assert query_from(fields, SCHEMA) == Marginal(("month", "sex"), where=inside).bound(SCHEMA)
    labels = list(Marginal(("month", "sex")).bound(SCHEMA).labels(SCHEMA))
    assert labels[:4] == [("2023-12", "m"), ("2023-12", "f"), ("2023-12", None), ("2024-01", "m")]
    assert labels[-1] == (None, None)


def test_bands_are_told_apart_by_their_codes():
    january, february = (parse(f"month = '2024-0{month}'", SCHEMA) for month in (1, 2))
    quarter = parse("quarter = DATE '2024-01-01'", SCHEMA)
    assert january.disjoint(february)
    assert (january | february).implies(quarter)
    assert quarter == parse("day between DATE '2024-01-01' and TIMESTAMP '2024-03-31 12:00:00'", SCHEMA)
    assert parse("stage = 'adult'", SCHEMA) == parse("age between 18 and 64", SCHEMA)
    assert parse("not stage = 'adult'", SCHEMA) == parse(
        "age < 18 or age > 64", SCHEMA
    )  # not where it is missing
    assert parse("month is null", SCHEMA) == parse("day is null", SCHEMA)
    assert parse("decade >= 20 and decade < 35", SCHEMA) == parse("age between 20 and 39", SCHEMA)


def begin(day, period):
    return day.replace(day=1) if period == "month" else day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)


def random_test(rng):
    """A comparison of a date, a month or a quarter, as text and as what it says of a day."""
    of = rng.choice(["day", "month", "quarter"])
    given = rng.choice([*DAYS, date(2020, 1, 1), date(2024, 4, 1), *(begin(day, "month") for day in DAYS)])
    other = given + timedelta(days=rng.randrange(60))
    shown = rng.choice([f"DATE '{given}'", f"'{given}'", f"TIMESTAMP '{given} 00:00:00'"])

    def value(day):
        return day if of == "day" else begin(day, of)

    kind = rng.randrange(4)
    if kind == 0:
        return f"{of} between {shown} and DATE '{other}'", lambda day: given <= value(day) <= other
    if kind == 1:
        return f"{of} in ({shown}, '{other}')", lambda day: value(day) in (given, other)
    sign, holds = rng.choice(
        [
            ("=", lambda day: value(day) == given),
            ("<>", lambda day: value(day) != given),
            ("<", lambda day: value(day) < given),
            ("<=", lambda day: value(day) <= given),
            (">", lambda day: value(day) > given),
            (">=", lambda day: value(day) >= given),
        ]
    )
    return f"{of} {sign} {shown}", holds


@pytest.mark.parametrize("seed", range(60))
def test_random_conditions_on_dates_hold_where_python_says(seed):
    rng = random.Random(seed)
    text, holds = random_test(rng)
    for _ in range(rng.randrange(3)):
        other, too = random_test(rng)
        if rng.random() < 0.5:
            text, holds = f"({text}) and not {other}", lambda day, a=holds, b=too: a(day) and not b(day)
        else:
            text, holds = f"({text}) or {other}", lambda day, a=holds, b=too: a(day) or b(day)
    inside = parse(text, SCHEMA)
    assert [inside.holds({"day": code}) for code in range(97)] == [holds(day) for day in DAYS]
    assert not inside.holds({"day": 97})  # a missing day is neither
    if not inside.is_empty:
        assert sql(f"count(*) FROM t WHERE {text}")[0].inside == inside


def test_sql_makes_the_bands_that_are_declared():
    declared = GroupBy(("stage",)).bound(SCHEMA)
    case = "CASE WHEN age < 18 THEN 'child' WHEN NOT age >= 65 THEN 'adult' ELSE 'old' END"
    for text in (
        "stage, count(*) FROM t GROUP BY stage",
        f"{case} AS stage, count(*) FROM t GROUP BY stage",
        f"{case} AS Band, count(*) FROM t GROUP BY band",
        f"count(*) FROM t GROUP BY {case}",
        "count(*) FROM t GROUP BY " + case.replace("CASE", "CASE WHEN age < 9 THEN 'child'"),
    ):
        assert sql(text) == (declared,)
    for text in ("date_trunc('month', day)", "month", "DATE_TRUNC('MONTH', day)"):
        assert sql(f"count(*) FROM t GROUP BY {text}") == (GroupBy(("month",)).bound(SCHEMA),)
    for text in ("age / 10", "floor(age/10)", "floor(age / 10.0)", "width_bucket(age, 0, 100, 10)", "decade"):
        assert sql(f"count(*) FROM t GROUP BY {text}") == (GroupBy(("decade",)).bound(SCHEMA),)


def test_every_aggregate_takes_bands():
    counted, added, *means = sql("stage, count(*), sum(size), avg(size) FROM t GROUP BY stage")
    assert counted == GroupBy(("stage",)).bound(SCHEMA)
    assert added == GroupBy(("stage",), "size").bound(SCHEMA)
    assert means[1] == Mean("size", where="stage = 'adult'").bound(SCHEMA)
    assert len(means) == 3
    named = read_sql("SELECT month, median(size) FROM t GROUP BY month", SCHEMA)
    assert named.names[1] == "median(size), month = 2024-01"
    assert named.queries[1].inside == parse("month = '2024-01'", SCHEMA)


@pytest.mark.parametrize(
    ("where", "same"),
    [
        ("age / 10 = 3", "age between 30 and 39"),
        ("age / 10 IN (0, 9)", "age < 10 or age >= 90"),
        ("floor(cold / 10.0) < -1", "cold < -10"),
        ("EXTRACT(YEAR FROM day) = 2024", "day >= '2024-01-01'"),
        ("EXTRACT(YEAR FROM day) BETWEEN 2010 AND 2023", "day < '2024-01-01'"),
        ("date_trunc('month', day) > DATE '2024-01-15'", "day >= '2024-02-01'"),
        ("date_trunc('quarter', day) IS NULL", "day is null"),
        ("width_bucket(age, 20, 60, 4) = 0", "age < 20"),
        ("width_bucket(age, 20, 60, 4) >= 4", "age >= 50"),
        ("width_bucket(cold, -10, 10, 2) = 1", "cold between -10 and -1"),
        ("month >= DATE '2024-01-01'", "day >= '2024-01-01'"),
        ("2 < width_bucket(size, 0.5, 1.5, 2)", "size >= 1.5"),
    ],
)
def test_conditions_of_sql_take_bands(where, same):
    assert sql(f"count(*) FROM t WHERE {where}") == (Count(where=parse(same, SCHEMA)),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("EXTRACT(MONTH FROM day) AS m, count(*) FROM t GROUP BY m", "several years together"),
        ("date_trunc('century', day) AS m, count(*) FROM t GROUP BY m", "date_trunc takes one of 'minute'"),
        ("date_trunc('hour', day) AS m, count(*) FROM t GROUP BY m", "do not follow each other"),
        ("date_trunc('month', age) AS m, count(*) FROM t GROUP BY m", "a column of times is wanted"),
        ("sex / 10 AS m, count(*) FROM t GROUP BY m", "a column of numbers is wanted"),
        ("cold / 10 AS m, count(*) FROM t GROUP BY m", r"write floor\(cold / 10.0\)"),
        ("size / 2 AS m, count(*) FROM t GROUP BY m", r"write floor\(size / 2\)"),
        ("age / 0 AS m, count(*) FROM t GROUP BY m", "a number above 0"),
        ("age / 2.5 AS m, count(*) FROM t GROUP BY m", r"write floor\(age / 2.5\)"),
        ("floor(age) AS m, count(*) FROM t GROUP BY m", "divided by a number"),
        ("width_bucket(age, 60, 20, 4) AS m, count(*) FROM t GROUP BY m", "low below high"),
        ("width_bucket(age, 0, 10, 40) AS m, count(*) FROM t GROUP BY m", "not above where the one before"),
        ("width_bucket(age, 0, 10, 1000000) AS m, count(*) FROM t GROUP BY m", "n from 1 to 1,000"),
        ("CASE WHEN age < 18 THEN 'a' END AS m, count(*) FROM t GROUP BY m", "end CASE with ELSE"),
        (
            "CASE WHEN age < 18 OR age > 64 THEN 'a' ELSE 'b' END AS m, count(*) FROM t GROUP BY m",
            "'a' is made of",
        ),
        (
            "CASE WHEN age IS NULL THEN 'a' ELSE 'b' END AS m, count(*) FROM t GROUP BY m",
            "of what is missing",
        ),
        (
            "CASE WHEN age < 18 AND sex = 'm' THEN 'a' ELSE 'b' END AS m, count(*) FROM t GROUP BY m",
            "one column of",
        ),
        ("CASE WHEN sex = 'm' THEN 'a' ELSE 'b' END AS m, count(*) FROM t GROUP BY m", "one column of"),
        ("CASE WHEN age < 18 THEN age ELSE 'b' END AS m, count(*) FROM t GROUP BY m", "label of a band"),
        (
            "CASE WHEN age < 18 THEN 'a' WHEN age < 9 THEN 'b' ELSE 'c' END AS m, count(*) FROM t GROUP BY m",
            "no value",
        ),
        ("CASE age WHEN 18 THEN 'a' ELSE 'b' END AS m, count(*) FROM t GROUP BY m", "more in it"),
        ("CASE WHEN age < 18 THEN 'a' ELSE 'b' END AS sex, count(*) FROM t GROUP BY sex", "rename it"),
        ("CASE WHEN age < 18 THEN 'a' ELSE 'b' END AS m, count(*) FROM t", "is no key"),
        (
            "CASE WHEN age < 18 THEN 'a' ELSE 'b' END AS m, count(*) FROM t WHERE m = 'a' GROUP BY m",
            "no column 'm'",
        ),
        ("stage, decade, count(*) FROM t GROUP BY stage, decade", "each once"),
        ("stage, sum(age) FROM t GROUP BY stage", "one of its keys"),
        ("avg(stage) FROM t", "are bands of 'age'"),
        ("count(*) FROM t WHERE stage > 'child'", "has no order"),
        ("count(*) FROM t WHERE stage = 'Child'", "Give a band: 'child', 'adult'"),
        ("count(*) FROM t WHERE month = 3", "or a time"),
        ("sum(age) / count(*) FROM t", "divides"),
        ("count(*) FROM t GROUP BY 1", "where a column is wanted"),
    ],
)
def test_what_sql_cannot_say_of_bands_is_refused(text, said):
    with pytest.raises(BadQuery, match=said):
        sql(text)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Histogram("stage", bins=3).bound(SCHEMA), "Leave bins out"),
        (lambda: Marginal(("age", "stage")).bound(SCHEMA), "each once"),
        (lambda: Marginal(("month", "quarter")).bound(SCHEMA), "each once"),
        (lambda: Mean("stage").check(SCHEMA), "are bands of 'age'"),
        (lambda: Custom("f", "1", ("stage",), (0,), (1,)).check(SCHEMA), "are bands of 'age'"),
        (lambda: GroupBy(("month",), "day").bound(SCHEMA), "one of its keys"),
        (lambda: GroupBy(("stage",), weight="age").bound(SCHEMA), "weighted by the same column"),
        (lambda: Histogram(3).bound(SCHEMA), "the name of a column or of bands"),
        (lambda: Histogram({"column": "age", "starts": [0]}), "no bands that entwined wrote"),
        (lambda: parse("day >= DATE '2024-01-01 12:00:00'", SCHEMA), "after DATE"),
        (lambda: parse("day >= DATE 3", SCHEMA), "after DATE"),
        (lambda: parse("day >= TIMESTAMP '2024-02-30'", SCHEMA), "after TIMESTAMP"),
        (lambda: parse("age >= DATE '2024-01-01'", SCHEMA), "a number such as"),
    ],
)
def test_what_bands_are_not_for_is_refused(make, said):
    with pytest.raises(BadQuery, match=said):
        make()


def test_bands_of_another_schema_are_refused():
    query = Histogram("stage").bound(SCHEMA)
    with pytest.raises(BadQuery, match="cut on another schema"):
        query.check(Schema((Integer("age", 0, 120),)))


def test_a_column_may_be_called_like_the_word_before_a_date():
    dated = Schema(
        (Moment("date", "2024-01-01", "2024-12-31"), Moment("timestamp", "2024-01-01", "2024-12-31"))
    )
    assert parse("date = DATE '2024-01-02' and timestamp > '2024-01-05'", dated).columns == (
        "date",
        "timestamp",
    )


def test_a_band_costs_what_its_column_costs():
    cells = Schema(COLUMNS, Cells())
    for query, same in (
        (Histogram("stage"), Histogram("age")),
        (Marginal(("month", "sex")), Marginal(("day", "sex"))),
    ):
        assert query.bound(cells).parts(cells) == same.parts(cells)
    single = Histogram("stage", where="age < 18 and sex = 'm'").bound(cells)
    assert [(part.column, part.sensitivity.both) for part in single.parts(cells)] == [("age", 0), ("sex", 0)]
    assert single.statistics(SCHEMA)[0].row.both == Fraction(0)  # all inside are children
    assert Histogram("month").bound(cells).parts(cells)[0].column == "day"


def test_times_with_a_clock_are_in_the_month_that_they_lie_in():
    seen = Moment(
        "seen", datetime(2024, 1, 31, 22), datetime(2024, 2, 1, 3), "hour", bands={"month": "month"}
    )
    (month,) = seen.bands
    assert [month.codes(place, place) for place in (0, 1)] == [(0, 1), (2, 5)]
    assert seen.encode(datetime(2024, 1, 31, 23, 59, 59, 999_999)) == 1
    assert seen.encode("2024-02-01T00:00:00") == 2
