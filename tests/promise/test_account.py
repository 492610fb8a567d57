"""The next charge is priced from what was priced before: as from the beginning, and without looking at most of it."""

import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from entwined.dependence import Groups
from entwined.ledger import Charge, Ledger
from entwined.promise.account import Account
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.promise.totals import NOTHING, Totals
from entwined.queries import bunches, codes_in
from entwined.schema import Cells, Integer, Schema

AGE, REGION = Integer("age", 0, 99), Integer("region", 0, 49)
ROWS = Schema((AGE, REGION), neighbours="add_remove").approve()
CELLS = Schema((AGE, REGION), unit=Cells()).approve()


def a_part(rng, *, column=None):
    low, first = rng.randrange(100), rng.randrange(50)
    where = codes_in("age", 101, ((low, rng.randrange(low, 100)),))
    if rng.random() < 0.8:
        where &= codes_in("region", 51, ((first, rng.randrange(first, 50)),))
    return Part(key_of(where, column), Fraction(rng.randint(1, 50), 700), Fraction(rng.randint(0, 9), 90))


@pytest.mark.parametrize("schema", [ROWS, CELLS], ids=["rows", "cells"])
def test_a_price_does_not_depend_on_how_the_totals_were_come_to(schema, monkeypatch):
    monkeypatch.setattr(bunches, "MOST_ATOMS", 12)
    bunches._knot_of.cache_clear()
    rng = random.Random(3)
    warm = Promise.of(schema)
    totals, refused = NOTHING, []
    for _ in range(30):
        column = rng.choice(["age", "region"]) if schema is CELLS else None
        tried = totals.plus([a_part(rng, column=column), a_part(rng, column=column)])
        refused.append(warm.price(tried))
        totals = totals.plus([a_part(rng, column=column)]) if rng.random() < 0.5 else tried
        assert warm.price(totals) == Promise.of(schema).price(totals) == warm.price(dict(totals))
    bunches._knot_of.cache_clear()
    assert len(set(map(str, refused))) > 15


def test_the_nominal_loss_of_cells_is_that_of_the_dearest_column():
    where = codes_in("age", 101, ((0, 30),))
    spent = {
        part.key: part
        for part in (
            Part(key_of(where, "age"), Fraction(1, 4), Fraction(0)),
            Part(key_of(where, "region"), Fraction(1), Fraction(1, 3)),
        )
    }
    assert Promise.of(CELLS).price(spent).nominal == 1


def test_one_charge_more_looks_at_one_bunch_however_long_the_history_is(monkeypatch):
    looked = []
    monkeypatch.setattr(bunches, "MOST_ATOMS", 40)
    monkeypatch.setattr(bunches, "at_two_atoms", lambda inside, *_: looked.append(inside.size) or Fraction(1))
    bunches._knot_of.cache_clear()
    rng = random.Random(4)
    account, totals = Account(()), NOTHING
    for size in (50, 400):
        totals = totals.plus(a_part(rng) for _ in range(size - len(totals)))
        looked.clear()
        account.of(totals)[""].at_two()
        in_all = len(looked)
        for _ in range(10):
            totals = totals.plus([a_part(rng)])
            account.of(totals)[""].at_two()
        assert len(looked) - in_all <= 20  # one each, and a few more where a bunch was divided
    bunches._knot_of.cache_clear()
    assert in_all > 30


def test_the_digest_names_the_totals_and_nothing_else():
    rng = random.Random(5)
    parts = [a_part(rng) for _ in range(300)]
    found = NOTHING.plus(parts)
    rng.shuffle(parts)
    again = NOTHING
    for part in parts:
        again = again.plus([part])
    assert again.digest == found.digest == Totals.of(found.rows.values()).digest
    assert dict(again) == dict(found)
    key = rng.choice(list(found))
    for other in (
        found.plus([Part(key, Fraction(1, 10**9), Fraction(0))]),
        Totals.of(row for row in found.rows.values() if row[0] != key),
        found.plus([Part("new", Fraction(1), Fraction(0))]),
    ):
        assert other.digest != found.digest
    assert found.since(NOTHING.plus(parts[:100])) is not None
    assert NOTHING.plus(parts[:100]).since(found) is None
    grown = found.plus([Part(key, Fraction(1, 3), Fraction(0)), Part("new", Fraction(1), Fraction(0))])
    assert dict(NOTHING.plus(grown.since(found))) == {
        key: Part(key, Fraction(1, 3), Fraction(0)),
        "new": Part("new", Fraction(1), Fraction(0)),
    }


def test_threads_that_charge_one_ledger_agree_with_a_walk_over_all_of_it(tmp_path):
    accountant = Promise.of(ROWS, Groups(3))
    with Ledger.create(tmp_path / "l.db", Fraction(10**6), accountant, tmp_path / "a") as ledger:

        def charge(number):
            return ledger.answer(
                Charge(f"r{number}", f"q{number}", (a_part(random.Random(number % 25)),)), lambda: b"1"
            )

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(charge, range(60)))
        ledger.book.check()
        spent = ledger.spent()
    assert spent.price == Promise.of(ROWS, Groups(3)).price({part.key: part for part in spent.parts})
    assert sum(part.one for part in spent.parts) == sum(
        a_part(random.Random(number % 25)).one for number in range(60)
    )
