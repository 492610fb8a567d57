"""A census made up for tests: households of a head, perhaps a partner, children and others, whose ages go together."""

import numpy as np
import pyarrow as pa

from entwined.schema import Categorical, Household, Integer, Rows, Schema, Text

COLUMNS = (
    Text("home", compare="exact"),
    Categorical("relation", ("head", "partner", "child", "lodger")),
    Integer("age", 0, 99),
    Categorical("faith", ("a", "b", "c")),
    Categorical("work", ("none", "clerk", "nurse", "school")),
    Categorical("region", ("north", "south", "west")),
)
ROLES = {"role": "relation", "head": "head", "partner": "partner", "child": "child", "shared": ["region"]}


def census_schema(largest=5, neighbours="replace", *, by_row=False, columns=COLUMNS):
    """The schema of a census that protects households, or rows."""
    unit = Rows() if by_row else Household("home", largest)
    return Schema(columns, unit, neighbours, most_rows=1_000_000).approve()


def census(households=2000, seed=3):
    """Make households up, one after another; as an Arrow table."""
    rng = np.random.default_rng(seed)
    rows = []
    for at in range(households):
        head = int(np.clip(rng.normal(48, 15), 18, 95))
        faith, region = rng.integers(3), rng.integers(3)
        rows.append(_person(rng, at, "head", head, faith, region))
        if rng.random() < (0.65 if head < 70 else 0.4):
            partner = int(np.clip(head + rng.normal(-2, 4), 18, 95))
            rows.append(_person(rng, at, "partner", partner, _like(rng, faith), region))
        for _ in range(rng.choice(4, p=[0.45, 0.25, 0.2, 0.1]) if head < 60 else 0):
            child = int(np.clip(head - rng.normal(30, 4), 0, head - 16))
            rows.append(_person(rng, at, "child", child, _like(rng, faith), region))
        if rng.random() < 0.05:
            rows.append(_person(rng, at, "lodger", int(rng.integers(18, 80)), rng.integers(3), region))
    return pa.Table.from_pylist(rows)


def _like(rng, faith):
    return faith if rng.random() < 0.9 else rng.integers(3)


def _person(rng, at, relation, age, faith, region):
    work = "none" if age < 6 else "school" if age < 18 else str(rng.choice(["none", "clerk", "nurse"]))
    place = ("north", "south", "west")[region]
    return {
        "home": f"h{at}", "relation": relation, "age": age, "faith": "abc"[faith], "work": work, "region": place,
    }  # fmt: skip
