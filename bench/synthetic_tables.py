"""Quality of synthetic tables on data from PyPI packages, beside shuffled columns and peers, at three ε and one δ.

Mean total variation of all marginals of one, two and three columns, and how often a model trained on synthetic rows is
right about real ones. Peers run in environments of their own: private-pgm's MST and AIM (as dpmm has them) at the
same (ε, δ), DataSynthesizer at the same ε. What does not end in time has no figures.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.counts import python_of
from bench.package_tables import TARGETS, written
from bench.synthetic_peers import DATASYNTHESIZER, DELTA, DPMM, EPSILONS, HERE, finished, judged, shown

RUNS = int(os.environ.get("BENCH_RUNS", "5"))
PEER_RUNS = int(os.environ.get("BENCH_PEER_RUNS", "5"))
LONGEST = float(os.environ.get("BENCH_PEER_SECONDS", "600"))
OURS = ("adaptive", "correlated", "independent")

Maker = Callable[[str, int], list[str]]


def makers(folder: Path) -> dict[str, Maker]:
    """Say what is run for a table of some columns at an ε, by name."""

    def ours(mode: str) -> Maker:
        script = str(HERE / "synthetic_run.py")
        return lambda epsilon, many: [sys.executable, script, str(folder), mode, epsilon, DELTA, str(many)]

    def of_dpmm(name: str) -> Maker:
        script = str(HERE / "peers" / "dpmm_marginals.py")
        python = str(python_of("dpmm", DPMM))
        return lambda epsilon, many: [python, script, str(folder), name, epsilon, DELTA, str(many)]

    network = str(HERE / "peers" / "datasynthesizer_network.py")
    other = str(python_of("datasynthesizer", DATASYNTHESIZER))
    return {
        **{mode: ours(mode) for mode in OURS},
        "MST (dpmm)": of_dpmm("mst"),
        "AIM (dpmm)": of_dpmm("aim"),
        "DataSynthesizer": lambda epsilon, many: [other, network, str(folder), epsilon, str(many)],
    }


def mean_of(found: list[dict[str, float]]) -> dict[str, float]:
    """Average the figures of several runs."""
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]} | {"runs": len(found)}


def measured(real: Any, words: list[str], folder: Path, target: str, runs: int) -> dict[str, float]:
    """Run something so many times; nothing if it does not end."""
    found = []
    for _ in range(runs):
        made = finished(words, folder, LONGEST)
        if made is None:
            return {}
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


def run() -> dict[str, Any]:
    """Print the table whatever it shows."""
    figures: dict[str, Any] = {}
    for name, target in TARGETS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            real = written(folder, name)
            found: dict[str, Any] = {"rows": real.rows, "columns": len(real.names)}
            print(f"{name}: {real.rows:,} rows, {len(real.names)} columns, δ = {DELTA}")
            found["shuffled columns"] = shuffled(real, target)
            shown(f"{name}: shuffled columns", "", found["shuffled columns"])
            for way, words in makers(folder).items():
                for epsilon in EPSILONS:
                    runs = RUNS if way in OURS else PEER_RUNS
                    told = measured(real, words(epsilon, len(real.names)), folder, target, runs)
                    shown(f"{name}: {way}", epsilon, told)
                    found[f"{way}, ε = {epsilon}"] = told
            figures[name] = found
    return figures
