"""Quality of synthetic tables beside shuffled columns and peers, at three ε and one δ, on Adult and two package tables.

Mean total variation of all marginals of one, two and three columns, and how often a model trained on synthetic rows is
right about real ones; Adult (both halves, 14 columns) if ENTWINED_DATA has it, else a generated table like it. Peers
run in environments of their own: private-pgm's MST and AIM (as dpmm has them) at the same (ε, δ), DataSynthesizer at
the same ε. What does not end in time is said so. Figures are kept as they come; BENCH_GO_ON=1 measures only what is not
yet among them, so that a run of hours may be broken off.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.counts import python_of
from bench.package_tables import TARGETS, written
from bench.synthetic_peers import (
    DATASYNTHESIZER,
    DELTA,
    DPMM,
    EPSILONS,
    HERE,
    Stopped,
    coded,
    finished,
    judged,
    shown,
    words_of,
)

RUNS = int(os.environ.get("BENCH_RUNS", "5"))
PEER_RUNS = int(os.environ.get("BENCH_PEER_RUNS", "5"))
LONGEST = float(os.environ.get("BENCH_PEER_SECONDS", "600"))
WAYS = os.environ.get("BENCH_WAYS", "")  # all of them, or some between semicolons
TABLES = os.environ.get("BENCH_TABLES", "")  # likewise
OURS = ("adaptive", "correlated", "independent")
KEPT = HERE / "results" / "synthetic_tables.json"
AIM_USUAL, AIM_SMALL = (
    "80",
    "1",
)  # megabytes of its law at most: as it comes, and small enough to end on Adult
SAME_EACH_TIME = ("DataSynthesizer",)  # it has a seed of its own

Maker = Callable[[str, int], list[str]]


class Judged(NamedTuple):
    """A table: its rows as codes, and the column that a model foretells."""

    name: str
    real: Any
    target: str


def makers(folder: Path) -> dict[str, Maker]:
    """Say what is run for a table of some columns at an ε, by name."""

    def ours(mode: str) -> Maker:
        return lambda epsilon, many: words_of(folder, mode, epsilon, DELTA, many)

    def of_dpmm(name: str, megabytes: str = AIM_USUAL) -> Maker:
        script = str(HERE / "peers" / "dpmm_marginals.py")
        python = str(python_of("dpmm", DPMM))
        return lambda epsilon, many: [
            python, script, str(folder), name, epsilon, DELTA, str(many), megabytes,
        ]  # fmt: skip

    network = str(HERE / "peers" / "datasynthesizer_network.py")
    other = str(python_of("datasynthesizer", DATASYNTHESIZER))
    return {
        **{mode: ours(mode) for mode in OURS},
        "MST (dpmm)": of_dpmm("mst"),
        "DataSynthesizer": lambda epsilon, many: [other, network, str(folder), epsilon, str(many)],
        f"AIM (dpmm, {AIM_SMALL} MB)": of_dpmm("aim", AIM_SMALL),
        "AIM (dpmm)": of_dpmm("aim"),
    }


def mean_of(found: list[dict[str, float]]) -> dict[str, float]:
    """Average the figures of several runs."""
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]} | {"runs": len(found)}


def measured(real: Any, words: list[str], folder: Path, target: str, runs: int) -> dict[str, float]:
    """Run something so many times; what was averaged if it ends each time, else after how many CPU seconds it ended."""
    found = []
    for _ in range(runs):
        made = finished(words, folder, LONGEST)
        if isinstance(made, Stopped):
            return {f"{made.why} after": made.after}
        figures = judged(real, made.cells, len(real.names), target)
        found.append(figures | {"cpu": made.cpu, "gigabytes": made.gigabytes})
    return mean_of(found)


def shuffled(real: Any, target: str) -> dict[str, float]:
    """Judge columns that are shuffled one by one, without any noise: exact columns, and nothing else."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(RUNS):
        cells = np.stack([rng.permutation(column) for column in real.values.T], axis=1)
        found.append(judged(real, cells, len(real.names), target))
    return mean_of(found)


def tables(folder: Path) -> Iterator[Judged]:
    """Write one table after another."""
    source, real = coded(folder)
    yield Judged(source, real, "income")
    for name, target in TARGETS.items():
        yield Judged(name, written(folder, name), target)


def runs_of(way: str) -> int:
    """Say how many runs are averaged."""
    return RUNS if way in OURS else 1 if way in SAME_EACH_TIME else PEER_RUNS


def begun() -> dict[str, Any]:
    """Give what was measured before, if this run goes on with it."""
    if not os.environ.get("BENCH_GO_ON") or not KEPT.exists():
        return {}
    return dict(json.loads(KEPT.read_text())["figures"])


def run() -> dict[str, Any]:
    """Print the table whatever it shows."""
    figures = begun()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, real, target in tables(folder):
            if TABLES and name not in TABLES.split(";"):
                continue
            found = figures.setdefault(name, {"rows": real.rows, "columns": len(real.names)})
            print(f"{name}: {real.rows:,} rows, {len(real.names)} columns, δ = {DELTA}")
            if "shuffled columns" not in found:
                found["shuffled columns"] = shuffled(real, target)
            for way, words in makers(folder).items():
                for epsilon in EPSILONS:
                    key, runs = f"{way}, ε = {epsilon}", runs_of(way)
                    if key not in found and (not WAYS or way in WAYS.split(";")):
                        found[key] = measured(real, words(epsilon, len(real.names)), folder, target, runs)
                        KEPT.write_text(json.dumps({"figures": figures}, indent=2) + "\n")
                    shown(f"{name}: {way}", epsilon, found.get(key, {}))
    return figures
