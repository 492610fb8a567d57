"""A process that learns with a budget under groups by a column, and is killed: started by the tests of learning.

python learning_worker.py FOLDER KILLS [mutant]
"""

import json
import os
import random
import select
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

from entwined.dependence import Groups
from entwined.door.door import Door
from entwined.learning.private import Budget, learn_privately
from entwined.ledger import Kind, Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.schema import Boolean, Integer, Schema
from support.memory_table import MemoryTable

SCHEMA = Schema((Integer("home", 0, 9), Boolean("a"), Boolean("b")), most_rows=60).approve()
PROMISE = Promise.of(SCHEMA, [Declared(Groups(2), by="home")])
ROWS = [{"home": at % 7, "a": at % 2, "b": at % 3 == 0} for at in range(40)]


def learn(ledger, turn):
    """Learn something that is a question of its own in every turn."""
    each = 2 + Fraction(1, turn + 2)
    budget = Budget(each, each)
    found = learn_privately(Door(MemoryTable(SCHEMA, ROWS), PROMISE, ledger), budget, request=f"{turn}")
    return json.dumps([found.parents, [one.tolist() for one in found.counts]])


def child(place, turn, out, *, mutant):
    """Learn, and tell it once it may be told; the mutant tells what it would find without a charge."""
    with Ledger.open(place / "l.db", Fraction(10**6), PROMISE, place / "anchor") as ledger:
        if mutant:
            os.write(out, b"[[[],[],[]],[]]\n")
            time.sleep(5)
        os.write(out, (learn(ledger, turn) + "\n").encode())
        time.sleep(5)


def killed(place, turn, delay, *, mutant):
    """Fork a process that learns, kill it after a delay or, without one, once it told, and give what it told."""
    result, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(result)
            child(place, turn, out, mutant=mutant)
        finally:
            os._exit(1)
    os.close(out)
    if delay is None:
        select.select([result], [], [], 60)
    else:
        time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(result) as told:
        return [line.strip() for line in told if line.endswith("\n")]


def examined(place, turn, told):
    """Count what must not be: a told answer that is not the stored one, and a question that is held by nobody."""
    with Ledger.open(place / "l.db", Fraction(10**6), PROMISE, place / "anchor") as ledger:
        ledger.book.check()
        charged = {entry.fields["request"] for entry in ledger.book.history() if entry.kind is Kind.CHARGE}
        began = time.monotonic()
        again = learn(ledger, turn)
        late = time.monotonic() - began > 20  # a lease that was left would be waited for, a minute
        requests = [entry.fields["request"] for entry in ledger.book.history() if entry.kind is Kind.CHARGE]
        uncharged = bool(told) and not {f"{turn}-structure", f"{turn}-tables"} <= charged
        twice = len(set(requests)) != len(requests)
    return int(uncharged or late or twice or any(one != again for one in told)), len(told)


def main(folder, kills, mutant=""):
    """Kill again and again, at moments spread over the time that learning takes, and at times once it told."""
    place = Path(folder)
    Ledger.create(place / "l.db", Fraction(10**6), PROMISE, place / "anchor").close()
    with Ledger.open(place / "l.db", Fraction(10**6), PROMISE, place / "anchor") as ledger:
        learn(ledger, 10**6)  # warm
        began = time.monotonic()
        learn(ledger, 10**6 + 1)
        longest = 2 * (time.monotonic() - began)
    wrong = told = 0
    for turn in range(int(kills)):
        once_told = mutant or turn % 4 == 3  # whatever else the machine does, some are stopped afterwards
        delay = None if once_told else random.uniform(0, longest)
        found = killed(place, turn, delay, mutant=bool(mutant))
        longest *= 0.95 if found else 1.05  # so that about half are stopped before they tell
        bad, heard = examined(place, turn, found)
        wrong, told = wrong + bad, told + heard
    print(json.dumps({"wrong": wrong, "told": told, "kills": int(kills)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
