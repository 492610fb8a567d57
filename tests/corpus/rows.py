"""Files that are bad in their rows only: found out after the charge, and told in the same words whatever they hold."""

# ruff: noqa: S608  (texts are put together here to be refused, or run on made-up rows)

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from corpus.workshop import HEADER, Workshop

ASKED = [{"kind": "mean", "column": "age"}, {"kind": "histogram", "column": "region"}]


@dataclass(frozen=True)
class Rows:
    """A table made of a private row; reading it fails somewhere behind its first line."""

    name: str
    make: Callable[[Workshop, bytes], str]


def csv(change: Callable[[bytes], bytes], name: str = "bad.csv") -> Callable[[Workshop, bytes], str]:
    """Write a CSV file whose rows are changed."""
    return lambda place, row: place.file(name, change(row))


def pages(at: float, size: int = 4, **options: object) -> Callable[[Workshop, bytes], str]:
    """Write a Parquet file and damage its pages, not its footer."""

    def make(place: Workshop, row: bytes) -> str:
        region, age, income, who = row.decode().strip().split(",")
        made = io.BytesIO()
        count = 5000
        table = {
            "region": [region] * count,
            "age": [int(age) + at for at in range(count)],
            "income": [float(income)] * count,
            "who": [who] * count,
        }
        pq.write_table(pa.table(table), made, **options)
        data = bytearray(made.getvalue())
        column = pq.read_metadata(io.BytesIO(data)).row_group(0).column(1)
        start = column.dictionary_page_offset or column.data_page_offset
        end = start + column.total_compressed_size
        place_of = start + int(at * (end - start))
        data[place_of : place_of + size] = b"\xff" * size
        return place.file("bad.parquet", bytes(data))

    return make


def view(statement: str) -> Callable[[Workshop, bytes], str]:
    """Make a database whose view fails on its rows."""

    def make(place: Workshop, row: bytes) -> str:
        with duckdb.connect(str(place.folder / "bad.duckdb")) as link:
            link.execute("CREATE TABLE rows AS SELECT ? AS cell", [row.decode()])
            link.execute(
                f"CREATE VIEW survey AS SELECT '' AS region, ({statement}) AS age, 0.0 AS income, cell AS who FROM rows"
            )
        return "bad.duckdb::survey"

    return make


PLAIN: dict[str, Callable[[bytes], bytes]] = {
    "a cell too many": lambda row: HEADER + row * 5 + row.strip() + b",more\n" + row,
    "a cell too few": lambda row: HEADER + row * 5 + row.rpartition(b",")[0] + b"\n" + row,
    "one cell": lambda row: HEADER + row * 5 + row.partition(b",")[0] + b"\n",
    "a hundred cells too many": lambda row: HEADER + row + row.strip() + b",x" * 100 + b"\n",
    "bytes that are no text": lambda row: HEADER + row * 5 + b"\xff\xfe" + row,
    "Latin-1 among UTF-8": lambda row: HEADER + row * 5 + "é".encode("latin-1") + row,
    "UTF-16 behind the header": lambda row: HEADER + row.decode().encode("utf-16"),
    "half a surrogate pair": lambda row: HEADER + b"\xed\xa0\x80" + row,
    "a quote that stays open": lambda row: HEADER + row * 5 + b'"' + row * 3,
    "a quote that stays open at the end": lambda row: HEADER + row * 5 + row.strip() + b',"',
    "rubbish behind a quote": lambda row: HEADER + row + b'"' + row.partition(b",")[0] + b'"x,1,1,a\n',
    "a cell of 10 MB": lambda row: HEADER + row + b"x" * 10_000_000 + row,
    "other delimiters": lambda row: HEADER + row.replace(b",", b";"),
    "a binary file behind the header": lambda row: HEADER + b"\x00\xff\x01\xfe" * 200 + row,
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz cut behind its first MB": lambda row: gzip.compress(HEADER + row * 60_000, 1)[:-40],
    "gz damaged behind its first MB": lambda row: (
        gzip.compress(HEADER + row * 60_000, 1)[:-60] + b"\xff" * 60
    ),
}
PACKED_MALFORMED: dict[str, Callable[[bytes], bytes]] = {
    "a gz bomb in a cell": lambda row: gzip.compress(
        HEADER + row * 30_000 + b"x" * 50_000_000 + row * 100, 1
    ),
    "a gz of ragged rows": lambda row: gzip.compress(HEADER + row * 50 + b"x,y\n"),
}
MALFORMED: list[Rows] = [
    *(Rows(name, csv(change)) for name, change in PLAIN.items()),
    *(Rows(name, csv(change, "bad.csv.gz")) for name, change in PACKED_MALFORMED.items()),
]
ROWS: list[Rows] = [
    *(Rows(name, csv(change, "bad.csv.gz")) for name, change in PACKED.items()),
    *(
        Rows(f"a Parquet page damaged at {at}", pages(at, 40, compression="snappy"))
        for at in (0.0, 0.01, 0.3, 0.6)
    ),
    *(
        Rows(f"a plain Parquet page damaged at {at}", pages(at, 24, compression="none", use_dictionary=False))
        for at in (0.0,)
    ),
    *(Rows(f"a zstd Parquet page damaged at {at}", pages(at, 40, compression="zstd")) for at in (0.0, 0.5)),
    *(
        Rows(f"a view: {statement}", view(statement))
        for statement in (
            "CAST(cell AS INTEGER)",
            "CAST(CASE WHEN length(cell) > 3 THEN error(cell) END AS INTEGER)",
            "CAST(length(cell) AS BIGINT) * 9223372036854775807",
            "CAST(json_extract(cell, '$.x') AS INTEGER)",
            "regexp_extract(cell, '(', 1)",
        )
    ),
]
