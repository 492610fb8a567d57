"""Synthetic households: whole ones under made-up ids, like those described, with rules that hold in every row."""

import json

import numpy as np
import pandas as pd
import pytest

from entwined.errors import BadInput
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.offered import settled
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.schema import Categorical, Household, Integer, Schema
from entwined.synthetic import household_rows
from entwined.synthetic.household_rows import DescribedHouseholds, MadeUpHouseholds
from entwined.tables import open_table
from support.census import ROLES, census, census_schema

RULES = {
    "younger": [["child", "age", 15]],
    "impossible": [
        "age < 18 and work in ('clerk', 'nurse')",
        "relation = 'child' and faith = 'c'",
        "age is null",
    ],
}
REAL = census(1500)


def described(given, loss, schema=None, delta=None):
    public = schema or census_schema()
    mechanism = settled(HouseholdTables, Promise.of(public, measure=measure_of(delta)), given, loss=loss)
    with open_table(REAL, public) as table:
        drawn = mechanism.run(table.answer, public)
    told = DescribedHouseholds.of(mechanism, mechanism.output(drawn), public)
    read = DescribedHouseholds.from_document(
        json.loads(json.dumps(mechanism.document)), json.loads(drawn), public
    )
    assert read.released == told.released
    return read


def apart(rows, kind):
    """Ages of heads and of members of a kind, side by side."""
    heads = rows[rows.relation == "head"].set_index("home").age
    members = rows[rows.relation == kind]
    return heads.reindex(members.home).to_numpy(float), members.age.to_numpy(float)


@pytest.mark.parametrize(("loss", "delta"), [(0.05, None), (5, None), (1, "1e-6")])
def test_rules_hold_in_every_row_whatever_the_noise(loss, delta, monkeypatch):
    monkeypatch.setattr(household_rows, "BLOCK", 1000)
    made = MadeUpHouseholds(census_schema(), 700, described(ROLES | RULES, loss, delta=delta))
    rows = made.table().to_pandas()
    assert len(list(made.blocks())) == 4
    homes = rows.groupby("home", sort=False)
    assert homes.ngroups == 700
    assert homes.size().max() <= 5
    assert (homes.relation.agg(lambda roles: (roles == "head").sum()) == 1).all()
    assert (homes.relation.agg(lambda roles: (roles == "partner").sum()) <= 1).all()
    assert (homes.relation.first() == "head").all()
    assert homes.region.nunique(dropna=False).max() == 1
    head, child = apart(rows, "child")
    assert (head - child >= 15).all()
    assert rows.age.notna().all()
    assert not ((rows.age < 18) & rows.work.isin(["clerk", "nurse"])).any()
    assert not ((rows.relation == "child") & (rows.faith == "c")).any()
    assert set(rows.home) == {f"home-{at:09d}" for at in range(1, 701)}
    assert rows.home.is_monotonic_increasing


def test_households_are_like_those_described():
    """With noise that hardly matters: sizes, shares by role, and what goes together at home."""
    rows = MadeUpHouseholds(census_schema(), 4000, described(ROLES, 2000)).table().to_pandas()
    real = REAL.to_pandas()
    sizes = [one.groupby("home").size().clip(upper=5).value_counts(normalize=True) for one in (rows, real)]
    assert (sizes[0] - sizes[1]).abs().max() < 0.02
    for kind in ("partner", "child"):
        mine, theirs = (apart(one.dropna(), kind) for one in (rows, real))
        there = ~np.isnan(mine[0])
        assert np.corrcoef(mine[0][there], mine[1][there])[0, 1] > np.corrcoef(*theirs)[0, 1] - 0.1
    for role, found in real.groupby("relation"):
        other = rows[rows.relation == role]
        for column in ("faith", "work", "region"):
            shares = [one[column].value_counts(normalize=True) for one in (other, found)]
            assert shares[0].sub(shares[1], fill_value=0).abs().sum() / 2 < 0.06, (role, column)


def test_without_roles_members_hang_on_the_first():
    read = described({"shared": ["region"], "columns": ["faith", "age", "region"]}, 2000)
    rows = MadeUpHouseholds(census_schema(), 2000, read).table().to_pandas()
    assert list(rows.columns) == ["home", "age", "faith", "region"]
    assert rows.groupby("home").region.nunique(dropna=False).max() == 1
    several = [one[one.groupby("home").home.transform("size") > 1] for one in (rows, REAL.to_pandas())]
    alike = [one.groupby("home").faith.nunique().eq(1).mean() for one in several]
    assert abs(alike[0] - alike[1]) < 0.08
    by_chance = REAL.to_pandas().faith.value_counts(normalize=True).pow(2).sum()
    assert alike[0] > by_chance + 0.2


def test_ids_of_numbers_count_on_and_end():
    columns = (Integer("home", 100, 1100), Categorical("faith", ("a", "b", "c")))
    schema = Schema(columns, Household("home", 3), most_rows=10_000).approve()
    mechanism = settled(HouseholdTables, Promise.of(schema), {}, loss=10)
    rows = pd.DataFrame({"home": [100, 100, 200, 300], "faith": list("aabc")})
    with open_table(rows, schema) as table:
        released = mechanism.output(mechanism.run(table.answer, schema))
    told = DescribedHouseholds.of(mechanism, released, schema)
    made = MadeUpHouseholds(schema, 9, told).table().to_pandas()
    assert list(dict.fromkeys(made.home)) == list(range(100, 109))
    with pytest.raises(BadInput, match="ids"):
        MadeUpHouseholds(schema, 2000, told)


def test_rules_that_leave_nobody_are_said():
    read = described(ROLES | {"impossible": ["age >= 0", "age is null"]}, 5)
    with pytest.raises(BadInput, match="rules"):
        MadeUpHouseholds(census_schema(), 10, read).table()
