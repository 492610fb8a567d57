"""Files, frames and databases as people have them: names, types and dialects, and refusals that say what to do."""

import gzip
import random
import threading
from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entwined.errors import BadQuery, BadTable, QueryTooComplex
from entwined.queries import (
    Axis,
    CountOf,
    SumOf,
    TableOf,
    Term,
    TotalsOf,
    codes_in,
    everything,
    is_missing,
)
from entwined.schema import Boolean, Categorical, Integer, Moment, Person, Real, Schema, Text
from entwined.tables import describe, open_table
from entwined.tables.plan import plan
from entwined.tables.statements import prepared
from support import engines
from support.postgres import new_schema

NAMES = [
    *(
        'a"; drop table x; --',
        "a'b",
        "ünï cödé 日本",
        "%s %(x)s {y}",
        "select",
        "a`b",
        "x" * 1000,
        "a.b",
        "a\\nb",
    ),
    *("[[column]]", "c0", "rows", " a ", "$1", "?", "#", "/*", "read_csv('/etc/passwd')"),
]


def histogram(column):
    return TableOf((Axis(column.name, column.levels),), everything())


def counts(source, *columns, where=None, **how):
    """The histograms of some columns."""
    with open_table(source, Schema(columns), **how) as table:
        found = table.answer([histogram(column) for column in columns])
    return [numbers.tolist() for numbers in found]


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_no_name_reaches_the_parser(engine, tmp_path):
    limit = 63 if engine == "postgres" else 1000  # it has shorter names
    columns = [Categorical(name[:limit], ("x", "y")) for name in NAMES]
    stored = {column.name: ("text", ["x", "y", "x", None][at % 4 :]) for at, column in enumerate(columns)}
    stored = {name: (kind, (values * 4)[:4]) for name, (kind, values) in stored.items()}
    source, seen = engines.ALL[engine](stored, tmp_path)
    schema = Schema(tuple(columns))
    asked = [histogram(column) for column in columns]
    with open_table(source, schema) as table:
        assert engines.equal(table.answer(asked), engines.reference(schema, seen, asked))


def csv_of(text, tmp_path, name="rows.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


AGE, SEX = Integer("age", 0, 5), Categorical("sex", ("m", "f"))


@pytest.mark.parametrize(
    "text",
    [
        "age,sex\n1,m\n2,f\n,\n",
        "age;sex\r\n1;m\r\n2;f\r\n;\r\n",
        "age\tsex\n1\tm\n2\tf\n\t\n",
        "age|sex\n1|m\n2|f\n|",
        '\ufeff"age","sex"\n"1","m"\n2,f\n"",""\n',
        'more,sex,"age"\n"a,b\n\n""c""",m,1\nx,f,2\n,,\n',
        "sex,,age\nm,x,1\nf,y,2\n,,\n",
    ],
)
def test_csv_as_people_write_it(text, tmp_path):
    assert counts(csv_of(text, tmp_path), AGE, SEX) == [[0, 1, 1, 0, 0, 0, 1], [1, 1, 1]]


def test_csv_in_gzip(tmp_path):
    path = csv_of(gzip.compress(b"age,sex\n1,m\n2,f\n,\n"), tmp_path, "rows.csv.gz")
    assert counts(path, AGE, SEX) == [[0, 1, 1, 0, 0, 0, 1], [1, 1, 1]]


def test_one_odd_cell_changes_nothing_but_its_own_row(tmp_path):
    """TRUST 18: types are declared, never inferred."""
    for odd in ("x", "0.5", "", "1e400", "2020-01-01", "true"):
        rows = "\n".join(["age", *(["1"] * 50), odd, *(["1"] * 50)])
        found = counts(csv_of(rows, tmp_path), AGE)[0]
        assert found[1] >= 100
        assert sum(found) == (100 if odd == "" else 101) + (odd == "")


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("", "rows.csv", "not a list of 1 to"),
        ("a,a\n1,2\n", "rows.csv", "one name for columns 1 and 2"),
        ("a,b\n1,2\n", "rows.csv", "declares the column 'age'"),
        (b"\xff\xfea\0g\0e\0\n\0", "rows.csv", "UTF-8"),
        ("age\0\n1\n", "rows.csv", "does not start with a line of names"),
        ('"age\nx",b\n1,2\n', "rows.csv", "not a list"),
        (b"age,\xff\n1,2\n", "rows.csv", "UTF-8"),
        (b"not gzip", "rows.csv.gz", "UTF-8"),
        (",".join(map(str, range(10_001))), "rows.csv", "1 to 10,000"),
        ("x" * 1_000_002, "rows.csv", "1 MB"),
        ("age\n", "rows.parquet", "no such table"),
        ("age\n", "rows.duckdb", "DuckDB"),
        ("age\n", "rows.xlsx", "no kind of file"),
        ("age\n", "rows.sav", "survey file"),
        ("age\n", "rows.dta", "survey file"),
        ("age\n", "r*ws.csv", "Rename"),
    ],
)
def test_a_file_that_cannot_be_opened_is_refused_by_name(text, name, why, tmp_path):
    path = csv_of(text, tmp_path, name)
    given = f"{path}::t" if name.endswith(".duckdb") else path
    with pytest.raises(BadTable, match=why):
        open_table(given, Schema((AGE,)))


