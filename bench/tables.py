"""Tables against the engine alone: all one-way histograms of 10^7 × 20, a warm count, and a description.

Limits: 1.3 times the CPU of DuckDB's own GROUPING SETS, 500 MB, and 50 ms beyond the engine.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from entwined.queries import Axis, CountOf, TableOf, everything, parse
from entwined.schema import Categorical, Coded, Integer, Schema
from entwined.tables import describe, open_table

ROWS = 10_000_000
FEWER = 1_000_000
ROUNDS = 5
COUNTS = 30
MOST_CPU = 1.3
MOST_MEGABYTES = 500
MOST_MILLISECONDS = 50


def columns() -> list[Coded]:
    """Ten columns of words and ten of integers, of 10 to 100 values each."""
    words = [Categorical(f"s{n}", tuple(f"value {k:03d}" for k in range(10 * n + 10))) for n in range(10)]
    return [*words, *(Integer(f"i{n}", 0, 10 * n + 9) for n in range(10))]


def write_rows(path: Path, rows: int) -> None:
    """Write rows of these columns, drawn evenly."""
    rng = np.random.default_rng(7)
    writer = None
    for start in range(0, rows, FEWER):
        size = min(FEWER, rows - start)
        made: dict[str, Any] = {}
        for column in columns():
            codes = rng.integers(0, column.levels, size, dtype=np.int32)
            if isinstance(column, Categorical):
                made[column.name] = pa.DictionaryArray.from_arrays(codes, list(column.values)).cast(
                    pa.string()
                )
            else:
                made[column.name] = pa.array(codes, pa.int64())
        table = pa.table(made)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def engine_alone(path: Path) -> Callable[[], object]:
    """Group by every column in DuckDB's own words."""
    names = [column.name for column in columns()]
    sets = ", ".join(f"({name})" for name in names)
    ask = f"SELECT {', '.join(names)}, COUNT(*) FROM '{path}' GROUP BY GROUPING SETS ({sets})"  # noqa: S608  (our own names)
    link = duckdb.connect()
    return lambda: link.execute(ask).fetchall()


def ours(path: Path) -> Callable[[], object]:
    """Ask for every histogram."""
    table = open_table(path, Schema(tuple(columns())))
    asked = [TableOf((Axis(column.name, column.levels),), everything()) for column in columns()]
    return lambda: table.answer(asked)


def seconds(act: Callable[[], object], clock: Callable[[], float]) -> float:
    """Measure one act by a clock."""
    began = clock()
    act()
    return clock() - began


def alone(way: str, path: Path) -> None:
    """Run one way in this process and print what it took: the first time with all imports, then without."""
    act = {"engine": engine_alone, "ours": ours}[way](path)
    taken = [seconds(act, time.process_time) for _ in range(ROUNDS + 1)]
    print(json.dumps({"first": taken[0], "cpu": statistics.median(taken[1:]), "megabytes": most_megabytes()}))


def most_megabytes(process: Path = Path("/proc/self")) -> float:
    """The most memory that a process held; what getrusage says would count the parent's too."""
    status = (process / "status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def in_its_own_process(way: str, path: Path) -> dict[str, float]:
    """Run one way by itself."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.tables", way, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def histograms(folder: Path) -> dict[str, float]:
    """All one-way histograms of a large file."""
    path = folder / "large.parquet"
    write_rows(path, ROWS)
    engine, mine = in_its_own_process("engine", path), in_its_own_process("ours", path)
    path.unlink()
    return {
        "engine_cpu": engine["cpu"],
        "cpu": mine["cpu"],
        "cpu_ratio": mine["cpu"] / engine["cpu"],
        "first_cpu": mine["first"],
        "engine_megabytes": engine["megabytes"],
        "megabytes": mine["megabytes"],
    }


def warm_count(folder: Path) -> dict[str, float]:
    """A count with a condition on a table that was asked before, beside the same count in the engine's words."""
    path = folder / "small.parquet"
    write_rows(path, FEWER)
    schema = Schema(tuple(columns()))
    ask = f"SELECT COUNT(*) FROM '{path}' WHERE i5 BETWEEN 10 AND 29 AND s3 = 'value 007'"  # noqa: S608  (our own words)
    asked = [CountOf(parse("i5 between 10 and 29 and s3 = 'value 007'", schema))]
    with open_table(path, schema) as table, duckdb.connect() as link:
        pairs = [
            (
                seconds(lambda: link.execute(ask).fetchall(), time.perf_counter),
                seconds(lambda: table.answer(asked), time.perf_counter),
            )
            for _ in range(COUNTS)
        ]
    engine, mine = (1000 * statistics.median(taken) for taken in zip(*pairs, strict=True))
    return {"engine_ms": engine, "ms": mine, "beyond_ms": mine - engine}


def described(folder: Path) -> dict[str, float]:
    """A description of 10^6 × 20, from Parquet and from CSV."""
    path, text = folder / "small.parquet", folder / "small.csv"
    with duckdb.connect() as link:
        link.execute(f"COPY (SELECT * FROM '{path}') TO '{text}' (HEADER)")  # noqa: S608  (our own words)
    return {
        "parquet_s": seconds(lambda: describe(path), time.perf_counter),
        "csv_s": seconds(lambda: describe(text), time.perf_counter),
    }


def run() -> dict[str, Any]:
    """Measure everything, print it, and say whether the limits hold."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {
            "histograms": histograms(folder),
            "count": warm_count(folder),
            "describe": described(folder),
        }
    large, count = figures["histograms"], figures["count"]
    print(
        f"histograms of {ROWS:,} x 20   {large['cpu_ratio']:6.2f} x DuckDB's own CPU ({large['engine_cpu']:.2f} s)"
    )
    print(
        f"                              {large['megabytes']:6.0f} MB (DuckDB alone {large['engine_megabytes']:.0f})"
    )
    print(
        f"warm count of {FEWER:,} rows    {count['beyond_ms']:6.1f} ms beyond DuckDB's {count['engine_ms']:.1f}"
    )
    for kind, taken in figures["describe"].items():
        print(f"describe, {kind:<9}           {taken:6.1f} s for {FEWER:,} x 20")
    held = {
        "cpu": large["cpu_ratio"] <= MOST_CPU,
        "memory": large["megabytes"] < MOST_MEGABYTES,
        "count": count["beyond_ms"] < MOST_MILLISECONDS,
    }
    print(f"within limits: {held}")
    return {**figures, "within_limits": held}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        alone(sys.argv[1], Path(sys.argv[2]))
    else:
        run()
