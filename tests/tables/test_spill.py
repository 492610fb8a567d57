"""Temporary rows: nobody else can look at them, and none stay behind a process that was killed."""

import os
import signal
import subprocess
import sys

import pyarrow as pa
import pytest

from entwined.errors import BadTable
from entwined.queries import CountOf, everything
from entwined.schema import Integer, Schema
from entwined.tables import open_table

SCHEMA = Schema((Integer("age", 0, 5),))
HOLDING = """
import sys
import pyarrow as pa
from entwined.schema import Integer, Schema
from entwined.tables import open_table
table = open_table(pa.table({"age": [1]}), Schema((Integer("age", 0, 5),)))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "entwined" / "spill"


def folders(home):
    return {path for path in home.iterdir() if path.is_dir()}


def holder():
    """Another process that has a table open."""
    child = subprocess.Popen([sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"open\n"
    return child


def end(child):
    child.stdin.close()
    child.stdout.close()
    child.wait(30)


def test_a_killed_process_leaves_rows_only_until_the_next_start(home):
    killed, living = holder(), holder()
    both = folders(home)
    assert len(both) == 2
    for folder in both:
        (folder / "rows" / "duckdb_temp_storage-0.tmp").write_bytes(b"private rows")
    os.kill(killed.pid, signal.SIGKILL)
    end(killed)
    assert folders(home) == both  # nothing could run after that
    with open_table(pa.table({"age": [1]}), SCHEMA) as table:
        left = folders(home) & both
        assert len(left) == 1  # that of the living one, untouched
        assert list((left.pop() / "rows").iterdir())
        assert len(folders(home)) == 2
        assert table.answer([CountOf(everything())])[0].tolist() == [1]
        third = holder()
        assert len(folders(home)) == 3
    end(living)
    end(third)
    assert folders(home) == set()


def test_only_the_owner_looks_into_it(home):
    with open_table(pa.table({"age": [1]}), SCHEMA):
        (folder,) = folders(home)
        assert {path.stat().st_mode & 0o777 for path in (home, folder, folder / "rows")} == {0o700}


def test_rows_that_do_not_fit_go_there(home):
    from entwined.tables.duck import opened

    place = opened(["SET memory_limit = '60MB'", "SET threads = 1"])
    try:
        link = place.connection.cursor()
        link.execute("CREATE TABLE t AS SELECT hash(range) AS a, hash(range + 1) AS b FROM range(6000000)")
        assert any(path.stat().st_size for path in place.spill.rows.iterdir())
        link.close()
    finally:
        place.close()
    assert folders(home) == set()


def test_a_place_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(BadTable, match="XDG_STATE_HOME"):
        open_table(pa.table({"age": [1]}), SCHEMA)