@pytest.mark.parametrize(
    "source",
    [
        *(
            "missing.csv",
            "nul\0.csv",
            "/",
            "",
            "http://host/rows.csv",
            "s3://bucket/x.parquet",
            "x.duckdb",
            5,
            None,
        ),
        *("file:///etc/passwd", "postgresql://nobody@127.0.0.1:1/none", "spark://nowhere:7077", [1, 2]),
        "postgresql://nobody@127.0.0.1:1/none?table=t",
    ],
)
def test_what_is_no_source_of_rows_is_refused(source):
    with pytest.raises(BadTable):
        open_table(source, Schema((AGE,)))


def test_a_path_and_a_table_that_do_not_belong_together(tmp_path):
    path = csv_of("age\n1\n", tmp_path)
    with pytest.raises(BadTable, match="holds one table"):
        open_table(f"{path}::other", Schema((AGE,)))
    with pytest.raises(BadTable, match="holds one table"):
        open_table(path, Schema((AGE,)), table="other")


def test_opening_reads_no_rows(tmp_path):
    """TRUST 26: a source that fails when its rows are touched can still be opened."""

    def batches():
        raise AssertionError
        yield

    stream = pa.RecordBatchReader.from_batches(pa.schema({"age": pa.int64()}), batches())
    open_table(stream, Schema((AGE,))).close()
    path = tmp_path / "broken.parquet"
    pq.write_table(pa.table({"age": list(range(1000))}), path, compression="none", use_dictionary=False)
    broken = bytearray(path.read_bytes())
    broken[4:2000] = b"\xff" * 1996
    path.write_bytes(broken)
    open_table(path, Schema((AGE,))).close()
    open_table(csv_of("age\n1,2,3\n", tmp_path), Schema((AGE,))).close()


def test_columns_of_other_types_are_refused_unless_they_are_never_queried():
    frame = pa.table({"age": pa.array([[1], [2]]), "sex": ["m", "f"]})
    with pytest.raises(BadTable, match="'age' is of type list"):
        open_table(frame, Schema((AGE, SEX)))
    assert counts(frame, SEX) == [[1, 1, 0]]
    with open_table(frame, Schema((Text("age"), SEX))) as table:
        assert table.answer([histogram(SEX)])[0].tolist() == [1, 1, 0]


