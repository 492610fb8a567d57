"""Which table it is: every source tells its own rows from those of any other, and from its own at another time."""

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pytest

from entwined.errors import BadTable, EntwinedError, Unreadable
from entwined.queries import Axis, CountOf, Histogram, TableOf, everything
from entwined.request.opening import open_ledger
from entwined.request.verbs import release
from entwined.schema import Categorical, Integer, Schema
from entwined.tables import open_table
from entwined.tables.duck import Duck
from support import engines
from support.postgres import MINE, new_schema, server

SCHEMA = Schema((Integer("age", 0, 5), Categorical("sex", ("m", "f"))))
WAVES = (
    {"age": ("whole", [1, 2, None]), "sex": ("text", ["m", "f", "m"])},
    {"age": ("whole", [1, 2, None]), "sex": ("text", ["m", "f", "f"])},
)


def stata_file(columns, folder):
    import pyreadstat

    path = folder / "rows.dta"
    pyreadstat.write_dta(engines.arrow(columns).to_pandas(), str(path))
    return path, columns


def spss_file(columns, folder):
    import pyreadstat

    path = folder / "rows.sav"
    pyreadstat.write_sav(engines.arrow(columns).to_pandas(), str(path))
    return path, columns


SOURCES = engines.LIGHT | {"dta": stata_file, "sav": spss_file}


def identity(source, **how):
    with open_table(source, SCHEMA, **how) as table:
        return table.identity


@pytest.mark.parametrize("kind", SOURCES)
def test_two_waves_of_one_shape_are_two_tables(kind, tmp_path):
    found = []
    for at, wave in enumerate(WAVES):
        (tmp_path / str(at)).mkdir()
        found.append(identity(SOURCES[kind](wave, tmp_path / str(at))[0]))
    assert found[0] != found[1]


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind not in {"stream", "postgres"}])
def test_rows_that_did_not_change_are_the_same_table(kind, tmp_path):
    source, _ = SOURCES[kind](WAVES[0], tmp_path)
    assert identity(source) == identity(source)


