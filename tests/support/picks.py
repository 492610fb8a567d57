"""The same rows in two engines, and the check that both pick the same ones."""

import numpy as np

from entwined.queries import Axis, TableOf, everything
from entwined.schema import Integer, Person, Schema, Text
from entwined.tables import open_table
from support import engines


def check_picks(keep, folder):
    """Hold what an engine picks against what DuckDB picks of a Parquet file."""
    rng = np.random.default_rng(8)
    stored = {
        "who": ("whole", rng.integers(0, 12, 300).tolist()),
        "home": ("text", rng.choice(["Ä-1", "Ö 2", "x,y", "", "7"], 300).tolist()),
        "age": ("whole", rng.integers(0, 4, 300).tolist()),
    }
    columns = (Text("who", compare="exact"), Text("home", compare="loose"), Integer("age", 0, 9))
    schema = Schema(columns, unit=Person("who", 3), neighbours="add_remove")
    asked = [TableOf((Axis("age", 10),), everything())]
    answers = []
    for store, place in ((engines.parquet, folder / "first"), (keep, folder / "second")):
        place.mkdir(parents=True)
        source, _ = store(stored, place)
        with open_table(source, schema) as table:
            answers.append(table.answer(asked)[0].tolist())
    assert answers[0] == answers[1]
    assert sum(answers[0]) == 36