def test_arrow_types_of_all_sizes():
    days, moment = Moment("x", "2020-01-01", "2020-01-05"), datetime(2020, 1, 2, 12)
    for unit in ("s", "ms", "us", "ns"):
        low = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
        ends = [2**63 - 1, -(2**63), -1, 0, int(moment.timestamp()) * low]
        column = pa.array([*ends, None], pa.int64()).cast(pa.timestamp(unit), safe=False)
        assert counts(pa.table({"x": column}), days) == [[3, 1, 0, 0, 1, 1]]
    assert counts(pa.table({"x": pa.array([date(2020, 1, 2), None], pa.date64())}), days) == [
        [0, 1, 0, 0, 0, 1]
    ]
    for kind in (
        pa.int8(),
        pa.uint8(),
        pa.int32(),
        pa.uint64(),
        pa.float16(),
        pa.float32(),
        pa.decimal256(50, 2),
    ):
        values = np.array([1, 2, 2], np.float16) if kind == pa.float16() else [1, 2, 2]
        assert counts(pa.table({"age": pa.array(values, kind)}), AGE) == [[0, 1, 2, 0, 0, 0, 0]]
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        assert counts(pa.table({"sex": pa.array(["m", None, "f", "f"]).cast(kind)}), SEX) == [[1, 2, 1]]
    assert counts(pa.table({"sex": pa.nulls(3)}), SEX) == [[0, 0, 3]]
    assert counts(pa.table({"age": pa.array([1, 2, 2]).dictionary_encode()}), AGE) == [[0, 1, 2, 0, 0, 0, 0]]


def test_pandas_and_polars_types():
    mixed = pd.Series([1, "1", 1.0, True, None, float("nan"), "x", pd.NA, pd.NaT, b"1", [1]], dtype=object)
    assert counts(pd.DataFrame({"age": mixed}), AGE) == [[0, 4, 0, 0, 0, 0, 7]]
    frame = pd.DataFrame(
        {
            "sex": pd.Categorical(["m", "f", None]),
            "age": pd.array([1, None, 9], dtype="Int8"),
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "text": pd.array(["m", "f", None], dtype="string"),
            "gap": pd.to_timedelta([1, 2, 3]),
            7: [True, False, True],
        }
    )
    when, flag, text = (
        Moment("when", "2020-01-01", "2020-01-03"),
        Boolean("7"),
        Categorical("text", ("m", "f")),
    )
    assert counts(frame, SEX, AGE, when, flag, text) == [
        [1, 1, 1],
        [0, 1, 0, 0, 0, 1, 1],
        [1, 0, 1, 1],
        [1, 2, 0],
        [1, 1, 1],
    ]
    stuff = pl.DataFrame(
        {"sex": ["m", None, "f"], "age": [1, 2, 2]}, schema={"sex": pl.Categorical, "age": pl.UInt16}
    )
    assert counts(stuff, SEX, AGE) == [[1, 1, 1], [0, 1, 2, 0, 0, 0, 0]]
    with pytest.raises(BadTable, match="two columns named 'a'"):
        open_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), Schema((AGE,)))


def test_times_with_a_zone_to_the_nanosecond_are_read_as_they_stand(tmp_path):
    """So pandas writes them; they were taken for missing."""
    path = tmp_path / "rows.parquet"
    times = ["2019-12-31T23:59:59.999999999", "2020-01-01T00:00:00.0", "2020-01-02T23:30:00.0", None]
    frame = pd.DataFrame(
        {"t": pd.Series(pd.to_datetime(times)).astype("datetime64[ns]").dt.tz_localize("UTC")}
    )
    frame.to_parquet(path)
    column = Moment("t", "2020-01-01", "2020-01-03", outside="missing")
    assert counts(str(path), column) == [[1, 1, 0, 2]]
    pd.concat([frame] * 10).to_parquet(path)
    assert describe(str(path)).schema.column("t").kind == "moment"


