"""Networks of columns beside DataSynthesizer, on as many columns as it ends with in time: CPU seconds of both.

On the first half of the Adult table (32,561 rows, 15 columns, numbers in declared bins) if ENTWINED_DATA has it, else
on a generated table like it. Each is a process of its own in an environment of its own, from a file to a table of as
many rows. CPU is told of the whole process, and of the calls alone that describe and generate, without what is imported
before them. Limit: 100 times less CPU.
"""

import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.classifiers import WORDS, adult
from bench.counts import python_of

DELTA = "1e-9"
EPSILONS = ("0.1", "1", "10")
LIMIT = 180.0  # CPU seconds, for each number of columns of DataSynthesizer
HERE = Path(__file__).parent
DPMM = ["dpmm==0.1.9"]
DATASYNTHESIZER = ["DataSynthesizer==0.1.13", "numpy<2", "pandas<2.1"]
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (12_285, 1_490_400),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4356),
    "hours-per-week": (1, 99),
}  # education-num says what education does
MORE = {"education-num": (1, 16)}  # where all 15 columns are taken
FEWEST = int(os.environ.get("BENCH_COLUMNS", "12"))
RUNS = 3


class Made(NamedTuple):
    """A synthetic table with what it took: CPU seconds in all and of the calls alone, and gigabytes at most."""

    cells: "np.ndarray[Any, np.dtype[np.int64]]"
    cpu: float
    gigabytes: float
    calls: float


class Stopped(NamedTuple):
    """What became of a script that gave no table: so many CPU seconds were too many, or it failed."""

    after: float
    why: str


def taken_by(process: int) -> tuple[float, float]:
    """Say how many CPU seconds a process and all below it have taken, and how many gigabytes they hold."""
    import psutil  # type: ignore[import-untyped]  # it has no types of its own

    with contextlib.suppress(psutil.Error):
        top = psutil.Process(process)
        every = (top, *top.children(recursive=True))
        times = [one.cpu_times() for one in every]
        seconds = sum(one.user + one.system + one.children_user + one.children_system for one in times)
        held = sum(one.memory_info().rss for one in every)
        return float(seconds), max(held, peak_of(process)) / 1024**3
    return 0.0, 0.0


def peak_of(process: int) -> int:
    """Say how many bytes a process held at most since it began, where the system tells."""
    with contextlib.suppress(OSError):
        said = Path(f"/proc/{process}/status").read_text()
        return 1024 * sum(int(line.split()[1]) for line in said.splitlines() if line.startswith("VmHWM"))
    return 0


def finished(words: list[str], folder: Path, limit: float) -> Made | Stopped:
    """Run a script by itself, as it is installed: with compiled code, and one thread a sum."""
    for name in ("made.npy", "calls.json"):
        (folder / name).unlink(missing_ok=True)
    alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    surrounding = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    surrounding |= alone | {"XDG_STATE_HOME": tempfile.mkdtemp()}
    with (folder / "said.txt").open("w") as said:
        running = subprocess.Popen(words, stdout=said, stderr=said, env=surrounding, start_new_session=True)
    most = seconds = 0.0
    while not (ended := os.wait4(running.pid, os.WNOHANG))[0]:
        taken, gigabytes = taken_by(running.pid)
        seconds, most = max(seconds, taken), max(most, gigabytes)
        if seconds > limit:
            os.killpg(running.pid, 9)
            os.wait4(running.pid, 0)
            running.returncode = -9
            return Stopped(limit, "stopped")
        time.sleep(0.1)
    _, status, usage = ended
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode or not (folder / "made.npy").exists():
        print((folder / "said.txt").read_text()[-500:])
        return Stopped(usage.ru_utime + usage.ru_stime, "failed")
    cpu = max(usage.ru_utime + usage.ru_stime, seconds)  # what is below it may be killed, and not waited for
    calls = json.loads((folder / "calls.json").read_text()) if (folder / "calls.json").exists() else cpu
    return Made(np.load(folder / "made.npy"), cpu, most, calls)


def judged(
    real: Any, cells: "np.ndarray[Any, np.dtype[np.int64]]", columns: int, target: str = "income"
) -> dict[str, float]:
    """Say how far marginals of one, two and three columns are off, and how good a model trained on it is."""
    from entwined.learning.codes import Codes
    from entwined.synthetic.likeness import all_apart, mean_distance
    from entwined.synthetic.training import trained

    ours = real.only(real.names[:columns])
    made = Codes(ours.names, ours.sizes, cells.astype(np.int32))
    found = {f"{ways}-way": mean_distance(all_apart(ours, made, ways)) for ways in (1, 2, 3)}
    if target in ours.names:
        found["accuracy"] = trained(ours, made, target).on_synthetic
    return found


