"""Noisy counts of 100 groups over 10^6 rows: our whole door beside bare calls of other libraries."""

import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

PEERS = {
    "numpy": [],
    "opendp": ["opendp==0.16.0", "numpy"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn<1.6"],
    "smartnoise": ["smartnoise-sql"],
}
HOMES = Path(__file__).parent / "results" / "peers"


def python_of(name: str, packages: list[str]) -> Path | str:
    """The interpreter of a peer, in a virtual environment that is made once."""
    if not packages:
        return sys.executable
    home = HOMES / name
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(home / "bin" / "pip"), "install", "--quiet", *packages], check=True)
        (home / "ready").touch()
    return home / "bin" / "python"


def ours(codes: np.ndarray[Any, np.dtype[np.int64]], folder: Path) -> float:
    """Plan, charge durably, scan with DuckDB, add exact noise, settle: the best of several requests."""
    import pyarrow as pa
    from pyarrow import parquet

    from entwined.ledger import Ledger
    from entwined.promise.promise import Promise
    from entwined.queries import Histogram, parse
    from entwined.request.verbs import release
    from entwined.schema import Integer, Rows, Schema
    from entwined.tables import open_table

    parquet.write_table(pa.table({"g": codes}), folder / "rows.parquet")
    schema = Schema((Integer("g", low=0, high=99),), unit=Rows(), neighbours="add_remove").approve()
    best = float("inf")
    with (
        open_table(str(folder / "rows.parquet"), schema) as table,
        Ledger.create(str(folder / "ledger.sqlite"), Fraction(100), Promise.of(schema)) as ledger,
    ):
        for turn in range(6):
            query = Histogram("g", where=parse(f"g >= {turn}", schema))  # another request each time
            began = time.perf_counter()
            release(table, query, ledger=ledger, loss="1")
            best = min(best, time.perf_counter() - began)
    return best


def run() -> dict[str, float]:
    """Print seconds, and ratios to ours."""
    codes = np.random.default_rng(1).integers(0, 100, 1_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds = {"entwined": ours(codes, folder)}
        np.save(folder / "codes.npy", codes)
        for peer, packages in PEERS.items():
            script = Path(__file__).parent / "peers" / f"{peer}_counts.py"
            words = [str(python_of(peer, packages)), str(script), str(folder / "codes.npy")]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            seconds[peer] = float(done.stdout.split()[-1])
    for name, taken in seconds.items():
        print(f"{name:12} {taken * 1e3:9.1f} ms   {taken / seconds['entwined']:7.2f} x entwined")
    return seconds