def test_types_of_duckdb(tmp_path):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as link:
        link.execute("CREATE SCHEMA s; CREATE TYPE mood AS ENUM ('m', 'f')")
        link.execute(
            "CREATE TABLE s.t AS SELECT unnest([1, 2, NULL, 170141183460469231731687303715884105727])::HUGEINT AS age,"
            " unnest(['m', 'f', NULL, 'm'])::mood AS sex, unnest(['infinity', '-infinity', NULL, '2020-01-02'])::DATE AS d,"
            " unnest(['infinity', '-infinity', NULL, '2020-01-02'])::TIMESTAMP AS t,"
            " unnest(['infinity', '-infinity', NULL, '2020-01-02 00:00:00+00'])::TIMESTAMPTZ AS z,"
            " unnest(['1677-09-22', '2262-01-01', NULL, '2020-01-02'])::TIMESTAMP_NS AS n,"
            " unnest(['0001-01-01', '290000-01-01', NULL, '2020-01-02'])::TIMESTAMP_S AS s,"
            " unnest([1.005, 2.5, NULL, 0.1])::DECIMAL(38, 30) AS x"
        )
        link.execute("CREATE VIEW s.v AS SELECT * FROM s.t")
    times = [Moment(name, "2020-01-01", "2020-01-03") for name in "dtzns"]
    for table in ("s.t", "s.v"):
        found = counts(f"{path}::{table}", AGE, SEX, *times, Real("x", 0, 3, "0.01"))
        assert found[:2] == [[0, 1, 1, 0, 0, 1, 1], [2, 1, 1]]
        assert found[2:7] == [[1, 1, 1, 1]] * 5
        assert [at for at, number in enumerate(found[7]) if number] == [10, 100, 250, 301]
    with pytest.raises(BadTable, match="no such table"):
        open_table(f"{path}::other", Schema((AGE,)))


def test_types_of_postgres():
    url = new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TYPE mood AS ENUM ('m', 'f', 'x')")
        link.execute("CREATE DOMAIN years AS int CHECK (VALUE > -5)")
        link.execute(
            "CREATE TABLE t (age years, sex mood, d date, t timestamp, z timestamptz, x numeric, c char(5), i varchar, o json)"
        )
        link.execute(
            "INSERT INTO t VALUES (1, 'm', 'infinity', 'infinity', 'infinity', 'NaN', 'm', 'M', '{}'),"
            "(2, 'f', '-infinity', '-infinity', '-infinity', 'Infinity', 'f', 'f', '{}'),"
            "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
            "(9, 'x', '5874000-01-01', '294000-01-01', '2020-01-02 01:00+02', 1e-5000, 'mm', 'F', '[]'),"
            "(9, 'x', '2020-01-02', '2020-01-02', '4713-01-01 BC', -1e5000, 'm f', 'm', '[]')"
        )
    times = [Moment(name, "2020-01-01", "2020-01-03") for name in "dtz"]
    real = Real("x", 0, 1, "0.5", missing_codes=("0.25",))
    words = [Categorical(name, ("m", "f")) for name in "ci"]
    found = counts(url, AGE, SEX, *times, real, *words, table="t")
    assert found[0] == [0, 1, 1, 0, 0, 2, 1]
    assert found[1] == [1, 1, 3]
    assert found[2:5] == [[1, 1, 2, 1], [1, 1, 2, 1], [3, 0, 1, 1]]
    assert found[5:] == [[2, 0, 1, 2], [1, 1, 3], [1, 1, 3]]
    with pytest.raises(BadTable, match="'o' is of type json"):
        open_table(url, Schema((Categorical("o", ("{}",)),)), table="t")
    with pytest.raises(BadTable, match="cannot be opened"):
        open_table(url, Schema((AGE,)), table="t; drop table t")


