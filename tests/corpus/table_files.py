"""Parquet, DuckDB and survey files that are damaged, cut, or not what their names say."""

# ruff: noqa: S608  (texts are put together here to be refused, or run on made-up rows)

import io
import json
import pickle
import struct
import zipfile
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from corpus.case import Case, each
from corpus.csv_headers import damaged, zipped
from corpus.workshop import NUMBER, SECRET, Workshop

PRIVATE = {
    "region": [f"{SECRET} north"] * 20,
    "age": [int(NUMBER)] * 20,
    "income": [float(NUMBER)] * 20,
    "who": [SECRET] * 20,
}


def parquet(**changed: object) -> bytes:
    """The private table as Parquet; `None` leaves a column out."""
    made = io.BytesIO()
    columns = {name: changed.get(name, cells) for name, cells in PRIVATE.items()}
    pq.write_table(pa.table({name: cells for name, cells in columns.items() if cells is not None}), made)
    return made.getvalue()


def footer_of(size: int) -> bytes:
    """The private table with another word on how long its footer is."""
    return parquet()[:-8] + struct.pack("<i", size) + b"PAR1"


def nested(levels: int) -> pa.Array:
    """Lists in lists."""
    value: object = 1
    kind = pa.int64()
    for _ in range(levels):
        value, kind = [value], pa.list_(kind)
    return pa.array([value] * 20, kind)


