"""The ledger among processes that race, retry and are killed."""

import os
import signal
from fractions import Fraction

import pytest

from entwined.ledger import Book, Ledger
from entwined.ledger.calendar import Calendar
from support.ledger_worker import Sum, charge
from support.postgres import database, new_schema
from support.workers import worker

CAP = 100
CLIENTS = 16, 20  # processes and how often each asks: three times the cap


def place(kind, tmp_path, name=""):
    return str(tmp_path / f"{name}.db") if kind == "sqlite" else new_schema()


def new_ledger(kind, tmp_path, name, calendar=None):
    where, anchor = place(kind, tmp_path, name), tmp_path / f"{name}.anchor"
    Ledger.create(where, Fraction(CAP), Sum(), anchor, calendar and Calendar.of(calendar)).close()
    return where, anchor


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_race_spends_exactly_the_cap_and_the_naive_mutant_overspends(kind, tmp_path):
    for turn, calendar in enumerate([None, {"year": CAP // 2}]):
        where, anchor = new_ledger(kind, tmp_path, f"race{turn}", calendar)
        found = worker("race", where, anchor, *CLIENTS)
        assert sum(found["granted"]) == (CAP // 2 if calendar else CAP)
        assert found["entries"] == 1 + 2 * sum(found["granted"])  # every charge has its answer
    naive = (worker(f"naive_{kind}", place(kind, tmp_path, f"naive{turn}"), *CLIENTS) for turn in range(10))
    assert any(sum(found["granted"]) > CAP for found in naive)  # this race is one that can be lost


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_hundred_clients_spend_exactly_the_cap(kind, tmp_path):
    where, anchor = new_ledger(kind, tmp_path, "race")
    assert sum(worker("race", where, anchor, 200, 1000, timeout=7200)["granted"]) == CAP


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("shared", ["request", "question"])
def test_a_hundred_retries_at_once_are_one_run_and_one_charge(kind, shared, tmp_path):
    where, anchor = new_ledger(kind, tmp_path, "retry")
    found = worker("retry", where, anchor, 25, 4, shared)
    answers = [answer for given in found["given"] for answer in given["answers"]]
    assert len(answers) == 100
    assert len(set(answers)) == 1
    assert sum(given["draws"] for given in found["given"]) == 1  # no faster run is chosen over a slower
    assert (found["charges"], found["spent"]) == (1, "1")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_question_is_not_held_by_the_orphan_of_a_dead_process(kind, tmp_path):
    where, anchor = new_ledger(kind, tmp_path, "orphan")
    child = worker("orphan", where, anchor)
    try:
        with Ledger(Book(where, anchor, patience=5), Fraction(CAP), Sum()) as ledger:
            assert ledger.answer(charge("r", "q"), lambda: b"second run") == b"second run"
            assert ledger.spent().price.nominal == 1
    finally:
        os.kill(child, signal.SIGKILL)


def test_200_kills_leave_no_answer_without_a_charge(tmp_path):
    found = worker("kills", tmp_path, 200)
    assert found["wrong"] == 0
    assert found["told"] > 200  # the killed processes did release
    assert found["pending"] > 50  # and died between charge and answer


def test_kills_on_postgres_leave_no_answer_without_a_charge(tmp_path):
    found = worker("kills", tmp_path, 32, "", database())
    assert found["wrong"] == 0
    assert found["told"] > 32
    assert found["pending"] > 5


def test_the_kills_catch_an_answer_told_before_its_charge(tmp_path):
    assert worker("kills", tmp_path, 10, "mutant")["wrong"] >= 10


@pytest.mark.slow
def test_10000_kills_leave_no_answer_without_a_charge(tmp_path):
    assert worker("kills", tmp_path, 10_000, timeout=7200)["wrong"] == 0
