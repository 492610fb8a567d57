"""Many tables of cells, and the check that an engine counts them from one scan as it counts each by itself."""

import itertools
import random

from entwined.queries import Axis, TableOf, everything
from entwined.tables import open_table
from support import engines
from support.folded import FAR, WAYS, rows_of

SIDES = (
    Axis("word", 3),
    Axis("step", 4),
    Axis("far", FAR.levels, cuts=(0, 10, 2**39)),
    Axis("step", 4, 3),
)
TABLES = [
    TableOf(sides, everything())
    for many in range(1, len(SIDES) + 1)
    for sides in itertools.combinations(SIDES, many)
]
BACKWARDS = TableOf((SIDES[2], SIDES[0]), everything())


def check_tallies(keep, folder, rows=200, ways=WAYS, seen=None):
    """Ask for each table alone, and for all of them while rows are lent, and then for some again."""
    source, _ = keep(rows_of(random.Random(3), rows), folder)
    for schema, pick in ways:
        with open_table(source, schema) as opened:
            table = pick(opened)
            alone = [table.answer([one])[0].tolist() for one in (*TABLES, BACKWARDS)]
            with table.lending():
                together = [one.tolist() for one in table.answer([*TABLES, BACKWARDS])]
                again = [one.tolist() for one in table.answer([BACKWARDS, TABLES[0]])]
                if seen is not None:
                    seen(table)
            assert [one.tolist() for one in table.answer([*TABLES, BACKWARDS])] == alone
        assert together == alone
        assert again == [alone[-1], alone[0]]
        assert sum(alone[0]) > 0
        if keep is engines.arrow_stream:
            return  # it can be read once
