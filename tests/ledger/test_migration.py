"""Terms change inside one ledger: nothing spent is forgotten, old terms charge no more, and words say what differs."""

import signal
import subprocess
import sys
import threading
from contextlib import suppress
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

from entwined.dependence import Groups, Independent, model_from
from entwined.errors import BadLedger, LedgerDamaged, OverBudget, Refused
from entwined.ledger import Book, Kind, Ledger
from entwined.ledger.migration import foresee, migrate
from entwined.promise.declared import Declared
from entwined.promise.measure import Concentrated
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.queries import Histogram, codes_in, everything
from entwined.request.verbs import release
from entwined.schema import Boolean, Categorical, Cells, Household, Integer, Person, Schema, Text
from support.ledger_worker import Named, Sum, charge, drawn
from support.memory_table import MemoryTable
from support.postgres import new_schema

ONE = Fraction(1)
AGE = Integer("age", 0, 120)
PLACE = Categorical("place", ("north", "south"))
ROWS = Schema((AGE, PLACE)).approve()
CELLS = Schema((AGE, PLACE), unit=Cells()).approve()
CHAIN = model_from({"kind": "markov_chain", "length": 9, "transition": [[0.5, 0.25, 0.25]] * 3}, Path())
OLD = codes_in("age", 122, ((60, 120),))

KILLED = """
import sys
sys.path.insert(0, {tests!r})
from fractions import Fraction
from pathlib import Path
from entwined.ledger import Book
from entwined.ledger.migration import migrate
from support.ledger_worker import Doom, Sum

doom = Doom("migration {moment}", 0)
doom.moment = "migration"
migrate(Book(Path({folder!r}) / "l.db", Path({folder!r}) / "a"), Fraction(5), Sum())
"""


class Twice(Named):
    """Every loss counts twice."""

    identity = "twice"

    def price(self, totals):
        return Price(2 * sum((part.one for part in totals.values()), Fraction(0)))


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return str(tmp_path / "ledger.db") if request.param == "sqlite" else new_schema()


@pytest.fixture
def anchor(tmp_path):
    return tmp_path / "anchor"


def test_what_was_spent_stays_spent_and_is_priced_anew(where, anchor):
    with Ledger.create(where, Fraction(10), Sum(), anchor=anchor) as ledger:
        ledger.answer(charge("r", loss=Fraction(2)), drawn)
        after = ledger.migrate(Twice(), Fraction(6))
        assert (after.spent().cap, after.spent().price.nominal) == (6, 4)
        assert after.id == ledger.id
        after.answer(charge("s", loss=ONE), drawn)
        with pytest.raises(OverBudget, match="would leak 8, 2 more than the cap 6"):
            after.reserve(charge("t", loss=ONE))
        kinds = [entry.kind.value for entry in after.book.history()]
        assert kinds == ["created", "charge", "answered", "migrated", "charge", "answered"]
        assert after.book.check() == 6
    with Ledger.open(where, Fraction(6), Twice(), anchor=anchor) as opened:
        assert opened.spent().price.nominal == 6
    with pytest.raises(BadLedger, match="the cap was 6 and is 10; the accountant was twice"):
        Ledger.open(where, Fraction(10), Sum(), anchor=anchor)


def test_who_opened_the_ledger_before_a_migration_charges_no_more_under_the_old_terms(where, anchor):
    with (
        Ledger.create(where, Fraction(10), Sum(), anchor=anchor) as old,
        Ledger(Book(where, anchor), Fraction(10), Sum()) as other,
    ):
        other.answer(charge("answered"), lambda: b"1")
        running = other.reserve(charge("running"))
        old.migrate(Twice(), Fraction(10))
        for late in ("late", "answered"):
            with pytest.raises(BadLedger, match="the accountant was twice"):
                other.reserve(charge(late))
        with pytest.raises(BadLedger, match="the accountant was twice"):
            other.price()
        assert other.settle(running, b"1") == b"1", "what was charged before is counted, so it may end"
        assert [entry.kind for entry in other.book.history()].count(Kind.CHARGE) == 2


