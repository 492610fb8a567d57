"""Learning with a budget: the score's sensitivity by brute force, exact choices, charges, refusals, margins."""

import itertools
import json
import math
import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.dependence import Groups
from entwined.door.door import Door
from entwined.errors import (
    BadInput,
    BadLedger,
    BadLoss,
    BadSchema,
    OverBudget,
    Refused,
    Unapproved,
    Unreadable,
)
from entwined.learning.private import Budget, NoisyTables, learn_privately
from entwined.ledger import Ledger
from entwined.ledger.entry import Kind
from entwined.loss import Loss
from entwined.mechanisms.parents import FINE, Search, apartness, most_moved
from entwined.mechanisms.structure_search import StructureSearch
from entwined.noise import DiscreteLaplace, ExponentialChoice
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Histogram
from entwined.request.verbs import release
from entwined.schema import Boolean, Cells, Integer, Person, Rows, Schema, Text
from support.memory_table import MemoryTable
from support.origins import CHARGED


def tables_of(cells, rows):
    """All ways to put so many rows into cells."""
    bars = itertools.combinations(range(rows + cells - 1), cells - 1)
    edges = np.array([(-1, *one, rows + cells - 1) for one in bars])
    return np.diff(edges, axis=1) - 1


def scores(tables, shape):
    """The scores of many tables at once, written as in the definition."""
    counts = tables.reshape(-1, *shape)
    total = counts.sum(axis=(1, 2))[:, None, None]
    apart = counts.sum(axis=2)[:, :, None] * counts.sum(axis=1)[:, None, :]
    return FINE * np.abs(total * counts - apart).sum(axis=(1, 2)) // np.maximum(total[:, 0, 0], 1)


def most_change(shape, rows, alone):
    """The largest change of the score over all tables and all moves of one row; `alone`: along one axis only."""
    tables, worst = tables_of(math.prod(shape), rows), 0
    base = scores(tables, shape)
    for source, target in itertools.permutations(range(math.prod(shape)), 2):
        (a, b), (c, d) = (np.unravel_index(one, shape) for one in (source, target))
        if alone and a != c and b != d:
            continue
        there = tables[:, source] > 0
        moved = tables[there].copy()
        moved[:, source] -= 1
        moved[:, target] += 1
        worst = max(worst, int(np.abs(scores(moved, shape) - base[there]).max(initial=0)))
    return worst


def most_added(shape, rows):
    """The largest change of the score over all tables when one more row comes to any cell."""
    tables, worst = tables_of(math.prod(shape), rows), 0
    base = scores(tables, shape)
    for target in range(math.prod(shape)):
        more = tables.copy()
        more[:, target] += 1
        worst = max(worst, int(np.abs(scores(more, shape) - base).max(initial=0)))
    return worst


SMALL = [((2, 2), rows) for rows in range(1, 21)] + [((3, 3), rows) for rows in range(1, 7)]
SCHEMA = {
    True: lambda rows: Schema((Boolean("a"),), unit=Cells(), rows=rows),
    False: lambda rows: Schema((Boolean("a"),), rows=rows),
}


@pytest.mark.parametrize("alone", [True, False], ids=["cells", "rows"])
def test_no_table_moves_the_score_by_more_than_is_claimed(alone):
    """TRUST 41, over all tables; a claim of half as much is caught."""
    reached = []
    for shape, rows in SMALL:
        claimed = int(most_moved(SCHEMA[alone](rows)))
        worst = most_change(shape, rows, alone)
        assert worst <= claimed
        reached.append(worst / claimed)
    assert max(reached) > 0.5


def test_no_row_that_comes_moves_the_score_by_more_than_four():
    """So that a table whose number of rows nobody knows is searched as well as any; a claim of half is caught."""
    reached = [most_added(shape, rows) for shape, rows in [((2, 2), 0), *SMALL]]
    assert 2 * FINE < max(reached) <= 4 * FINE + 1 <= int(most_moved(Schema((Boolean("a"),))))


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "rows"), [((2, 2), 40), ((2, 3), 12), ((3, 3), 8), ((4, 2), 9)])
def test_nor_do_larger_ones(shape, rows):
    for alone in (True, False):
        assert most_change(shape, rows, alone) <= int(most_moved(SCHEMA[alone](rows)))


def test_the_score_is_its_definition():
    rng = np.random.default_rng(1)
    for shape in ((2, 2), (3, 4), (6, 2)):
        table = rng.integers(0, 9, shape)
        assert apartness(table) == scores(table.reshape(1, -1), shape)[0]
    huge = np.array([[5 * 10**8, 0], [0, 5 * 10**8]])
    assert apartness(huge) == FINE * 10**9  # no overflow


