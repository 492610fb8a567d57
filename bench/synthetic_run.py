"""One synthetic table through the door, from a CSV file to cells: charged, counted with noise, fitted, made up."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import entwined as ew
from entwined.mechanisms.marginals.made_up import made_up
from entwined.schema import read_schema


def on_spark(table: Path) -> Any:
    """Read the file with a Spark on this machine."""
    from pyspark.sql import SparkSession

    from entwined.tables.java import find_java

    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.appName("synthetic").master("local[2]").getOrCreate()
    return session.read.csv(str(table), header=True, inferSchema=True)


def main(folder: Path, mode: str, epsilon: str, delta: str, columns: int, engine: str = "file") -> None:
    """Open a door of its own, and write as many rows as there are; without a δ the promise is pure.

    A mode "adaptive with 0.8" gives columns alone such a share of the loss.
    """
    mode, _, alone = mode.partition(" with ")
    more = {"alone": alone} if alone else {}
    began = time.process_time()
    schema = read_schema(folder / "schema.toml")
    rows = len(np.load(folder / "cells.npy"))
    ledger = Path(tempfile.mkdtemp()) / "ledger.sqlite"
    table = folder / "table.csv" if engine == "file" else on_spark(folder / "table.csv")
    with ew.open(table, schema, ledger=ledger, cap=100, delta=delta or None, other_rows=True) as door:
        names = list(schema.names[:columns])
        measured = door.compute("synthesis", leakage=epsilon, mode=mode, columns=names, **more).output
    made = made_up(measured.law(), rows)
    (folder / "calls.json").write_text(json.dumps(time.process_time() - began))
    np.save(folder / "made.npy", made)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), *sys.argv[6:])