WHOLE = parquet()
FOOTER = len(WHOLE) - 8 - struct.unpack("<i", WHOLE[-8:-4])[0]
NO_FOOTER = "no such table that can be opened"
PARQUET = [
    *((f"cut to {size} bytes", WHOLE[:size], NO_FOOTER) for size in (0, 1, 4, 8, 11, 12, len(WHOLE) // 2)),
    *((f"without its last {size} bytes", WHOLE[:-size], NO_FOOTER) for size in (1, 4, 8, 9, 100)),
    ("its magic at the end wrong", WHOLE[:-4] + b"PAR2", NO_FOOTER),
    ("encrypted by its magic", WHOLE[:-4] + b"PARE", NO_FOOTER),
    *(
        (f"a footer of {size} bytes", footer_of(size), NO_FOOTER)
        for size in (0, -1, 1, 2**31 - 1, -(2**31), 10**6)
    ),
    *(
        (f"footer damaged at {at}", damaged(WHOLE, FOOTER + at, b"\xff" * 8), NO_FOOTER)
        for at in (0, 1, 2, 5, 9)
    ),
    ("a footer of zeros", WHOLE[:FOOTER] + bytes(len(WHOLE) - FOOTER - 8) + WHOLE[-8:], ""),
    ("a footer of ones", WHOLE[:FOOTER] + b"\xff" * (len(WHOLE) - FOOTER - 8) + WHOLE[-8:], NO_FOOTER),
    ("nothing but magic", b"PAR1PAR1", NO_FOOTER),
    ("magic and nonsense", b"PAR1 nonsense PAR1", NO_FOOTER),
    ("text", b"region,age\n1,2\n", NO_FOOTER),
    ("zeros", bytes(len(WHOLE)), NO_FOOTER),
    ("a zip", zipped(), NO_FOOTER),
    ("ORC", b"ORC" + bytes(100) + b"ORC", NO_FOOTER),
    ("Arrow", b"ARROW1\0\0" + bytes(100) + b"ARROW1", NO_FOOTER),
    ("without a column", parquet(age=None), "'age'"),
    ("lists in a declared column", parquet(age=nested(1)), "'age'"),
    ("deep lists in a declared column", parquet(age=nested(40)), "'age'"),
    ("structs in a declared column", parquet(age=pa.array([{"a": 1}] * 20)), "'age'"),
    ("bytes in a declared column", parquet(age=pa.array([b"\xff"] * 20)), "'age'"),
    ("a table in a folder's name", None, ""),
]


def parquet_case(place: Workshop, data: object) -> list[str]:
    """Release from one Parquet file."""
    if data is None:
        (place.folder / "bad.parquet").mkdir()
        return place.release(table="bad.parquet")
    return place.release(table=place.file("bad.parquet", data))


def parts(place: Workshop, files: object) -> list[str]:
    """Release from a folder of parts."""
    (place.folder / "parts").mkdir()
    for name, data in files.items():
        place.file(f"parts/{name}", data)
    return place.release(table="parts")


PARTS = [
    ("an empty folder", {}, "no Parquet"),
    ("a folder of other files", {"a.csv": b"region\n", "b.txt": b""}, "no Parquet"),
    ("one part is damaged", {"a.parquet": WHOLE[:-9], "b.parquet": WHOLE}, NO_FOOTER),
    ("one part is empty", {"a.parquet": b"", "b.parquet": WHOLE}, NO_FOOTER),
    ("the first part lacks a column", {"a.parquet": parquet(age=None), "b.parquet": WHOLE}, "'age'"),
]


def database(place: Workshop, *statements: str) -> bytes:
    """A DuckDB database with the private table."""
    path = place.folder / "made.duckdb"
    with duckdb.connect(str(path)) as link:
        link.execute(
            f"CREATE TABLE survey AS SELECT '{SECRET} north' AS region, {NUMBER} AS age, 1.5 AS income, '{SECRET}' AS who"
        )
        for statement in statements:
            link.execute(statement)
    return path.read_bytes()


def duck(place: Workshop, change: object) -> list[str]:
    """Release from a database that is changed byte by byte."""
    return place.release(table=place.file("bad.duckdb", change(database(place))) + "::survey")


DUCKDB = [
    ("empty", lambda _: b"", "DuckDB"),
    ("text", lambda _: b"region,age\n", "DuckDB"),
    ("cut to its head", lambda data: data[:4096], "DuckDB"),
    ("cut in half", lambda data: data[: len(data) // 2], ""),
    ("magic wrong", lambda data: damaged(data, 8), "DuckDB"),
    ("version wrong", lambda data: damaged(data, 12, b"\xff" * 8), "DuckDB"),
    (
        "both headers wrong",
        lambda data: damaged(damaged(data, 4100, b"\xff" * 50), 8200, b"\xff" * 50),
        "DuckDB",
    ),
    ("zeros behind the head", lambda data: data[:4096] + bytes(len(data) - 4096), "DuckDB"),
    ("SQLite", lambda _: b"SQLite format 3\0" + bytes(4096), "DuckDB"),
    ("Parquet", lambda _: WHOLE, "DuckDB"),
]
TABLES = [
    ("no table named", "", "which table"),
    ("a table that is not there", "::other", "no such table"),
    ("a table in a schema that is not there", "::a.b", "no such table"),
    ("three names", "::main.survey.age", "no such table"),
    ("a statement behind", '::survey"; DROP TABLE survey; --', "no such table"),
    ("a function", "::read_csv('/etc/passwd')", "no such table"),
    ("a subquery", "::(SELECT 1)", "no such table"),
    ("the catalogue", "::information_schema.tables", ""),
    ("settings", "::duckdb_settings()", "no such table"),
    ("a quoted name", '::"survey"', "no such table"),
    ("a name of 100,000 letters", "::" + "x" * 100_000, "no such table"),
    ("a view of a file elsewhere", "::elsewhere", "no such table"),
    ("a view of the network", "::far", "no such table"),
    ("a view of rows that fails", "::undeclared", "'region'"),
]
VIEWS = (
    "CREATE TABLE lines AS SELECT 'x' AS line",
    "CREATE VIEW undeclared AS SELECT error(line) AS wrong FROM lines",
)


def named_table(place: Workshop, name: object) -> list[str]:
    """Release from a table of a sound database by its name."""
    place.file("elsewhere.csv", b"region,age,income,who\na,1,1,b\n")
    elsewhere = place.folder / "elsewhere.csv"
    view = f"CREATE VIEW elsewhere AS SELECT * FROM read_csv('{elsewhere}')"
    place.file("bad.duckdb", database(place, *VIEWS, view))
    return place.release(table=f"bad.duckdb{name}")


@cache
def survey_file(end: str) -> bytes:
    """The private table as SPSS or Stata keep it."""
    import tempfile
    from pathlib import Path

    import pyreadstat

    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[end]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"survey{end}"
        write(pd.DataFrame(PRIVATE), str(path))
        return path.read_bytes()


def survey(place: Workshop, given: object) -> list[str]:
    """Release from a survey file."""
    end, change = given
    return place.release(table=place.file(f"bad{end}", change(survey_file(end))))


CHANGES = [
    ("empty", lambda _: b""),
    ("text", lambda _: b"region,age\n" * 100),
    ("zeros", lambda data: bytes(len(data))),
    ("ones", lambda data: b"\xff" * len(data)),
    *((f"cut to {size} bytes", lambda data, size=size: data[:size]) for size in (3, 50, 170, 250)),
    ("magic wrong", lambda data: damaged(data, 0, b"XXXX")),
    ("sizes wrong", lambda data: damaged(data, 64, b"\xff" * 20)),
    ("names wrong", lambda data: data.replace(b"age", b"\xff\xfe\xfd").replace(b"AGE", b"\xff\xfe\xfd")),
    ("another column", lambda data: data.replace(b"age", b"ega").replace(b"AGE", b"EGA")),
]
SURVEYS = [
    *((f"SPSS {name}", (".sav", change), "") for name, change in CHANGES),
    *((f"Stata {name}", (".dta", change), "") for name, change in CHANGES),
]


def arrays() -> bytes:
    """A pack of numpy arrays, one of them a pickle."""
    made = io.BytesIO()
    np.savez(made, region=np.array([{"north"}], dtype=object))
    return made.getvalue()


def bomb() -> bytes:
    """A zip of 20 MB of zeros."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("survey.csv", bytes(20_000_000))
    return made.getvalue()


class Trap:
    """Unpickling it makes a file."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, ("trapped", "w")


LAUGHS = b"a: &a [x,x,x]\n" + b"".join(
    b"%c: &%c [*%c,*%c,*%c]\n" % (at + 1, at + 1, at, at, at) for at in range(97, 121)
)
OTHERS = [
    ("bad.xlsx", zipped()),
    ("bad.xls", b"\xd0\xcf\x11\xe0" + bytes(600)),
    ("bad.json", json.dumps([PRIVATE]).encode()),
    ("bad.jsonl", b'{"region": 1}\n'),
    ("bad.zip", bomb()),
    ("bad.csv.zip", zipped()),
    ("bad.pkl", pickle.dumps(Trap())),
    ("bad.joblib", pickle.dumps(Trap())),
    ("bad.npz", arrays()),
    ("bad.npy", b"\x93NUMPY" + bytes(100)),
    ("bad.feather", b"ARROW1" + bytes(100)),
    ("bad.yaml", LAUGHS),
    ("bad.xml", b"<a/>"),
    ("bad.sqlite", b"SQLite format 3\0"),
    ("bad.h5", b"\x89HDF\r\n\x1a\n"),
    ("bad", b"region,age,income,who\n"),
    ("bad.", b"region,age,income,who\n"),
    ("bad.csv.bz2", b"BZh9"),
    ("bad.csv ", b"region,age,income,who\n"),
    ("csv", b"region,age,income,who\n"),
    ("bad.sas7bdat", bytes(100)),
    ("bad.rds", b"\x1f\x8b"),
    ("bad.sql", b"SELECT 1;"),
    ("bad.py", b"open('trapped', 'w')"),
]
CASES: list[Case] = [
    *each("Parquet", PARQUET, parquet_case),
    *each("Parquet parts", PARTS, parts),
    *each("DuckDB", DUCKDB, duck),
    *each("DuckDB table", TABLES, named_table),
    *each("survey file", SURVEYS, survey),
    *each(
        "unknown kind of file",
        [(name, (name, data), "no kind of file") for name, data in OTHERS],
        lambda place, given: place.release(table=place.file(*given)),
    ),
]