class Sharp(NamedTuple):
    search: Search
    choice: ExponentialChoice


def search(rows, parents=1, unit=False, structure=Fraction(1), sizes=(2, 2, 2), sharper=1):
    schema = SCHEMA[unit](rows)
    choice = ExponentialChoice.for_loss(structure / (len(sizes) - 1), most_moved(schema) / sharper)
    return Sharp(Search(sizes, parents, Fraction(1, 10)), choice)


def structure_law(found, counts):
    """The exact chance of every structure, going through all courses of the choices."""
    law, (search, choice) = {}, found

    def go(chosen, chance):
        if len(chosen) == len(search.sizes):
            key = tuple(chosen[column] for column in range(len(search.sizes)))
            law[key] = law.get(key, 0.0) + chance
            return
        listed = search.candidates(list(chosen))
        chances = choice.probabilities([search.utility(one, counts) for one in listed])
        for (column, parents), each in zip(listed, chances, strict=True):
            go({**chosen, column: parents}, chance * each)

    go({0: ()}, 1.0)
    return law


def counts_of(found, joint):
    """Every table of a joint table of counts."""
    axes = range(joint.ndim)
    return {
        scope: joint.sum(axis=tuple(one for one in axes if one not in scope)) for scope in found.search.scopes
    }


def worst_ratio(found, rows, alone):
    """The largest |log ratio| of chances of a structure between neighbours, over all small tables."""
    shape = found.search.sizes
    laws = {table: structure_law(found, counts_of(found, np.array(table).reshape(shape)))
            for table in map(tuple, tables_of(math.prod(shape), rows).tolist())}  # fmt: skip
    worst = 0.0
    for table, law in laws.items():
        for source, target in itertools.permutations(range(math.prod(shape)), 2):
            differ = sum(
                a != b
                for a, b in zip(np.unravel_index(source, shape), np.unravel_index(target, shape), strict=True)
            )
            if table[source] == 0 or (alone and differ > 1):
                continue
            moved = list(table)
            moved[source] -= 1
            moved[target] += 1
            other = laws[tuple(moved)]
            worst = max(worst, *(abs(math.log(law[key] / other[key])) for key in law))
    return worst


@pytest.mark.parametrize("alone", [True, False], ids=["cells", "rows"])
@pytest.mark.parametrize("parents", [1, 2])
def test_exact_chances_of_structures_differ_by_no_more_than_the_loss(alone, parents):
    """TRUST 42: every table of three rows of three answers against all its neighbours."""
    assert worst_ratio(search(3, parents, alone), 3, alone) <= 1 + 1e-9


def test_a_row_that_comes_moves_the_chances_by_no_more_than_the_loss():
    """Every table of two rows of three answers against all that have one row more."""
    found, shape, worst = search(3), (2, 2, 2), 0.0
    for table in tables_of(8, 2).tolist():
        law = structure_law(found, counts_of(found, np.array(table).reshape(shape)))
        for place in range(8):
            more = [count + (at == place) for at, count in enumerate(table)]
            other = structure_law(found, counts_of(found, np.array(more).reshape(shape)))
            worst = max(worst, *(abs(math.log(law[key] / other[key])) for key in law))
    assert 0 < worst <= 1 + 1e-9


def test_a_choice_that_is_too_sharp_is_caught():
    """The mutant takes the scores to move eight times less than they do."""
    assert worst_ratio(search(3, 1, unit=True, sharper=8), 3, alone=True) > 1


def test_scores_of_a_million_rows_do_not_overflow_the_choice():
    found = search(10**6)
    joint = np.zeros((2, 2, 2), np.int64)
    joint[0, 0, 0] = joint[1, 1, 1] = 5 * 10**5
    law = structure_law(found, counts_of(found, joint))
    assert sum(law.values()) == pytest.approx(1)
    assert all(math.isfinite(chance) for chance in law.values())


def test_the_strongest_dependence_is_chosen_when_the_budget_allows():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, (3000, 3))
    values[:, 2] = values[:, 1] ^ (rng.random(3000) < 0.1)
    joint = np.zeros((2, 2, 2), np.int64)
    np.add.at(joint, tuple(values.T), 1)
    found = search(3000, structure=Fraction(2))
    law = structure_law(found, counts_of(found, joint))
    joined = sum(chance for parents, chance in law.items() if parents[1] == (2,) or parents[2] == (1,))
    assert joined > 0.999


