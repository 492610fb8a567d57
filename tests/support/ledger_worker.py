"""Processes for the ledger's tests: they race, are killed, run out of disk. Imports nothing but the ledger.

Run as `python ledger_worker.py COMMAND ARGUMENTS…`; prints one JSON document. Children are forked from one
warm process, so that a kill costs milliseconds.
"""

import json
import os
import resource
import select
import signal
import sqlite3
import sys
import time
import traceback
from fractions import Fraction
from pathlib import Path

from entwined.errors import EntwinedError, LedgerUnavailable, OverBudget
from entwined.ledger import Book, Charge, Kind, Ledger, pages
from entwined.ledger import anchor as anchors
from entwined.ledger.calendar import Calendar
from entwined.promise.part import Part
from entwined.promise.price import Price

ONE = Fraction(1)
NOBODY = 65534


class Named:
    """An accountant that is told apart by its name, and takes losses over as they are."""

    identity = ""

    @property
    def document(self):
        return {"name": self.identity}

    def differences(self, document):
        return [f"the accountant was {document['name']} and is {self.identity}"]

    @property
    def is_for_one_batch(self):
        """A price of sums holds whatever was seen before."""
        return False

    def outside(self, totals):
        """Nothing is reserved."""

    def carried(self, document, totals):  # noqa: ARG002  (the name is the protocol's)
        return dict(totals)


class Sum(Named):
    """Everything adds up."""

    identity = "sum of all parts"

    def price(self, totals):
        return Price(sum((part.one for part in totals.values()), Fraction(0)))


def charge(request, question=None, loss=ONE, key="all", analyst=""):
    return Charge(request, question or f"question of {request}", (Part(key, loss, loss),), analyst)


def drawn():
    return os.urandom(8)


# many at once -------------------------------------------------------------------------------


def together(processes, act):
    """Fork processes that start `act(number)` at the same moment; return what each gave."""
    ready, is_ready = os.pipe()
    hold, go = os.pipe()
    results = []
    for number in range(processes):
        result, give = os.pipe()
        if os.fork() == 0:
            os.close(go)
            child(number, act, is_ready, hold, give)
        os.close(give)
        results.append(os.fdopen(result))
    while processes:
        processes -= len(os.read(ready, processes))
    os.close(hold)
    os.close(go)
    given = [json.loads(result.read() or "null") for result in results]
    for _ in results:
        os.wait()
    return given


def child(number, act, is_ready, hold, give):
    try:
        os.write(is_ready, b"1")
        os.read(hold, 1)  # ends when the parent closes its side
        os.write(give, json.dumps(act(number)).encode())
    except BaseException:  # noqa: BLE001  (a fork must not return into its parent's code)
        traceback.print_exc()
    finally:
        os._exit(0)


def race(where, anchor, processes, tries):
    """Ask for more than the cap from many processes that share a ledger opened before the fork."""
    ledger = Ledger.open(where, Fraction(100), Sum(), anchor=Path(anchor))
    ledger.spent()

    def act(number):
        granted = 0
        for turn in range(int(tries)):
            try:
                ledger.answer(charge(f"{number}-{turn}"), drawn)
                granted += 1
            except OverBudget:
                pass
        return granted

    granted = together(int(processes), act)
    return {"granted": granted, "entries": ledger.book.check()}


def naive_sqlite(where, processes, tries):
    """The mutant: look, then write, each by itself."""
    with sqlite3.connect(where) as link:
        link.execute("PRAGMA journal_mode = WAL")
        link.execute("CREATE TABLE spent (loss INTEGER)")
    link.close()

    def act(_):
        own = sqlite3.connect(where, timeout=60, isolation_level=None)
        granted = 0
        for _ in range(int(tries)):
            if own.execute("SELECT COUNT(*) FROM spent").fetchone()[0] < 100:
                own.execute("INSERT INTO spent VALUES (1)")
                granted += 1
        return granted

    return {"granted": together(int(processes), act)}


