"""Rows without an end, and files that unpack to far more than they are, are not read for minutes."""

import gzip
import time

import duckdb
import pytest

from entwined import open as opened
from entwined.errors import BadInput, BadTable, SlowReadingError
from entwined.queries import Axis, CountOf, Histogram, TableOf, everything
from entwined.schema import Integer, Schema
from entwined.tables import open_table
from entwined.tables.java import find_java
from support import engines
from support.postgres import new_schema

SCHEMA = Schema((Integer("age", 0, 5),), most_rows=1000).approve()
ASKED = [CountOf(everything()), TableOf((Axis("age", 6),), everything())]
ENDLESS = "SELECT (i % 6)::INTEGER AS age FROM range(1000000000000) AS r(i)"
SOON = 20.0


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setenv("ENTWINED_READING_SECONDS", "0.3")


def endless_duckdb(folder):
    with duckdb.connect(str(folder / "rows.duckdb")) as link:
        link.execute(f"CREATE VIEW endless AS {ENDLESS}")
    return f"{folder}/rows.duckdb::endless"


def endless_postgres():
    import psycopg

    url = new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(
            "CREATE VIEW endless AS SELECT (i % 6)::int AS age FROM generate_series(1, 1000000000000) AS i"
        )
    return f"{url}&table=endless&version=1"


@pytest.mark.parametrize("make", [endless_duckdb, lambda _: endless_postgres()], ids=["duckdb", "postgres"])
def test_a_view_without_an_end_is_stopped_and_the_table_can_still_be_closed(tmp_path, make):
    start = time.monotonic()
    with open_table(make(tmp_path), SCHEMA) as table:
        for asked in (ASKED[:1], ASKED):
            with pytest.raises(SlowReadingError, match=r"longer than 0\.3 seconds.*ENTWINED_READING_SECONDS"):
                table.answer(asked)
    assert time.monotonic() - start < SOON


@pytest.mark.slow
@pytest.mark.skipif(not find_java(), reason=engines.NO_JAVA)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_spark_is_stopped_too(monkeypatch):
    monkeypatch.setenv("ENTWINED_READING_SECONDS", "5")
    session = engines.spark()
    rows = session.range(10**13).selectExpr("CAST(id % 6 AS INT) AS age")
    start = time.monotonic()
    with open_table(rows, SCHEMA) as table, pytest.raises(SlowReadingError):
        table.answer(ASKED)
    assert time.monotonic() - start < 3 * SOON


def test_rows_without_an_end_are_refused_before_anything_is_charged(tmp_path):
    source = endless_duckdb(tmp_path)
    with opened(source, SCHEMA, ledger=tmp_path / "ledger.sqlite", cap=1) as door:
        with pytest.raises(SlowReadingError, match="Nothing was charged"):
            door.release(Histogram("age"), leakage=1)
        assert door.ledger.spent().entries == 1


@pytest.mark.parametrize("given", ["0", "-1", "soon", "nan", "inf"])
def test_a_limit_that_is_none_is_refused(tmp_path, monkeypatch, given):
    (tmp_path / "rows.csv").write_text("age\n1\n")
    monkeypatch.setenv("ENTWINED_READING_SECONDS", given)
    with (
        open_table(tmp_path / "rows.csv", SCHEMA) as table,
        pytest.raises(BadInput, match="ENTWINED_READING_SECONDS"),
    ):
        table.answer(ASKED)


def test_a_file_that_unpacks_to_hundreds_of_times_its_size_is_refused_when_it_is_opened(tmp_path):
    member = gzip.compress(b"1\n" * 10_000_000, 6)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"age\n" + b"1\n" * 10_000_000, 6) + member * 50)
    assert (tmp_path / "rows.csv.gz").stat().st_size < 2_000_000
    with pytest.raises(BadTable, match="unpacked to"):
        open_table(tmp_path / "rows.csv.gz", SCHEMA)


def test_a_packed_file_of_ordinary_rows_is_read(tmp_path, monkeypatch):
    monkeypatch.delenv("ENTWINED_READING_SECONDS")
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"age\n" + b"1\n2\n" * 100))
    with open_table(tmp_path / "rows.csv.gz", SCHEMA) as table:
        assert table.answer(ASKED[:1])[0].tolist() == [200]
