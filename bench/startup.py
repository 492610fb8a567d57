"""How long the command takes to start: CPU seconds of the quickest of several runs."""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 0.5
RUNS = 7
CHAIN = {"kind": "markov_chain", "length": 100, "transition": [[0.9, 0.1], [0.1, 0.9]]}
SCHEMA = 'unit = {kind = "rows"}\nneighbours = "add_remove"\n[[column]]\nname = "a"\ntype = "boolean"\n'
REQUEST = """
table = "rows.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 9
loss = 0.5
[[dependence]]
model = {kind = "groups", largest = 3}
[[query]]
kind = "histogram"
column = "a"
"""


def entwined(folder: Path, *words: str) -> None:
    """Run our command in a folder."""
    subprocess.run(
        [str(Path(sys.executable).with_name("entwined")), *words],
        cwd=folder,
        env={"XDG_STATE_HOME": str(folder)},
        check=True,
        capture_output=True,
    )


def quickest(folder: Path, *words: str) -> float:
    """Measure the CPU of a command; the first run, which may compile, is left out."""
    entwined(folder, *words)
    found = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        entwined(folder, *words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def releasing(folder: Path) -> float:
    """Measure a release whose answer is in the ledger, each into a folder of its own."""
    found = []
    for turn in range(RUNS // 2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        entwined(folder, "release", "release.toml", "-o", f"again{turn}", "--yes")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def run() -> dict[str, float]:
    """Make what is to be verified, and measure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.csv").write_text("a\ntrue\nfalse\n")
        (folder / "schema.toml").write_text(SCHEMA)
        (folder / "release.toml").write_text(REQUEST)
        (folder / "chain.json").write_text(json.dumps(CHAIN))
        entwined(folder, "approve", "schema.toml", "--yes")
        entwined(folder, "release", "release.toml", "-o", "out", "--yes")
        entwined(folder, "bound", "chain.json", "--loss", "0.1", "--certificate", "bound.json")
        found = {
            "--help": quickest(folder, "--help"),
            "budget": quickest(folder, "budget"),
            "plan": quickest(folder, "plan", "release.toml"),
            "release, asked again": releasing(folder),
            "verify, a bound": quickest(folder, "verify", "bound.json"),
            "verify, a release": quickest(folder, "verify", "out/certificate.json"),
        }
    for what, seconds in found.items():
        print(f"{what:<20} {seconds:6.2f} s of CPU")
    started = [seconds for what, seconds in found.items() if what not in ("plan", "release, asked again")]
    print(f"within limits: {max(started) < LIMIT} (below {LIMIT} s)")
    return found
