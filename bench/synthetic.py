"""Synthetic tables at scale and under every noise: CPU time, memory, total variation of marginals.

Adult (both halves, 14 columns) at several ε with Gaussian and Laplace noise, mean of five runs, then generated tables
of 71,000 × 52 and 10^6 × 20, from a CSV file and from Spark on this machine, each in a process of its own from the file
to made-up rows. Limits: 10 CPU-s and 300 MB on Adult, 300 seconds on 52 columns, 120 on a million rows.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from bench.synthetic_peers import DELTA, Made, coded, finished, shown, words_of
from bench.synthetic_tables import RUNS, measured
from entwined.schema import Categorical, Integer, Schema, write_schema

ADULT = (
    ("adaptive", "0.1", DELTA),
    ("adaptive", "1", DELTA),
    ("adaptive", "10", DELTA),
    ("adaptive", "1", ""),
    ("correlated", "1", DELTA),
    ("independent", "0.1", DELTA),
    ("independent", "1", ""),
)
LARGE = (
    (71_000, 52, 300.0, (("file", "adaptive"),)),
    (
        1_000_000,
        20,
        120.0,
        tuple((engine, mode) for engine in ("file", "spark") for mode in ("adaptive", "correlated")),
    ),
)
LONGEST = 1200.0


def generated(folder: Path, rows: int, columns: int) -> None:
    """Write a table in which every column hangs on the one before it."""
    rng = np.random.default_rng(7)
    found = [rng.integers(0, 100, rows)]
    for _ in range(1, columns):
        found.append(np.where(rng.random(rows) < 0.6, found[-1], rng.integers(0, 100, rows)))
    kinds: list[Categorical | Integer] = []
    table: dict[str, Any] = {}
    for at, column in enumerate(found):
        name = f"c{at}"
        if at % 3 == 0:
            kinds.append(Integer(name, 0, 99))
            table[name] = column
        else:
            kinds.append(Categorical(name, tuple(f"v{value}" for value in range(5))))
            table[name] = np.char.add("v", (column // 20).astype(str))
    pyarrow.csv.write_csv(pa.table(table), folder / "table.csv")
    write_schema(
        Schema(tuple(kinds), neighbours="add_remove", most_rows=2 * rows).approve(), folder / "schema.toml"
    )
    np.save(folder / "cells.npy", np.zeros((rows, 1), np.int8))


def large(folder: Path) -> dict[str, Any]:
    """Measure tables of many rows or columns, from a file and from Spark, in both modes that look for relations."""
    figures: dict[str, Any] = {}
    for rows, columns, limit, ways in LARGE:
        generated(folder, rows, columns)
        for engine, mode in ways:
            began = time.perf_counter()
            found = finished(words_of(folder, mode, "1", DELTA, columns, engine), folder, LONGEST)
            taken = {"seconds": time.perf_counter() - began, "limit": limit}
            if isinstance(found, Made):
                taken |= {"cpu": found.cpu, "gigabytes": found.gigabytes}
            shown(f"{rows:,} × {columns}, {engine}: {mode}", "1", taken)
            figures[f"{rows} × {columns}, {engine}, {mode}"] = taken
    return figures


def run() -> dict[str, Any]:
    """Measure them all."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, real = coded(folder)
        for mode, epsilon, delta in ADULT:
            words = words_of(folder, mode, epsilon, delta, len(real.names))
            told = measured(real, words, folder, "income", RUNS)
            noise = "Gaussian" if delta else "Laplace"
            shown(f"{source}: {mode}, {noise}", epsilon, told)
            figures[f"{source} {mode} {noise} ε = {epsilon}"] = told
        return figures | large(folder)
