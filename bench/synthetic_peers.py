"""Synthetic tables beside peers at the same ε and δ: total variation, a model trained on them, CPU time, memory.

On the Adult table (14 columns, numbers in declared bins) if ENTWINED_DATA has it, else on a generated table like it.
Every peer is a process of its own in an environment of its own, from coded cells to a table of as many rows. What does
not end in time is said so. Shuffled columns and a bootstrap are the references.
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
MODES = ("independent", "correlated", "adaptive")
LIMIT = 180.0  # CPU seconds, for each number of columns of DataSynthesizer
LONG = 1800.0  # and for the others
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
FEW = 8
COLUMNS = (6, 8, 10, 12, 14)


class Made(NamedTuple):
    """A synthetic table with what it took."""

    cells: "np.ndarray[Any, np.dtype[np.int64]]"
    cpu: float
    gigabytes: float


def taken_by(process: int) -> tuple[float, float]:
    """Say how many CPU seconds a process and all below it have taken, and how many gigabytes they hold."""
    import psutil  # type: ignore[import-untyped]  # it has no types of its own

    with contextlib.suppress(psutil.Error):
        top = psutil.Process(process)
        every = (top, *top.children(recursive=True))
        times = [one.cpu_times() for one in every]
        seconds = sum(one.user + one.system + one.children_user + one.children_system for one in times)
        return float(seconds), sum(one.memory_info().rss for one in every) / 1024**3
    return 0.0, 0.0


def finished(words: list[str], folder: Path, limit: float) -> Made | None:
    """Run a script by itself; nothing if it takes too many CPU seconds or fails."""
    (folder / "made.npy").unlink(missing_ok=True)
    alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    surrounding = os.environ | alone | {"XDG_STATE_HOME": tempfile.mkdtemp()}
    with (folder / "said.txt").open("w") as said:
        running = subprocess.Popen(words, stdout=said, stderr=said, env=surrounding, start_new_session=True)
    most = 0.0
    while not (ended := os.wait4(running.pid, os.WNOHANG))[0]:
        seconds, gigabytes = taken_by(running.pid)
        most = max(most, gigabytes)
        if seconds > limit:
            os.killpg(running.pid, 9)
            os.wait4(running.pid, 0)
            running.returncode = -9
            return None
        time.sleep(0.2)
    _, status, usage = ended
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode or not (folder / "made.npy").exists():
        print((folder / "said.txt").read_text()[-500:])
        return None
    return Made(np.load(folder / "made.npy"), usage.ru_utime + usage.ru_stime, most)


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


def coded(folder: Path) -> tuple[str, Any]:
    """Write both halves of Adult as one table with its schema, and its cells."""
    from entwined.schema import Categorical, Integer, Schema, write_schema
    from entwined.synthetic.holders_rows import public_cells, side_by_side

    source, train, test = adult()
    rows = [*train, *test]
    numbers = {name: ends for name, ends in BOUNDS.items() if name in rows[0]}
    levels = {name: tuple(sorted({row[name] for row in rows})) for name in (*WORDS, "income")}
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


def references(real: Any) -> dict[str, dict[str, float]]:
    """Judge shuffled columns and a bootstrap of the real rows."""
    rng = np.random.default_rng(0)
    shuffled = np.stack([rng.permutation(column) for column in real.values.T], axis=1)
    again = real.values[rng.integers(0, real.rows, real.rows)]
    tables = {"shuffled columns": shuffled, "bootstrap": again}
    return {name: judged(real, cells, len(real.names)) for name, cells in tables.items()}


def ours(real: Any, folder: Path, mode: str, epsilon: str, delta: str, columns: int) -> dict[str, float]:
    """Run our door as a process of its own; nothing but its figures if it fails."""
    words = [sys.executable, str(HERE / "synthetic_run.py"), str(folder), mode, epsilon, delta, str(columns)]
    made = finished(words, folder, LONG)
    if made is None:
        raise RuntimeError(f"{mode} at ε = {epsilon} did not end")
    figures = judged(real, made.cells, columns) | {"cpu": made.cpu, "gigabytes": made.gigabytes}
    shown(f"entwined {mode}, {'pure' if not delta else 'δ'}, {columns} columns", epsilon, figures)
    return figures


def all_of_ours(real: Any, folder: Path) -> dict[str, dict[str, float]]:
    """Every mode, under δ and pure."""
    columns, found = len(real.names), {}
    for epsilon in EPSILONS:
        for mode in MODES:
            found[f"{mode}, ε = {epsilon}, δ"] = ours(real, folder, mode, epsilon, DELTA, columns)
    return found | {"adaptive, ε = 1, pure": ours(real, folder, "adaptive", "1", "", columns)}


def marginal_peer(real: Any, folder: Path, peer: str, columns: int) -> dict[str, float] | None:
    """Run MST or AIM of private-pgm as dpmm has them, on some columns."""
    python, script = str(python_of("dpmm", DPMM)), HERE / "peers" / "dpmm_marginals.py"
    made = finished([python, str(script), str(folder), peer, "1", DELTA, str(columns)], folder, LONG)
    if made is None:
        print(f"{peer} of dpmm does not end with {columns} columns in {LONG:.0f} CPU seconds")
        return None
    figures = judged(real, made.cells, columns) | {"cpu": made.cpu, "gigabytes": made.gigabytes}
    shown(f"{peer} of dpmm, {columns} columns", "1", figures)
    return figures


def marginal_peers(real: Any, folder: Path) -> dict[str, Any]:
    """Run both on all columns, and AIM beside ours on a few, which it ends sooner with."""
    found = {f"dpmm {peer}": marginal_peer(real, folder, peer, len(real.names)) for peer in ("mst", "aim")}
    few = {"dpmm aim": marginal_peer(real, folder, "aim", FEW)}
    return found | {f"{FEW} columns": few | {"entwined": ours(real, folder, "adaptive", "1", DELTA, FEW)}}


def network_peer(real: Any, folder: Path) -> dict[str, Any]:
    """Run DataSynthesizer on more and more columns until it does not end in time, and ours on as many."""
    python = str(python_of("datasynthesizer", DATASYNTHESIZER))
    last: dict[str, Any] = {}
    for columns in COLUMNS:
        script = HERE / "peers" / "datasynthesizer_network.py"
        made = finished([python, str(script), str(folder), "1", str(columns)], folder, LIMIT)
        if made is None:
            print(f"DataSynthesizer does not end with {columns} columns in {LIMIT:.0f} CPU seconds")
            break
        figures = judged(real, made.cells, columns) | {"cpu": made.cpu, "gigabytes": made.gigabytes}
        last = {"columns": columns, "DataSynthesizer": figures}
        shown(f"DataSynthesizer, {columns} columns", "1", figures)
    if last:
        for mode in ("correlated", "adaptive"):
            last[mode] = ours(real, folder, mode, "1", "", last["columns"])
            print(f"CPU: {last['DataSynthesizer']['cpu'] / last[mode]['cpu']:.0f} x ours")
    return last


def run() -> dict[str, Any]:
    """Print the table whatever it shows."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, real = coded(folder)
        print(f"{source}: {real.rows:,} rows, {len(real.names)} columns, δ = {DELTA}")
        for reference, found in references(real).items():
            shown(reference, "", found)
            figures[reference] = found
        figures |= all_of_ours(real, folder)
        figures |= marginal_peers(real, folder)
        figures["DataSynthesizer"] = network_peer(real, folder)
    return figures