def naive_postgres(where, processes, tries):
    """The mutant: one conditional INSERT at READ COMMITTED; it takes a moment, as on a disk."""
    import psycopg

    with psycopg.connect(where, autocommit=True) as link:
        link.execute("CREATE TABLE spent (loss INTEGER)")

    def act(_):
        statement = (
            "INSERT INTO spent SELECT 1 FROM (SELECT COUNT(*) AS there FROM spent) AS looked, pg_sleep(0.002) "
            "WHERE there < 100"
        )
        with psycopg.connect(where, autocommit=True) as own:
            return sum(own.execute(statement).rowcount for _ in range(int(tries)))

    return {"granted": together(int(processes), act)}


def retry(where, anchor, processes, tries, shared):
    """Ask one question many times at once, under one request id or under many."""
    ledger = Ledger.open(where, Fraction(100), Sum(), anchor=Path(anchor))

    def act(number):
        draws = []

        def run():
            draws.append(drawn())
            time.sleep(0.05)  # time for the others to overtake, if they could
            return draws[-1]

        answers = []
        for turn in range(int(tries)):
            request = "r" if shared == "request" else f"r{number}-{turn}"
            answers.append(ledger.answer(charge(request, "q", analyst=f"analyst {number}"), run).hex())
        return {"answers": answers, "draws": len(draws)}

    given = together(int(processes), act)
    charges = sum(entry.kind is Kind.CHARGE for entry in ledger.book.history())
    return {"given": given, "charges": charges, "spent": str(ledger.spent().price.nominal)}


def orphan(where, anchor):
    """Charge a question, fork, and die: the fork lives on."""
    ledger = Ledger(Book(where, Path(anchor)), Fraction(100), Sum())
    ledger.reserve(charge("r", "q"))
    pid = os.fork()
    if pid == 0:
        time.sleep(300)  # the test ends it
        os._exit(0)
    sys.stdout.write(json.dumps(pid))
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


# kill -9 ------------------------------------------------------------------------------------

STEPS = (
    "before reserve",
    "charge written, not committed",
    "charge committed, not anchored",
    "after reserve",
    "after noise",
    "answer written, not committed",
    "answer committed, not anchored",
    "before reply",
)


class Doom:
    """Kill this process at the n-th time a named step is reached."""

    def __init__(self, step, countdown):
        self.step = step
        self.countdown = countdown
        self.moment = "charge"
        append, raise_to = pages.Pages.append, anchors.Anchor.raise_to

        def appended(*given):
            append(*given)
            self.reached(f"{self.moment} written, not committed")

        def raised(*given):
            self.reached(f"{self.moment} committed, not anchored")
            raise_to(*given)

        pages.Pages.append, anchors.Anchor.raise_to = appended, raised

    def reached(self, step):
        if step == self.step:
            self.countdown -= 1
            if self.countdown < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def release_forever(ledger, name, out, doom):
    """Release in a loop, telling each answer on a pipe once it may be told."""
    for turn in range(10**6):
        doom.moment = "charge"
        doom.reached("before reserve")
        receipt = ledger.reserve(charge(f"{name}-{turn}"))
        doom.reached("after reserve")
        noise = drawn()
        doom.reached("after noise")
        doom.moment = "answer"
        answer = ledger.settle(receipt, noise)
        doom.reached("before reply")
        os.write(out, f"{name}-{turn} {answer.hex()}\n".encode())


def release_early(ledger, name, out, doom):
    """The mutant: tell the answer, then charge it."""
    for turn in range(10**6):
        answer = drawn()
        os.write(out, f"{name}-{turn} {answer.hex()}\n".encode())
        doom.reached("before reserve")
        ledger.answer(charge(f"{name}-{turn}"), lambda answer=answer: answer)


def killed_child(ledger, name, loop, step, countdown, delay):
    """Fork a process that releases, kill it, and return the answers it told."""
    result, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(result)
        try:
            loop(ledger, name, out, Doom(step, countdown))
        finally:
            traceback.print_exc()
            os._exit(1)
    os.close(out)
    if step is None:
        select.select([result], [], [], 10)  # alive and telling
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
    with os.fdopen(result) as told:
        answers = dict(line.split() for line in told if line.endswith("\n"))
    _, status = os.waitpid(pid, 0)
    if os.WTERMSIG(status) != signal.SIGKILL:
        raise RuntimeError(f"{name} ended by itself")
    return answers


