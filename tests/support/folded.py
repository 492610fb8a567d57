"""Folds that are tables of counts, and the check that an engine folds the very rows that it counts."""

import random

import numpy as np
import pyarrow as pa

from entwined.queries import Axis, FoldOf, Placed, TableOf, codes_in, everything, nothing
from entwined.schema import Categorical, Integer, Person, Schema, Text
from entwined.tables import open_table
from support import engines

WORD = Categorical("word", ("a", "b", "c"))
STEP = Integer("step", 0, 3, outside="missing")
FAR = Integer("far", 0, 2**40)
COLUMNS = (Text("who", compare="loose"), WORD, STEP, FAR)
AXES = (Axis("word", 3), Axis("step", 4))
WHERE = codes_in("step", 5, ((1, 2), (4, 4))) & codes_in("far", FAR.size, ((0, 9), (11, FAR.missing_code)))


def placed(columns, where):
    """The same table as a 1 that is placed by two codes; the third column makes it a scan."""

    def ones(codes):
        return np.ones((len(codes), 1), np.int64)

    return FoldOf(columns, (0,), (1,), ones, where, placed=(Placed(0, ("word", "step"), (4, 5)),))


def cells(columns, where):
    """The table of words and steps as a fold; with the third column it has too many codes to be counted."""

    def one_hot(codes):
        return np.eye(20, dtype=np.int64)[
            codes[:, columns.index("word")] * 5 + codes[:, columns.index("step")]
        ]

    return FoldOf(columns, (0,) * 20, (1,) * 20, one_hot, where, 1)


ASKED = [TableOf(AXES, everything()), TableOf(AXES, WHERE), TableOf(AXES, nothing())]
FOLDS = [
    cells(columns, one.where) for one in ASKED for columns in (("far", "word", "step"), ("step", "word"))
]
PLACED = [
    placed(columns, one.where) for one in ASKED for columns in (("far", "word", "step"), ("step", "word"))
]


def rows_of(rng, rows):
    def some(kind, values):
        return kind, [rng.choice([*values, None]) for _ in range(rows)]

    return {
        "who": some("text", ["ann", " Ann", "bob", "07", "7", ""]),
        "word": some("text", ["a", "b", "c", "x"]),
        "step": some("whole", [0, 1, 2, 3, 9]),
        "far": some("whole", [0, 10, 2**39, 2**60]),
    }


PLAIN = Schema(COLUMNS)
WAYS = (
    (Schema(COLUMNS, unit=Person("who", 7), neighbours="add_remove"), lambda table: table),
    (PLAIN, lambda table: table.keeping("who", 3, "step")),
    (PLAIN, lambda table: table),
    (PLAIN, lambda table: table.keeping("who", 5)),
)


def check_folds(keep, folder, rows=200, ways=WAYS):
    """Ask for tables and for folds that are the same tables."""
    source, _ = keep(rows_of(random.Random(3), rows), folder)
    for schema, pick in ways:
        with open_table(source, schema) as table:
            asked = [*ASKED, *FOLDS, FOLDS[0], *PLACED]
            found = [numbers.tolist() for numbers in pick(table).answer(asked)]
        tables, folds = found[: len(ASKED)], found[len(ASKED) :]
        assert sum(map(sum, tables[:1])) > 0
        pairs = [tables[at // 2] for at in range(6)]
        assert folds == [*pairs, tables[0], *pairs]
        if keep is engines.arrow_stream:
            return  # it can be read once


FRAME = pa.table({"word": ["a", "b", "c", None] * 50, "far": [0, 5, 2**40, 9] * 50})
SCHEMA = Schema((WORD, FAR), most_rows=1000)


def fold(function, least=(0, 0), most=(9, 9), columns=("word", "far"), **how):
    return FoldOf(columns, least, most, function, everything(), **how)
