"""Only one writes at a time: every lock on its own keeps the others out, at moments that are made, not hoped for."""

import sqlite3
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from entwined.errors import LedgerUnavailable
from entwined.ledger import Book, Ledger
from entwined.ledger.locks import Lock
from entwined.ledger.sqlite import SqliteStore
from support.ledger_worker import Sum, charge, drawn
from support.postgres import new_schema

HOLD = """
import sys
from pathlib import Path
from entwined.ledger.locks import Lock
held = Lock(Path(sys.argv[1]), "write", 5, "")
print("held", flush=True)
sys.stdin.readline()
held.release()
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    return str(tmp_path / "ledger.db") if request.param == "sqlite" else new_schema()


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "ledger.db"
    Ledger.create(where, Fraction(1), Sum(), anchor=tmp_path / "anchor").close()
    return where


def test_while_one_writes_another_waits_and_then_sees_what_was_written(place, tmp_path):
    """The second one is let in only when the first has left: else both would read the same totals."""
    with Ledger.create(place, Fraction(1), Sum(), anchor=tmp_path / "anchor") as ledger:
        second = Book(place, tmp_path / "anchor")
        inside, seen = threading.Event(), []

        def write():
            with second.writing() as view:
                inside.set()
                seen.append(view.last.position)

        with ledger.book.writing() as view:
            other = threading.Thread(target=write)
            other.start()
            assert not inside.wait(0.5)
            view.append({"kind": "failed", "charge": 1, "run": 1, "why": "a test"})
        other.join(20)
        second.close()
    assert seen == [2]


def test_a_pause_between_reading_and_charging_lets_nobody_spend_the_same_twice(place, tmp_path):
    """The cap has room for one of two: the second waits until the first is written, and is then refused."""
    with (
        Ledger.create(place, Fraction(1), Sum(), anchor=tmp_path / "anchor") as first,
        Ledger(Book(place, tmp_path / "anchor"), Fraction(1), Sum()) as second,
    ):
        paused, go_on, ended = threading.Event(), threading.Event(), []
        priced = first._price

        def slow_price(totals):
            if threading.current_thread().name == "first" and first._writes:
                paused.set()
                go_on.wait(20)
            return priced(totals)

        first._writes = False
        admit = first._admit

        def admitted(view, asked, plan):
            first._writes = True
            return admit(view, asked, plan)

        first._price, first._admit = slow_price, admitted

        def spend(ledger, name):
            try:
                ended.append((name, ledger.answer(charge(name, name, Fraction(3, 5)), drawn)))
            except Exception as reason:  # noqa: BLE001
                ended.append((name, type(reason).__name__))

        threads = [
            threading.Thread(target=spend, args=(ledger, name), name=name)
            for ledger, name in ((first, "first"), (second, "second"))
        ]
        threads[0].start()
        assert paused.wait(20)
        threads[1].start()
        threads[1].join(0.5)
        assert not ended
        go_on.set()
        for thread in threads:
            thread.join(20)
        assert dict(ended)["second"] == "OverBudget"
        assert first.spent().price.nominal == Fraction(3, 5)


def test_the_database_itself_is_locked_while_we_write(path):
    store = SqliteStore(path, 5)
    with store.writing():
        stranger = sqlite3.connect(path, timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            stranger.execute("BEGIN IMMEDIATE")
        stranger.close()
    store.close()


def test_writers_queue_before_they_begin(path):
    """Whoever holds the queue is waited for, though the database is free."""
    store = SqliteStore(path, 0.2)
    held = Lock(path.with_name(path.name + "-locks"), "write", 5, "")
    with pytest.raises(LedgerUnavailable, match="other processes are writing"), store.writing():
        pass
    held.release()
    with store.writing():
        pass
    store.close()


def test_writers_queue_behind_other_processes(path):
    store = SqliteStore(path, 0.2)
    locks = path.with_name(path.name + "-locks")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, locks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LedgerUnavailable, match="other processes are writing"), store.writing():
            pass
        other.communicate("go on\n", timeout=20)
    with store.writing():
        pass
    store.close()


def test_a_commit_is_on_disk_when_it_returns(path):
    store = SqliteStore(path, 5)
    link, _ = store._current()
    assert link.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    assert link.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    link.close()
    store.close()
