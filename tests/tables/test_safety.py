"""What an engine says never reaches an analyst, and the engine reaches nothing but its source."""

import gzip
import time

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entwined.errors import HolderError, Unreadable
from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Categorical, Integer, Person, Schema, Text
from entwined.tables import describe, open_table
from entwined.tables.table import FAILED
from support.postgres import new_schema

AGE = Integer("age", 0, 5)
SCHEMA = Schema((AGE,))
ASKED = [TableOf((Axis("age", 6),), everything()), CountOf(everything())]


def csv_of(data, folder, name="rows.csv"):
    path = folder / name
    path.write_bytes(data)
    return path


def broken_parquet(folder):
    path = folder / "rows.parquet"
    pq.write_table(pa.table({"age": list(range(1000))}), path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:2000] = b"\xff" * 1996
    path.write_bytes(data)
    return path


def broken_stream(_folder):
    def batches():
        yield pa.record_batch({"age": [1, 2]})
        raise ValueError("the secret is 42")

    return pa.RecordBatchReader.from_batches(pa.schema({"age": pa.int64()}), batches())


FAILING = {
    "cut gzip": lambda folder: csv_of(gzip.compress(b"age\n" + b"1\n" * 10**6)[:-500], folder, "rows.csv.gz"),
    "parquet page": broken_parquet,
    "stream": broken_stream,
}


@pytest.mark.parametrize("way", FAILING)
def test_a_failure_on_rows_says_the_same_whatever_they_hold(way, tmp_path):
    """TRUST 60 and 62."""
    start = time.process_time()
    with open_table(FAILING[way](tmp_path), SCHEMA) as table, pytest.raises(Unreadable) as raised:
        table.answer(ASKED)
    assert str(raised.value) == FAILED
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    assert time.process_time() - start < 10


def test_the_holder_is_told_what_the_engine_says():
    with pytest.raises(HolderError, match="the secret is 42"):
        describe(broken_stream(None))


def test_a_table_that_is_gone_or_forbidden_fails_in_the_same_words(tmp_path):
    url = new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE t AS SELECT 1 AS age")
        with open_table(f"{url}&table=t", SCHEMA) as table:
            assert [numbers.tolist() for numbers in table.answer(ASKED)] == [[0, 1, 0, 0, 0, 0, 0], [1]]
            link.execute("ALTER TABLE t RENAME age TO other")
            with pytest.raises(Unreadable, match="could not be read"):
                table.answer(ASKED)
            link.execute("ALTER TABLE t RENAME other TO age")
            assert table.answer(ASKED)[1].tolist() == [1]
    path = csv_of(b"age\n1\n", tmp_path)
    with open_table(path, SCHEMA) as table:
        path.unlink()
        with pytest.raises(Unreadable, match="could not be read"):
            table.answer(ASKED)


HOSTILE = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT content FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "COPY (SELECT 1) TO '/tmp/entwined-out.csv'",
    "ATTACH '/tmp/entwined-other.duckdb'",
    "EXPORT DATABASE '/tmp/entwined-export'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_paths = ['/etc/passwd']",
    "SET lock_configuration = false",
    "PRAGMA enable_profiling = 'json'",
    "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
    "SELECT * FROM private_frame",
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "frame"])
def test_the_engine_reads_its_source_and_nothing_else(kind, tmp_path):
    """TRUST 61: whatever statement might get through, the engine itself is closed."""
    private_frame = pa.table({"secret": [42]})
    source = {
        "csv": lambda: csv_of(b"age\n1\n", tmp_path),
        "parquet": lambda: parquet(tmp_path),
        "duckdb": lambda: database(tmp_path),
        "frame": lambda: pa.table({"age": [1]}),
    }[kind]()
    with open_table(source, SCHEMA) as table:
        for statement in HOSTILE:
            with table._rows.engine.reading() as reader, pytest.raises(duckdb.Error):
                reader.rows(statement)
        assert table.answer(ASKED)[1].tolist() == [1]
    assert private_frame.num_rows == 1


def parquet(folder):
    pq.write_table(pa.table({"age": [1]}), folder / "rows.parquet")
    return folder / "rows.parquet"


def database(folder):
    with duckdb.connect(str(folder / "rows.duckdb")) as link:
        link.execute("CREATE TABLE t AS SELECT 1 AS age")
    return f"{folder / 'rows.duckdb'}::t"


def test_a_database_is_only_read(tmp_path):
    with (
        open_table(database(tmp_path), SCHEMA) as table,
        table._rows.engine.reading() as reader,
        pytest.raises(duckdb.Error, match="read-only"),
    ):
        reader.rows("DELETE FROM source.main.t")
    url = new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE t AS SELECT 1 AS age")
    with open_table(f"{url}&table=t", SCHEMA) as table:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), table._rows.engine.reading() as reader:
            reader.rows("DELETE FROM t")
        assert table.answer(ASKED)[1].tolist() == [1]


def test_shapes_and_orders_are_public(tmp_path):
    """TRUST 16, 22, 23, 24: no row, one row, a rare value, another order: the same shape."""
    word = Categorical("word", tuple("abcdefghijkl"))
    schema = Schema((AGE, word))
    asked = [
        *ASKED,
        TableOf((Axis("word", 12), Axis("age", 6)), everything()),
        TableOf((Axis("word", 12),), everything()),
    ]
    shapes = set()
    for rows in ([], [(1, "a")], [(9, "rare"), (None, None)], [(n % 5, "l") for n in range(500)]):
        frame = pa.table(
            {
                "age": pa.array([age for age, _ in rows], pa.int64()),
                "word": pa.array([text for _, text in rows], pa.string()),
            }
        )
        with open_table(frame, schema) as table:
            shapes.add(tuple(len(numbers) for numbers in table.answer(asked)))
    assert shapes == {(7, 1, 91, 13)}


def test_rows_that_name_nobody_are_left_out(tmp_path):
    schema = Schema((AGE, Text("who", compare="exact")), unit=Person("who", 2), neighbours="add_remove")
    path = csv_of(b"age,who\n1,ann\n2,ann\n3,ann\n4,\n5,bob\n", tmp_path)
    with open_table(path, schema) as table:
        ages = table.answer(ASKED)[0].tolist()
    assert ages[4:] == [0, 1, 0]
    assert sum(ages[1:4]) == 2  # of ann's three rows
