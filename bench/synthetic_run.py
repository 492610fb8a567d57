"""One synthetic table through the door, from a CSV file to cells: charged, counted with noise, fitted, made up."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import entwined as ew
from entwined.mechanisms.marginals.made_up import made_up
from entwined.schema import read_schema


def main(folder: Path, mode: str, epsilon: str, delta: str, columns: int) -> None:
    """Open a door of its own, and write as many rows as there are; without a δ the promise is pure."""
    schema = read_schema(folder / "schema.toml")
    rows = len(np.load(folder / "cells.npy"))
    ledger = Path(tempfile.mkdtemp()) / "ledger.sqlite"
    table = folder / "table.csv"
    with ew.open(table, schema, ledger=ledger, cap=100, delta=delta or None, other_rows=True) as door:
        names = list(schema.names[:columns])
        measured = door.compute("synthesis", leakage=epsilon, mode=mode, columns=names).output
    np.save(folder / "made.npy", made_up(measured.law(), rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
