"""What was charged before and has no answer is said before it is charged again, and in the ledger."""

import json
from dataclasses import replace

import pytest

from corpus.run import run
from entwined.door.door import Door
from entwined.ledger.unanswered import MOST_RUNS
from entwined.request.bill import bill_of
from entwined.request.funds import ledger_for
from entwined.request.request_file import read_request
from entwined.tables import open_table
from support.served import people


def died(folder, times):
    """Leave what a release leaves behind whose process was killed so many times behind the charge."""
    request = read_request(folder / "people.toml")
    planned = request.plan()
    with (
        open_table(request.source, request.schema) as table,
        ledger_for(request, planned.promise, bill_of(request, planned).price, None) as ledger,
    ):
        door = Door(table, planned.promise, ledger)
        charge = door._charge(planned, planned.document, planned.parts(planned.promise), None, "holder")
        for turn in range(times):
            ledger.abandon(ledger.reserve(replace(charge, request=f"run {turn}")))


@pytest.fixture
def folder(tmp_path):
    return people(tmp_path / "people")


def charges(folder):
    return [one.get("again_after") for one in history(folder)]


def history(folder):
    return json.loads(run(["budget", "ledger.sqlite", "--json"], folder).out)["history"]


def test_the_sixth_run_of_what_was_killed_five_times_is_said_to_be_charged_again(folder):
    died(folder, MOST_RUNS)
    planned = run(["plan", "people.toml"], folder)
    assert "charged before, at entry 2" in planned.out
    assert "its 5 runs ended without an answer" in planned.out
    assert json.loads(run(["plan", "people.toml", "--json"], folder).out)["budget"]["unanswered"]
    asked = run(["release", "people.toml", "-o", "out"], folder)  # nobody is there to say yes
    assert asked.code != 0
    assert "is charged again" in asked.err
    assert charges(folder) == [None]
    done = run(["release", "people.toml", "-o", "out", "--yes"], folder)
    assert done.code == 0, done.err
    assert "is charged again" in done.err
    assert charges(folder) == [None, 2]
    assert "after entry 2" in run(["budget", "ledger.sqlite"], folder).out
    answered = run(["release", "people.toml", "-o", "more", "--yes"], folder)
    assert "charged" not in answered.err


def test_what_died_once_runs_again_for_nothing_and_that_is_said(folder):
    died(folder, 1)
    before = json.loads(run(["plan", "people.toml", "--json"], folder).out)["budget"]
    assert before["after"] == before["spent"]
    assert "nothing new is charged" in before["unanswered"][0]
    done = run(["release", "people.toml", "-o", "out", "--yes"], folder)
    assert done.code == 0, done.err
    assert charges(folder) == [None]


def test_other_rows_are_not_taken_for_those_that_were_charged(folder):
    died(folder, MOST_RUNS)
    (folder / "people.csv").write_text((folder / "people.csv").read_text() + "h999,40,no\n")
    assert "charged before" not in run(["plan", "people.toml"], folder).out
