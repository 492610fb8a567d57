"""So much a year, a quarter, a month: on top of the cap, by the ledger's own clock, whatever clocks and migrations do."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from entwined.errors import BadInput, BadLedger, BadLoss, LedgerUnavailable, OverBudget
from entwined.ledger import Book, Ledger
from entwined.ledger.calendar import Calendar, Period
from entwined.ledger.migration import foresee
from entwined.ledger.pages import Pages
from entwined.ledger.postgres import ServerPages
from entwined.ledger.sqlite import SqliteStore
from entwined.promise.price import Price
from support.ledger_worker import Named, Sum, charge, drawn
from support.postgres import new_schema

ONE = Fraction(1)
YEARLY = Calendar.of({"year": 2})
SPRING = datetime(2026, 4, 2, 12, tzinfo=UTC)


class Largest(Named):
    """Parts do not add up: the largest counts."""

    identity = "largest part"

    def price(self, totals):
        return Price(max((part.one for part in totals.values()), default=Fraction(0)))


class Renamed(Sum):
    """Terms under which every loss is on one part, and counts twice."""

    identity = "renamed"

    def carried(self, document, totals):  # noqa: ARG002  (the name is the protocol's)
        together = sum((part.one for part in totals.values()), Fraction(0))
        return {part.key: part for part in charge("r", loss=2 * together, key="together").parts}


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets; both kinds of ledger go by it."""

    class Set:
        now = SPRING

    for kind in (Pages, ServerPages, SqliteStore):
        monkeypatch.setattr(kind, "clock", lambda _: Set.now)
    return Set


@pytest.fixture
def ledger(tmp_path, clock):
    with Ledger.create(tmp_path / "l.db", Fraction(5), Sum(), tmp_path / "a", YEARLY) as made:
        yield made


def ask(ledger, name, loss=ONE, key="all"):
    return ledger.answer(charge(name, loss=loss, key=key), drawn)


def left(ledger):
    return [one.left for one in ledger.spent().periods]


def test_a_year_has_its_allowance_and_the_refusal_says_when_the_next_begins(ledger, clock):
    ask(ledger, "a")
    ask(ledger, "b")
    with pytest.raises(OverBudget) as told:
        ask(ledger, "c", Fraction(1, 4))
    assert str(told.value) == (
        "Request c: what is charged within 2026 would leak 2.25, 0.25 more than the 2 that the calendar allows a year. "
        "Ask for a smaller loss, or wait: the next year begins on 2027-01-01 (UTC). Nothing was charged."
    )
    assert (ledger.head().position, left(ledger)) == (5, [0])
    assert ledger.answer(charge("again", "question of a"), drawn), (
        "what was answered is given again for nothing"
    )
    clock.now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    with pytest.raises(OverBudget, match="2027-01-01"):
        ask(ledger, "d")
    clock.now += timedelta(seconds=1)
    assert left(ledger) == [2]
    ask(ledger, "d", Fraction(2))
    assert left(ledger) == [0]
    clock.now = datetime(2028, 1, 1, tzinfo=UTC)
    with pytest.raises(OverBudget, match="1 more than the cap 5"):
        ask(ledger, "e", Fraction(2))
    ask(ledger, "e")
    assert ledger.book.check() == 9


def test_every_period_counts_and_other_processes_see_it(ledger, clock, tmp_path):
    after = ledger.migrate(
        Sum(), Fraction(9), Calendar.of({"year": 3, "quarter": Fraction(3, 2), "month": 1})
    )
    ask(after, "a")
    with pytest.raises(OverBudget, match=r"within 2026-04 would leak 1.5.*next month begins on 2026-05-01"):
        ask(after, "b", ONE / 2)
    clock.now = datetime(2026, 5, 1, tzinfo=UTC)
    with Ledger(Book(tmp_path / "l.db", tmp_path / "a"), Fraction(9), Sum()) as other:
        ask(other, "b", ONE / 2)
        assert [one.left for one in other.allowances()] == [1.5, 0, 0.5]
    with pytest.raises(OverBudget, match=r"quarter 2 of 2026 would.*next quarter begins on 2026-07-01"):
        ask(after, "c", ONE / 2)
    clock.now = datetime(2026, 10, 1, tzinfo=UTC)
    ask(after, "c")
    clock.now = datetime(2026, 12, 1, tzinfo=UTC)
    with pytest.raises(OverBudget, match="within 2026 would"):
        ask(after, "d")
    assert [one.name for one in after.spent().periods] == ["2026", "quarter 4 of 2026", "2026-12"]


def test_a_period_is_priced_on_its_own_and_its_losses_do_not_add_where_prices_do_not(tmp_path, clock):
    with Ledger.create(tmp_path / "l.db", Fraction(5), Largest(), tmp_path / "a", YEARLY) as ledger:
        for name in "abc":
            ask(ledger, name, Fraction(2), key=name)
        assert left(ledger) == [0]
        clock.now = datetime(2027, 1, 1, tzinfo=UTC)
        ask(ledger, "d", Fraction(2), key="a")
        assert (ledger.spent().price.nominal, left(ledger)) == (4, [0])