def test_candidates_depend_on_sizes_alone_and_large_tables_are_left_out():
    """TRUST 44."""
    found = Search((2, 400, 400, 2), 2, Fraction(1))
    assert (1, 2) in found.scopes  # every two columns: else there were no tree
    assert (0, 1, 2) not in found.scopes
    assert (2, (0, 1)) not in found.candidates([0, 1])
    assert (3, (0, 1)) in found.candidates([0, 1])
    with pytest.raises(BadInput, match="two columns"):
        Search((2,), 1, Fraction(1))
    huge = Schema((Boolean("a"), Boolean("b")), most_rows=10**10)
    with pytest.raises(Refused, match="most_rows up to"):
        StructureSearch.of(Promise.of(huge), 1, Fraction(1), Fraction(1))


COLUMNS = (Boolean("a"), Boolean("b"), Integer("c", 0, 2), Boolean("d"))


def people(count=300):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, count)
    b = a ^ (rng.random(count) < 0.1)
    c = np.where(rng.random(count) < 0.8, 2 * b, 1)
    d = rng.integers(0, 2, count)
    return [dict(zip("abcd", map(int, row), strict=True)) for row in zip(a, b, c, d, strict=True)]


@pytest.fixture
def made(tmp_path):
    opened = []

    def make(unit=Cells(), rows=300, cap=Fraction(10), **changes):
        schema = Schema(COLUMNS, **({"unit": unit, "rows": rows} | changes)).approve()
        name = tmp_path / f"{len(opened)}.db"
        opened.append(Ledger.create(name, cap, Promise.of(schema), anchor=name.with_suffix(".anchor")))
        return MemoryTable(schema, people()), opened[-1]

    yield make
    for ledger in opened:
        ledger.close()


def door_of(table, ledger, dependence=()):
    return Door(table, Promise.of(table.schema, dependence), ledger)


def losses(ledger):

    return {json.loads(part.key).get("column", "rows"): part.both for part in ledger.spent().parts}


def test_the_charge_of_every_column_is_what_the_choices_and_its_tables_cost(made):
    table, ledger = made()
    found = learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"))
    uses = [
        sum(column in (*parents, child) for child, parents in enumerate(found.parents)) for column in range(4)
    ]
    each = Fraction("1.5") / max(uses)
    for name, used in zip("abcd", uses, strict=True):
        assert losses(ledger)[name] == pytest.approx(Fraction("0.6") + used * each, rel=1e-9)
    assert max(losses(ledger).values()) <= Fraction("2.1")
    assert found.noise.scale == pytest.approx(2 / each, rel=1e-9)
    assert table.reads == 2


def test_with_rows_as_units_all_tables_add_up(made):
    table, ledger = made(unit=Rows())
    learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"))
    assert losses(ledger) == {"rows": pytest.approx(Fraction("2.1"), rel=1e-9)}


def test_asking_again_gives_the_same_and_costs_nothing(made):
    table, ledger = made()
    first = learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"), request="once")
    spent = losses(ledger)
    again = learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"), request="once")
    assert again.parents == first.parents
    assert all((one == other).all() for one, other in zip(first.counts, again.counts, strict=True))
    assert losses(ledger) == spent
    assert table.reads == 2


def test_what_the_cap_does_not_allow_is_refused_before_a_row_is_read(made):
    table, ledger = made(cap=Fraction(1, 2))
    with pytest.raises(OverBudget):
        learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"))
    assert table.reads == 0
    assert losses(ledger) == {}


def test_a_failure_keeps_the_charge_and_tells_nothing(made):
    table, ledger = made()
    table.answer = lambda _: 1 / 0
    with pytest.raises(Unreadable, match="no answer comes") as told:
        learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"))
    assert told.value.__context__ is None
    assert losses(ledger)["a"] == Fraction("0.6")


@pytest.mark.parametrize(
    "changes",
    [{"rows": 299}, {"rows": None}, {"unit": Rows(), "rows": None, "neighbours": "add_remove"}],
    ids=["wrong", "unknown", "protected"],
)
def test_the_number_of_rows_need_not_be_known(made, changes):
    """Scores are measured by the rows that are there, which move them no further than is claimed."""
    table, ledger = made(**changes)
    found = learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"))
    assert len(found.parents) == 4


def test_persons_move_scores_by_as_many_rows_as_they_have():
    person = Schema((Text("id", compare="exact"), *COLUMNS), unit=Person("id", 3))
    assert most_moved(person) == 18 * FINE + 1


