"""Tables that are counted from one scan of cells are those that an engine counts, and rows are scanned once."""

import subprocess
import sys

import numpy as np
import pytest

from entwined.queries import Axis, TableOf, codes_in, everything
from entwined.schema import Integer, Schema
from entwined.tables import holding, open_table
from entwined.tables.duck import Duck
from entwined.tables.plan import plan
from entwined.tables.statements import prepared
from entwined.tables.tallying import CellTally, tallied
from support import engines
from support.tallied import check_tallies

COLUMNS = tuple(Integer(f"i{at}", 0, 99) for at in range(6))
SCHEMA = Schema(COLUMNS, most_rows=1000)
SIDES = tuple(Axis(one.name, 100, 10) for one in COLUMNS)
PAIRS = [TableOf((one, two), everything()) for one in SIDES for two in SIDES if one.column < two.column]
ROWS = {
    one.name: ("whole", [(at * at + turn) % 100 for turn in range(500)]) for at, one in enumerate(COLUMNS)
}


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_a_tally_is_the_tables_of_counts(engine, tmp_path):
    check_tallies(engines.LIGHT[engine], tmp_path)


def same(found, expected):
    return all(map(np.array_equal, found, expected))


@pytest.fixture
def scans(monkeypatch):
    """What DuckDB is asked to scan, as a stream or at once."""
    found = []

    def noted(name):
        read = getattr(Duck.Reader, name)

        def reading(reader, statement):
            found.append(statement)
            return read(reader, statement)

        monkeypatch.setattr(Duck.Reader, name, reading)

    noted("_batches")
    noted("_at_once")
    return found


def test_lent_rows_are_scanned_once_and_forgotten_with_the_lending(scans):
    with open_table(engines.arrow(ROWS), SCHEMA) as table:
        held = table._rows.engine.held
        with table.lending():
            first = table.answer(PAIRS)
            assert held._kept[scans[0]][0].dtype == np.uint8
            few = table.answer([PAIRS[3], TableOf(SIDES[:1], everything())])
            assert len(scans) == 1
        assert (held._kept, held._scans) == ({}, [])
        assert same(table.answer(PAIRS), first)
        assert len(scans) == 2
    assert few[0].tolist() == first[3].tolist()
    assert few[1].sum() == 500


def test_rows_that_do_not_fit_are_scanned_each_time(scans, monkeypatch):
    monkeypatch.setattr(holding, "MOST_BYTES", 10)
    with open_table(engines.arrow(ROWS), SCHEMA) as table, table.lending():
        first, again = table.answer(PAIRS), table.answer(PAIRS)
        assert len(scans) == 2
        assert table._rows.engine.held._scans == []
    assert same(first, again)


def test_other_rows_of_the_same_source_are_not_taken_for_these():
    """Those that are kept of each group are fewer; under a condition the engine counts."""
    with open_table(engines.arrow(ROWS), SCHEMA) as table, table.lending():
        whole = table.answer(PAIRS)
        kept = table.keeping("i0", 1).answer(PAIRS)
        some = table.answer([TableOf(SIDES[:2], codes_in("i0", 101, ((0, 9),)))])
    assert {int(one.sum()) for one in whole} == {500}
    assert {int(one.sum()) for one in kept} == {100}
    assert some[0].sum() == 50


def test_few_tables_are_the_engines_to_count():
    with open_table(engines.arrow(ROWS), SCHEMA) as table:
        few, many = (prepared(table._rows, plan(SCHEMA, some)) for some in (PAIRS[:8], PAIRS[:9]))
    assert (len(few.tallies), len(many.tallies)) == (0, 1)


def test_a_malformed_file_is_counted_once_over(tmp_path):
    path = tmp_path / "rows.csv"
    names = ",".join(one.name for one in COLUMNS)
    path.write_text(names + "\n" + "1,2,3,4,5,6\n" * 200_000 + '1,"2\n')
    with open_table(path, SCHEMA) as table:
        found = table.answer(PAIRS)
    assert found[0].sum() == 200_001


def test_few_rows_are_counted_at_once_as_they_are_in_a_stream():
    counts = []
    for most_rows in (1000, 10**9):
        with open_table(engines.arrow(ROWS), Schema(COLUMNS, most_rows=most_rows)) as table:
            counts.append(table.answer(PAIRS))
            assert tallied(table._rows, PAIRS)[0].few == (most_rows == 1000)
    assert same(*counts)


WITHOUT_ARROW = """
import sys
from entwined.queries import Axis, TableOf, everything
from entwined.schema import Integer, Schema
from entwined.tables import open_table

columns = tuple(Integer(name, 0, 99) for name in "abcdef")
sides = [Axis(one.name, 100, 10) for one in columns]
pairs = [TableOf((one, two), everything()) for one in sides for two in sides if one.column < two.column]
with open_table("rows.csv", Schema(columns, most_rows=1000)) as table:
    print([int(one.sum()) for one in table.answer(pairs)] == [70_000] * 15, "pyarrow" in sys.modules)
"""


def test_few_rows_of_a_file_are_counted_without_arrow(tmp_path):
    """Its libraries take more memory than such rows; there may be more of them than was said."""
    (tmp_path / "rows.csv").write_text("a,b,c,d,e,f\n" + "1,2,3,4,5,6\n" * 70_000)
    words = [sys.executable, "-c", WITHOUT_ARROW]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout == "True False\n"


def test_large_tables_are_counted_row_by_row():
    sides = (Axis("a", 200), Axis("b", 300))
    tables = (TableOf(sides, everything()), TableOf(sides[1:], everything()))
    batches = [np.array([[3, 4], [3, 4], [200, 300]], np.uint16), np.array([[3, 4]], np.uint16)]
    tally = CellTally(tables, sides)
    large, small = tally.split(tally.over(batches))
    assert np.flatnonzero(large).tolist() == [3 * 301 + 4, 200 * 301 + 300]
    assert (large[3 * 301 + 4], small[4], small[300]) == (3, 3, 1)
    assert tally.over([]).sum() == 0
