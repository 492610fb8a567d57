"""A connection to PostgreSQL that breaks, idle or in the middle of a scan, costs no second charge and no second draw."""

import threading
import time
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from urllib.parse import urlsplit

import psycopg
import pytest

from entwined.errors import Refused, SourceLost, Unreadable
from entwined.ledger import Book
from entwined.ledger.slices import no_earmarks
from entwined.queries import Histogram
from entwined.request.opening import open_ledger
from entwined.request.verbs import release
from entwined.schema import Boolean, Schema, write_schema
from entwined.tables import open_table
from entwined.tables import table as table_module
from entwined.web.offers import Offer
from support.postgres import database, new_schema

SCHEMA = Schema((Boolean("a"),)).approve()
PATIENCE = 30
_numbers = count()


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """The address of a table of its own, whose connections are known by a name."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    name = f"lost{next(_numbers)}"
    url = f"{new_schema()}&application_name={name}"
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE visits AS SELECT n % 2 = 0 AS a FROM generate_series(1, 1000) AS n")
        link.execute("CREATE VIEW slow AS SELECT a FROM visits, pg_sleep(0.4)")
    return url, name


IDLE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
SCAN = " AND state = 'active' AND position('slow' in query) > 0"


def ended(name, ask=IDLE):
    """End the connections of a name, or what they do, once there is one; say how many there were."""
    with psycopg.connect(database(), autocommit=True) as link:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = link.execute(ask, (name,)).fetchall()
            if found:
                return len(found)
            time.sleep(0.01)
    raise TimeoutError


@contextmanager
def asking(url, folder, table="visits"):
    with (
        open_table(f"{url}&table={table}&version=1", SCHEMA) as rows,
        open_ledger(folder / "l.sqlite", SCHEMA, cap=999) as ledger,
    ):
        yield lambda loss=5: release(rows, Histogram("a"), ledger=ledger, loss=loss), ledger


def kinds(ledger):
    return [entry.kind.value for entry in ledger.book.history()]


def test_a_connection_that_ended_while_idle_is_made_again_before_the_charge(visits, tmp_path):
    url, name = visits
    with asking(url, tmp_path) as (ask, ledger):
        ask()
        assert ended(name) >= 1
        assert ask(6).answers[0].numbers
        assert kinds(ledger) == ["created", "charge", "answered", "charge", "answered"]


def test_a_server_that_is_gone_is_refused_before_the_charge(visits, tmp_path):
    url, name = visits
    role = f"guest_{name}"
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
        with asking(urlsplit(url)._replace(netloc=f"{role}@").geturl(), tmp_path) as (ask, ledger):
            ask()
            link.execute(f"ALTER ROLE {role} NOLOGIN")
            link.execute(f"{IDLE} AND usename = '{role}'", (name,))
            with pytest.raises(Unreadable, match=r"cannot be reached any more\. Nothing was charged"):
                ask(6)
            assert kinds(ledger) == ["created", "charge", "answered"]


def charged_then(folder, act):
    """Do something once a charge is in the ledger, in a thread."""

    def wait():
        book = Book(folder / "l.sqlite")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and "charge" not in [one.kind.value for one in book.history()]:
            time.sleep(0.01)
        book.close()
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_scan_that_is_cut_is_read_again_under_the_same_charge(visits, tmp_path):
    url, name = visits
    with asking(url, tmp_path, "slow") as (ask, ledger):
        cut = []
        thread = charged_then(tmp_path, lambda: cut.append(ended(name, IDLE + SCAN)))
        found = ask(50)
        thread.join()
        assert cut == [1]
        assert found.answers[0].numbers[0][:2] == (500, 500)
        assert kinds(ledger) == ["created", "charge", "answered"]


def test_where_the_connection_stays_broken_the_charge_stays_open(visits, tmp_path, monkeypatch):
    """Whoever asks the same again is answered under it; a statement that fails by itself closes it as ever."""
    url, name = visits
    monkeypatch.setattr(table_module, "WAITS", ())
    with asking(url, tmp_path, "slow") as (ask, ledger):
        thread = charged_then(tmp_path, lambda: ended(name, IDLE + SCAN))
        with pytest.raises(SourceLost, match="under that charge"):
            ask(50)
        thread.join()
        assert kinds(ledger) == ["created", "charge"]
        assert ask(50).answers[0].numbers[0][:2] == (500, 500)
        assert kinds(ledger) == ["created", "charge", "run", "answered"]


def test_a_statement_that_is_cancelled_is_not_taken_for_a_lost_connection(visits, tmp_path):
    url, name = visits
    cancel = IDLE.replace("terminate", "cancel") + SCAN
    with asking(url, tmp_path, "slow") as (ask, ledger):
        thread = charged_then(tmp_path, lambda: ended(name, cancel))
        with pytest.raises(Unreadable, match="no answer comes from this request"):
            ask()
        thread.join()
        assert kinds(ledger) == ["created", "charge", "failed"]


def test_an_address_without_a_version_is_not_served(visits, tmp_path):
    url, _ = visits
    write_schema(SCHEMA, tmp_path / "schema.toml")
    text = 'schema = "schema.toml"\nledger = "offered.sqlite"\ncap = 4.0\nloss = 1.0\n'
    text += '[[query]]\nkind = "histogram"\ncolumn = "a"\n'
    (tmp_path / "bare.toml").write_text(f'table = "{url}&table=visits"\n{text}')
    with pytest.raises(Refused, match=r"^bare.toml: the table's address names no version"):
        Offer.open(tmp_path / "bare.toml", no_earmarks)
    assert not (tmp_path / "offered.sqlite").exists()
    (tmp_path / "named.toml").write_text(f'table = "{url}&table=visits&version=3"\n{text}')
    offers = [Offer.open(tmp_path / "named.toml", no_earmarks) for _ in range(3)]  # as three processes do
    asked = {
        "queries": [{"kind": "histogram", "column": "a"}],
        "sql": "",
        "consistent": True,
        "leakage": None,
    }
    for offer in offers:
        assert offer.answer(offer.wanted(asked | {"loss": "1"}), "ann", None)
    ledger = offers[0].door.ledger
    assert kinds(ledger) == ["created", "charge", "answered"]
    assert ledger.spent().price.nominal == Fraction(1)
    for offer in offers:
        offer.close()
