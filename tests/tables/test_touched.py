"""A file that changes while it is open is never answered about, whatever of its size and time was kept."""

import os

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from entwined.errors import Unreadable
from entwined.queries import CountOf, parse
from entwined.schema import Integer, Schema
from entwined.tables import open_table

SCHEMA = Schema((Integer("pay", 0, 99),), most_rows=50_000)
ASKED = [CountOf(parse("pay > 50", SCHEMA))]


def database(path, value):
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as link:
        link.execute(f"CREATE TABLE t AS SELECT {value} AS pay FROM range(200)")  # noqa: S608  (our own number)


WRITERS = {
    "rows.csv": lambda path, value: csv.write_csv(pa.table({"pay": [value] * 200}), path),
    "rows.parquet": lambda path, value: parquet.write_table(pa.table({"pay": [value] * 200}), path),
    "rows.duckdb": database,
}


def overwritten(path, content, about, how):
    """Put other content in place of a file, with its size and its time of writing."""
    if how == "another file":
        aside = path.with_name("aside")
        aside.write_bytes(content)
        aside.replace(path)
    else:
        with path.open("r+b") as file:
            file.write(content)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (about.st_size, about.st_mtime_ns)


@pytest.mark.parametrize("how", ["in place", "another file"])
@pytest.mark.parametrize("name", WRITERS)
def test_other_rows_of_the_same_size_and_time_are_refused_before_and_after_the_charge(tmp_path, name, how):
    path = tmp_path / name
    WRITERS[name](path, 80)
    others = path.read_bytes()
    WRITERS[name](path, 10)
    about = path.stat()
    assert len(others) == about.st_size
    source = f"{path}::t" if name == "rows.duckdb" else str(path)
    with open_table(source, SCHEMA) as table, open_table(source, SCHEMA) as charged:
        assert table.answer(ASKED)[0].tolist() == [0]
        charged.check(ASKED)
        overwritten(path, others, about, how)
        with pytest.raises(Unreadable, match="Nothing was charged"):
            table.check(ASKED)
        with pytest.raises(Unreadable, match="stays charged"):
            charged.answer(ASKED)
    with open_table(source, SCHEMA) as table:
        assert table.answer(ASKED)[0].tolist() == [200]
