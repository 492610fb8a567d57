"""All engines give the very same integers as the pure-Python rule, whatever the values."""

import dataclasses
import random

import pytest

from entwined.queries import Axis, TableOf, everything
from entwined.schema import Person, Schema
from entwined.tables import open_table
from entwined.tables.plan import plan
from support import engines
from support.banded import check_bands
from support.random_tables import COLUMNS, random_aggregate, random_axis, random_table, said
from support.raw_values import RAW, codes_by_row, differences, table_of

GROUPS = {
    "text": (["text"], 19),
    "numbers": (["truth", "whole", "small", "number", "single", "decimal"], 6),
    "times": (["day", "moment", "zoned"], 11),
}


def check_codes(engine, kinds, most, folder):
    schema, stored = table_of(kinds, most)
    source, seen = engines.ALL[engine](stored, folder)
    asked = codes_by_row(schema)
    with open_table(source, schema) as table:
        found = table.answer(asked)
    expected = engines.reference(schema, seen, asked)
    assert differences(seen, asked, found, expected) == []
    assert engines.equal(found, expected)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("engine", engines.LIGHT)
def test_every_raw_value_has_the_code_of_the_rule(engine, group, tmp_path):
    check_codes(engine, *GROUPS[group], tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in RAW if kind != "text"])
@pytest.mark.parametrize("engine", ["parquet", "postgres"])
def test_every_type_of_column_codes_every_kind_of_value(engine, kind, tmp_path):
    check_codes(engine, [kind], 19, tmp_path)


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("engine", engines.LIGHT)
def test_random_batches_are_answered_exactly(engine, by_person, tmp_path):
    rng = random.Random(
        f"{list(engines.LIGHT).index(engine) % 3}{by_person}"
    )  # the same batch in several engines
    for turn, rows in enumerate((0, 1, 2, 40, 300)):
        unit = {"unit": Person("who", rng.choice([1, 2, 5])), "neighbours": "add_remove"} if by_person else {}
        schema = Schema(COLUMNS, most_rows=10_000, **unit)
        (tmp_path / str(turn)).mkdir()
        source, seen = engines.ALL[engine](random_table(rng, rows), tmp_path / str(turn))
        asked = [random_aggregate(rng, schema) for _ in range(12)]
        with open_table(source, schema) as table:
            found = table.answer(asked)
        assert engines.equal(found, engines.reference(schema, seen, said(asked, schema)))
        assert [len(numbers) for numbers in found] == [one.cells for one in asked]


@pytest.mark.parametrize("engine", ["parquet", "csv", "objects", "postgres"])
def test_bands_are_counted_as_a_loop_would(engine, tmp_path):
    check_bands(engines.ALL[engine], tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_coarser_tables_are_added_up_from_finer_ones(seed):
    """Whatever is merged: the cells are those of the rule, and a table of bands beside a finer one costs no scan."""
    rng = random.Random(seed)
    schema = Schema(COLUMNS[:5], most_rows=1000)
    names = rng.sample([column.name for column in COLUMNS[:5]], 2)
    keeps = {"keeps_missing": True} if seed % 2 else {}
    tables = [
        TableOf(
            tuple(dataclasses.replace(random_axis(rng, schema.coded(name)), **keeps) for name in some),
            everything(),
        )
        for some in (names, names, names[:1], names[1:], names[::-1])
    ]
    fine = TableOf(
        tuple(Axis(name, schema.coded(name).levels, keeps_missing=True) for name in names), everything()
    )
    stored = {name: one for name, one in random_table(rng, 50).items() if name in schema.names}
    with open_table(engines.arrow(stored), schema) as table:
        found = table.answer([*tables, fine])
    assert engines.equal(found, engines.reference(schema, stored, [*tables, fine]))
    assert not keeps or len(plan(schema, [*tables, fine]).merged()) == 1
