"""The pick of rows beyond a bound: a fair sample, alike everywhere, in which one row moves one row."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.dependence import Groups
from entwined.mechanisms.batch import plan_batch
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Axis, Histogram, TableOf, everything
from entwined.schema import Categorical, Integer, Schema, Text
from entwined.tables import open_table
from support import engines, lots
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable
from support.picks import check_picks

LETTER = Categorical("letter", ("a", "b", "c"))
HOME = Text("home", compare="exact")
PEOPLE = Schema((HOME, LETTER))
LETTERS = [TableOf((Axis("letter", 3),), everything())]


def picked(home, letters, most):
    """The letters of a home that count."""
    rows = [LETTER.encode(letter) for letter in letters]
    return Counter(lots.in_order(PEOPLE, home, rows, [(code,) for code in rows])[:most])


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_row_of_any_small_group_moves_one_row_that_counts(most):
    """Every multiset of up to five rows, every row that may enter, leave or take another's place; several groups."""
    for home, rows in itertools.product(("h1", "h2", "h3"), range(5)):
        for group in itertools.combinations_with_replacement("abc", rows):
            entered = {letter: picked(home, (*group, letter), most) for letter in "abc"}
            before = picked(home, group, most)
            for after in entered.values():
                assert (before - after).total() <= 1
                assert (after - before).total() <= 1
                assert after.total() == min(most, rows + 1)
            for one, other in itertools.combinations(
                entered.values(), 2
            ):  # a row of one letter or of another
                assert (one - other).total() <= 1


def test_lots_that_hang_on_other_rows_would_move_more():
    """Were a row's lot drawn for its place in the group, one row that enters would give all others other lots."""

    def by_place(home, letters):
        order = sorted(range(len(letters)), key=lambda place: lots.lot(home, sorted(letters)[place], place))
        return Counter(sorted(letters)[place] for place in order[:3])

    moved = [
        (by_place("h1", group) - by_place("h1", (*group, "a"))).total()
        for group in itertools.combinations_with_replacement("abc", 5)
    ]
    assert max(moved) > 1


def test_rows_of_a_group_count_in_proportion():
    """Nine rows say a and one says b, in 2,000 groups of which one row counts each; false alarms: 1 in 15,000."""
    homes = [f"h{at}" for at in range(2000)]
    letters = np.array(["a"] * 9 + ["b"])
    frame = pa.table({"home": np.repeat(homes, 10), "letter": np.tile(letters, len(homes))})
    with open_table(frame, PEOPLE) as table:
        (found,) = table.keeping("home", 1).answer(LETTERS)
    assert found[0] + found[1] == 2000
    assert abs(found[0] / 2000 - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 2000)


def test_a_pick_of_whole_homes_shows_the_people_who_live_there():
    """1,000 homes of which three people count; men come first by code and by age, and live in larger homes."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 8, 1000)
    homes = np.repeat([f"h{at}" for at in range(1000)], sizes)
    gender = np.where(rng.random(homes.size) < np.repeat(0.3 + 0.06 * sizes, sizes), "m", "w")
    age = np.clip(rng.normal(np.where(gender == "m", 42, 55), 15), 0, 99).astype(int)
    schema = Schema((HOME, Categorical("gender", ("m", "w")), Integer("age", 0, 99)))
    frame = pa.table({"home": homes, "gender": gender, "age": age})
    weights = np.repeat(np.minimum(1, 3 / sizes), sizes)
    asked = [TableOf((Axis("gender", 2),), everything()), TableOf((Axis("age", 100),), everything())]
    with open_table(frame, schema) as table:
        genders, ages = table.keeping("home", 3).answer(asked)
    kept = int(genders[:2].sum())
    assert kept == np.minimum(sizes, 3).sum()
    women = weights[gender == "w"].sum() / weights.sum()
    assert abs(genders[1] / kept - women) < 4 * 0.5 / np.sqrt(kept)  # 1 in 15,000
    mean = ages[:100] @ np.arange(100) / kept
    assert abs(mean - np.average(age, weights=weights)) < 4 * age.std() / np.sqrt(kept)


@pytest.mark.parametrize("engine", sorted(set(engines.LIGHT) - {"parquet"}))
def test_every_engine_picks_the_same_rows(engine, tmp_path):
    """Ids are texts in one source and numbers in another: the rows that count are those that count in Parquet."""
    check_picks(engines.LIGHT[engine], tmp_path)


@pytest.mark.parametrize("most", [1, 2])
def test_what_a_pick_shows_of_one_row_is_below_the_certificate(most):
    """Three rows of one home, any prior over them, an adversary who knows any others: exact odds of every release."""
    schema = Schema((HOME, LETTER), most_rows=3).approve()
    promise = Promise.of(schema, [Declared(Groups(most), by="home")])
    batch = plan_batch(promise, Histogram("letter"), leakage=Fraction(1))
    worst = 0.0
    worlds = list(itertools.product("abc", repeat=3))
    for home in ("h1", "h2"):
        tables = [
            MemoryTable(schema, [{"home": home, "letter": letter} for letter in world]).keeping("home", most)
            for world in worlds
        ]
        logs = log_likelihoods(batch, tables)
        for seed in range(8):
            joint = np.random.default_rng(seed).dirichlet(np.full(27, 0.1)).reshape(3, 3, 3)
            worst = max(worst, gain(joint, logs))
        alike = np.zeros((3, 3, 3))
        alike[0, 0, 0] = alike[1, 1, 1] = alike[2, 2, 2] = 1 / 3
        worst = max(worst, gain(alike, logs))
    assert worst <= certified(batch) + 1e-9
    assert worst > 0.9 * certified(batch)
