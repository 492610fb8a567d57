"""Synthetic tables at scale and under every noise: CPU time, memory, total variation of marginals.

Adult (as `synthetic_peers` codes it) at several ε with Gaussian and Laplace noise, mean of five runs, then generated
tables of 71,000 × 52 and 10^6 × 20, each in a process of its own from a CSV file to made-up rows. Limits: 10 CPU-s and
1 GB on Adult, 300 seconds on 52 columns, 120 on a million rows.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from bench.synthetic_peers import HERE, coded, finished, shown
from bench.synthetic_tables import RUNS, measured
from entwined.schema import Categorical, Integer, Schema, write_schema

DELTA = "1e-9"
ADULT = (
    ("adaptive", "0.1", DELTA),
    ("adaptive", "1", DELTA),
    ("adaptive", "10", DELTA),
    ("adaptive", "1", ""),
    ("correlated", "1", DELTA),
    ("independent", "0.1", DELTA),
    ("independent", "1", ""),
)
LARGE = ((71_000, 52, 300.0), (1_000_000, 20, 120.0))
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


def words_of(folder: Path, mode: str, epsilon: str, delta: str, columns: int) -> list[str]:
    """Say how our door is run as a process of its own."""
    return [
        sys.executable,
        str(HERE / "synthetic_run.py"),
        str(folder),
        mode,
        epsilon,
        delta,
        str(columns),
    ]


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
        for rows, columns, limit in LARGE:
            generated(folder, rows, columns)
            found = finished(words_of(folder, "adaptive", "1", DELTA, columns), folder, LONGEST)
            taken = {"cpu": found.cpu, "gigabytes": found.gigabytes, "limit": limit} if found else {}
            shown(f"{rows:,} × {columns}: adaptive", "1", taken)
            figures[f"{rows} × {columns}"] = taken
    return figures
