"""Coded rows that stay in memory give the integers that the source gives, and never those of other rows."""

import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from entwined.errors import Unreadable
from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Integer, Person, Schema
from entwined.tables import open_table, resident, rows
from support import engines
from support.random_tables import COLUMNS, random_aggregate, random_table, said

AGES = Schema((Integer("age", 0, 5),), most_rows=1000)
ASKED = [TableOf((Axis("age", 6),), everything()), CountOf(everything())]


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("engine", ["csv", "parquet", "duckdb", "postgres"])
def test_random_batches_are_answered_as_from_the_source(engine, by_person, tmp_path):
    rng = random.Random(f"{engine}{by_person}")
    unit = {"unit": Person("who", 2), "neighbours": "add_remove"} if by_person else {}
    schema = Schema(COLUMNS, most_rows=10_000, **unit)
    source, seen = engines.ALL[engine](random_table(rng, 200), tmp_path)
    with open_table(source, schema, resident=True) as table:
        for _ in range(3):
            asked = [random_aggregate(rng, schema) for _ in range(8)]
            assert engines.equal(table.answer(asked), engines.reference(schema, seen, said(asked, schema)))
        kept = table._rows.resident().kept_as
    assert bool(kept) is (engine != "postgres")


def test_groups_are_kept_small_in_memory_too(tmp_path):
    (tmp_path / "rows.csv").write_text("age\n" + "1\n2\n" * 20 + "3\n")
    with open_table(tmp_path / "rows.csv", AGES, resident=True) as table:
        small = table.keeping("age", 4)
        for _ in range(2):
            assert list(small.answer(ASKED)[0][:6]) == [0, 4, 4, 1, 0, 0]
            assert list(table.answer(ASKED)[0][:6]) == [0, 20, 20, 1, 0, 0]


def test_malformed_rows_are_mended_on_the_way(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b'age,more\n1,"x\n2,y,z\n3,\xff\n')
    with (
        open_table(tmp_path / "rows.csv", AGES, resident=True) as table,
        open_table(tmp_path / "rows.csv", AGES) as plain,
    ):
        assert [list(one) for one in table.answer(ASKED)] == [list(one) for one in plain.answer(ASKED)]
        assert table._rows.resident().kept_as


def test_what_was_kept_is_not_given_for_other_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age\n1\n2\n")
    with open_table(path, AGES, resident=True) as table:
        assert list(table.answer(ASKED)[1]) == [2]
        path.write_text("age\n1\n2\n3\n")
        with pytest.raises(Unreadable, match="files changed"):
            table.check(ASKED)
        with pytest.raises(Unreadable):
            table.answer(ASKED)
    with open_table(path, AGES, resident=True) as table:
        assert list(table.answer(ASKED)[1]) == [3]


def test_what_was_kept_while_the_rows_changed_is_thrown_away(tmp_path):
    """Rows that came and went again, with the size and the time that they had before."""
    path = tmp_path / "rows.csv"
    path.write_text("age\n1\n2\n")
    times = path.stat()
    with open_table(path, AGES, resident=True) as table:
        path.write_text("age\n3\n3\n3\n")
        with pytest.raises(Unreadable):
            table.answer(ASKED)
        path.write_text("age\n1\n2\n")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        with pytest.raises(Unreadable):
            table.answer(ASKED)
    with open_table(path, AGES, resident=True) as table:
        assert list(table.answer(ASKED)[0][:6]) == [0, 1, 1, 0, 0, 0]


def test_tables_that_could_be_too_large_are_read_each_time(tmp_path):
    (tmp_path / "rows.csv").write_text("age\n1\n2\n")
    with open_table(tmp_path / "rows.csv", Schema(AGES.columns, most_rows=2**40), resident=True) as table:
        assert list(table.answer(ASKED)[1]) == [2]
        assert not table._rows.resident().kept_as


def test_rows_that_cannot_be_kept_are_read_from_their_source(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("age\n1\n2\n")
    with open_table(tmp_path / "rows.csv", AGES, resident=True) as table:
        monkeypatch.setattr(resident, "small_type", lambda _: (1, "NO_SUCH_TYPE"))
        monkeypatch.setattr(rows, "small_type", lambda _: (1, "NO_SUCH_TYPE"))
        assert list(table.answer(ASKED)[1]) == [2]
        assert not table._rows.resident().kept_as


def test_several_threads_may_come_first(tmp_path):
    (tmp_path / "rows.csv").write_text("age\n" + "4\n" * 500)
    with open_table(tmp_path / "rows.csv", AGES, resident=True) as table, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: table.answer(ASKED), range(32)))
    assert {int(counts[4]) for counts, _ in found} == {500}


def test_bytes_are_read_once_for_each_version(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("age\n1\n2\n")
    with open_table(path, AGES) as table:
        first = table.known
        monkeypatch.setattr(table._rows.engine, "_digest", lambda: "contents of other rows")
        assert table.known == first
        path.write_text("age\n1\n2\n3\n")
        assert table.known != first
