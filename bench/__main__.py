"""Run every benchmark, print its figures, and keep them in bench/results/."""

import json
import platform
import sys
import time
from importlib import import_module
from pathlib import Path

PARTS = (
    "calculus",
    "counts",
    "adjusted_counts",
    "tables",
    "ledger",
    "noise",
    "startup",
    "surveys",
    "models",
    "survey_noise",
    "survey_path",
    "survey_released",
    "families",
    "chains",
    "panels",
    "degrees",
    "k_means",
    "classifiers",
    "service",
    "synthetic",
    "synthetic_peers",
    "synthetic_shares",
    "synthetic_tables",
    "attributes",
    "streams",
)
RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    """Run the named parts, or all."""
    RESULTS.mkdir(exist_ok=True)
    for name in names or PARTS:
        print(f"== {name}")
        figures = import_module(f"bench.{name}").run()
        record = {
            "part": name,
            "at": time.strftime("%Y-%m-%d"),
            "python": platform.python_version(),
            "figures": figures,
        }
        (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