def test_long_lists_are_looked_up(tmp_path):
    values = tuple(f"place {n}" for n in range(50_000))
    places, numbers = Categorical("place", values), Categorical("number", tuple(map(str, range(5000))))
    rng = random.Random(1)
    stored = {
        "place": ("text", [rng.choice([*values[:100], values[-1], "elsewhere", None]) for _ in range(1000)]),
        "number": ("number", [rng.choice([0.0, -0.0, 1.0, 4999.0, 0.5, -1.0, None]) for _ in range(1000)]),
    }
    schema = Schema((places, numbers))
    asked = [histogram(places), histogram(numbers), SumOf(Term("place"), is_missing(places).false)]
    asked.append(TableOf((Axis("place", 50_000, 25_000), Axis("number", 5000, 2500)), everything()))
    for engine in ("parquet", "postgres", "polars"):
        (tmp_path / engine).mkdir()
        source, seen = engines.ALL[engine](stored, tmp_path / engine)
        with open_table(source, schema) as table:
            assert engines.equal(table.answer(asked), engines.reference(schema, seen, asked))


def test_values_that_repeat_are_counted_first_and_coded_afterwards(tmp_path):
    from support.raw_values import COLUMNS, RAW

    columns = [column for column in COLUMNS if column.size < 2_000_000]
    texts = [text for text in RAW["text"] if text is None or len(text) < 100]
    stored = {column.name: ("text", texts * 60) for column in columns}
    path, seen = engines.parquet(stored, tmp_path)
    pq.write_table(engines.arrow(stored), path)
    schema = Schema(tuple(columns))
    asked = [histogram(column) for column in columns]
    asked.append(TableOf((Axis("age", 11, 4, keeps_missing=False),), codes_in("age", 12, ((2, 9),))))
    asked.append(TableOf((Axis("age", 11),), codes_in("few", 4, ((0, 1),))))
    with open_table(path, schema) as table:
        found = table.answer(asked)
        sql = [ask for ask, _ in prepared(table._rows, plan(schema, asked)).tables]
    assert "coded_groups" in sql[0]
    assert engines.equal(found, engines.reference(schema, seen, asked))


def test_many_statistics_take_one_scan(tmp_path):
    columns = [Integer(f"i{n}", 0, 9) for n in range(20)]
    path, _ = engines.parquet({column.name: ("whole", list(range(10))) for column in columns}, tmp_path)
    schema = Schema(tuple(columns))
    pairs = [TableOf((Axis(f"i{n}", 10), Axis(f"i{n + 1}", 10)), everything()) for n in range(19)]
    asked = [*(histogram(column) for column in columns), *pairs]
    with open_table(path, schema) as table:
        few, many = (prepared(table._rows, plan(schema, some)) for some in (asked[:28], asked))
        assert (len(few.tables), len(few.tallies), len(many.tables), len(many.tallies)) == (1, 0, 0, 1)
        with table._rows.engine.reading() as reader:
            for ask in (few.tables[0][0], many.tallies[0][0].statement):
                shown = reader.rows(f"EXPLAIN (FORMAT JSON) {ask}")[0][1]
                assert shown.count('"READ_PARQUET"') == 2  # the name and the function of one scan
    assert len(plan(schema, asked).merged()) == 19  # every histogram is added up from a pair


def test_sums_are_exact_at_the_ends_of_what_is_declared(tmp_path):
    """TRUST 8 and 9: whatever the order, and never by doubles."""
    wide = Integer("x", -(2**51), 2**51)
    values = [2**51, *([1] * 64), -(2**51), 2**51 - 1, -(2**51) + 1, 7]
    term, square = Term("x", 1, 1, -(2**51)), Term("x", 2, 1, -(2**51))
    schema = Schema((wide,), most_rows=2**11)
    for order in range(3):
        shuffled = random.Random(order).sample(values, len(values))
        stored = {"x": ("whole", shuffled)}
        for engine in ("arrow", "postgres"):
            source, _ = engines.ALL[engine](stored, tmp_path)
            with open_table(source, schema) as table:
                assert table.answer([SumOf(term, everything())])[0].tolist() == [sum(values)]
                with pytest.raises(QueryTooComplex, match=r"2\^63"):
                    table.answer([SumOf(square, everything())])
    few = Schema((wide,), most_rows=2**10)  # a table of more rows than declared is clamped, and never fails
    with open_table(pa.table({"x": [2**51] * 5000}), few) as table:
        whole, by_cell = (
            Term("x", 1, 1, 0),
            TotalsOf((Axis("x", 2**52 + 1, 2**52),), Term("x", 1, 1, 0), everything()),
        )
        assert [n.tolist() for n in table.answer([SumOf(whole, everything()), by_cell])] == [
            [2**63 - 1],
            [0, 2**63 - 1, 0],
        ]


