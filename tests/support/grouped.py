"""Who belongs together however the name is spelled, and the check that an engine sees it."""

import random

from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Boolean, Categorical, Integer, Moment, Person, Schema, Text
from entwined.schema.comparison import BLANKS
from entwined.tables import open_table
from support import engines

HOME = ["smith", "Smith", "SMITH", " smith", "smith ", "\tsmith", "smith\u00a0", "sMITH\u200b"]


SPELLINGS = [
    *HOME,
    *("7", "07", "007", " 7", "7.0", "-7", "+7", "0", "00", "", " ", "\t\n", None),
    *("a b", "a  b", "A\u2003 b", "a\nb", "ab", "\u00c4b", "\u00e4b", "\u0130", "i", "I", "\u0131", "\u212a", "k", "\u00df", "ss"),
    *("\uff17", "\u0667", "0x7", "7 7", "07 7", "a'b", 'a"b', "a\\b", "a%", "\U0001f600", *(f"x{blank}y" for blank in BLANKS)),
]  # fmt: skip


STEP = Integer("step", 0, 3, outside="missing")


COLUMNS = (STEP, Categorical("word", ("a", "b", "c")), Boolean("flag"))


ASKED = [
    TableOf((Axis("step", 4), Axis("word", 3), Axis("flag", 2)), everything()),
    CountOf(everything()),
]


def rows_of(rng, rows, who):
    return {
        "who": (who[0], [rng.choice(who[1]) for _ in range(rows)]),
        "step": ("whole", [rng.choice([0, 1, 2, 3, 9, None]) for _ in range(rows)]),
        "word": ("text", [rng.choice(["a", "b", "c", "x", None]) for _ in range(rows)]),
        "flag": ("truth", [rng.choice([True, False, None]) for _ in range(rows)]),
    }


WHO = {
    "loose text": (Text("who", compare="loose"), ("text", SPELLINGS)),
    "exact text": (Text("who", compare="exact"), ("text", SPELLINGS)),
    "whole": (Text("who", compare="exact"), ("whole", [7, 70, -7, 0, 2**53, 2**53 + 1])),
    "number": (Text("who", compare="loose"), ("number", [7.0, 0.0, -0.0, 7.5, float("nan"), 1e300, None])),
    "category": (Categorical("who", ("7", "07", "smith"), missing_codes=("0",)), ("text", SPELLINGS)),
    "integer": (Integer("who", 0, 10, outside="missing"), ("text", SPELLINGS)),
    "clamped": (Integer("who", 0, 10), ("whole", [7, 70, 700, -7, 0, None])),
    "moment": (
        Moment("who", "2020-01-01", "2020-01-03"),
        ("text", ["2020-01-02", "2020-01-02 05:00", "x", " "]),
    ),
}


def check_groups(keep, which, folder, seed=0, rows=300):
    column, raw = WHO[which]
    stored = rows_of(random.Random(f"{which}{seed}"), rows, raw)
    source, seen = keep(stored, folder)
    schema, person = (
        Schema((column, *COLUMNS), **how)
        for how in ({}, {"unit": Person("who", 2), "neighbours": "add_remove"})
    )
    with open_table(source, person) as table:
        assert engines.equal(table.answer(ASKED), engines.reference(person, seen, ASKED))
    if keep is engines.arrow_stream:
        return  # it can be read once
    coded = engines.coded(schema, seen)
    with open_table(source, schema) as table:
        for most, first in ((3, None), (2, "step")):
            kept = engines.picked(schema, seen, coded, "who", most, first)
            expected = [engines.counted(kept, one) for one in ASKED]
            assert engines.equal(table.keeping("who", most, first).answer(ASKED), expected)
