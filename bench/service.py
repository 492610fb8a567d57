"""How many answers a service gives on a million rows: cached and fresh, with several analysts at once.

It is asked once as one process, and once as two that share the port and the ledger.

Wall clocks say what this machine did beside everything else on it; the CPU of the server says what an answer takes.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1_000_000
ANALYSTS = 8
FRESH, CACHED, CONDITIONS = 400, 1000, 20
GOALS = {"cached a second": 100, "fresh a second": 50, "p99 of fresh, ms": 300}
START = "import sys; sys.argv[0] = 'entwined'; from entwined.cli import main; main()"
SCHEMA = """
unit = {kind = "rows"}
neighbours = "replace"
most_rows = 2000000
[[column]]
name = "age"
type = "integer"
low = 0
high = 99
missing = "drop"
[[column]]
name = "ill"
type = "boolean"
missing = "value"
[[column]]
name = "income"
type = "integer"
low = 0
high = 9999
missing = "drop"
"""
REQUEST = """
table = "people.parquet"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 1000
loss = 1
[[dependence]]
model = {kind = "groups", largest = 3}
[[query]]
kind = "histogram"
column = "ill"
"""


def run() -> dict[str, float]:
    """Serve a table of a million rows and ask it, by one process and by two."""
    found = served(1)
    return found | {f"{what}, two workers": value for what, value in served(2).items()}


def served(workers: int) -> dict[str, float]:
    """Serve by so many processes and ask them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / ".state")
        write(folder)
        tokens = [entwined(folder, "token", "add", ".", f"a{n}", "--most", "900") for n in range(ANALYSTS)]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = ["serve", ".", "--offer", "release.toml", "--port", str(port), "--workers", str(workers)]
        server = subprocess.Popen(
            [sys.executable, "-c", START, *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        try:
            found = measured(port, tokens, server.pid)
        finally:
            server.terminate()
            server.wait(20)
    print(f"-- {workers} of them")
    for what, value in found.items():
        goal = GOALS.get(what)
        print(f"{what:<28} {value:8.1f}" + (f"   (goal {goal})" if goal else ""))
    return found


def write(folder: Path) -> None:
    """Write the table and its terms."""
    draw = np.random.default_rng(7)
    columns = {
        "age": draw.integers(0, 100, ROWS),
        "ill": draw.random(ROWS) < 0.1,
        "income": draw.integers(0, 10_000, ROWS),
    }
    pq.write_table(pa.table(columns), folder / "people.parquet")
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "release.toml").write_text(REQUEST)
    entwined(folder, "approve", "schema.toml", "--yes")


def entwined(folder: Path, *words: str) -> str:
    """Run our command in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", START, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def measured(port: int, tokens: list[str], server: int) -> dict[str, float]:
    """Ask fresh questions, and then the same again."""
    wait_for(port)

    def ask(number: int) -> float:
        turn = (
            number % FRESH
        )  # twenty conditions that overlap, each with many losses: every question is another one
        condition, loss = f"income > {500 * (turn % CONDITIONS)}", f"0.{1000 + turn}"
        wish = {"queries": [{"kind": "count", "where": condition}], "loss": loss}
        return sent(port, tokens[number % ANALYSTS], wish)

    for number in range(2 * ANALYSTS):  # each process has met the table by then
        sent(port, tokens[0], {"queries": [{"kind": "count", "where": f"age > {number}"}], "loss": "0.001"})
    fresh, fresh_cpu = rushed(ask, FRESH, server)
    cached, cached_cpu = rushed(ask, CACHED, server)
    return {
        "fresh a second": FRESH / fresh[0],
        "fresh, CPU ms each": 1000 * fresh_cpu / FRESH,
        "p99 of fresh, ms": 1000 * statistics.quantiles(fresh[1], n=100)[-1],
        "median of fresh, ms": 1000 * statistics.median(fresh[1]),
        "cached a second": CACHED / cached[0],
        "cached, CPU ms each": 1000 * cached_cpu / CACHED,
        "p99 of cached, ms": 1000 * statistics.quantiles(cached[1], n=100)[-1],
    }


def rushed(ask: Callable[[int], float], times: int, server: int) -> tuple[tuple[float, list[float]], float]:
    """Let all analysts ask at once; give the seconds in all and each, and the server's CPU."""
    before, began = cpu_of(server), time.perf_counter()
    with ThreadPoolExecutor(ANALYSTS) as pool:
        each = list(pool.map(ask, range(times)))
    return (time.perf_counter() - began, each), cpu_of(server) - before


def cpu_of(process: int) -> float:
    """Tell how many seconds of CPU a process and its workers have taken."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return sum(map(own_cpu, [str(process), *children]))


def own_cpu(process: str) -> float:
    """Tell how many seconds of CPU one process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sent(port: int, token: str, wish: Mapping[str, object]) -> float:
    """Ask one question and say how long the reply took."""
    began = time.perf_counter()
    link = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    link.request("POST", "/api/tables/release/ask", json.dumps(wish), headers)
    reply = link.getresponse()
    body = reply.read()
    link.close()
    if reply.status != 200:
        raise RuntimeError(body[:300])
    return time.perf_counter() - began


def wait_for(port: int) -> None:
    """Wait until the service listens."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("The service did not start.")
