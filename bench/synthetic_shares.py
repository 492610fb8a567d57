"""What columns alone cost relations: marginals of mode `adaptive` as the share of the loss for columns moves.

Mean total variation of all marginals of one, two and three columns, mean of three runs, on the tables of
`synthetic_tables` and at the same δ. With so much of the loss for columns alone their counts are off as one over the
root of it; what is left is for relations. Figures are kept as they come, for the page about synthetic tables.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from bench.synthetic_peers import DELTA, HERE, shown, words_of
from bench.synthetic_tables import measured, tables

SHARES = ("0.2", "0.4", "0.6", "0.8")
EPSILONS = ("1", "10")
RUNS = 3
KEPT = HERE / "results" / "synthetic_shares.json"


def run() -> dict[str, Any]:
    """Print how one side gains and the other loses."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, real, target in tables(folder):
            for epsilon in EPSILONS:
                for share in SHARES:
                    words = words_of(folder, f"adaptive with {share}", epsilon, DELTA, len(real.names))
                    found = measured(real, words, folder, target, RUNS)
                    figures.setdefault(name, {})[f"ε = {epsilon}, alone = {share}"] = found
                    KEPT.write_text(json.dumps({"figures": figures}, indent=2) + "\n")
                    shown(f"{name}: alone = {share}", epsilon, found)
    return figures
