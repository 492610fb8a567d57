"""Of the persons in a group only the first are kept, each whole; and one person's rows move one person at most."""

import random
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.errors import BadSchema
from entwined.schema import Person, Schema, Text
from entwined.tables import open_table
from support import engines, lots
from support.at_home import AGE, ASKED, GROUPS, WAYS, WORD, check_homes, rows_of, schema_of
from support.memory_table import MemoryTable


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_the_persons_kept_are_those_of_the_rule(engine, tmp_path):
    check_homes(engines.LIGHT[engine], tmp_path, ways=WAYS if engine in {"parquet", "postgres"} else WAYS[:2])


@pytest.mark.parametrize("which", GROUPS)
def test_the_table_of_the_tests_of_the_door_keeps_the_same(which):
    rng = random.Random(2)
    for most, few in ((1, 1), (2, 1), (2, 3)):
        stored, schema = rows_of(rng, 40), schema_of(which, most)
        kept = {step: engines.persons(schema, stored, "home", few, step) for step in (None, "age")}
        rows = [
            dict(zip(stored, row, strict=True))
            for row in zip(*(values for _, values in stored.values()), strict=True)
        ]
        for step, found in kept.items():
            expected = [
                engines.counted([row for mine in found.values() for row in mine], one) for one in ASKED
            ]
            assert MemoryTable(schema, rows).keeping("home", few, step).answer(ASKED) == expected


def test_persons_known_by_hand():
    """Of home h1 two persons count, by lot, with two of their rows each; cid is at the least home; eve is nowhere."""
    rows = [
        ("ann", "h1", "b"), ("ann", "h1", "c"), ("ann", "h1", "c"), ("bob", "h1", "c"), ("cid", "h1", "a"),
        ("cid", "h2", "a"), ("dan", "h2", "c"), ("eve", None, "a"),
    ]  # fmt: skip
    names, homes, words = map(list, zip(*rows, strict=True))
    frame = pa.table({"who": names, "home": homes, "word": words, "age": [0] * len(rows)})
    with open_table(frame, schema_of("text", 2)) as table:
        found = table.keeping("home", 2).answer(ASKED)[0].reshape(4, 5)[:, 0].tolist()
    order = sorted(("ann", "bob", "cid"), key=lambda who: lots.lot_of_person(schema_of("text", 2), "h1", who))
    assert order == ["bob", "cid", "ann"]
    assert found == [2, 0, 1 + 1, 0]  # cid's two, bob's, dan's


person_rows = st.lists(
    st.tuples(st.sampled_from(["h1", "h2", None]), st.integers(0, 2), st.integers(0, 2)), max_size=4
)


@settings(max_examples=200, deadline=None)
@given(st.lists(person_rows, min_size=1, max_size=7), person_rows, st.integers(1, 3), st.integers(1, 3))
def test_one_persons_rows_move_one_kept_person_at_most(people, other, most, few):
    """Whoever else there is, and whether the person was kept or not; who moves to another home moves one in each."""
    schema = schema_of("code", most)
    before, after = kept(schema, people, few), kept(schema, [other, *people[1:]], few)
    same_home = home(people[0]) in (home(other), None) or home(other) is None
    moved = max((before - after).total(), (after - before).total())
    assert moved <= (1 if same_home else 2)
    assert all(len(rows) <= most for rows in (*before, *after))


def kept(schema, people, few, step=None):
    """The kept persons without their names, as often as there are such; no home has more than a few."""
    listed = [(f"p{at}", *row) for at, rows in enumerate(people) for row in rows]
    stored = {
        name: (kind, [row[at] for row in listed])
        for at, (name, kind) in enumerate(
            {"who": "text", "home": "text", "word": "whole", "age": "whole"}.items()
        )
    }
    stored["word"] = ("text", ["abc"[code] for code in stored["word"][1]])
    found = engines.persons(schema, stored, "home", few, step)
    crowd = Counter(home(people[int(who[1:])]) for who in found)
    assert all(many <= few for many in crowd.values())
    return Counter(tuple(tuple(row.values()) for row in rows) for rows in found.values())


def home(rows):
    return min((row[0] for row in rows if row[0] is not None), default=None)


def test_what_a_person_holds_moves_nobody_to_another_home():
    """The group hangs on the public column alone, on rows that are not kept too, never on a code."""
    found = set()
    for words in ("abc", "cba", "bca"):
        frame = pa.table(
            {
                "who": ["ann"] * 3 + ["bob"],
                "home": ["h2", "h1", "h3", "h1"],
                "word": [*words, "a"],
                "age": [0] * 4,
            }
        )
        with open_table(frame, schema_of("text", 1, coded_last=True)) as table:
            found.add(int(table.keeping("home", 1).answer(ASKED)[1][0]))
    assert found == {1}  # ann or bob, both at h1


def test_persons_are_the_steps_of_a_series_by_hand():
    """Of h1 one person a step and the first two steps: cid at 0 (of cid and dan the first by rows), ann at 1."""
    rows = [
        ("ann", "h1", "b", 1), ("ann", "h1", "a", 3), ("bob", "h1", "a", 2), ("cid", "h1", "b", 0), ("dan", "h1", "c", 0),
        ("eve", "h1", "a", None), ("fay", "h2", "c", 3),
    ]  # fmt: skip
    names, homes, words, ages = map(list, zip(*rows, strict=True))
    frame = pa.table({"who": names, "home": homes, "word": words, "age": ages})
    with open_table(frame, schema_of("text", 2)) as table:
        found = table.keeping("home", 2, "age").answer(ASKED)[0].reshape(4, 5)
    assert found[:3].sum(axis=1).tolist() == [1, 2, 1]  # a of ann; b of ann and cid; c of fay
    assert found[:, 2].sum() == 0  # bob is the third step


@settings(max_examples=200, deadline=None)
@given(st.lists(person_rows, min_size=1, max_size=7), person_rows, st.integers(1, 3), st.integers(1, 3))
def test_one_persons_rows_move_one_step_at_most(people, other, most, few):
    """Whatever a person's rows hold beside home and step, which are public, or whether there are any."""
    schema = schema_of("code", most)
    where = home(people[0]), min((row[2] for row in people[0]), default=0)
    same = [(where[0], word, max(age, where[1])) for _, word, age in other]
    same = [(where[0], same[0][1], where[1]), *same[1:]] if same else []
    before, after = (
        kept(schema, [rows, *people[1:]], few, "age") for rows in (people[0], same if people[0] else other)
    )
    assert max((before - after).total(), (after - before).total()) <= 1


def test_columns_of_groups_say_how_they_are_compared():
    frame = pa.table({"who": ["ann"], "home": ["h1"], "word": ["a"], "age": [0]})
    plain = Schema(
        (Text("who", compare="exact"), Text("home"), WORD, AGE),
        unit=Person("who", 1),
        neighbours="add_remove",
    )
    with open_table(frame, plain) as table, pytest.raises(BadSchema, match="compare"):
        table.keeping("home", 2)
