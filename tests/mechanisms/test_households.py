"""Households with noise: exact tables, how far one household moves them, one charge, and what an adversary learns."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import entwined as ew
from entwined.errors import BadQuery
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.households.masses import asked, masses, parts_of
from entwined.mechanisms.households.seating import Seating
from entwined.mechanisms.offered import settled
from entwined.noise import noise_from
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.tables import open_table
from support.census import ROLES, census, census_schema
from support.seated import SMALL, by_hand, some_rows

GIVEN = {**ROLES, "bins": {"age": 5}}
WAYS = {"roles": GIVEN, "no roles": {"bins": {"age": 5}, "shared": ["region"]}}


def table_of(rows):
    kinds = pa.schema(
        [("home", pa.string()), ("relation", pa.string()), ("age", pa.int64()), ("region", pa.string())]
    )
    return pa.Table.from_pylist(rows, kinds)


def read(rows, schema, seating, several):
    with open_table(table_of(rows), schema) as table:
        found = table.answer([asked(seating, sides) for sides in several])
    return [masses(seating, sides, counts) for sides, counts in zip(several, found, strict=True)]


@pytest.mark.parametrize("way", WAYS)
def test_tables_are_those_counted_by_hand(way):
    schema = census_schema(3, columns=SMALL)
    seating = Seating.of(WAYS[way], schema)
    several = (*seating.alone, *seating.pairs)
    for seed in range(6):
        rows = some_rows(np.random.default_rng(seed))
        for sides, found in zip(several, read(rows, schema, seating, several), strict=True):
            assert found.tolist() == by_hand(rows, schema, seating, sides).tolist(), (seed, sides)


@pytest.mark.parametrize("way", WAYS)
def test_a_household_moves_a_table_by_no_more_than_noise_is_made_for(way):
    """Every household of small tables taken out and replaced, by others and by the two that are furthest apart."""
    schema = census_schema(3, columns=SMALL)
    seating, whole = Seating.of(WAYS[way], schema), parts_of(Seating.of(WAYS[way], schema))
    several = (*seating.alone, *seating.pairs)
    worst = np.zeros(4)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows = some_rows(rng, 3)
        before = read(rows, schema, seating, several)
        for home in ("h0", "h1", "h2"):
            rest = [row for row in rows if row["home"] != home]
            without = read(rest, schema, seating, several)
            moved = [one | {"home": home} for one in some_rows(rng, 1)]
            after = read(rest + moved, schema, seating, several)
            for old, none, new in zip(before, without, after, strict=True):
                left, changed = np.abs(old - none), np.abs(old - new)
                worst = np.maximum(worst, [left.sum(), (left**2).sum(), changed.sum(), (changed**2).sum()])
    assert (worst <= [whole, whole**2, 2 * whole, 2 * whole**2]).all()
    assert (worst >= [whole, whole**2, 2 * whole, 2 * whole**2]).all(), "and it is reached"


def test_a_household_that_changes_moves_no_other():
    """What is kept of a household follows from its own rows: the others' part of every table stays as it is."""
    schema = census_schema(3, columns=SMALL)
    seating = Seating.of(GIVEN, schema)
    rng = np.random.default_rng(5)
    others = [row for row in some_rows(rng) if row["home"] != "h0"]
    alone = [row | {"home": "h0"} for row in some_rows(rng, 1, 7)]
    several = (*seating.alone, *seating.pairs)
    together, apart, one = (read(some, schema, seating, several) for some in (others + alone, others, alone))
    for whole, rest, added in zip(together, apart, one, strict=True):
        assert (whole == rest + added).all()


def exact_in(rows, schema, seating):
    several = (*seating.alone, *seating.pairs)
    return dict(zip(several, read(rows, schema, seating, several), strict=True))


def exposed(mechanism, drawn, before, after):
    """ln Pr[drawn | before] − ln Pr[drawn | after] under Laplace noise, exactly, or what the ρ of both is."""
    document, notes = json.loads(drawn), mechanism.output(drawn)
    pure, total = mechanism.meter.measure.is_pure, 0.0
    for told in document["tables"]:
        sides = tuple(map(mechanism.seating.place, told["columns"]))
        noise, counts = noise_from(told["noise"]), np.array(told["counts"])
        total += moved_by(noise, counts, before[sides], after[sides], pure=pure)
    public = {sides: mechanism._independent(notes, sides) for sides in notes.distances}
    far = [
        np.array([np.abs(exact[sides] - public[sides]).sum() for sides in public])
        for exact in (before, after)
    ]
    noise = mechanism.meter.noise_of_distances(Fraction(1, 10), len(public))
    return total + moved_by(noise, np.array(list(notes.distances.values())), *far, pure=pure)