def test_a_charge_that_was_priced_before_a_migration_is_refused_inside_the_transaction(tmp_path):
    """The migration comes between the reading, where the price is worked out, and the writing."""
    with Ledger.create(tmp_path / "l.db", Fraction(10), Sum(), anchor=tmp_path / "a") as ledger:

        class Slow(Sum):
            def price(self, totals):
                if not moved.is_set():
                    moved.set()
                    thread = threading.Thread(target=lambda: migrate(ledger.book, Fraction(1, 2), Twice()))
                    thread.start()
                    thread.join()
                return super().price(totals)

        moved = threading.Event()
        with (
            Ledger(Book(tmp_path / "l.db", tmp_path / "a"), Fraction(10), Slow()) as slow,
            pytest.raises(BadLedger, match=r"the cap was 0\.5"),
        ):
            slow.reserve(charge("r"))
        assert ledger.book.spent().parts == ()


def test_while_many_charge_none_is_charged_under_the_old_terms_behind_a_migration(where, anchor):
    with Ledger.create(where, Fraction(1000), Sum(), anchor=anchor) as ledger:
        go = threading.Barrier(5)

        def spend(name):
            with Ledger(Book(where, anchor), Fraction(1000), Sum()) as own:
                go.wait()
                with suppress(BadLedger):
                    for turn in range(40):
                        own.answer(charge(f"{name}-{turn}"), drawn)

        threads = [threading.Thread(target=spend, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        go.wait()
        moved = migrate(ledger.book, Fraction(500), Twice())
        for thread in threads:
            thread.join()
        kinds = [entry.kind for entry in ledger.book.history()]
        at = kinds.index(Kind.MIGRATED)
        assert Kind.CHARGE not in kinds[at:]
        assert moved.after.nominal == ledger.book.spent().price.nominal == 2 * kinds.count(Kind.CHARGE)
        ledger.book.check()


@pytest.mark.parametrize("moment", ["written, not committed", "committed, not anchored"])
def test_a_migration_that_is_killed_is_made_or_not_made(moment, tmp_path):
    with Ledger.create(tmp_path / "l.db", Fraction(10), Sum(), anchor=tmp_path / "a") as ledger:
        ledger.answer(charge("r"), drawn)
    code = KILLED.format(tests=str(Path(__file__).parent.parent), folder=str(tmp_path), moment=moment)
    child = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert child.returncode == -signal.SIGKILL
    made = moment == "committed, not anchored"
    with Ledger.open(tmp_path / "l.db", Fraction(5 if made else 10), Sum(), anchor=tmp_path / "a") as ledger:
        assert ledger.spent().price.nominal == 1
        assert ledger.head().position == (4 if made else 3)
        ledger.answer(charge("s"), drawn)


def test_a_total_above_the_cap_is_the_truth_and_stops_every_further_charge(tmp_path):
    with Ledger.create(tmp_path / "l.db", Fraction(10), Sum(), anchor=tmp_path / "a") as ledger:
        ledger.answer(charge("r", loss=Fraction(4)), drawn)
        assert foresee(ledger.book, Fraction(5), Twice()).is_over
        after = ledger.migrate(Twice(), Fraction(5))
        assert after.spent().price.nominal == 8
        with pytest.raises(OverBudget):
            after.reserve(charge("s", loss=Fraction(1, 10**9)))


def test_the_same_terms_are_no_migration_and_an_endless_total_is_refused(tmp_path):
    class Endless(Twice):
        identity = "endless"

        def price(self, totals):
            return Price(ONE, {"model": float("inf")} if totals else {})

    with Ledger.create(tmp_path / "l.db", Fraction(10), Sum(), anchor=tmp_path / "a") as ledger:
        ledger.answer(charge("r"), drawn)
        with pytest.raises(BadLedger, match="these terms already"):
            ledger.migrate(Sum(), Fraction(10))
        with pytest.raises(Refused, match="no bound is known"):
            ledger.migrate(Endless(), Fraction(10))
        assert ledger.head().position == 3


def test_terms_that_were_edited_behind_a_migration_are_noticed(tmp_path):
    import sqlite3
    from contextlib import closing

    path = tmp_path / "l.db"
    with Ledger.create(path, Fraction(10), Sum(), anchor=tmp_path / "a") as ledger:
        ledger.answer(charge("r"), drawn)
        ledger.migrate(Sum(), Fraction(3))
        ledger.migrate(Sum(), Fraction(2)).answer(charge("s"), drawn)
    for statement in (
        'UPDATE entwined_entry SET content = replace(content, \'"cap":"2/1"\', \'"cap":"9/1"\')',
        "UPDATE entwined_entry SET hash = 'x' WHERE position = 5",
        "DELETE FROM entwined_entry WHERE position = 5",
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        with closing(sqlite3.connect(copy)) as link, link:
            link.execute(statement)
        with pytest.raises(LedgerDamaged):
            Ledger(Book(copy, tmp_path / "a"), Fraction(2), Sum())


def made(tmp_path, schema, *models, cap=10, **given):
    accountant = Promise.of(schema, models, **given)
    return Ledger.create(tmp_path / "l.db", Fraction(cap), accountant, anchor=tmp_path / "a")


def said(tmp_path, before, now):
    with Ledger.create(tmp_path / "l.db", Fraction(1), before, anchor=tmp_path / "a") as ledger:
        with pytest.raises(BadLedger) as told:
            ledger.require(now)
        return str(told.value)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (Promise.of(ROWS), ["model removed: 'households'"]),
        (
            Promise.of(ROWS, Declared(Groups(3), name="households")),
            ["model changed: 'households' (largest was 2 and is 3)."],
        ),
        (
            Promise.of(
                Schema((Integer("age", 0, 130, label="years"), Categorical("place", ("north", "south", "west")))),
                Declared(Groups(2), name="households", by="place"),
            ),
            [
                "columns changed: 'age' (high was 120 and is 130, label was not given and is years)",
                "'place' (values gained 'west')",
                "model changed: 'households' (by was not given and is place)",
            ],
        ),
        (
            Promise.of(
                Schema((AGE, Categorical("place", ("south", "north"), labels=("the south", "the north"))), most_rows=9),
                Declared(CHAIN, name="households", columns=("place",)),
            ),
            [
                "'place' (labels gained 'the south', 'the north', values are in another order)",
                "kind was groups and is markov_chain, largest was 2 and is not given, length was not given and is 9, its",
            ],
        ),
        (Promise.of(ROWS, [Declared(Groups(2), name="households"), Groups(5)]), ["model added: 'groups'"]),
        (
            Promise.of(ROWS, Declared(Groups(2), name="households"), "model"),
            ["knowledge was any and is model"],
        ),
        (
            Promise.of(ROWS, Declared(Groups(2), name="households"), "any", Concentrated(Fraction(1, 10**6))),
            ["delta was not given and is 1/1000000"],
        ),
        (
            Promise.of(
                Schema((AGE, Boolean("new")), neighbours="add_remove", most_rows=99),
                Declared(Groups(2), name="households"),
            ),
            ["column added: 'new'", "column removed: 'place'", "neighbours was replace and is add_remove",
             "most_rows was 1000000000 and is 99"],
        ),
        (
            Promise.of(Schema((AGE, PLACE), unit=Cells(), rows=5)),
            ["unit was kind rows and is kind cells", "rows was not given and is 5"],
        ),
        (
            Promise.of(Schema((PLACE, AGE)), Declared(Groups(2), name="households")),
            ["the columns are in another order"],
        ),
    ],
)  # fmt: skip
def test_a_mismatch_names_what_differs(tmp_path, now, words):
    told = said(tmp_path, Promise.of(ROWS, Declared(Groups(2), name="households")), now)
    for word in words:
        assert word in told
    assert "entwined budget migrate RELEASE.toml" in told


def test_bands_that_change_are_named_and_leave_what_was_spent_as_it_was(tmp_path):
    before, now = (
        Schema(
            (Integer("age", 0, 120, bands={"stage": {"child": 0, "adult": adult}, name: 10}), PLACE),
            unit=Cells(),
        )
        for adult, name in ((16, "tens"), (18, "decade"))
    )
    told = said(tmp_path, Promise.of(before), Promise.of(now))
    assert (
        "'age' (bands gained 'decade', bands lost 'tens', bands 'stage' were child from 0, adult from 16 and are"
        in told
    )
    assert carried(before, now, part("age")) == [part("age")]


def test_losses_by_part_go_over_where_the_codes_are_the_same(tmp_path):
    years = Integer("age", 0, 120, label="years", bands={"stage": [18]})
    labelled = Schema((years, PLACE, Boolean("new"))).approve()
    with made(tmp_path, ROWS) as ledger:
        spent = ledger.answer(charge("r", key=key_of(OLD, None)), drawn), ledger.spent().parts
        after = ledger.migrate(Promise.of(labelled, Groups(4)), Fraction(10))
        assert after.spent().parts == spent[1]
        assert after.spent().price.worst == pytest.approx(4)


def part(column=None, where=OLD, one=ONE, both=2 * ONE):
    return Part(key_of(where, column), one, both)


def carried(before, now, *parts, models=(), then=()):
    taken = Promise.of(now, models).carried(
        Promise.of(before, then).document, {one.key: one for one in parts}
    )
    return sorted(taken.values())


def test_a_condition_that_can_no_longer_be_said_is_charged_on_every_row():
    wider, gone = Schema((Integer("age", 0, 130), PLACE)), Schema((PLACE,))
    for now in (wider, gone):
        assert carried(ROWS, now, part(), part(where=everything())) == [
            Part(key_of(everything(), None), 3 * ONE, 4 * ONE)
        ], "the larger of both losses, added to what was charged on every row"


@pytest.mark.parametrize(
    "how", [{"unit": Person("who", 2), "neighbours": "add_remove"}, {"unit": Household("who", 2)}]
)
def test_where_other_rows_are_picked_losses_are_charged_on_every_row(how):
    """A new column draws other lots: what was released of the old and what will be of the young may be one person's."""
    who = Text("who", compare="exact")
    before, now = (Schema((who, *columns), **how) for columns in ((AGE, PLACE), (AGE, PLACE, Boolean("new"))))
    (taken,) = carried(before, now, part())
    assert taken == Part(key_of(everything(), None), 2 * ONE, 2 * ONE)
    young = part(where=~OLD)
    both = Promise.of(now).price({one.key: one for one in (taken, young)}).worst
    assert (
        both
        == Promise.of(now).price({taken.key: taken}).worst + Promise.of(now).price({young.key: young}).worst
    )
    labelled = Schema((who, Integer("age", 0, 120, label="years"), PLACE), **how)
    assert carried(before, labelled, part()) == [part()]


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_losses_that_went_over_are_never_less(neighbours):
    before = Schema((AGE, PLACE), neighbours=neighbours)
    now = Schema((PLACE,), neighbours=neighbours)
    for losses in ((part(),), (part(one=2 * ONE, both=ONE), part(where=~OLD))):
        old = Promise.of(before).price({one.key: one for one in losses})
        taken = carried(before, now, *losses)
        assert Promise.of(now).price({one.key: one for one in taken}).worst >= old.worst


def test_cells_go_over_where_new_codes_tell_the_old_ones():
    gained = Schema((Integer("age", 0, 130), Categorical("place", ("north", "south", "west"))), unit=Cells())
    lost = part("place"), part("age", everything())
    assert carried(CELLS, gained, *lost) == [
        Part(key_of(everything(), "age"), 2 * ONE, 2 * ONE),
        Part(key_of(everything(), "place"), 2 * ONE, 2 * ONE),
    ]
    assert carried(CELLS, CELLS, *lost, models=[Independent(2)]) == sorted(lost)


@pytest.mark.parametrize(
    "age",
    [
        Integer("age", 0, 110),
        Integer("age", -10, 120),
        Integer("age", 0, 130, missing_codes=("99",)),
        Integer("age", 0, 120, missing="drop"),
        Integer("age", 0, 120, outside="missing"),
        Boolean("age"),
        Integer("years", 0, 120),
    ],
)
def test_a_column_whose_codes_mean_something_else_is_refused(age):
    """A coarser column would leave dependence in what was released that no model over it describes."""
    with pytest.raises(Refused, match="column 'age' was released from"):
        carried(CELLS, Schema((age, PLACE), unit=Cells()), part("age", everything()))


@pytest.mark.parametrize(
    ("before", "now", "models", "then", "words"),
    [
        (ROWS, CELLS, (), (), "unit of protection"),
        (ROWS, Schema((AGE, PLACE), neighbours="add_remove"), (), (), "neighbour relation"),
        (ROWS, ROWS, (Declared(Groups(4), by="place"),), (), "picking of rows"),
        (ROWS, ROWS, (), (Declared(Groups(4), by="place"),), "picking of rows"),
        (ROWS, ROWS, (Declared(Groups(4), by="place"),), (Declared(Groups(8), by="age"),), "picking of rows"),
        (ROWS, ROWS, (Declared(CHAIN, by="place", order="age", columns=("place",)),), (Declared(Groups(8), by="place"),), "picking of rows"),
        (
            Schema((Text("home", compare="exact"), AGE)), Schema((Text("home", compare="loose"), AGE)),
            (Declared(Groups(4), by="home"),), (Declared(Groups(4), by="home"),), "picking of rows",
        ),
        (
            Schema((Text("id", compare="exact"), AGE), unit=Person("id", 3)),
            Schema((Integer("id", 0, 9), AGE), unit=Person("id", 3)),
            (), (), "column that names a person",
        ),
        (
            Schema((Text("id", compare="exact"), AGE), unit=Person("id", 3)),
            Schema((Text("id", compare="exact"), AGE), unit=Person("id", 5)),
            (), (), "unit of protection",
        ),
    ],
)  # fmt: skip
def test_losses_of_another_unit_or_of_other_rows_are_refused(before, now, models, then, words):
    with pytest.raises(Refused, match=words):
        carried(before, now, part(), models=models, then=then)
    assert carried(before, now, models=models, then=then) == [], "an empty ledger may take any terms"


def test_pure_and_concentrated_losses_do_not_mix(tmp_path):
    with made(tmp_path, ROWS) as ledger:
        ledger.answer(charge("r", key=key_of(OLD, None)), drawn)
        with pytest.raises(Refused, match="with or without a δ"):
            ledger.migrate(Promise.of(ROWS, (), "any", Concentrated(Fraction(1, 10**6))), Fraction(10))
        assert ledger.spent().entries == 3


def kept(group, most):
    """The rows of a group that an engine keeps: the first by their codes."""
    return sorted(group)[:most]


@pytest.mark.parametrize(("most", "then"), [(1, 2), (2, 1), (2, 3), (3, 2)])
def test_groups_cut_at_another_size_leak_no_more_than_is_priced(most, then):
    """Two counts with discrete Laplace noise, one of each cut: what both leak of a whole group is known exactly."""
    inside = {"old": codes_in("age", 122, ((1, 2),)), "new": codes_in("age", 122, ((0, 1),))}
    before, now = (Declared(Groups(size), by="place") for size in (most, then))
    taken = carried(ROWS, ROWS, part(where=inside["old"], both=Fraction(0)), models=(now,), then=(before,))
    totals = {one.key: one for one in [*taken, part(where=inside["new"], both=Fraction(0))]}
    priced = Promise.of(ROWS, (now,)).price(totals).worst
    worst = 0
    for one, other in combinations_with_replacement(product(range(4), repeat=3), 2):
        moved = [
            abs(
                sum(inside[cut].holds({"age": age}) for age in kept(one, size))
                - sum(inside[cut].holds({"age": age}) for age in kept(other, size))
            )
            for cut, size in (("old", most), ("new", then))
        ]
        worst = max(worst, sum(moved))
    assert worst <= priced == pytest.approx(then * (max(Fraction(most, then), 1) + 1))
    assert worst > then, "the old loss counts"


def test_a_stored_answer_is_not_handed_out_under_other_terms(tmp_path):
    """The same question under another model is drawn and charged anew, and each certificate is of its terms."""
    table = MemoryTable(ROWS, [{"age": 70, "place": 0}] * 20)
    with made(tmp_path, ROWS) as ledger:
        asked = Histogram("place")
        first = release(table, asked, ledger=ledger, loss=1)
        chained = ledger.migrate(Promise.of(ROWS, Groups(2)), Fraction(10))
        second = release(table, asked, ledger=chained, loss=1, dependence=Groups(2))
        assert table.reads == 2
        assert (first.certificate["models"], len(second.certificate["models"])) == ([], 1)
        assert second.certificate["total"]["leakage"]["groups"] == pytest.approx(4)
        back = chained.migrate(Promise.of(ROWS), Fraction(10))
        assert release(table, asked, ledger=back, loss=1).values == first.values
        assert table.reads == 2


def test_a_model_that_does_not_know_a_column_of_the_past_is_refused(tmp_path):
    with made(tmp_path, CELLS) as ledger:
        release(MemoryTable(CELLS, []), Histogram("age"), ledger=ledger, loss=1)
        with pytest.raises(Exception, match="says nothing of it"):
            ledger.migrate(Promise.of(CELLS, Declared(Groups(1), columns=("place",))), Fraction(10))
        assert ledger.spent().entries == 3
