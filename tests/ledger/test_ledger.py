"""What the ledger grants, refuses, remembers and hands out, on SQLite and PostgreSQL alike."""

import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.errors import (
    BadCharge,
    BadLedger,
    BadLoss,
    ChargeClosed,
    LedgerUnavailable,
    NoLedger,
    OverBudget,
)
from entwined.ledger import Book, Charge, Kind, Ledger
from entwined.ledger.unanswered import MOST_RUNS
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.totals import NOTHING, Totals
from support.ledger_worker import Named, Sum, charge, drawn
from support.postgres import new_schema

TENTH = Fraction(1, 10)


class Disjoint(Named):
    """Parts whose keys begin alike and end in different letters are disjoint; all others overlap."""

    identity = "disjoint genders"

    def price(self, totals):
        apart = [part.one for key, part in totals.items() if key.startswith("gender")]
        rest = sum((part.one for key, part in totals.items() if not key.startswith("gender")), Fraction(0))
        nominal = rest + max(apart, default=Fraction(0))
        return Price(nominal, {"households": rest + sum(apart, Fraction(0))})


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return str(tmp_path / "ledger.db") if request.param == "sqlite" else new_schema()


@pytest.fixture
def anchor(tmp_path):
    return tmp_path / "anchor"


@pytest.fixture
def ledger(where, anchor):
    with Ledger.create(where, Fraction(1), Sum(), anchor=anchor) as made:
        yield made


def again(where, anchor, cap=Fraction(1), patience=0.3):
    return Ledger(Book(where, anchor, patience), cap, Sum())


def kinds(ledger):
    return [entry.kind.value for entry in ledger.book.history()]


def test_what_is_settled_is_handed_out_and_kept(ledger, where, anchor):
    assert ledger.answer(charge("r", "q", TENTH), lambda: b"\x00\xff 42") == b"\x00\xff 42"
    with Ledger.open(where, Fraction(1), Sum(), anchor=anchor) as opened:
        assert opened.stored("q") == b"\x00\xff 42"
        assert opened.stored("another") is None
        assert opened.spent().price.nominal == TENTH
    assert kinds(ledger) == ["created", "charge", "answered"]


def test_a_receipt_names_the_entry_of_its_charge(ledger, where, anchor):
    first = ledger.reserve(charge("r", "q", TENTH))
    charged = list(ledger.book.history())[1]
    assert first.mark == charged.mark == (2, charged.hash)
    ledger.settle(first, b"1")
    assert ledger.reserve(charge("again", "q", TENTH)).mark == charged.mark
    with again(where, anchor) as other:
        assert other.id == ledger.id == ledger.book.first().fields["ledger"]


def test_the_charge_is_durable_before_the_run_begins(ledger, where, anchor):
    def run():
        with again(where, anchor) as other:
            assert other.spent().price.nominal == TENTH
            assert other.stored("q") is None
        return b"1"

    ledger.answer(charge("r", "q", TENTH), run)


def test_the_cap_is_reached_exactly_and_not_passed(ledger):
    for turn in range(10):
        ledger.answer(charge(f"r{turn}", loss=TENTH), drawn)
    before = ledger.spent()
    with pytest.raises(OverBudget, match=r"would leak 1, 1e-09 more than the cap 1\..*Nothing was charged"):
        ledger.answer(charge("one more", loss=Fraction(1, 10**9)), pytest.fail)
    assert ledger.spent() == before
    assert before.price.nominal == before.cap == 1


def test_three_tenths_fit_under_three_tenths(tmp_path):
    assert 0.1 + 0.1 + 0.1 > 0.3  # floats would refuse the third
    with Ledger.create(tmp_path / "l.db", Fraction(3, 10), Sum(), anchor=tmp_path / "a") as ledger:
        for turn in range(3):
            ledger.reserve(charge(f"r{turn}", loss=TENTH))
        with pytest.raises(OverBudget):
            ledger.reserve(charge("r3", loss=TENTH))


@pytest.mark.parametrize("loss", [TENTH, Fraction(1, 10**9), Fraction(123456789, 10**18)])
def test_many_charges_do_not_drift(tmp_path, loss):
    """2,000 additions through the written form, and 100 real charges, are exact; floats are not."""
    totals = NOTHING
    part = Part("all", loss, loss)
    for _ in range(2_000):
        totals = Totals.of(totals.plus([part]).rows.values())
    assert totals.parts["all"].one == 2_000 * loss
    with Ledger.create(tmp_path / "l.db", Fraction(100) * loss, Sum(), anchor=tmp_path / "a") as ledger:
        for turn in range(100):
            ledger.abandon(ledger.reserve(charge(f"r{turn}", loss=loss)))
        assert ledger.spent().price.nominal == 100 * loss
        with pytest.raises(OverBudget):
            ledger.reserve(charge("r100", loss=Fraction(1, 10**300)))


