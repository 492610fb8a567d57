"""Tables that come with PyPI packages, coded as their documentation says: a survey of marriages, a health trial.

statsmodels carries Fair's survey of 6,366 women (1978) and the RAND health insurance experiment, 20,190 person-years
(Deb and Trivedi 2002). Bins are round numbers, not read off the rows.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TARGETS = {"fair": "affair", "randhie": "visits"}
FAIR: Mapping[str, Sequence[float]] = {
    "rate_marriage": (1, 2, 3, 4, 5),
    "age": (0, 20, 25, 30, 35, 40),
    "yrs_married": (0, 1, 4, 8, 11, 15, 20),
    "children": (0, 1, 2, 3, 4, 5),
    "religious": (1, 2, 3, 4),
    "educ": (0, 10, 13, 15, 17, 20),
    "occupation": (1, 2, 3, 4, 5, 6),
    "occupation_husb": (1, 2, 3, 4, 5, 6),
    "affairs": (0, 0.01, 1, 2, 5, 10, 20),
}
RANDHIE: Mapping[str, Sequence[float]] = {
    "mdvis": (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50),
    "lncoins": (0, 1, 3.5, 4, 4.5),
    "idp": (0, 1),
    "lpi": (0, 1, 2, 3, 4, 5, 5.5, 6, 6.5, 7),
    "fmde": (0, 1, 2, 3, 4, 5, 6, 7, 8),
    "physlm": (0, 0.01, 0.5, 1),
    "disea": (0, 1, 2, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50),
    "hlthg": (0, 1),
    "hlthf": (0, 1),
    "hlthp": (0, 1),
}


def package_table(name: str) -> dict[str, tuple[tuple[str, ...], "np.ndarray[Any, np.dtype[np.int64]]"]]:
    """Give the columns of a table: the bands that are declared of each, and in which one every row is."""
    from statsmodels import datasets

    frame = getattr(datasets, name).load_pandas().data
    cuts = {"fair": FAIR, "randhie": RANDHIE}[name]
    found = {}
    for column, starts in cuts.items():
        cells = np.searchsorted(starts, frame[column].to_numpy(), side="right") - 1
        found[column] = tuple(f"from {start:g}" for start in starts), cells.astype(np.int64)
    outcome = {"fair": "affairs", "randhie": "mdvis"}[name]
    answer = (found[outcome][1] > 0).astype(np.int64)
    return found | {TARGETS[name]: (("no", "yes"), answer)}


def written(folder: Path, name: str) -> Any:
    """Write a table as CSV with its schema, and its cells; give the codes."""
    from entwined.learning.codes import Codes
    from entwined.schema import Categorical, Schema, write_schema

    columns = package_table(name)
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(
            zip(*([bands[at] for at in cells] for bands, cells in columns.values()), strict=True)
        )
    kinds = tuple(Categorical(column, bands) for column, (bands, _) in columns.items())
    schema = Schema(kinds, most_rows=100_000, neighbours="add_remove").approve()
    write_schema(schema, folder / "schema.toml")
    sizes = {column: len(bands) + 1 for column, (bands, _) in columns.items()}
    (folder / "sizes.json").write_text(json.dumps(sizes))
    cells = np.stack([cells for _, cells in columns.values()], axis=1)
    np.save(folder / "cells.npy", cells)
    return Codes.of(sizes, cells)