def examine(ledger, told, seen):
    """Count what must not be: told answers that are not stored or not charged; check the chain."""
    ledger.book.check()
    entries = list(ledger.book.history())
    charges = {entry.fields["request"]: entry for entry in entries if entry.kind is Kind.CHARGE}
    wrong = 0
    for request, answer in told.items():
        stored = ledger.stored(f"question of {request}") if request in charges else None
        wrong += stored is None or stored.hex() != answer
    if ledger.spent().price.nominal != len(charges):
        raise RuntimeError("the totals are not those of the charges")
    if [one.spent for one in (*ledger.allowances(), *ledger.spent().periods)] != [ledger.spent().price] * 2:
        raise RuntimeError("the year has not spent what was charged in it")
    answered = {entry.fields["charge"] for entry in entries if entry.kind is Kind.ANSWERED}
    pending = [request for request, entry in charges.items() if entry.position not in answered]
    for request in pending:  # a retry after the crash: the same charge, one answer from now on
        first = ledger.answer(charge(request), drawn)
        if ledger.answer(charge(request), drawn) != first:
            raise RuntimeError("a retry was answered twice")
    if ledger.spent().price.nominal != len(charges):
        raise RuntimeError("a retry was charged")
    seen["pending"] = seen.get("pending", 0) + len(pending)
    seen["charges"] = seen.get("charges", 0) + len(charges)
    seen["told"] = seen.get("told", 0) + len(told)
    return wrong


def kills(folder, times, mutant="", url=""):
    """Kill releases at named steps and at random moments; a new ledger every 10 kills keeps checks short."""
    wrong, seen, told = 0, {}, {}
    loop = release_early if mutant else release_forever
    for turn in range(int(times)):
        if turn % 10 == 0:
            ledger, told = new_ledger(folder, turn, url), {}
        step = STEPS[turn // 2 % len(STEPS)] if turn % 2 else None
        countdown, delay = turn // 16 % 4, (turn * 7919 % 101) / 4000
        told |= killed_child(ledger, f"r{turn}", loop, "before reserve" if mutant else step, countdown, delay)
        wrong += examine(ledger, told, seen)
    return {"wrong": wrong, **seen}


YEARLY = Calendar.of({"year": 10**6})


def new_ledger(folder, turn, url):
    where = f"{folder}/{turn}.db"
    if url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as link:
            link.execute(f"CREATE SCHEMA killed{turn}")
        where = f"{url}&options=-csearch_path%3Dkilled{turn}"
    return Ledger.create(where, Fraction(10**6), Sum(), Path(folder) / f"{turn}.anchor", YEARLY)


# disks that refuse ---------------------------------------------------------------------------


def fill(where, anchor, limit):
    """Charge until the disk takes no more; a limit on the size of files stands for a small disk."""
    ledger = Ledger.create(where, Fraction(10**6), Sum(), anchor=Path(anchor))
    if int(limit):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    told, refusals = {}, []
    for turn in range(10_000):
        try:
            told[f"r{turn}"] = ledger.answer(charge(f"r{turn}"), drawn).hex()
        except LedgerUnavailable as refused:
            refusals.append(str(refused))
            if len(refusals) == 3:
                break
    return {"told": told, "refusals": refusals}


def unwritable(where, anchor):
    """Try to charge as a user who may only read."""
    if os.getuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        ledger = Ledger(Book(where, Path(anchor)), Fraction(100), Sum())
        return {"answer": ledger.answer(charge("new"), drawn).hex()}
    except EntwinedError as refused:
        return {"refused": type(refused).__name__, "why": str(refused)}


if __name__ == "__main__":
    commands = (orphan, race, naive_sqlite, naive_postgres, retry, kills, fill, unwritable)
    sys.stdout.write(json.dumps({act.__name__: act for act in commands}[sys.argv[1]](*sys.argv[2:])))
