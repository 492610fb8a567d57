"""Spark gives the very same integers: a real one, started once, on this machine.

One test, because a Spark takes seconds to start and tests are spread over processes.
"""

import random

import numpy as np
import pytest

from entwined.errors import BadTable, Unreadable
from entwined.learning import public_codes
from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Categorical, Person, Schema
from entwined.tables import describe, open_table
from entwined.tables.java import find_java
from entwined.tables.spark import counting
from entwined.tables.table import FAILED
from support import engines
from support.at_home import WAYS, check_homes
from support.banded import check_bands
from support.described import PROPOSED, STORED
from support.folded import SCHEMA as FOLDED
from support.folded import WAYS as FOLDED_WAYS
from support.folded import check_folds, fold
from support.grouped import check_groups
from support.picks import check_picks
from support.random_tables import COLUMNS, random_aggregate, random_table, said
from support.raw_values import RAW, codes_by_row, differences, table_of
from support.scaled import check_scaled
from support.seated import check_seats
from support.tallied import check_tallies
from support.weighed import check_weights

pytestmark = [
    pytest.mark.skipif(not find_java(), reason=engines.NO_JAVA),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # pyspark leaves sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_spark_answers_exactly(tmp_path):
    check_codes(["text"], 5, tmp_path / "text")
    check_codes([kind for kind in RAW if kind != "text"], 3, tmp_path / "others")
    check_random_batches(random.Random(1), Person("who", 2), tmp_path / "persons")
    check_names_and_sessions(tmp_path / "names")
    for which in ("loose text", "number"):
        (tmp_path / which).mkdir()
        check_groups(engines.spark_frame, which, tmp_path / which)
    check_folds_on_spark(tmp_path / "folds")
    check_tallies_on_spark(tmp_path / "tallies")
    (tmp_path / "weights").mkdir()
    check_weights(engines.spark_frame, tmp_path / "weights")
    (tmp_path / "bands").mkdir()
    check_bands(engines.spark_frame, tmp_path / "bands")
    check_homes(engines.spark_frame, tmp_path, ways=WAYS[:1])
    (tmp_path / "scaled").mkdir()
    check_scaled(engines.spark_frame, tmp_path / "scaled")
    check_picks(engines.spark_frame, tmp_path / "picks")
    (tmp_path / "seats").mkdir()
    check_seats(engines.spark_frame, tmp_path / "seats")
    check_versions(tmp_path / "versions")
    check_description(tmp_path / "described")


@pytest.mark.slow
def test_spark_codes_every_declared_column_of_text(tmp_path):
    """The other declarations of text take it as long to plan as all else together."""
    check_codes(["text"], 19, tmp_path / "text")
    check_codes([kind for kind in RAW if kind != "text"], 6, tmp_path / "others")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_spark_answers_random_batches_exactly(seed, tmp_path):
    check_random_batches(random.Random(seed), Person("who", 2) if seed % 2 else None, tmp_path / "rows")


def check_codes(kinds, most, folder):
    folder.mkdir()
    schema, stored = table_of(kinds, most)
    source, seen = engines.spark_frame(stored, folder)
    asked = codes_by_row(schema)
    with open_table(source, schema) as table:
        found = table.answer(asked)
    assert differences(seen, asked, found, engines.reference(schema, seen, asked)) == []


def check_random_batches(rng, person, folder):
    folder.mkdir()
    unit = {"unit": person, "neighbours": "add_remove"} if person else {}
    schema = Schema(COLUMNS, most_rows=10_000, **unit)
    source, seen = engines.spark_frame(random_table(rng, 100), folder)
    asked = [random_aggregate(rng, schema) for _ in range(10)]
    with open_table(source, schema) as table:
        assert engines.equal(table.answer(asked), engines.reference(schema, seen, said(asked, schema)))


def check_names_and_sessions(folder):
    folder.mkdir()
    name = 'a"`; drop table x; --.b'
    source, _ = engines.spark_frame({name: ("text", ["x", "y", None, "x"])}, folder)
    schema = Schema((Categorical(name, ("x", "y")),))
    asked = [TableOf((Axis(name, 2),), everything()), CountOf(everything())]
    source.createOrReplaceTempView("rows_of_a_session")
    for given in (open_table(source, schema), open_table(engines.spark(), schema, table="rows_of_a_session")):
        with given as table:
            assert [numbers.tolist() for numbers in table.answer(asked)] == [[2, 1, 1], [4]]
    with pytest.raises(BadTable, match="no table 'other'"):
        open_table(engines.spark(), schema, table="other")
    assert not [view for view in engines.spark().catalog.listTables() if view.name.startswith("entwined_")]


def check_folds_on_spark(folder):
    folder.mkdir()
    check_folds(engines.spark_frame, folder, 60, FOLDED_WAYS[:2])
    stored = {"word": ("text", ["a"] * 3), "far": ("whole", [0, 5, 7])}
    source, _ = engines.spark_frame(stored, folder)
    secret = 5

    def failing(codes):
        if (codes[:, 1] == secret).any():
            raise ValueError(f"the secret is {codes}")
        return codes

    with open_table(source.repartition(3), FOLDED) as table:
        assert table.answer([fold(lambda codes: codes)])[0].tolist() == [0, 5 + 7]
        check_asked_again(table)
        with pytest.raises(Unreadable) as raised:
            table.answer([fold(failing)])
    assert str(raised.value) == FAILED
    with open_table(source.limit(0), FOLDED) as table:
        assert table.answer([fold(lambda codes: codes)])[0].tolist() == [0, 0]


def check_tallies_on_spark(folder):
    """Few rows that are lent are brought; others are counted where they lie, and a part that fails says nothing."""
    folder.mkdir()
    kept = []

    def seen(table):
        kept.extend(table._rows.engine.held._brought.values())

    check_tallies(engines.spark_frame, folder, 60, FOLDED_WAYS[2:3], seen)
    assert [[len(batch) for batch in one] for one in kept] == [[60]]

    def failing(batches):
        for batch in batches:
            raise ValueError(f"the secret is {batch}")
        return np.zeros(1, np.int64)

    frame = engines.spark().range(3).selectExpr("CAST(id AS TINYINT) AS n0")
    found = frame.mapInArrow(counting(failing), "cell long, n long").collect()
    assert {tuple(row) for row in found} == {(-1, -1)}


def check_asked_again(table):
    """While rows are lent, few of them come here when they are asked for again, and are forgotten with the lending."""
    here = []

    def seen(codes):
        here.append(len(codes))
        return codes

    table.check([fold(seen)])
    tried = sum(here)
    with table.lending():
        first, again, more = ([one.tolist() for one in table.answer([fold(seen)])] for _ in range(3))
    assert first == again == more == [[0, 5 + 7]]
    assert sum(here) == 4 * tried + 2 * 3  # what runs where rows lie adds nothing to a list of ours
    assert table._rows.engine.held._brought == {}


def check_versions(folder):
    folder.mkdir()
    source, _ = engines.spark_frame({"a": ("text", ["x", "y"])}, folder)
    schema = Schema((Categorical("a", ("x", "y")),))
    source.createOrReplaceTempView("versions")

    def identity(given, **how):
        with open_table(given, schema, **how) as table:
            return table.identity

    told = public_codes(engines.arrow({"a": ("text", ["y", "x"])}), schema).origin
    with open_table(source, schema) as table:
        assert table.holds(told)
    assert identity(source) != identity(source)
    assert identity(source, version="1") == identity(source, version="1") != identity(source, version="2")
    assert identity(source, version="1") != identity(engines.spark(), table="versions", version="1")


def check_description(folder):
    folder.mkdir()
    kept = {name: STORED[name] for name in ("patient_id", "age", "sex", "price", "born", "seen", "odd")}
    source, _ = engines.spark_frame(kept, folder)
    found = describe(source)
    assert found.schema.columns[1:] == tuple(PROPOSED[name] for name in list(kept)[1:])