def test_a_clock_that_goes_back_is_refused_but_for_minutes(ledger, clock):
    ask(ledger, "a")
    clock.now -= timedelta(minutes=9)
    ask(ledger, "b", ONE / 2)
    times = [entry.time for entry in ledger.book.history()]
    assert times == sorted(times) == [SPRING] * 5
    clock.now -= timedelta(days=120)
    with pytest.raises(
        LedgerUnavailable, match=r"clock says 2025-12-03.*last entry is of 2026-04-02 12:00.*Nothing"
    ):
        ask(ledger, "c")
    with pytest.raises(LedgerUnavailable, match="clock"):
        ledger.migrate(Sum(), Fraction(9))
    assert ledger.head().position == 5


def test_a_jump_forward_is_in_the_chain_and_cannot_be_taken_back(ledger, clock):
    """This machine's clock is the holder's; what the holder gains by it is lost until that day."""
    ask(ledger, "a", Fraction(2))
    clock.now = datetime(2027, 1, 1, tzinfo=UTC)
    ask(ledger, "b", Fraction(2))
    clock.now = SPRING
    with pytest.raises(LedgerUnavailable):
        ask(ledger, "c", ONE / 10)
    freed = ledger.migrate(Sum(), Fraction(5), Calendar())
    ask(freed, "c", ONE / 10)
    assert left(freed.migrate(Sum(), Fraction(5), YEARLY)) == [0], "all that was taken over counts as of now"


def test_a_migration_carries_the_losses_of_its_periods_over(ledger, clock, tmp_path):
    ask(ledger, "old", key="x")
    clock.now = datetime(2027, 3, 1, tzinfo=UTC)
    ask(ledger, "new", ONE / 4, key="y")
    planned = foresee(ledger.book, Fraction(9), Renamed())
    assert planned.differences == (
        "the cap was 5 and is 9",
        "the accountant was sum of all parts and is renamed",
    )
    assert [one.left for one in planned.allowances] == [1.5]
    after = ledger.migrate(Renamed(), Fraction(9))
    assert (after.spent().price.nominal, left(after)) == (Fraction(5, 2), [1.5])
    clock.now = datetime(2027, 4, 1, tzinfo=UTC)
    ask(after, "more", ONE)
    with pytest.raises(OverBudget, match=r"within 2027 would leak 2.5"):
        ask(after, "too much", ONE)
    again = after.migrate(Sum(), Fraction(9), Calendar.of({"year": 2, "month": 1}))
    assert left(again) == [0.5, 0]
    assert again.book.check() == 9
    with Ledger.open(tmp_path / "l.db", Fraction(9), Sum(), tmp_path / "a") as opened:
        assert [one.left for one in opened.allowances()] == [0.5, 0]


def test_a_calendar_is_put_into_a_ledger_that_had_none(tmp_path, clock):
    with Ledger.create(tmp_path / "l.db", Fraction(5), Sum(), tmp_path / "a") as ledger:
        ask(ledger, "last year")
        clock.now = datetime(2027, 1, 5, tzinfo=UTC)
        ask(ledger, "this year", ONE / 2)
        assert ledger.allowances() == ledger.spent().periods == ()
        after = ledger.migrate(Sum(), Fraction(5), YEARLY)
        assert left(after) == [1.5]
        with pytest.raises(BadLedger, match="the calendar was 2 a year and is none"):
            Ledger(after.book, Fraction(5), Sum(), Calendar())
        with pytest.raises(BadLedger, match="the calendar was 2 a year and is 3 a year, 1 a month"):
            Ledger(after.book, Fraction(5), Sum(), Calendar.of({"month": 1, "year": 3}))
        formats = [entry.fields["format"] for entry in after.book.history() if "format" in entry.fields]
        assert formats == ["2", "3"], "a program that knows no calendars must not charge under one"


def test_taking_a_calendar_out_and_in_again_forgets_nothing(ledger, clock):
    ask(ledger, "a", Fraction(2))
    after = ledger.migrate(Sum(), Fraction(5), Calendar()).migrate(Sum(), Fraction(5), YEARLY)
    assert left(after) == [0]
    with pytest.raises(OverBudget, match="2027-01-01"):
        ask(after, "b", ONE / 10)


def test_the_servers_clock_counts_whatever_this_machine_says(tmp_path, monkeypatch):
    monkeypatch.setattr(Pages, "clock", lambda _: datetime(2099, 1, 1, tzinfo=UTC))
    with Ledger.create(new_schema(), Fraction(5), Sum(), tmp_path / "a", YEARLY) as ledger:
        ask(ledger, "a")
        assert all(entry.time.year < 2099 for entry in ledger.book.history())
        assert left(ledger) == [1]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [({"decade": 1}, BadInput, "a year, a quarter or a month"), ({"year": 0}, BadLoss, "year"), ({"year": 0.5}, BadLoss, "exact")],
)  # fmt: skip
def test_a_calendar_that_cannot_be_is_refused(given, error, says):
    with pytest.raises(error, match=says):
        Calendar.of(given)


def test_periods_end_where_the_next_begins():
    for day in range(0, 1500, 17):
        now = datetime(2023, 11, 3, 4, 5, tzinfo=UTC) + timedelta(days=day)
        for period in Period:
            start, end = period.start(now), period.end(now)
            assert start <= now < end
            assert period.start(end) == end
            assert period.start(end - timedelta(seconds=1)) == start
