"""What an analyst may spend: held in the transaction that charges, from the chain, through migrations."""

from fractions import Fraction

import pytest

from entwined.dependence import Groups
from entwined.errors import OverBudget
from entwined.ledger import Charge, Ledger
from entwined.ledger.migration import migrate
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import promise_of
from entwined.queries import everything
from entwined.schema import Boolean, Schema

SCHEMA = Schema((Boolean("a"),), neighbours="add_remove", most_rows=100).approve()


def charge(number, analyst, loss):
    part = Part(key_of(everything(), None, (), ()), Fraction(loss), Fraction(loss))
    return Charge(f"r{number}", f"q{number}", (part,), analyst)


def spend(ledger, number, analyst, loss):
    ledger.settle(ledger.reserve(charge(number, analyst, loss)), b"x")


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "ledger.sqlite", Fraction(10), promise_of(SCHEMA))
    made.earmarks = {"ann": Fraction(1), "bob": Fraction(3)}.get
    with made:
        yield made


def test_each_has_a_slice_and_all_have_one_cap(ledger):
    spend(ledger, 1, "ann", "0.6")
    with pytest.raises(OverBudget, match="ann may spend"):
        ledger.reserve(charge(2, "ann", "0.5"))
    spend(ledger, 3, "bob", "2.5")
    spend(ledger, 4, "holder", "6.5")  # has no slice of its own
    assert ledger.own_price("ann").worst == Fraction(6, 10)
    assert ledger.own_price("bob", charge(5, "bob", "0.5").parts).worst == 3
    with pytest.raises(OverBudget, match="more than the cap"):
        ledger.reserve(charge(5, "bob", "0.5"))


def test_another_process_and_a_fresh_start_count_the_same(ledger, tmp_path):
    spend(ledger, 1, "ann", "0.6")
    other = Ledger.open(tmp_path / "ledger.sqlite", Fraction(10), promise_of(SCHEMA))
    other.earmarks = ledger.earmarks
    spend(other, 2, "ann", "0.3")
    with pytest.raises(OverBudget, match="ann may spend"):
        ledger.reserve(charge(3, "ann", "0.2"))
    assert ledger.own_price("ann") == other.own_price("ann")


def test_what_was_spent_before_a_migration_is_priced_under_the_new_terms(ledger, tmp_path):
    spend(ledger, 1, "ann", "0.25")
    spend(ledger, 2, "bob", "0.25")
    couples = promise_of(SCHEMA, (Declared(Groups(2)),))
    migrate(ledger.book, Fraction(10), couples)
    later = Ledger.open(tmp_path / "ledger.sqlite", Fraction(10), couples)
    later.earmarks = ledger.earmarks
    before = later.own_price("ann").worst
    (part,) = charge(1, "ann", "0.25").parts
    assert before == couples.price({part.key: part}).worst > Fraction(1, 4)
    assert later.own_price("bob").worst == before
    spend(later, 3, "ann", "0.1")
    assert later.own_price("ann").worst > before