@pytest.mark.slow
def test_a_hundred_thousand_charges_do_not_drift(tmp_path):
    with Ledger.create(tmp_path / "l.db", Fraction(10**4), Sum(), anchor=tmp_path / "a") as ledger:
        for turn in range(10**5):
            ledger.abandon(ledger.reserve(charge(f"r{turn}", loss=TENTH)))
        assert ledger.spent().price.nominal == 10**4
        with pytest.raises(OverBudget):
            ledger.reserve(charge("last", loss=Fraction(1, 10**300)))
        assert ledger.book.check() == 10**5 + 1


def test_the_golden_composition_and_the_cap_on_leakage(tmp_path):
    """0.5, then 0.2 and 0.25 on disjoint parts, then 0.25: 1.0 nominal, 1.2 if the parts are dependent."""
    spends = [("all", "1/2"), ("gender M", "1/5"), ("gender F", "1/4"), ("age", "1/4")]
    with Ledger.create(tmp_path / "l.db", Fraction(6, 5), Disjoint(), anchor=tmp_path / "a") as ledger:
        for turn, (key, loss) in enumerate(spends):
            receipt = ledger.reserve(charge(f"r{turn}", loss=Fraction(loss), key=key))
        assert receipt.price == Price(Fraction(1), {"households": Fraction(6, 5)})
        assert ledger.spent().price == receipt.price
        with pytest.raises(OverBudget, match=r"1\.3"):  # the nominal ε would stay at 1.05
            ledger.reserve(charge("r4", loss=TENTH, key="gender M"))


def test_a_price_that_is_no_number_is_refused_and_an_infinite_one_is_over_budget(tmp_path):
    class Broken(Named):
        identity = "broken"
        amount = float("nan")

        def price(self, totals):
            return Price(Fraction(0), {"model": self.amount} if totals else {})

    accountant = Broken()
    with Ledger.create(tmp_path / "l.db", Fraction(1), accountant, anchor=tmp_path / "a") as ledger:
        with pytest.raises(BadLoss, match="nan"):
            ledger.reserve(charge("r"))
        accountant.amount = float("inf")
        with pytest.raises(OverBudget):
            ledger.reserve(charge("r"))
        assert kinds(ledger) == ["created"]


def test_a_retry_gets_the_same_bytes_and_no_charge(ledger):
    first = ledger.answer(charge("r", "q", TENTH), drawn)
    assert [ledger.answer(charge("r", "q", TENTH), pytest.fail) for _ in range(5)] == [first] * 5
    assert ledger.spent().price.nominal == TENTH


def test_another_analyst_gets_the_stored_answer(ledger):
    first = ledger.answer(charge("r", "q", TENTH, analyst="ann"), drawn)
    assert ledger.answer(charge("s", "q", TENTH, analyst="bob"), pytest.fail) == first
    assert ledger.spent().price.nominal == TENTH


def test_all_analysts_share_one_cap(ledger):
    ledger.answer(charge("r", loss=Fraction(3, 5), analyst="ann"), drawn)
    with pytest.raises(OverBudget):
        ledger.answer(charge("s", loss=Fraction(3, 5), analyst="bob"), drawn)


def test_one_request_id_stands_for_one_question(ledger):
    ledger.answer(charge("r", "q", TENTH), drawn)
    with pytest.raises(BadCharge, match="another question"):
        ledger.answer(charge("r", "other", TENTH), drawn)


def test_a_fingerprint_that_hides_a_larger_loss_is_refused(ledger):
    receipt = ledger.reserve(charge("r", "q", TENTH))
    ledger.abandon(receipt)  # as if the process had died
    for request in ("r", "s"):
        with pytest.raises(BadCharge, match="other losses"):
            ledger.reserve(charge(request, "q", 2 * TENTH))
    ledger.answer(charge("r", "q", TENTH), drawn)
    with pytest.raises(BadCharge, match="other losses"):
        ledger.reserve(charge("r", "q", 2 * TENTH))


