"""The degrees of a graph of 10^7 edges in Parquet, from the file to noisy numbers: limits 10 CPU-s and 4 GiB.

What 10^6 ties between 200,000 people leak is measured in `calculus`.
"""

import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.tables import most_megabytes
from entwined.door.lending import lent
from entwined.mechanisms.degrees import Degrees
from entwined.promise.promise import Promise
from entwined.schema import Column, Integer, Schema, Text
from entwined.tables import open_table

EDGES = 10_000_000
NODES = 1_000_000
MOST = 1000
IDS: dict[str, tuple[Column, Column]] = {
    "numbers": (Integer("one", 0, NODES), Integer("other", 0, NODES)),
    "texts": (Text("one", compare="exact"), Text("other", compare="exact")),
}


def write_edges(path: Path, ids: str) -> None:
    """Write edges whose ends are the more frequent the smaller their number is."""
    ends = (NODES * np.random.default_rng(6).random((EDGES, 2)) ** 2).astype(np.int64)
    kind = pa.int64() if ids == "numbers" else pa.string()
    columns = {name: pa.array(ends[:, at]).cast(kind) for at, name in enumerate(("one", "other"))}
    pq.write_table(pa.table(columns), path)


def alone(ids: str, path: Path) -> None:
    """Count and add noise in this process, and print what it took."""
    promise = Promise.of(Schema(IDS[ids], most_rows=2 * EDGES, neighbours="add_remove").approve())
    began = time.process_time(), time.perf_counter()
    with open_table(path, promise.schema) as table, lent(table) as read:
        mechanism = Degrees.of(promise, ["one", "other"], MOST, Fraction(1))
        found = mechanism.output(mechanism.run(read, promise.schema))
    cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
    print(
        json.dumps(
            {"cpu": cpu, "seconds": wall, "megabytes": most_megabytes(), "ids found": sum(found.counts)}
        )
    )


def run() -> dict[str, dict[str, float]]:
    """Measure ids that are numbers and ids that are texts, each in a process of its own."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for ids in IDS:
            path = Path(folder) / f"{ids}.parquet"
            write_edges(path, ids)
            done = subprocess.run(
                [sys.executable, "-m", "bench.degrees", ids, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            found[ids] = json.loads(done.stdout.splitlines()[-1])
            print(f"{EDGES:,} edges, ids as {ids}: {found[ids]}")
    return found


if __name__ == "__main__":
    alone(sys.argv[1], Path(sys.argv[2]))
