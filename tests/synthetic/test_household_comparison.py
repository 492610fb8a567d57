"""Persons or households at one leakage: the figures follow from theorems, and a rehearsal is for the holder alone."""

import json

import numpy as np
import pytest

from entwined.dependence import Groups
from entwined.errors import DoesNotApply, HolderError
from entwined.mechanisms.households.masses import asked
from entwined.mechanisms.households.seating import Seating
from entwined.queries import CountOf, everything
from entwined.report.households_page import households_page, rehearsal_page
from entwined.synthetic.holders_rows import members_of
from entwined.synthetic.household_comparison import compared_ways
from entwined.synthetic.household_rehearsal import rehearsed
from entwined.synthetic.inspection import WARNING
from entwined.synthetic.lent_codes import LentCodes
from entwined.tables import open_table
from support.census import ROLES, census, census_schema

GIVEN = ROLES | {"columns": ["relation", "age", "faith", "region"]}


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_both_ways_leak_what_was_allowed_and_households_count_as_one(delta, neighbours):
    found = compared_ways(census_schema(4, neighbours), GIVEN, 2, delta)
    by_person, by_household = found.tables
    (model,) = found.persons.declared
    assert model.model == Groups(largest=4)
    for promise, mechanism in ((found.persons, by_person), (found.households, by_household)):
        price = promise.price({part.key: part for part in mechanism.parts(promise)})
        assert float(price.worst) == pytest.approx(2, rel=1e-4)
    lines = {one.title: one for one in found.lines}
    everyone, head, pair = (
        lines[name] for name in ("age of all persons", "head.age", "head.age × partner.age")
    )
    if neighbours == "replace":
        assert everyone.persons.deviation == pytest.approx(everyone.households.deviation, rel=0.02)
    assert head.persons.deviation / head.households.deviation >= 4 * 0.98
    assert pair.persons is None
    assert pair.households == head.households
    assert json.loads(json.dumps(found.document))["largest"] == 4


def test_weaker_dependence_needs_less_noise_and_strong_dependence_no_more_than_any():
    found = compared_ways(census_schema(4), GIVEN, 1)
    noises = [one.noise.deviation for one in found.odds]
    assert noises == sorted(noises)
    anything = found.lines[0].persons.deviation
    assert noises[-1] == pytest.approx(anything, rel=1e-3)
    assert found.odds[0].loss == pytest.approx(1, rel=1e-6)
    assert found.loss_of_a_person == pytest.approx(1 / 4, rel=1e-6)


def test_the_page_says_it_in_words_and_reads_no_row():
    page = households_page(compared_ways(census_schema(4), GIVEN, 1))
    assert "No row was read" in page
    assert "cannot be told" in page
    assert "Both ways leak at most 1" in page
    bare = compared_ways(census_schema(4), {}, 1)
    assert "the first member of every household" in bare.sentences[2]


@pytest.mark.parametrize("given", [GIVEN, {"shared": ["region"]}], ids=["roles", "no roles"])
def test_rows_in_memory_are_counted_as_an_engine_counts_them(given):
    """Where every member has a seat: of more an engine picks by the households' ids, which rows in memory have not."""
    schema = census_schema(7)
    rows = census(150)
    seating = Seating.of(given, schema)
    homes, codes = members_of(rows, schema, seating.domain.names, "home")
    lent = LentCodes(seating.domain.names, codes, homes)
    wanted = [asked(seating, sides) for sides in (*seating.alone, *seating.pairs)]
    with open_table(rows, schema) as table:
        exact = table.answer(wanted)
    for one, (mine, theirs) in zip(wanted, zip(lent.read(wanted), exact, strict=True), strict=True):
        assert mine.tolist() == theirs.tolist(), one
    with pytest.raises(DoesNotApply, match="CountOf"):
        lent.read([CountOf(everything())])


def test_rows_in_memory_are_cut_to_a_fair_sample():
    """Nine members of ten say 0, whose code comes first: so do nine picked ones of ten; false alarms: 1 in 15,000."""
    homes, codes = np.repeat(np.arange(2000), 10), np.tile([[0]] * 9 + [[1]], (2000, 1))
    few = LentCodes(("age",), codes, homes).few(1)
    assert np.bincount(few.homes_of).tolist() == [1] * 2000
    assert abs(few.codes.mean() - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 2000)


def test_a_rehearsal_shows_what_households_can_tell_and_says_whose_it_is():
    found = rehearsed(census(1200), compared_ways(census_schema(), GIVEN, 20, "1e-6"), runs=1)
    far = {one.title: one for one in found.found}
    couples = far["head.age × partner.age"]
    assert couples.households < 0.5 * couples.persons
    assert far["composition"].persons is None
    assert far["composition"].households < 0.1
    assert far["all persons, two columns"].persons < 0.2
    page = rehearsal_page(found)
    assert page.splitlines()[0] == f"<!-- {WARNING} -->"
    assert json.loads(json.dumps(found.document))["holder_only"] == WARNING
    assert np.isfinite([one.households for one in found.found]).all()
    with pytest.raises(HolderError, match="household"):
        rehearsed(census(1200).slice(0, 0), found.comparison)