def test_a_failure_keeps_the_charge_and_a_new_try_is_charged(ledger):
    with pytest.raises(ZeroDivisionError):
        ledger.answer(charge("r", "q", TENTH), lambda: 1 // 0)
    assert kinds(ledger) == ["created", "charge", "failed"]
    assert ledger.spent().price.nominal == TENTH
    with pytest.raises(ChargeClosed, match="new request id"):
        ledger.answer(charge("r", "q", TENTH), drawn)
    answer = ledger.answer(charge("s", "q", TENTH), drawn)
    assert ledger.spent().price.nominal == 2 * TENTH
    assert ledger.answer(charge("r", "q", TENTH), pytest.fail) == answer  # the question has its answer now


def test_what_is_interrupted_half_way_writes_nothing(ledger):
    def interrupted():
        with ledger.book.writing() as view:
            part = Part("all", TENTH, TENTH)
            view.spend({"kind": "charge", "parts": [part.row]}, [part], view.totals().plus([part]))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert kinds(ledger) == ["created"]
    assert ledger.spent().parts == ()
    ledger.answer(charge("r", loss=TENTH), drawn)
    assert ledger.book.check() == 3


def test_a_dead_run_is_run_again_under_its_charge(ledger, where, anchor):
    receipt = ledger.reserve(charge("r", "q", TENTH))
    ledger.abandon(receipt)  # what the kernel or the server does when a process dies
    with again(where, anchor) as other:
        assert other.answer(charge("r", "q", TENTH), lambda: b"second run") == b"second run"
        assert other.spent().price.nominal == TENTH
        assert kinds(other) == ["created", "charge", "run", "answered"]


def test_an_overtaken_run_cannot_settle(ledger, where, anchor):
    slow = ledger.reserve(charge("r", "q", TENTH))
    ledger.abandon(slow)  # a connection lost while it runs
    with again(where, anchor) as other:
        fast = other.reserve(charge("r", "q", TENTH))
        assert (slow.run, fast.run) == (1, 2)
        with pytest.raises(ChargeClosed, match="overtaken"):
            ledger.settle(slow, b"slow")
        ledger.fail(slow, "too late")  # says nothing about the run that goes on
        assert other.settle(fast, b"fast") == b"fast"
    assert ledger.settle(slow, b"slow") == b"fast"
    assert kinds(ledger) == ["created", "charge", "run", "answered"]


def test_a_charge_has_few_runs(ledger):
    for run in range(MOST_RUNS):
        receipt = ledger.reserve(charge("r", "q", TENTH))
        assert receipt.run == run + 1
        ledger.abandon(receipt)
    with pytest.raises(ChargeClosed):
        ledger.reserve(charge("r", "q", TENTH))
    assert "charged again" in ledger.book.unanswered("q").words
    assert ledger.answer(charge("s", "q", TENTH), drawn)
    assert ledger.spent().price.nominal == 2 * TENTH
    assert ledger.book.unanswered("q") is None
    again_after = [
        entry.fields.get("again_after") for entry in ledger.book.history() if entry.kind == "charge"
    ]
    assert again_after == [None, 2]


def test_a_question_that_is_being_answered_makes_others_wait(ledger, where, anchor):
    receipt = ledger.reserve(charge("r", "q", TENTH))
    with again(where, anchor) as other:
        with pytest.raises(LedgerUnavailable, match="same question"):
            other.reserve(charge("s", "q", TENTH))
        with pytest.raises(LedgerUnavailable, match="same question"):
            other.reserve(charge("r", "q", TENTH))
        ledger.settle(receipt, b"1")
        assert other.answer(charge("s", "q", TENTH), pytest.fail) == b"1"
    assert ledger.spent().price.nominal == TENTH


def test_threads_share_one_ledger(tmp_path):
    granted = []

    def spend(name, ledger):
        for turn in range(10):
            try:
                ledger.answer(charge(f"{name}-{turn}"), drawn)
                granted.append(1)
            except OverBudget:
                pass

    with Ledger.create(tmp_path / "l.db", Fraction(25), Sum(), anchor=tmp_path / "a") as ledger:
        threads = [threading.Thread(target=spend, args=(name, ledger)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(granted), ledger.spent().price.nominal, ledger.book.check()) == (25, 25, 51)


def test_threads_that_ask_the_same_get_one_run(ledger):
    runs, answers = [], []

    def run():
        runs.append(1)
        time.sleep(0.05)
        return drawn()

    def ask(name):
        answers.append(ledger.answer(charge(f"r{name}", "q", TENTH), run))

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(answers), len(set(answers)), len(runs)) == (8, 1, 1)


def test_a_lock_file_that_was_replaced_is_opened_again(tmp_path):
    with Ledger.create(tmp_path / "l.db", Fraction(1), Sum(), anchor=tmp_path / "a") as ledger:
        ledger.answer(charge("r", loss=TENTH), drawn)
        (tmp_path / "l.db-locks").unlink()
        ledger.answer(charge("s", loss=TENTH), drawn)
        assert (tmp_path / "l.db-locks").exists()


def test_a_closed_ledger_leaves_no_file_open(where, anchor):
    before = len(list(Path("/dev/fd").iterdir()))
    with Ledger.create(where, Fraction(1), Sum(), anchor=anchor) as ledger:
        ledger.answer(charge("r", loss=TENTH), drawn)
        ledger.abandon(ledger.reserve(charge("s", loss=TENTH)))
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_ledger_belongs_to_its_cap_and_its_accountant(ledger, where, anchor):
    ledger.answer(charge("r", loss=TENTH), drawn)
    with pytest.raises(BadLedger, match=r"the cap was 1 and is 2\..*entwined budget migrate"):
        Ledger.open(where, Fraction(2), Sum(), anchor=anchor)
    with pytest.raises(BadLedger, match="accountant was sum of all parts and is disjoint genders"):
        Ledger.open(where, Fraction(1), Disjoint(), anchor=anchor)


def test_a_ledger_is_created_once_and_never_by_opening(where, anchor, tmp_path):
    with pytest.raises(NoLedger):
        again(where, anchor)
    Ledger.create(where, Fraction(1), Sum(), anchor=anchor).close()
    with pytest.raises(BadLedger, match="remembers a ledger"):
        Ledger.create(where, Fraction(1), Sum(), anchor=anchor)
    with pytest.raises(BadLedger, match="already"):
        Ledger.create(where, Fraction(1), Sum(), anchor=tmp_path / "another anchor")


def test_history_tells_who_spent_what(ledger):
    document = {"queries": ["count where age > 20"], "note": "é ⚙"}
    ledger.answer(Charge("r", "q", (Part("age", TENTH, Fraction(0)),), "ann", document), lambda: b"7")
    entry = list(ledger.book.history())[1]
    assert (entry.kind, entry.fields["analyst"], entry.fields["document"]) == (Kind.CHARGE, "ann", document)
    assert entry.parts == (Part("age", TENTH, Fraction(0)),)
    assert entry.price.nominal == TENTH
    assert ledger.price([Part("age", TENTH, TENTH)]).nominal == 2 * TENTH
    assert ledger.spent().parts == entry.parts


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcde"),
            st.sampled_from("xyz"),
            st.fractions(Fraction(1, 50), 1, max_denominator=60),
        ),
        max_size=12,
    )
)
def test_the_ledger_agrees_with_a_plain_sum(tmp_path_factory, asked):
    folder = tmp_path_factory.mktemp("model")
    spent, losses, runs = {}, {}, []
    with Ledger.create(folder / "l.db", Fraction(1), Sum(), anchor=folder / "a") as ledger:
        for question, key, loss in asked:
            loss = losses.setdefault(question, (key, loss))  # noqa: PLW2901  (a question has one loss)
            fits = question in spent or sum(spent.values(), Fraction(0)) + loss[1] <= 1
            try:
                ledger.answer(charge(question, question, loss[1], loss[0]), lambda: runs.append(1) or b"1")
                granted = True
            except OverBudget:
                granted = False
            assert granted == fits
            if granted:
                spent[question] = loss[1]
        assert ledger.spent().price.nominal == sum(spent.values(), Fraction(0))
        assert len(runs) == len(spent)
        assert ledger.book.check() == 1 + 2 * len(spent)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: charge(""), BadCharge),
        (lambda: charge("r" * 201), BadCharge),
        (lambda: charge("r\0"), BadCharge),
        (lambda: charge("r\ud800"), BadCharge),
        (lambda: charge(7), BadCharge),
        (lambda: charge("r", analyst="\0"), BadCharge),
        (lambda: Charge("r", "q", ()), BadCharge),
        (lambda: Charge("r", "q", (Part("a", TENTH, TENTH),), "", {"x": float("nan")}), BadCharge),
        (lambda: Charge("r", "q", (Part("a", TENTH, TENTH),), "", {"x": {1, 2}}), BadCharge),
        (lambda: Part("a", Fraction(0), Fraction(0)), BadLoss),
        (lambda: Part("a", Fraction(-1), Fraction(1)), BadLoss),
        (lambda: Part("a", 0.1, TENTH), BadLoss),
        (lambda: Part("a", TENTH, TENTH) + Part("b", TENTH, TENTH), BadLoss),
        (lambda: Price(Fraction(-1)), BadLoss),
        (lambda: Ledger.create("x", 1.0, Sum()), BadLoss),
        (lambda: Ledger.create("x", Fraction(0), Sum()), BadLoss),
        (lambda: Book("postgresql://[").first(), BadLedger),
    ],
)
def test_what_cannot_be_is_refused_at_birth(wrong, error):
    with pytest.raises(error):
        wrong()


def test_a_loss_with_too_many_digits_is_refused_and_nothing_is_charged(ledger):
    with pytest.raises(BadLoss, match="digits"):
        ledger.reserve(charge("r", loss=Fraction(1, 3**20_000)))
    assert kinds(ledger) == ["created"]


def test_long_part_keys_are_kept_whole(ledger, where, anchor):
    key = "or ".join(f"(age = {age})" for age in range(2000)) + " é"
    ledger.answer(charge("r", loss=TENTH, key=key), drawn)
    ledger.answer(charge("s", loss=TENTH, key=key), drawn)
    with Ledger.open(where, Fraction(1), Sum(), anchor=anchor) as opened:
        assert opened.spent().parts == (Part(key, 2 * TENTH, 2 * TENTH),)
