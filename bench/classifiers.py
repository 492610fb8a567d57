"""Logistic regression beside diffprivlib's at equal ε: AUC and accuracy on held-out rows, CPU time, memory.

On the Adult table if ENTWINED_DATA has it, else on a generated table like it. Both are whole processes from a CSV file
to coefficients on the same features; diffprivlib's AUC is that of its best ridge of three, chosen on the test rows.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.counts import PEERS, python_of

NUMBERS = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4356),
    "hours-per-week": (1, 99),
}
WORDS = (
    "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
)  # fmt: skip
EPSILONS = ("0.1", "0.3", "1")
RIDGES = ("1", "10", "100")
TIMES = 5
HERE = Path(__file__).parent

Rows = list[dict[str, str]]


def adult() -> tuple[str, Rows, Rows]:
    """Read the Adult table, or make one up."""
    folder = Path(os.environ.get("ENTWINED_DATA", "/nowhere")) / "adult"
    if not folder.is_dir():
        rng = np.random.default_rng(0)
        return "generated", generated(rng, 32_561), generated(rng, 16_281)
    halves = []
    for name in ("train", "test"):
        with gzip.open(folder / f"adult_{name}.csv.gz", "rt") as file:
            rows = [
                {key: (value or "").strip() for key, value in row.items()} for row in csv.DictReader(file)
            ]
        halves.append([row | {"income": row["income"].rstrip(".")} for row in rows])
    return "adult", halves[0], halves[1]


def generated(rng: np.random.Generator, count: int) -> Rows:
    """Make rows whose income hangs on some of the columns."""
    effects = np.random.default_rng(7)
    score, columns = rng.logistic(-2.5, 1, count), {}
    for name in WORDS:
        codes = np.minimum(rng.geometric(0.3, count) - 1, 9)
        score += effects.normal(0, 0.7, 10)[codes]
        columns[name] = [f"{name}-{code}" for code in codes]
    for name, (low, high) in NUMBERS.items():
        place = rng.beta(2, 4, count)
        score += effects.normal(0, 2) * place
        columns[name] = [str(round(low + (high - low) * one)) for one in place]
    columns["income"] = [">50K" if one > 0 else "<=50K" for one in score]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def prepared(folder: Path, train: Rows, test: Rows) -> None:
    """Write both halves, the levels, and a schema of the same columns."""
    from entwined.schema import Categorical, Integer, Schema, write_schema

    levels: dict[str, Any] = {name: sorted({row[name] for row in train}) for name in WORDS} | NUMBERS
    (folder / "columns.json").write_text(json.dumps(levels))
    for name, rows in (("train", train), ("test", test)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, [*levels, "income"], extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    columns = [Categorical(name, tuple(levels[name])) for name in WORDS]
    numbers = [Integer(name, *ends) for name, ends in NUMBERS.items()]
    income = Categorical("income", ("<=50K", ">50K"))
    write_schema(Schema((*columns, *numbers, income), most_rows=50_000).approve(), folder / "schema.toml")


def taken(words: list[str]) -> tuple[dict[str, Any], float, float]:
    """Run a script by itself: what it says, its CPU seconds, its gigabytes."""
    surrounding = os.environ | {"OPENBLAS_NUM_THREADS": "1", "XDG_STATE_HOME": tempfile.mkdtemp()}
    running = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=surrounding)
    said = running.stdout.read() if running.stdout else ""
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise RuntimeError(f"{words[1]} ended with {running.returncode}")
    return json.loads(said), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024**2


def run() -> dict[str, Any]:
    """Print AUC and accuracy by ε, and what one fit takes."""
    source, train, test = adult()
    constant = float(np.mean([row["income"] != ">50K" for row in test]))
    print(
        f"{source}: {len(train):,} rows, {len(test):,} held out; the constant answer is right for {constant:.1%}"
    )
    peer = str(python_of("diffprivlib", PEERS["diffprivlib"]))
    figures: dict[str, Any] = {"table": source, "constant": constant}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared(folder, train, test)
        ours = [sys.executable, str(HERE / "classifier_run.py"), name]
        theirs = [peer, str(HERE / "peers" / "diffprivlib_logistic.py"), name]
        for epsilon in EPSILONS:
            pure = taken([*ours, epsilon, "", str(TIMES)])[0]
            gaussian = taken([*ours, epsilon, "1e-6", str(TIMES)])[0]
            tried = {ridge: taken([*theirs, epsilon, ridge, str(TIMES)])[0] for ridge in RIDGES}
            ridge = max(tried, key=lambda one: tried[one]["auc"])
            _, cpu, memory = taken([*ours, epsilon, "", "1"])
            _, peer_cpu, _ = taken([*theirs, epsilon, "1", "1"])
            fits = [pure["fit"] / tried[one]["fit"] for one in ("1", ridge)]
            print(
                f"ε = {epsilon:4} AUC {pure['auc']:.4f} (accuracy {pure['accuracy']:.1%}), under δ = 1e-6 "
                f"{gaussian['auc']:.4f} ({gaussian['accuracy']:.1%}); diffprivlib {tried['1']['auc']:.4f}, at its best "
                f"ridge {ridge} {tried[ridge]['auc']:.4f} ({tried[ridge]['accuracy']:.1%})\n"
                f"         CPU of a process {cpu:.2f} s, {cpu / peer_cpu:.2f} x diffprivlib's {peer_cpu:.2f} s, "
                f"{memory:.2f} GB; of a fit, all loaded, {1e3 * pure['fit']:.0f} ms from opening to coefficients, "
                f"{fits[0]:.2f} x diffprivlib's and {fits[1]:.2f} x at its best ridge"
            )
            figures[epsilon] = {
                "entwined": pure | {"cpu": cpu, "gigabytes": memory},
                "entwined, delta 1e-6": gaussian,
                "diffprivlib": tried["1"] | {"cpu": peer_cpu},
                f"diffprivlib, ridge {ridge}": tried[ridge],
                "ratio": cpu / peer_cpu,
                "ratio of fits": fits[0],
                "ratio of fits, its best ridge": fits[1],
            }
    return figures