def test_what_cannot_be_guaranteed_is_refused_before_the_charge(made, tmp_path):
    budget = Budget.of("0.6", "1.5")
    _table, ledger = made()
    drops = Schema((Boolean("a", missing="drop"), Boolean("b")), unit=Cells(), rows=5).approve()
    other = Ledger.create(tmp_path / "other.db", Fraction(1), Promise.of(drops), anchor=tmp_path / "other")
    with pytest.raises(BadSchema, match="drops missing"):
        learn_privately(door_of(MemoryTable(drops, []), other), budget)
    with pytest.raises(BadLedger, match="most_rows was 1000000000 and is 999"):
        door_of(MemoryTable(Schema(COLUMNS, unit=Cells(), rows=300, most_rows=999).approve(), []), ledger)
    with pytest.raises(Unapproved):
        door_of(MemoryTable(Schema(COLUMNS), []), ledger)
    with pytest.raises(BadLoss, match="above zero"):
        Budget.of(0, 1)
    assert losses(ledger) == {}


def test_a_model_learned_with_a_budget_is_accepted_by_a_release_that_pays_for_both(made):
    table, ledger = made()
    found = learn_privately(door_of(table, ledger), Budget.of("0.05", "0.1"))
    model = found.smoothed().model
    assert model.source == "learned"
    declared = Declared(model, name=found.smoothed().title)
    learned = losses(ledger)
    queries = [Histogram(name) for name in "abcd"]
    with pytest.raises(BadLedger, match=r"model added: .*entwined budget migrate"):
        release(table, queries, ledger=ledger, leakage=1, dependence=[declared])
    after = ledger.migrate(Promise.of(table.schema, [declared]), Fraction(5))
    assert losses(after) == learned
    released = release(table, queries, ledger=after, leakage=1, dependence=[declared])
    assert len(released.values) == 4
    assert all(losses(after)[name] > learned[name] for name in "abcd")
    total = Loss.of([float(losses(after)[name]) for name in model.names])
    assert after.spent().price.worst == pytest.approx(bound(model, total).leakage.worst, rel=1e-6)


def test_the_certificate_after_learning_says_what_learning_cost(made):
    """4.0 is spent on learning; a release of 1.0 under the learned model certifies a total of both."""
    table, ledger = made()
    found = learn_privately(door_of(table, ledger), Budget.of(1, 3))
    declared = Declared(found.smoothed().model, name="learned")
    after = ledger.migrate(Promise.of(table.schema, [declared]), Fraction(40))
    out = release(table, Histogram("a"), ledger=after, loss=1, dependence=[declared])
    total = out.certificate["total"]
    assert Fraction(total["nominal"]) >= 4
    assert total["leakage"]["learned"] >= 4


def test_a_margin_holds_the_true_law_as_often_as_it_says():
    """200 samples of 2,000 rows. The intervals are wide on the safe side, so that nearly all hold; 80 % must."""
    law = np.array([[0.6, 0.1], [0.1, 0.2]])
    given = law / law.sum(axis=1, keepdims=True)
    noise, rng, held = DiscreteLaplace(Fraction(20)), np.random.default_rng(4), 0
    for _ in range(200):
        counts = rng.multinomial(2000, law.ravel()).reshape(2, 2)
        noisy = (noise.add(counts.sum(axis=1)), noise.add(counts.ravel()).reshape(2, 2))
        model = (
            NoisyTables(("x", "y"), ((), (0,)), noisy, noisy, noise, 2000, CHARGED).with_margin("0.8").model
        )
        table = next(block.table for block in model.blocks if block.scope.shape[1] == 2)
        alone = next(block.table for block in model.blocks if block.scope.shape[1] == 1)
        inside = [box.low[0] <= truth for box, truth in ((table, given), (alone, law.sum(axis=1)))]
        inside += [truth <= box.high[0] for box, truth in ((table, given), (alone, law.sum(axis=1)))]
        held += all(one.all() for one in inside)
    assert held >= 160


def test_noise_widens_the_margin():
    counts = (np.array([800, 1200]), np.array([[700, 100], [200, 1000]]))
    quiet, loud = (
        NoisyTables(("x", "y"), ((), (0,)), counts, counts, DiscreteLaplace(Fraction(scale)), 2000, CHARGED)
        for scale in (1, 40)
    )
    loss = Loss.uniform("0.1", 2)
    worst = [bound(one.with_margin("0.95").model, loss).leakage.worst for one in (quiet, loud)]
    assert bound(quiet.smoothed().model, loss).leakage.worst < worst[0] < worst[1]


