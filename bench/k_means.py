"""k-means of 10^6 × 12 beside scikit-learn and Spark's own, round by round, from Parquet and from Spark.

All have the same starts and number of rounds. Ours adds the first scan, the schema's codes and the noise; scikit-learn
is given an array, and Spark's own a column of vectors that it keeps. CPU and memory are those of the process and of
all that it started: Spark's Java, and Python where its rows lie. Limits: 2 times scikit-learn's CPU and time a
round, and 4 GiB. Time is only comparable while nothing else runs: both sides work with every processor.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.tables import most_megabytes
from entwined.door.lending import lent
from entwined.mechanisms.k_means import KMeans
from entwined.numbers import FloatArray
from entwined.promise.promise import Promise
from entwined.schema import Real, Schema
from entwined.tables import open_table

ROWS = 1_000_000
COLUMNS = 12
CENTRES = 8
ROUNDS = {"scikit-learn": (2, 12), "parquet": (2, 42), "spark": (2, 52), "spark's own": (2, 12)}
MOST_TIMES = 2
TICKS = os.sysconf("SC_CLK_TCK")
MOST_MEGABYTES = 4096


def places() -> tuple[FloatArray, FloatArray]:
    """Rows around centres in the unit cube, and where the centres start."""
    rng = np.random.default_rng(11)
    centres = rng.random((CENTRES, COLUMNS))
    rows = centres[rng.integers(0, CENTRES, ROWS)] + rng.normal(0, 0.1, (ROWS, COLUMNS))
    return np.clip(rows, 0, 1), rng.random((CENTRES, COLUMNS)).round(3)


def by_scikit_learn(_: Path) -> Callable[[int], object]:
    """Fit so many rounds on an array."""
    from sklearn.cluster import KMeans as Theirs

    rows, starts = places()
    return lambda rounds: Theirs(CENTRES, init=starts, n_init=1, max_iter=rounds, tol=0).fit(rows).n_iter_


def ours(source: Any) -> Callable[[int], object]:
    """Run so many rounds on a table."""
    schema = Schema(
        tuple(Real(f"x{at}", Fraction(0), Fraction(1), step=Fraction(1, 1000)) for at in range(COLUMNS)),
        most_rows=2 * ROWS,
    )
    promise, starts = Promise.of(schema.approve()), places()[1].tolist()
    table = open_table(source, promise.schema)

    def run(rounds: int) -> bytes:
        mechanism = KMeans.of(promise, schema.names, starts, rounds, Fraction(rounds))
        with lent(table) as read:
            return mechanism.run(read, promise.schema)

    return run


def session_of_spark() -> Any:
    """Start a Spark on this machine."""
    from pyspark.sql import SparkSession

    from entwined.tables.java import find_java

    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.appName("k-means").master("local[2]").getOrCreate()


def by_spark(path: Path) -> Callable[[int], object]:
    """Run on Spark on this machine."""
    return ours(session_of_spark().read.parquet(str(path)))


def by_sparks_own(path: Path) -> Callable[[int], object]:
    """Fit so many rounds by Spark's own k-means, which draws its starts."""
    from pyspark.ml.clustering import KMeans as Theirs
    from pyspark.ml.feature import VectorAssembler

    table = session_of_spark().read.parquet(str(path))
    made = VectorAssembler(inputCols=table.columns, outputCol="features")
    rows = made.transform(table).select("features").cache()
    theirs = Theirs(k=CENTRES, initMode="random", tol=0.0, seed=1)
    return lambda rounds: theirs.setMaxIter(rounds).fit(rows).summary.numIter


WAYS: dict[str, Callable[[Path], Callable[[int], object]]] = {
    "scikit-learn": by_scikit_learn,
    "parquet": ours,
    "spark": by_spark,
    "spark's own": by_sparks_own,
}


def alone(way: str, path: Path) -> None:
    """Run one way in this process and print the CPU and the time of a round, and what it all takes."""
    act = WAYS[way](path)
    act(1)
    few, many = (measured(act, rounds) for rounds in ROUNDS[way])
    rounds = many[2] - few[2]
    print(
        json.dumps(
            {
                "cpu_a_round": (many[0] - few[0]) / rounds,
                "seconds_a_round": (many[1] - few[1]) / rounds,
                "cpu_of_all": many[0],
                "rounds": many[2],
                "megabytes": family("megabytes"),
            }
        )
    )


def measured(act: Callable[[int], object], rounds: int) -> tuple[float, float, int]:
    """The least CPU and time of three runs, and how many rounds there were: scikit-learn and Spark may stop early."""
    taken, made = [], rounds
    for _ in range(3):
        began = family("cpu"), time.perf_counter()
        found = act(rounds)
        made = found if isinstance(found, int) else rounds
        taken.append((family("cpu") - began[0], time.perf_counter() - began[1]))
    return min(cpu for cpu, _ in taken), min(wall for _, wall in taken), made


def family(what: str) -> float:
    """CPU seconds, or the most megabytes, of this process and of all that it started and that live."""
    total = 0.0
    waiting = [os.getpid()]
    while waiting:
        home = Path(f"/proc/{waiting.pop()}")
        try:
            stat = (home / "stat").read_text().rpartition(")")[2].split()
            tasks = list((home / "task").iterdir())
            waiting += [int(child) for task in tasks for child in (task / "children").read_text().split()]
            total += sum(map(int, stat[11:15])) / TICKS if what == "cpu" else most_megabytes(home)
        except (OSError, StopIteration):  # it has ended
            continue
    return total


def run() -> dict[str, dict[str, float]]:
    """Measure every way in a process of its own."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        rows, _ = places()
        pq.write_table(pa.table({f"x{at}": rows[:, at] for at in range(COLUMNS)}), path)
        for way in WAYS:
            done = subprocess.run(
                [sys.executable, "-m", "bench.k_means", way, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            found[way] = json.loads(done.stdout.splitlines()[-1])
            told = "  ".join(f"{name} {figure:.3g}" for name, figure in found[way].items())
            print(f"{way:<14} {told}", flush=True)
    return found


if __name__ == "__main__":
    if len(sys.argv) > 2:
        alone(sys.argv[1], Path(sys.argv[2]))
    else:
        print(json.dumps(run(), indent=1))
