"""Households are counted alike in every engine: seats, heads first, the members of a kind by how many there are."""

import pytest

from entwined.errors import BadQuery
from entwined.mechanisms.households.masses import asked
from entwined.mechanisms.households.seating import Seating
from entwined.tables import open_table
from support import engines
from support.census import ROLES, census, census_schema
from support.seated import check_seats


@pytest.mark.parametrize("engine", ["parquet", "csv", "pandas", "postgres"])
def test_households_are_those_by_hand(engine, tmp_path):
    check_seats(engines.LIGHT[engine], tmp_path)


def test_other_households_than_the_schema_protects_are_refused():
    wanted = [asked(Seating.of(ROLES, census_schema(4)), ((0, 1),))]
    with (
        open_table(census(3), census_schema(3)) as table,
        pytest.raises(BadQuery, match="protects other units"),
    ):
        table.check(wanted)
