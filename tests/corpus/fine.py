"""What looks odd and is right: it is answered, and the answer is the true one."""

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from corpus.workshop import HEADER, Workshop

ROW = b"north,30,10.5,someone\n"
SOUND = HEADER + ROW * 20


@dataclass(frozen=True)
class Fine:
    """A table with its right number of rows and sum of ages."""

    name: str
    make: Callable[[Workshop], str]
    rows: int = 20
    ages: int = 600


def file(name: str, data: bytes) -> Callable[[Workshop], str]:
    """Write a file."""
    return lambda place: place.file(name, data)


def cells(*given: str) -> bytes:
    """A table with these ages."""
    return HEADER + b"".join(f"north,{cell},1,a\n".encode() for cell in given)


def parquet(ages: pa.Array) -> bytes:
    """A Parquet file with these ages, and a column more."""
    made = io.BytesIO()
    more = pa.array(["x"] * len(ages))
    pq.write_table(pa.table({"more": more, "region": more, "age": ages, "income": ages, "who": more}), made)
    return made.getvalue()


def linked(place: Workshop) -> str:
    """A link to a file elsewhere."""
    (place.folder / "link.csv").symlink_to(place.file("elsewhere/a.csv", SOUND))
    return "link.csv"


def folder(place: Workshop) -> str:
    """A folder of two parts."""
    for name in ("a", "b"):
        place.file(f"parts/{name}.parquet", parquet(pa.array([30] * 10)))
    return "parts"


def database(place: Workshop) -> str:
    """A table whose name has to be quoted."""
    with duckdb.connect(str(place.folder / "some.duckdb")) as link:
        link.execute(
            """CREATE TABLE "a ""b; DROP" AS SELECT 'north' AS region, 30 AS age, 1.5 AS income, '' AS who FROM range(20)"""
        )
    return 'some.duckdb::a "b; DROP'


FINE: list[Fine] = [
    Fine("a byte order mark", file("a.csv", b"\xef\xbb\xbf" + SOUND)),
    Fine("Windows line ends", file("a.csv", SOUND.replace(b"\n", b"\r\n"))),
    Fine("no line end at the end", file("a.csv", SOUND[:-1])),
    Fine("semicolons", file("a.csv", SOUND.replace(b",", b";"))),
    Fine("tabs", file("a.tsv", SOUND.replace(b",", b"\t"))),
    Fine("bars", file("a.txt", SOUND.replace(b",", b"|"))),
    Fine(
        "quotes around all",
        file("a.csv", b'"region","age","income","who"\n' + b'"north","30","10.5","so, me\none"\n' * 20),
    ),
    Fine(
        "other order, and more columns", file("a.csv", b"who,age,x,region,income\n" + b"a,30,,north,1\n" * 20)
    ),
    Fine("packed", file("a.csv.gz", gzip.compress(SOUND))),
    Fine("packed in two parts", file("a.csv.gz", gzip.compress(SOUND[:50]) + gzip.compress(SOUND[50:]))),
    Fine("a header alone", file("a.csv", HEADER), 0, 0),
    Fine("a header without a line end", file("a.csv", HEADER[:-1]), 0, 0),
    Fine("capitals in the ending", file("A.CSV", SOUND)),
    Fine("a strange name", file("a 'b\" ; $x ü 字.csv", SOUND)),
    Fine("a link", linked),
    Fine("a folder of parts", folder),
    Fine("Parquet with more columns", file("a.parquet", parquet(pa.array([30] * 20)))),
    Fine("a name that has to be quoted", database),
    Fine(
        "words for numbers",
        file("a.csv", cells("thirty", "NaN", "nan", "inf x", "", "null", "N/A", "0x1E", "３０", "30")),
        10,
        30,
    ),
    Fine(
        "beyond the bounds",
        file("a.csv", cells("-5", "1e9", "-1e400", "1e400", "999999999999999999999", "inf", "-inf")),
        7,
        120 * 3,
    ),
    Fine(
        "fractions and zeros",
        file("a.csv", cells("-0.0", "5e-324", "1e-400", "0.4", "29.5", "+30", " 30 ")),
        7,
        90,
    ),
    Fine(
        "the largest integers", file("a.parquet", parquet(pa.array([2**63 - 1, 2**63 - 1, -(2**63)]))), 3, 240
    ),
    Fine("missing values", file("a.parquet", parquet(pa.array([None, None, 30], pa.int64()))), 3, 30),
]
