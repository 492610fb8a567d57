"""Loopback is no boundary: names, origins, cookies, forms, sizes, paths, rates; and what errors and times tell."""

import ast
import json
import multiprocessing
import os
import re
import secrets
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

import entwined.web
from entwined.cli.serve import required_names
from entwined.errors import BadInput, HolderError, LedgerDamaged
from entwined.web.house import House, Limits
from entwined.web.padding import moment
from entwined.web.places import below, listed
from entwined.web.refusals import UNAVAILABLE, refusal
from entwined.web.sessions import Sessions
from support.served import people, served

SECRET = "zanzibar-4711"  # noqa: S105  (a cell that must never be seen)
COUNT = {"queries": [{"kind": "count", "where": "age > 30"}], "loss": "0.01"}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = people(tmp_path_factory.mktemp("guarded"), cap=100)
    sessions = Sessions()
    with served(folder, sessions=sessions) as running:
        running.sessions = sessions
        running.pass_of_all = running.token("all", "90")
        status, headers, _ = running.send("GET", f"/start?token={sessions.start}")
        assert status == 303
        running.set_cookie = headers["set-cookie"]
        running.cookie = running.set_cookie.partition(";")[0]
        _, _, body = running.send("GET", "/", Cookie=running.cookie)
        running.form = re.search(rb'name="token" value="(\w+)"', body)[1].decode()
        yield running


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "localhost:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_other_names_and_other_sites_are_turned_away(house, headers):
    for path in ("/", "/api/tables", "/static/page.js"):
        status, _, body = house.send("GET", path, token=house.pass_of_all, Cookie=house.cookie, **headers)
        assert status in (403, 421)
        assert b"<form" not in body


def test_the_start_address_is_good_once_and_becomes_a_strict_cookie(house):
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(house.set_cookie.split("; "))
    for wrong in ("", "x", house.cookie):
        assert house.send("GET", f"/start?token={wrong}")[0] == 401
    assert house.send("GET", "/")[0] == 401
    assert house.send("GET", "/", Cookie="entwined=" + secrets.token_urlsafe(32))[0] == 401
    assert house.send("GET", "/", Cookie=house.cookie)[0] == 200
    used = Sessions()
    first = used.start
    assert used.begin(first)
    assert used.begin(first) is None


def test_a_form_needs_its_token_and_its_origin(house):
    good = {"token": house.form, "table": "people.csv", "name": "mine"}
    for form, headers in (
        ({**good, "token": ""}, {"Origin": house.url}),
        ({**good, "token": "0" * 64}, {"Origin": house.url}),
        (good, {}),
        (good, {"Origin": "http://evil.example"}),
        (good, {"Origin": house.url, "Cookie": ""}),
    ):
        status, _, _ = house.send(
            "POST", "/projects", urlencode(form).encode(), **{"Cookie": house.cookie, **headers}
        )
        assert status in (401, 403)
    assert not (house.house.folder / "mine").exists()


def test_replies_forbid_scripts_frames_and_being_kept(house):
    for path in ("/", "/api/tables", "/static/page.js", "/nothing", "/api/nothing"):
        _, headers, body = house.send("GET", path, token=house.pass_of_all, Cookie=house.cookie)
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert not re.search(rb"<script(?! src=)|\son\w+=|style=", body)