def test_negative_counts_are_no_chances():
    counts = (np.array([-5, 10]), np.array([[-3, -4], [2, 8]]))
    found = NoisyTables(
        ("x", "y"), ((), (0,)), counts, counts, DiscreteLaplace(Fraction(4)), 10, CHARGED
    ).smoothed()
    tables = [variable["table"] for variable in found.model.document["variables"]]
    assert tables[1][0] == [0.5, 0.5]
    assert np.min(tables[0]) > 0


def test_a_stop_keeps_the_charge_and_frees_the_question_at_once(made):
    """Ctrl-C while the rows are read: whoever asks next waits for no lease."""
    for stop in (KeyboardInterrupt, SystemExit):
        table, ledger = made()

        def stopped(_, stop=stop):
            raise stop

        right, table.answer = table.answer, stopped
        with pytest.raises(stop):
            learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"), request="once")
        assert losses(ledger)["a"] == Fraction("0.6")
        assert [entry.kind for entry in ledger.book.history()][-1] is Kind.FAILED
        table.answer = right
        began = time.monotonic()
        learn_privately(door_of(table, ledger), Budget.of("0.6", "1.5"), request="again")
        assert time.monotonic() - began < 20  # a lease that was left would be waited for, a minute
        assert losses(ledger)["a"] >= Fraction("1.2")


def household(tmp_path, size):
    """A house of many, of which the model keeps one, beside others; and the door to them."""
    columns = (Integer("home", 0, 60), Boolean("a"), Boolean("b"), Boolean("c"))
    schema = Schema(columns, rows=size + 60, most_rows=size + 60).approve()
    families = [Declared(Groups(1), by="home")]

    def rows(a, b, c):
        alone = [{"home": at + 1, "a": at % 2, "b": at % 2, "c": at % 3 == 0} for at in range(60)]
        return [{"home": 0, "a": a, "b": b, "c": c}] * size + alone

    promise = Promise.of(schema, families)
    ledger = Ledger.create(tmp_path / "l.db", Fraction(40), promise, anchor=tmp_path / "a")
    return promise, rows, ledger


def log_chances(promise, budget, rows):
    """The exact log chance of every structure, of the rows that the door lends."""
    kept = MemoryTable(promise.schema, rows).keeping("home", 1)
    searching = StructureSearch.of(
        promise, 1, budget.structure, Fraction(2 * len(promise.schema.columns)) / budget.tables
    )
    tables = [np.array(one) for one in kept.answer(searching.needs(promise.schema))]
    sizes = searching.search.sizes
    counts = {
        scope: one.reshape([sizes[at] for at in scope])
        for scope, one in zip(searching.search.scopes, tables, strict=True)
    }
    return structure_law(Sharp(searching.search, searching.choice), counts)


def test_a_large_household_learns_no_more_of_itself_than_is_certified(tmp_path):
    """50 rows of one house of which one is kept: the exact adversary sees the parents and the noisy tables.

    Whatever the house's rows are, all alike: tables move by one kept row, so by at most the loss of tables, and the
    chances of structures are compared exactly.
    """
    promise, rows, ledger = household(tmp_path, 50)
    budget = Budget.of(3, 1)
    with ledger:
        door = Door(MemoryTable(promise.schema, rows(1, 1, 1)), promise, ledger)
        learn_privately(door, budget)
        claim = float(ledger.spent().price.worst)
    laws = [log_chances(promise, budget, rows(*one)) for one in itertools.product((0, 1), repeat=3)]
    told = max(
        abs(math.log(law[key] / other[key])) for law, other in itertools.permutations(laws, 2) for key in law
    )
    assert 0 < told + float(budget.tables) <= claim <= 4 + 1e-6


def test_read_whole_the_household_would_tell_far_more(tmp_path):
    """The mutant reads all rows of the house: what the promise keeps to 3 for the choices is passed."""
    promise, rows, ledger = household(tmp_path, 50)
    ledger.close()
    budget = Budget.of(3, 1)
    searching = StructureSearch.of(promise, 1, budget.structure, Fraction(8))
    laws = []
    for values in ((0, 0, 0), (1, 0, 1), (1, 1, 0)):
        tables = MemoryTable(promise.schema, rows(*values)).answer(searching.needs(promise.schema))
        sizes = searching.search.sizes
        counts = {
            scope: np.array(one).reshape([sizes[at] for at in scope])
            for scope, one in zip(searching.search.scopes, tables, strict=True)
        }
        laws.append(structure_law(Sharp(searching.search, searching.choice), counts))
    told = max(
        abs(math.log(law[key] / other[key])) for law, other in itertools.permutations(laws, 2) for key in law
    )
    assert told > 3