@pytest.mark.parametrize("engine", ["arrow", "csv", "postgres"])
def test_squares_of_far_codes_are_exact_where_those_inside_are_near(engine, tmp_path):
    wide, word = Integer("x", -(2**51), 2**51), Categorical("word", ("a", "b"))
    schema = Schema((wide, word), most_rows=10**6)
    near = codes_in("x", wide.size, ((2**51 - 50, 2**51 + 50),))
    rng = random.Random(0)
    far = [2**51, -(2**51), 2**63 - 1, None]
    stored = {
        "x": ("whole", [rng.choice([rng.randrange(-50, 51), *far]) for _ in range(300)]),
        "word": ("text", [rng.choice("ab") for _ in range(300)]),
    }
    asked = [
        SumOf(Term("x", 2, -3, 3 * 2**51), near),
        TotalsOf((Axis("word", 2),), Term("x", 2, 2, -(2**52)), near),
    ]
    source, seen = engines.ALL[engine](stored, tmp_path)
    with open_table(source, schema) as table:
        assert engines.equal(table.answer(asked), engines.reference(schema, seen, asked))


def test_questions_of_another_schema_are_refused_before_reading():
    with open_table(pa.table({"age": [1]}), Schema((AGE,))) as table:
        for wrong in (
            TableOf((Axis("age", 7),), everything()),
            CountOf(codes_in("age", 9, ((0, 1),))),
            CountOf(codes_in("other", 9, ((0, 1),))),
            TableOf((Axis("age", 6), Axis("age", 6)), everything()),
        ):
            with pytest.raises(BadQuery):
                table.answer([wrong])
    wide = Integer("x", 0, 10**8)
    with open_table(pa.table({"x": [1]}), Schema((wide,))) as table, pytest.raises(QueryTooComplex):
        table.answer([histogram(wide)])


def test_no_person_moves_a_count_by_more_than_declared(tmp_path):
    rng = random.Random(3)
    people = [rng.choice(["a", "b", "c", "d", "", None]) for _ in range(60)]
    ages = [rng.randrange(7) for _ in range(60)]
    schema = Schema((AGE, Text("who", compare="exact")), unit=Person("who", 3), neighbours="add_remove")
    asked = [histogram(AGE), CountOf(codes_in("age", 7, ((2, 4),)))]

    def answers(rows):
        frame = pa.table(
            {"age": [age for age, _ in rows], "who": pa.array([who for _, who in rows], pa.string())}
        )
        with open_table(frame, schema) as table:
            return np.concatenate(table.answer(asked))

    rows = list(zip(ages, people, strict=True))
    whole = answers(rows)
    assert whole[:7].sum() == 12
    for person in "abcd":
        without = answers([row for row in rows if row[1] != person])
        assert np.abs(whole - without)[:7].sum() == 3
        assert np.abs(whole - without)[7] <= 3
        assert (whole >= without).all()
    assert (answers([row for row in rows if row[1]]) == whole).all()
    assert (answers(rows[::-1]) == whole).all()


def test_threads_may_ask_at_once(tmp_path):
    frame = pa.table({"age": np.arange(100_000) % 5, "sex": ["m", "f"] * 50_000})
    with open_table(frame, Schema((AGE, SEX))) as table:
        found = []

        def ask():
            found.append([numbers.tolist() for numbers in table.answer([histogram(AGE), histogram(SEX)])])

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [[[20_000] * 5 + [0, 0], [50_000, 50_000, 0]]] * 8