def test_large_and_lying_bodies_are_turned_away(house):
    status, _, _ = house.send("POST", "/api/tables/people/ask", b"x" * 1_000_001, house.pass_of_all)
    assert status == 413
    head = (
        f"POST /api/tables/people/ask HTTP/1.1\r\nHost: 127.0.0.1:{house.port}\r\n"
        f"Authorization: Bearer {house.pass_of_all}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", house.port)) as link:
        link.sendall(head.encode())
        try:
            for _ in range(40):
                link.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            link.sendall(b"0\r\n\r\n")
            reply = link.recv(1000)
        except OSError:
            reply = b"HTTP/1.1 413"  # it hung up
    assert reply[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413")


def test_files_lie_below_the_folder_and_nowhere_else(house, tmp_path):
    """G 62, files: traversal, symlink, absolute, NUL, hidden."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (folder / "inside.csv").write_text("a\n1\n")
    (folder / ".hidden.csv").write_text("a\n1\n")
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "loop").symlink_to(folder)
    assert below(folder, "inside.csv") == (folder / "inside.csv").resolve()
    for wrong in (
        "../outside.csv",
        str(tmp_path / "outside.csv"),
        "link.csv",
        ".hidden.csv",
        "a\0b",
        "",
        ".",
        "x" * 999,
        "inside.csv/x",
        "//etc/passwd",
        "..",
        "./..",
    ):
        with pytest.raises(BadInput, match="no such file below"):
            below(folder, wrong)
    assert listed(folder, (".csv",)) == ["inside.csv"]
    for path in (
        "/static/..%2f..%2fservice.py", "/static/../app.py", "/p/..%2f..%2fetc/schema", "/p/mine/released/1/..%2fdraft.json",
        "/p/people/released/1/%2e%2e", "/p/.entwined/schema", "/start/../p/x/schema",
    ):  # fmt: skip
        status, _, body = house.send("GET", path, Cookie=house.cookie)
        assert status in (404, 409, 422), path
        assert b"import" not in body


def test_a_bad_file_is_refused_on_the_page(house):
    """G 62: what cannot be read as a table is refused with words, and leaves no project behind."""
    folder = house.house.folder
    bad = {
        "empty.csv": b"",
        "nul.csv": b"a\0b\n1\n",
        "wide.csv": "a,b\n1,2\n".encode("utf-16"),
        "no.parquet": b"PAR1 no",
    }
    for name, content in bad.items():
        (folder / name).write_bytes(content)
        form = urlencode({"token": house.form, "table": name, "name": "bad"}).encode()
        status, _, body = house.send("POST", "/projects", form, Cookie=house.cookie, Origin=house.url)
        assert (status, b'role="alert"' in body, b"Traceback" in body) == (422, True, False), name
        (folder / name).unlink()
    assert not (folder / "bad").exists()


def test_nobody_listens_to_the_world_without_exact_names():
    with pytest.raises(BadInput, match="exact names"):
        required_names("0.0.0.0", [])  # noqa: S104  (that is refused)
    assert required_names("0.0.0.0", ["stats.example"]) == ["stats.example"]  # noqa: S104
    assert required_names("127.0.0.1", []) == []


def test_who_comes_too_often_waits(tmp_path):
    limits = Limits(
        visits_per_second=0.001, visits_at_once=3, wrong_passes_per_second=0.001, wrong_passes_at_once=3
    )
    with served(people(tmp_path), limits=limits) as service:
        token = service.token("ann", "1")
        assert [service.send("GET", "/api/tables", token=token)[0] for _ in range(5)] == [
            200,
            200,
            200,
            429,
            429,
        ]
        assert [service.send("GET", "/api/tables", token="entw_x")[0] for _ in range(5)] == [  # noqa: S106  (none)
            401,
            401,
            401,
            429,
            429,
        ]


def test_passes_and_cookies_are_compared_in_constant_time():
    for name in ("passes", "sessions"):
        text = Path(entwined.web.__file__).with_name(f"{name}.py").read_text()
        assert "hmac.compare_digest" in text


# E. Randomness


@pytest.mark.parametrize("key", ["seed", "random_state", "rng", "Seed", "noise_seed"])
def test_no_seed_in_any_public_api(house, key):
    """E 47: keys of seeds are refused, in the body, in a query and in the address."""
    token = house.pass_of_all
    assert house.asked({**COUNT, key: 1}, token)[0] == 422
    assert house.asked({**COUNT, "queries": [{**COUNT["queries"][0], key: 1}]}, token)[0] == 422
    assert house.send("POST", f"/api/tables/people/ask?{key}=1", COUNT, token)[0] == 422
    assert house.send("GET", f"/api/tables/people/dummy?{key}=1", token=token)[0] == 422


def drawn(folder, number, out):
    os.environ["XDG_STATE_HOME"] = str(
        folder / "state"
    )  # each is a holder of its own, whom no other rows concern
    house = House.open(folder, [folder / "people.toml"])
    offer = house.offers["people"]
    wish = {
        "queries": [{"kind": "count", "where": f"age > {number}"}],
        "sql": "",
        "leakage": None,
        "loss": "0.001",
        "consistent": False,
    }
    out.put(json.loads(offer.answer(offer.wanted(wish), "holder", None))["answers"][0]["value"])
    house.close()


def test_forked_workers_draw_different_noise(tmp_path):
    """E 48: forked workers, each with its own table of the same rows: all noises are distinct."""
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    workers = [
        context.Process(target=drawn, args=(people(tmp_path / str(n), changed=f"h{n},{33 + n},no"), 0, out))
        for n in range(4)
    ]
    for worker in workers:
        worker.start()
    noisy = [out.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(60)
    assert len(set(noisy)) == 4


def test_the_service_has_no_randomness_but_the_systems():
    """E 49: no `random` and no `numpy.random` in the room; 50: nothing there takes a seed."""
    for path in Path(entwined.web.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
                assert not any(name == "random" or name.endswith(".random") for name in names), path
            if isinstance(node, ast.arg):
                assert "seed" not in node.arg


# F. Ledger (races, retries, replays and collusion are in test_service)


def test_failure_is_charged(tmp_path):
    """F 56: an error after the rows were touched keeps the charge, and says the same whatever they hold."""
    with served(people(tmp_path)) as service:
        offer = service.house.offers["people"]
        table = offer.door.table
        token = service.token("ann", "4")
        before = offer.door.ledger.spent().price.worst
        kept = type(table).answer
        try:
            type(table).answer = lambda *_: 1 / 0
            status, said = service.asked(COUNT, token)
        finally:
            type(table).answer = kept
        assert (status, said["error"]["kind"]) == (409, "Unreadable")
        assert offer.door.ledger.spent().price.worst > before


def test_a_ledger_put_back_gets_no_answer(tmp_path):
    """F 59: a restored copy, or a cut one, is refused; nothing is replied, not even what was replied before."""
    with served(people(tmp_path)) as service:
        token, ledger = service.token("ann", "4"), tmp_path / "ledger.sqlite"
        old = {
            path: path.read_bytes()
            for path in tmp_path.glob("ledger.sqlite*")
            if path.suffix != ".sqlite-locks"
        }
        wish = {**COUNT, "request": "one"}
        assert service.asked(wish, token)[0] == 200
        service.house.offers["people"].door.ledger.close()
        for path in tmp_path.glob("ledger.sqlite-*"):
            if not path.name.endswith("locks"):
                path.unlink()
        ledger.write_bytes(old[ledger])
        for path, content in old.items():
            if not path.name.endswith("locks"):
                path.write_bytes(content)
        for again in (wish, {**wish, "loss": "0.02", "request": "two"}):
            status, said = service.asked(again, token)
            assert (status, said["error"]["message"]) == (503, UNAVAILABLE)
        assert service.send("GET", "/api/tables/people/replies/one", token=token)[0] == 503
        assert service.send("GET", "/api/tables/people/budget", token=token)[0] == 503


# G. Service and input

FAILING = (
    {"queries": [{"kind": "count", "where": "age > 'x'"}]}, {"queries": [{"kind": "count", "where": "1/0 = age"}]},
    {"queries": [{"kind": "mean", "column": "home"}]}, {"queries": [{"kind": "mean", "column": "nobody"}]},
    {"queries": [{"kind": "count", "where": "age > 99999999999999999999999999"}]}, {"queries": [{"kind": "total", "column": "ill"}]},
    {"sql": "SELECT error('x') FROM t"}, {"sql": "SELECT sum(1/0) FROM t"}, {"sql": "SELECT regexp_matches(home, '(') FROM t"},
    {"sql": "SELECT * FROM t"}, {"sql": "SELECT home FROM t"}, {"sql": "SELECT count(*) FROM read_csv('people.csv')"},
    {"sql": "COPY t TO '/tmp/x'"}, {"sql": "ATTACH 'x.db'"}, {"sql": "PRAGMA table_info('t')"}, {"sql": "SELECT count(*) FROM '../../etc/passwd'"},
    {"sql": "SELECT count(*) FROM t; DROP TABLE t"}, {"sql": "SELECT sum(age * (SELECT max(age) FROM t)) FROM t"}, {"sql": 'a"; drop table'},
    {"sql": "SELECT cast(ill AS int) FROM t"}, {"queries": []}, {"queries": [{"kind": "count", "where": "(" * 500}]}, {"sql": "\ud800"},
    {"queries": [{"query": "custom", "name": "x"}]}, {"queries": [{"kind": "quantile", "column": "age", "at": 1e308}]}, {"queries": [{"kind": 7}]},
    {"queries": [{"query": "count", "where": {"nodes": [["age", 5, [5], [1]]], "root": 0}}]}, {"queries": [{"kind": "count"}], "loss": "nan"},
    {"queries": [{"kind": "count", "where": "age > 3"}], "loss": "1e-320"}, {"queries": [{"kind": "count", "where": "age > 3"}], "leakage": "9", "loss": "9"},
)  # fmt: skip


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory):
    """Two services whose tables differ in one row, which holds something strange."""
    one = people(tmp_path_factory.mktemp("one"), cap=50)
    two = people(tmp_path_factory.mktemp("two"), cap=50, changed=f"{SECRET},{SECRET},{SECRET}")
    with served(one) as first, served(two) as second:
        yield [(service, service.token("ann", "40")) for service in (first, second)]


def test_errors_are_the_same_on_neighbouring_tables_and_hold_no_cell(neighbours):
    """G 60 and 61: failing questions, injections and file readers have the same status and body on both tables."""
    for number, wish in enumerate(FAILING):
        body = {"loss": "0.001", "request": f"f{number}", **wish}
        if "leakage" in wish:
            body["loss"] = wish["loss"]
        replies = [
            service.send("POST", "/api/tables/people/ask", body, token)[::2] for service, token in neighbours
        ]
        assert replies[0] == replies[1], wish
        assert replies[0][0] in (409, 422), (wish, replies[0])
        assert SECRET.encode() not in replies[0][1]


def test_metadata_is_byte_identical_on_neighbouring_tables(neighbours):
    """G and B 25: what is published, the budget and plans, on two tables that differ in one row."""
    for method, path, body in (
        ("GET", "/api/tables", None),
        ("GET", "/api/tables/people", None),
        ("GET", "/api/tables/people/budget", None),
        ("GET", "/api/tables/people/history", None),
        ("GET", "/api/openapi.json", None),
        ("POST", "/api/tables/people/plan", COUNT),
        (
            "POST",
            "/api/tables/people/plan",
            {"sql": "SELECT ill, count(*) FROM t GROUP BY ill", "leakage": "0.5"},
        ),
    ):
        replies = [service.send(method, path, body, token) for service, token in neighbours]
        assert replies[0][0] == replies[1][0] == 200
        assert replies[0][2] == replies[1][2], path


def test_what_rows_or_the_holders_places_say_is_not_said_to_analysts():
    for error in (
        HolderError(SECRET),
        LedgerDamaged("/home/holder/ledger"),
        ValueError(SECRET),
        MemoryError(),
    ):
        told = refusal(error)
        assert (told.status >= 500, told.words) == (True, UNAVAILABLE)
    assert refusal(BadInput("x" * 10_000)).words.count("x") == 1000


def test_outputs_have_no_nan_and_dummy_rows_come_of_the_schema_alone(neighbours):
    """G 63: JSON without NaN; dummy rows hold declared values only."""
    for service, token in neighbours:
        status, _, body = service.send("GET", "/api/tables/people/dummy?rows=200", token=token)
        rows = json.loads(body, parse_constant=pytest.fail)["rows"]
        assert status == 200
        assert {row[2] for row in rows} <= {"no", "yes", None}
        assert SECRET.encode() not in body


def test_replies_leave_at_public_moments(tmp_path):
    """G 64: every reply to `ask`, also a refusal, waits for the next multiple of the step. It reduces, it proves nothing."""
    assert [moment(0.0, now, 0.1) for now in (0.0, 0.05, 0.1, 0.1001)] == pytest.approx([0.1, 0.1, 0.1, 0.2])
    with served(people(tmp_path), limits=Limits(step=0.5)) as service:
        token, took = service.token("ann", "4"), []
        for wish, status in (
            (COUNT, 200),
            (COUNT, 200),
            ({**COUNT, "loss": "900"}, 409),
            ({**COUNT, "loss": "x"}, 422),
        ):
            began = time.perf_counter()
            assert service.asked(wish, token)[0] == status
            took.append(time.perf_counter() - began)
    assert min(took) >= 0.5  # none leaves before the first public moment, however quickly it is known
    assert min(one % 0.5 for one in took) < 0.2  # and, but on a machine that does much else, just after one


def test_an_expired_pass_is_told_by_the_clock_of_the_service(monkeypatch, house):
    import entwined.web.passes as module

    token = house.house.passes.add("late", days=1, most="1")
    assert house.send("GET", "/api/tables", token=token)[0] == 200
    later = SimpleNamespace(
        now=lambda _: datetime(2999, 1, 1, tzinfo=UTC), fromisoformat=datetime.fromisoformat
    )
    monkeypatch.setattr(module, "datetime", later)
    assert house.send("GET", "/api/tables", token=token)[0] == 401
