"""A service on this machine, over a table that was made for it, for as long as a test runs."""

import json
import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection

import uvicorn

from entwined.schema import approve
from entwined.web.app import LOOPBACK, hosts_at, make_app
from entwined.web.house import House, Limits
from support.other_rows import forget_rows

QUICK = Limits(visits_per_second=10_000, visits_at_once=10_000, wrong_passes_at_once=1000, step=0.001)
SCHEMA = """\
neighbours = "replace"
most_rows = 1000
unit = {kind = "rows"}

[[column]]
name = "home"
type = "text"
compare = "exact"

[[column]]
name = "age"
type = "integer"
low = 0
high = 120
missing = "drop"

[[column]]
name = "ill"
type = "categorical"
values = ["no", "yes"]
missing = "value"
"""
REQUEST = """\
title = "People at home"
table = "people.csv"
schema = "schema.toml"
ledger = "{ledger}"
cap = {cap}
leakage = 1.0

[[dependence]]
model = {{kind = "groups", largest = 2}}
by = "home"

[[query]]
kind = "histogram"
column = "ill"
"""


def people(folder, *, rows=240, changed=None, cap=4.0, ledger="ledger.sqlite"):
    """Write a table of people at home with its schema and request; `changed` is another first row."""
    forget_rows()  # each test has people of its own
    lines = [f"h{n // 3},{20 + n % 50},{'yes' if n % 7 == 0 else 'no'}" for n in range(rows)]
    if changed is not None:
        lines[0] = changed
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.csv").write_text("\n".join(["home,age,ill", *lines, ""]))
    (folder / "schema.toml").write_text(SCHEMA)
    approve(folder / "schema.toml")
    (folder / "people.toml").write_text(REQUEST.format(cap=cap, ledger=ledger))
    return folder


class Served:
    """A running service, and plain requests to it."""

    def __init__(self, house, port):
        self.house, self.port = house, port
        self.url = f"http://127.0.0.1:{port}"

    def token(self, analyst="ann", most="2", **more):
        return self.house.passes.add(analyst, days=1, most=most, **more)

    def send(self, method, path, body=None, token=None, **headers):
        """Send a request, and give status, headers and body."""
        link = HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        if token is not None:
            given["Authorization"] = f"Bearer {token}"
        try:
            link.request(method, path, content, given)
            reply = link.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            link.close()

    def asked(self, body, token, table="people", path="ask"):
        status, _, content = self.send("POST", f"/api/tables/{table}/{path}", body, token)
        return status, json.loads(content)


@contextmanager
def served(folder, *, offers=("people.toml",), limits=QUICK, sessions=None, issuer=None, names=()):
    """Serve a folder on a free port of this machine."""
    house = House.open(folder, [folder / one for one in offers], limits, issuer=issuer)
    config = uvicorn.Config(lambda: None, port=0, log_level="error", access_log=False, server_header=False)
    server = uvicorn.Server(config)
    sock = config.bind_socket()
    port = sock.getsockname()[1]
    config.app = make_app(house, hosts_at(port, (*LOOPBACK, *names)), sessions)
    thread = threading.Thread(target=lambda: server.run([sock]), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
        assert thread.is_alive()
    try:
        yield Served(house, port)
    finally:
        server.should_exit = True
        thread.join(10)
        sock.close()