def coded(folder: Path, *, halves: int = 2, more: bool = False) -> tuple[str, Any]:
    """Write one half of Adult, or both, as a table with its schema, and its cells; `more` is for all 15 columns."""
    from entwined.schema import Categorical, Integer, Schema, write_schema
    from entwined.synthetic.holders_rows import public_cells, side_by_side

    source, *parts = adult()
    every = [row for part in parts for row in part]
    rows = [row for part in parts[:halves] for row in part]
    numbers = {name: ends for name, ends in (BOUNDS | (MORE if more else {})).items() if name in rows[0]}
    levels = {name: tuple(sorted({row[name] for row in every})) for name in (*WORDS, "income")}
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*levels, *numbers], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    words = [Categorical(name, values) for name, values in levels.items()]
    whole = [Integer(name, *ends) for name, ends in numbers.items()]
    schema = Schema((*words, *whole), most_rows=100_000, neighbours="add_remove").approve()
    write_schema(schema, folder / "schema.toml")
    table, (axes, _) = str(folder / "table.csv"), public_cells(schema)
    real = side_by_side(table, table, schema, axes).real
    (folder / "sizes.json").write_text(json.dumps(dict(zip(real.names, real.sizes, strict=True))))
    np.save(folder / "cells.npy", real.values.astype(np.int64))
    return source, real


def shown(name: str, epsilon: str, found: dict[str, float]) -> None:
    """Print a line."""
    figures = "  ".join(f"{key} {value:.4f}" for key, value in found.items())
    print(f"{name:32} ε = {epsilon:4} {figures}")


def words_of(
    folder: Path, mode: str, epsilon: str, delta: str, columns: int, engine: str = "file"
) -> list[str]:
    """Say how our door is run as a process of its own."""
    script = str(HERE / "synthetic_run.py")
    return [sys.executable, script, str(folder), mode, epsilon, delta, str(columns), engine]


def taken(real: Any, words: list[str], folder: Path, columns: int, runs: int) -> dict[str, float]:
    """Run something so many times: the least CPU, and how good the last table is; nothing if it does not end."""
    found = [finished(words, folder, LIMIT) for _ in range(runs)]
    ended = [one for one in found if isinstance(one, Made)]
    if len(ended) < runs:
        return {}
    least = {"cpu": min(one.cpu for one in ended), "cpu of the calls": min(one.calls for one in ended)}
    return judged(real, ended[-1].cells, columns) | least | {"gigabytes": max(one.gigabytes for one in ended)}


def network_peer(real: Any, folder: Path) -> dict[str, Any]:
    """Run DataSynthesizer on more and more columns until it does not end in time, and ours on as many."""
    python = str(python_of("datasynthesizer", DATASYNTHESIZER))
    script = str(HERE / "peers" / "datasynthesizer_network.py")
    last: dict[str, Any] = {}
    for columns in range(FEWEST, len(real.names) + 1):
        figures = taken(real, [python, script, str(folder), "1", str(columns)], folder, columns, 1)
        if not figures:
            print(f"DataSynthesizer does not end with {columns} columns in {LIMIT:.0f} CPU seconds")
            break
        last = {"columns": columns, "DataSynthesizer": figures}
        shown(f"DataSynthesizer, {columns} columns", "1", figures)
    return last


def run() -> dict[str, Any]:
    """Print how much less CPU ours takes on as many columns, and on all of them."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, real = coded(folder, halves=1, more=True)
        print(f"{source}: {real.rows:,} rows, {len(real.names)} columns, pure")
        figures = network_peer(real, folder)
        for mode in ("correlated", "adaptive"):
            for columns in sorted({figures.get("columns", FEWEST), len(real.names)}):
                words = words_of(folder, mode, "1", "", columns)
                found = figures[f"{mode}, {columns} columns"] = taken(real, words, folder, columns, RUNS)
                shown(f"{mode}, {columns} columns", "1", found)
                if columns == figures.get("columns"):
                    theirs = figures["DataSynthesizer"]
                    ratios = {key: theirs[key] / found[key] for key in ("cpu", "cpu of the calls")}
                    shown(f"DataSynthesizer's CPU in ours, {mode}", "1", ratios)
                    figures[f"times {mode}"] = ratios
    return figures
