"""Many clients and dying workers on one ledger: exactly the cap, no answer without a charge, none charged twice."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException

import psutil
import pytest
from scipy.stats import mannwhitneyu

from entwined.ledger import Book, Kind
from entwined.web.house import PASSES, STATE, Limits
from entwined.web.passes import Passes
from support.command import CODE
from support.postgres import new_schema
from support.served import people, served

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("ledger", ["sqlite", "postgres"])
def test_two_hundred_clients_spend_exactly_the_cap(tmp_path, ledger):
    """F 51 and 57: 200 clients × 100 requests, a cap of 100 answers."""
    place = {"ledger": new_schema()} if ledger == "postgres" else {}
    with served(people(tmp_path, cap=10, **place)) as service:
        tokens = [service.token(f"a{n}", "10") for n in range(20)]

        def client(number):
            for turn in range(100):
                wish = {"queries": [{"kind": "count", "where": f"age > {turn % 100}"}], "leakage": "0.1"}
                assert service.asked({**wish, "consistent": number % 2 == 0}, tokens[number % 20])[0] in (
                    200,
                    409,
                )

        with ThreadPoolExecutor(32) as pool:
            list(pool.map(client, range(200)))
        book = service.house.offers["people"].door.ledger.book
        assert float(book.spent().price.worst) == pytest.approx(10)
        assert sum(entry.kind is Kind.CHARGE for entry in book.history()) == 100


def started(folder, port):
    return subprocess.Popen(
        [sys.executable, "-c", CODE, "serve", ".", "--offer", "people.toml", "--port", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, token, wish):
    link = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        link.request("POST", "/api/tables/people/ask", json.dumps(wish), headers)
        reply = link.getresponse()
        return reply.status, reply.read()
    except (OSError, HTTPException):
        return 0, b""
    finally:
        link.close()


def test_killed_workers_answer_nothing_uncharged_and_charge_no_request_twice(tmp_path):
    """F 53: kill -9 at random moments, ten times; clients ask again with the same ids until they have an answer."""
    folder, port = people(tmp_path, cap=100), free_port()
    token = Passes(folder / STATE / PASSES).add("ann", days=1, most="100")
    replies, running = {}, started(folder, port)
    ids = [f"k{n}" for n in range(30)]
    try:
        for number, name in enumerate(ids):
            wish = {
                "queries": [{"kind": "count", "where": f"age > {number}"}],
                "loss": "0.1",
                "request": name,
            }
            if number % 3 == 0:
                with ThreadPoolExecutor(1) as pool:
                    trying = pool.submit(ask, port, token, wish)
                    time.sleep(random.random() * 0.15)
                    running.send_signal(signal.SIGKILL)
                    running.wait()
                    trying.result()
                running = started(folder, port)
            deadline = time.monotonic() + 300
            while (reply := ask(port, token, wish))[0] != 200 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert reply[0] == 200
            replies[name] = json.loads(reply[1])["release"]["answers"][0]["value"]
    finally:
        running.kill()
        running.wait()
    entries = list(Book(folder / "ledger.sqlite").history())
    charges = [entry.fields["request"] for entry in entries if entry.kind is Kind.CHARGE]
    assert sorted(charges) == sorted(f"ann/{name}" for name in ids)
    assert sum(entry.kind is Kind.ANSWERED for entry in entries) == len(ids)


def test_reply_times_do_not_tell_neighbouring_tables_apart(tmp_path):
    """G 64: fresh answers of two tables that differ in one row, in turn; the test sees large differences alone."""
    one, two = people(tmp_path / "one", cap=10**4), people(tmp_path / "two", cap=10**4, changed="h0,119,yes")
    took = {}
    with served(one, limits=Limits()) as first, served(two, limits=Limits()) as second:
        pairs = [(service, service.token("ann", str(10**4))) for service in (first, second)]
        for turn in range(150):
            for service, token in pairs:
                wish = {
                    "queries": [{"kind": "count", "where": f"age > {turn % 90}"}],
                    "loss": f"0.{1000 + turn}",
                }
                began = time.perf_counter()
                assert service.asked(wish, token)[0] == 200
                took.setdefault(service, []).append(round((time.perf_counter() - began) / 0.05))
    p = mannwhitneyu(*took.values()).pvalue
    print(f"reply times in steps: p = {p:.3g}")
    assert p > 1e-3


def test_memory_stays_where_it_is(tmp_path):
    """A soak of a minute, or of as many seconds as ENTWINED_SOAK says: the memory of the service grows by less than 5 %."""
    folder, port = people(tmp_path, cap=10**6), free_port()
    token = Passes(folder / STATE / PASSES).add("ann", days=1, most=str(10**6))
    running = started(folder, port)
    seconds = float(os.environ.get("ENTWINED_SOAK", "60"))
    try:
        number, sizes, began = 0, [], time.monotonic()
        while time.monotonic() - began < seconds:
            number += 1
            wish = {
                "queries": [{"kind": "count", "where": f"age > {number % 90}"}],
                "loss": f"0.0{1000 + number}",
            }
            ask(port, token, wish)
            if number % 20 == 0:
                sizes.append(psutil.Process(running.pid).memory_info().rss)
        third = len(sizes) // 3
        assert max(sizes[-third:]) < 1.05 * max(sizes[third : 2 * third])
    finally:
        running.kill()
        running.wait()
