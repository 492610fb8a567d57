"""Persons with several rows who belong to groups, and the check that an engine keeps the right ones."""

import random

from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Categorical, Integer, Person, Schema, Text
from entwined.tables import open_table
from support import engines

WORD, AGE = Categorical("word", ("a", "b", "c")), Integer("age", 0, 3)
GROUPS = {
    "text": Text("home", compare="loose"),
    "code": Categorical("home", ("h1", "h2", "h3"), missing_codes=("none",)),
}
PEOPLE = ["ann", " Ann", "bob", "cid", "dan", "eve", "7", "07", "", None]
HOMES = ["h1", "H1 ", "h2", "h3", "none", "", None]
ASKED = [TableOf((Axis("word", 3), Axis("age", 4)), everything()), CountOf(everything())]


def schema_of(which, most, *, coded_last=False):
    columns = (GROUPS[which], WORD, AGE)
    return Schema(
        (Text("who", compare="loose"), *(columns[::-1] if coded_last else columns)),
        unit=Person("who", most),
        neighbours="add_remove",
    )


def rows_of(rng, rows):
    return {
        "who": ("text", [rng.choice(PEOPLE) for _ in range(rows)]),
        "home": ("text", [rng.choice(HOMES) for _ in range(rows)]),
        "word": ("text", [rng.choice(["a", "b", "c", "x", None]) for _ in range(rows)]),
        "age": ("whole", [rng.choice([0, 1, 2, 3, 9, None]) for _ in range(rows)]),
    }


WAYS = (("text", 3, 1), ("code", 2, 2), ("code", 1, 1), ("text", 9, 2))


def check_homes(keep, folder, rows=40, ways=WAYS):
    """Hold the persons that an engine keeps against the rule in plain Python."""
    rng = random.Random(7)
    for turn, (which, most, few) in enumerate(ways):
        (folder / f"homes{turn}").mkdir()
        source, seen = keep(rows_of(rng, rows // (1 + turn % 2)), folder / f"homes{turn}")
        schema = schema_of(which, most, coded_last=turn > 1)
        with open_table(source, schema) as table:
            for step in (None,) if keep is engines.arrow_stream else (None, "age"):
                kept = engines.persons(schema, seen, "home", few, step)
                rows_kept = [row for mine in kept.values() for row in mine]
                expected = [engines.counted(rows_kept, one) for one in ASKED]
                assert engines.equal(table.keeping("home", few, step).answer(ASKED), expected)