@pytest.mark.parametrize("kind", ["csv", "parquet", "parts", "duckdb", "dta", "sav"])
def test_a_file_that_changed_is_another_table(kind, tmp_path):
    source, _ = SOURCES[kind](WAVES[0], tmp_path)
    path = Path(str(source).partition("::")[0])
    inside = next(path.iterdir()) if path.is_dir() else path
    with open_table(source, SCHEMA) as table:
        before = table.identity
        about = inside.stat()
        os.utime(inside, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
        refuses(table)
        assert (table.identity, table.folder) == (before, path.parent)
        assert table.place.replace("::main.", "::").endswith(str(source))
    assert identity(source) != before


def refuses(table):
    """The table was opened on other rows: nothing is charged for it, and no row of it is answered about."""
    asked = [CountOf(everything())]
    with pytest.raises(Unreadable, match=r"not the one that was opened.*Nothing was charged"):
        table.check(asked)
    with pytest.raises(Unreadable, match="could not be read"):
        table.answer(asked)


def test_a_grown_file_is_another_table_though_its_time_was_put_back(tmp_path):
    path, _ = engines.csv_file(WAVES[0], tmp_path)
    about, before = path.stat(), identity(path)
    path.write_bytes(path.read_bytes() + b"3,m\r\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert identity(path) != before


def test_a_database_with_a_log_beside_it_is_another_table(tmp_path):
    source, _ = engines.duckdb_file(WAVES[0], tmp_path)
    with open_table(source, SCHEMA) as table:
        before = table.identity
        (tmp_path / "rows.duckdb.wal").write_bytes(b"later")
        refuses(table)
        assert table.identity == before


def test_a_part_that_comes_later_makes_another_table(tmp_path):
    source, _ = engines.parts(WAVES[0], tmp_path)
    with open_table(source, SCHEMA) as table:
        before = table.identity
        engines.pq.write_table(engines.arrow(WAVES[1]), source / "c.parquet")
        refuses(table)
    assert identity(source) != before
    with open_table(source, SCHEMA) as table:
        assert table.answer([CountOf(everything())])[0].tolist() == [6]


def test_survey_rows_that_were_read_keep_their_version(tmp_path):
    path, _ = stata_file(WAVES[0], tmp_path)
    with open_table(path, SCHEMA) as table:
        before = table.identity
        table.answer([])
        os.utime(path, ns=(1, 1))
        assert table.identity == before
    assert identity(path) != before


def test_frames_are_known_by_their_values_alone():
    whole = engines.arrow(WAVES[0] | {"flag": ("truth", [True, None, False])})
    cut = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    inside = pa.concat_tables([whole, whole, whole]).slice(3, 3)
    assert identity(whole) == identity(cut) == identity(inside) == identity(whole.to_reader(max_chunksize=1))
    hidden = pa.Array.from_buffers(  # another number lies under the missing one
        pa.int64(),
        3,
        [pa.py_buffer(b"\3"), pa.py_buffer(b"".join(n.to_bytes(8, "little") for n in (1, 2, 9)))],
    )
    assert hidden.equals(whole["age"].combine_chunks())
    assert identity(whole.set_column(0, "age", hidden)) == identity(whole)


def test_the_place_of_a_value_and_what_is_missing_count():
    frames = [
        pd.DataFrame({"age": [1, 2], "sex": ["m", "f"]}),
        pd.DataFrame({"age": [2, 1], "sex": ["m", "f"]}),
        pd.DataFrame({"age": [1, 2], "sex": ["m", None]}),
        pd.DataFrame({"age": [1, 0], "sex": ["m", "f"]}),
        pd.DataFrame({"age": pd.array([1, None], "Int64"), "sex": ["m", "f"]}),
        pd.DataFrame({"age": [1], "sex": ["m"]}),
    ]
    assert len({identity(frame) for frame in frames}) == len(frames)


@pytest.mark.parametrize("frame_of", [pa.table, pd.DataFrame])
def test_memory_that_was_changed_under_a_frame_is_another_table(frame_of):
    """An opened frame is what it was when it was first looked at; opened again, it is what it is by then."""
    numbers = np.array([1.0, 2.0])
    held = pa.array(numbers) if frame_of is pa.table else pd.Series(numbers, copy=False)
    frame = frame_of({"age": held, "sex": ["m", "f"]})
    asked = [TableOf((Axis("age", 6),), everything())]
    with open_table(frame, SCHEMA) as table:
        before = table.identity
        if frame_of is pa.table:
            numbers[:] = 5
        else:
            frame.iloc[:, 0] = 5.0
        assert table.answer(asked)[0].tolist() == [0, 1, 1, 0, 0, 0, 0]
        assert table.identity == before
    with open_table(frame, SCHEMA) as table:
        assert table.answer(asked)[0].tolist() == [0, 0, 0, 0, 0, 2, 0]
        assert table.identity != before


def test_one_name_in_two_databases_is_two_tables():
    names = [f"{MINE}_wave_one", f"{MINE}_wave_two"]
    with psycopg.connect(server().get_uri(), autocommit=True) as link:
        for name in names:
            link.execute(f"CREATE DATABASE {name}")
    urls = [server().get_uri(database=name) for name in names]
    for url in urls:
        with psycopg.connect(url, autocommit=True) as link:
            link.execute("CREATE TABLE people AS SELECT 1 AS age, 'm' AS sex")
    named = [identity(f"{url}&table=people&version=1") for url in urls]
    assert named[0] != named[1]
    assert named[0] == identity(f"{urls[0]}&table=public.people&version=1")
    assert named[0] != identity(urls[0], table="people", version="2")
    assert identity(f"{urls[0]}&table=people") != identity(f"{urls[0]}&table=people")


def test_a_place_names_no_user_and_no_password():
    url = new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE people AS SELECT 1 AS age, 'm' AS sex")
        user, folder = link.info.user, link.info.host
    with open_table(f"{url}&table=people", SCHEMA) as table:
        kind, where, name = table.place.replace(folder, "HOST").split(" ")
    assert (kind, name.partition(".")[2]) == ("postgresql", "people")
    assert user not in where.replace("/postgres", "")
    assert "password" not in table.place


def test_a_version_belongs_to_a_database(tmp_path):
    path, _ = engines.csv_file(WAVES[0], tmp_path)
    with pytest.raises(BadTable, match="tells its version itself"):
        open_table(path, SCHEMA, version="1")
    with pytest.raises(BadTable, match="is empty"):
        open_table(f"{new_schema()}&table=pg_class&version=", SCHEMA)


@pytest.mark.parametrize("kind", ["pandas", "dta", "sav"])
def test_the_second_wave_is_not_answered_with_the_numbers_of_the_first(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    schema, query, kept = SCHEMA.approve(), Histogram("sex"), []
    with open_ledger(tmp_path / "ledger.sqlite", schema, cap=9_000) as ledger:
        for at, wave in enumerate((*WAVES, WAVES[1])):
            folder = tmp_path / str(min(at, 1))
            folder.mkdir(exist_ok=True)
            source = SOURCES[kind](wave, folder)[0] if at < 2 or kind == "pandas" else folder / f"rows.{kind}"
            with open_table(source, schema) as table:
                found = release(table, query, ledger=ledger, loss=1000, consistent=False)
            kept.append((found.of(query).value, ledger.book.spent().price.nominal))
    assert [spent for _, spent in kept] == [1000, 2000, 2000]
    assert [list(value) for value, _ in kept] == [
        [2, 1, 0],
        [1, 2, 0],
        [1, 2, 0],
    ]


ASKED = Histogram("sex")


@contextmanager
def accounts(folder, monkeypatch):
    """A ledger, and what a release from a source gives: its numbers, and what everything cost by then."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    schema = SCHEMA.approve()
    with open_ledger(folder / "ledger.sqlite", schema, cap=90_000) as ledger:

        def asked(source, **how):
            with open_table(source, schema, **how) as table:
                found = release(table, ASKED, ledger=ledger, loss=1000, consistent=False)
            return list(found.of(ASKED).value), int(ledger.book.spent().price.nominal)

        yield asked, ledger


def test_a_grown_file_is_asked_anew_and_charged_anew(tmp_path, monkeypatch):
    path, _ = engines.csv_file(WAVES[0], tmp_path)
    with accounts(tmp_path, monkeypatch) as (asked, _):
        assert [asked(path), asked(path)] == [([2, 1, 0], 1000)] * 2
        with path.open("ab") as file:
            file.write(b"3,f\r\n")
        assert [asked(path), asked(path)] == [([2, 2, 0], 2000)] * 2


def test_a_database_is_the_same_only_where_the_holder_says_so(tmp_path, monkeypatch):
    url, _ = engines.postgres_table(WAVES[0], tmp_path)
    with accounts(tmp_path, monkeypatch) as (asked, _):
        assert [asked(url)[1], asked(url)[1]] == [1000, 2000]
        assert [asked(url, version="2026-03"), asked(f"{url}&version=2026-03")] == [([2, 1, 0], 3000)] * 2
        assert asked(url, version="2026-04") == ([2, 1, 0], 4000)
        assert asked(url)[1] == 5000


def test_rows_that_changed_between_charge_and_reading_are_not_answered_about(tmp_path, monkeypatch):
    """The charge stays, nothing is kept under the name of either table, and both are asked anew."""
    path, _ = engines.csv_file(WAVES[0], tmp_path)
    old, about = path.read_bytes(), path.stat()
    with accounts(tmp_path, monkeypatch) as (asked, ledger):
        reserve = type(ledger).reserve

        def replaced(book, charge):
            receipt = reserve(book, charge)
            path.write_bytes(old + b"3,f\r\n")
            return receipt

        monkeypatch.setattr(type(ledger), "reserve", replaced)
        with pytest.raises(EntwinedError) as raised:
            asked(path)
        assert "What was charged stays charged" in str(raised.value)
        assert ledger.book.spent().price.nominal == 1000
        monkeypatch.setattr(type(ledger), "reserve", reserve)
        assert asked(path) == ([2, 2, 0], 2000)
        path.write_bytes(old)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
        assert asked(path)[0] == [2, 1, 0]


def test_rows_that_change_while_they_are_read_are_not_answered_about(tmp_path, monkeypatch):
    path, _ = engines.csv_file(WAVES[0], tmp_path)
    rows = Duck.Reader.rows

    def grows(reader, statement):
        found = rows(reader, statement)
        path.write_bytes(path.read_bytes() + b"3,f\r\n")
        return found

    monkeypatch.setattr(Duck.Reader, "rows", grows)
    with open_table(path, SCHEMA) as table:
        table.check([CountOf(everything())])
        with pytest.raises(Unreadable, match="could not be read"):
            table.answer([CountOf(everything())])