def moved_by(noise, drawn, old, new, *, pure):
    if pure:
        return float((np.abs(drawn - new) - np.abs(drawn - old)).sum()) / float(noise.scale)
    return float(((old - new) ** 2).sum()) / (2 * float(noise.variance))


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_what_was_drawn_tells_no_more_of_a_household_than_was_charged(neighbours, delta):
    """The exact loss of whole transcripts, with every choice in them, on neighbours that are far apart."""
    schema = census_schema(3, neighbours, columns=SMALL)
    promise = Promise.of(schema, measure=measure_of(delta))
    mechanism = settled(HouseholdTables, promise, GIVEN, loss=60 if delta is None else 1)
    rows = some_rows(np.random.default_rng(2))
    mine = [{"home": "x", "relation": "head", "age": 0, "region": "n"}]
    other = [
        {"home": "x", "relation": role, "age": 9, "region": "s"} for role in ("head", "partner", "child")
    ]
    pairs = [(rows + other, rows)]
    pairs += [(rows + mine, rows + other)] if neighbours == "replace" else []
    charged = float(mechanism.meter.loss)
    found = []
    for before, after in pairs:
        for start in (before, after):
            with open_table(table_of(start), schema) as table:
                drawn = mechanism.run(table.answer, schema)
            exact = (exact_in(one, schema, mechanism.seating) for one in (before, after))
            found.append(abs(exposed(mechanism, drawn, *exact)))
    assert max(found) <= charged * (1 + 1e-9)
    assert max(found) > 0.2 * charged  # a household of three has no member of the fourth kind


def test_an_adversary_who_knows_the_household_learns_no_more_than_the_certificate_says():
    """Members say the same or the opposite, as the adversary knows: mixtures over the rest of the household."""
    schema = census_schema(3, columns=SMALL)
    promise = Promise.of(schema)
    mechanism = settled(HouseholdTables, promise, GIVEN, leakage=1)
    rows = some_rows(np.random.default_rng(7))

    def home(head, partner, child):
        said = zip(("head", "partner", "child"), (head, partner, child), strict=True)
        return rows + [{"home": "x", "relation": role, "age": age, "region": "n"} for role, age in said]

    homes = {ages: home(*ages) for ages in itertools.product((0, 9), repeat=3)}
    exact = {ages: exact_in(some, schema, mechanism.seating) for ages, some in homes.items()}
    worst = 0.0
    for start in ((0, 0, 0), (9, 9, 9)):
        for _ in range(3):
            with open_table(table_of(homes[start]), schema) as table:
                drawn = mechanism.run(table.answer, schema)
            logs = {ages: exposed(mechanism, drawn, some, exact[0, 0, 0]) for ages, some in exact.items()}
            for alike in (0.5, 0.9, 1.0):
                laws = [posterior(logs, head, alike) for head in (0, 9)]
                worst = max(worst, abs(laws[0] - laws[1]))
    assert 0.01 < worst <= 1


def posterior(logs, head, alike):
    """The log of the chance of what was drawn given the head's age, the others being like it with a probability."""
    total = 0.0
    for rest in itertools.product((0, 9), repeat=2):
        weight = math.prod(alike if one == head else 1 - alike for one in rest)
        total += weight * math.exp(logs[head, *rest])
    return math.log(total)


def test_one_charge_that_verifies_and_the_same_bytes_again(tmp_path):
    schema = census_schema()
    (tmp_path / "people.csv").write_text(census(60).to_pandas().to_csv(index=False))
    door = ew.open(tmp_path / "people.csv", schema, ledger=tmp_path / "ledger.sqlite", cap=3)
    mechanism = settled(HouseholdTables, door.promise, ROLES, leakage=1)
    passed, again = door.admit(mechanism), door.admit(mechanism)
    assert [entry.kind.value for entry in door.ledger.book.history()] == ["created", "charge", "answered"]
    assert passed.drawn == again.drawn
    assert float(passed.price.worst) == pytest.approx(1, abs=1e-6)
    assert ew.verify(passed.certificate, schema).valid
    assert "all rows of one household" in passed.certificate["says"]
    door.close()


def test_what_cannot_be_kept_is_refused():
    schema = census_schema()
    promise = Promise.of(schema)
    for given, words in (
        ({"role": "relation"}, "head"),
        ({"head": "head"}, "column of roles"),
        ({"role": "relation", "head": "boss"}, "no category"),
        ({"role": "relation", "head": "head", "partner": "head"}, "two kinds"),
        ({"shared": ["nothing"]}, "share"),
        ({"younger": [["child", "age", 15]]}, "younger"),
        (ROLES | {"younger": [["child", "work", 1]]}, "whole numbers"),
        (ROLES | {"impossible": ["relation = 'child' and region = 'north'"]}, "impossible"),
    ):
        with pytest.raises(BadQuery, match=words):
            settled(HouseholdTables, promise, given, loss=1)
    by_row = Promise.of(census_schema(by_row=True))
    with pytest.raises(BadQuery, match="protects rows"):
        settled(HouseholdTables, by_row, ROLES, loss=1)
    with pytest.raises(BadQuery, match="another promise"):
        settled(HouseholdTables, promise, ROLES, loss=1).parts(Promise.of(schema, measure=measure_of("1e-6")))


def test_distances_have_the_noise_of_all_their_changes():
    """With every pair at once: a tenth of the loss, for as many changes as there are pairs; off by chance in 10⁻⁶."""
    schema = census_schema(3, columns=SMALL)
    mechanism = settled(HouseholdTables, Promise.of(schema), GIVEN, loss=1)
    pairs = len(mechanism.seating.pairs)
    scale = float(2 * parts_of(mechanism.seating) * pairs / (mechanism.meter.loss / 10))
    rows = some_rows(np.random.default_rng(1))
    far = []
    for _ in range(6):
        with open_table(table_of(rows), schema) as table:
            far += list(mechanism.output(mechanism.run(table.answer, schema)).distances.values())
    assert 0.5 * scale < np.mean(np.abs(np.array(far) - np.median(far))) < 2 * scale
