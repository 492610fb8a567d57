"""Which table it is: every source tells its own rows from those of any other, and from its own at another time."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pytest

from entwined.errors import BadTable
from entwined.queries import Axis, Histogram, TableOf, everything
from entwined.release import release
from entwined.release.opening import open_ledger
from entwined.schema import Categorical, Integer, Schema
from entwined.tables import open_table
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
        assert table.identity != before
        assert table.folder == path.parent
        assert table.place.replace("::main.", "::").endswith(str(source))


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
        assert table.identity != before


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


def test_memory_that_was_changed_under_a_frame_is_another_table():
    numbers = np.array([1.0, 2.0])
    frame = pa.table({"age": pa.array(numbers), "sex": ["m", "f"]})
    with open_table(frame, SCHEMA) as table:
        before = table.identity
        numbers[:] = 5
        assert table.answer([TableOf((Axis("age", 6),), everything())])[0].tolist() == [0, 0, 0, 0, 0, 2, 0]
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
