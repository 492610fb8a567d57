"""What the page and the service meet outside: a proxy with TLS, a silent database, visits that cross each other."""

import socket
import threading
import time

import pytest

from entwined.connecting import deadline
from entwined.errors import BadTable
from entwined.schema import Integer, Schema, approve
from entwined.tables import open_table
from entwined.web import projects
from entwined.web.addresses import Addresses
from entwined.web.projects import Project, seen_as
from support.other_rows import forget_rows
from support.served import SCHEMA, people, served
from support.tls_proxy import asked_over_tls, tls_before, write_certificate

NAME = "stats.example"


def test_a_service_behind_tls_answers_under_its_name_and_no_other(tmp_path):
    """The recipe of the docs: --name stats.example, and a proxy that passes Host on; at the usual port it has none."""
    certificate = write_certificate(tmp_path, NAME)
    with served(people(tmp_path), names=(NAME,)) as running, tls_before(running.port, certificate) as port:
        token = {"Authorization": f"Bearer {running.token()}"}
        for host in (NAME, f"{NAME}:443", f"{NAME}:{running.port}"):
            status, body = asked_over_tls(port, certificate, host, **token)
            assert (status, body) == (200, b'["people"]'), host
        assert asked_over_tls(port, certificate, NAME, Origin=f"https://{NAME}", **token)[0] == 200
        assert asked_over_tls(port, certificate, NAME, Origin="https://other.example", **token)[0] == 403
        for forwarded in ("X_Forwarded_Host", "Forwarded"):
            assert asked_over_tls(port, certificate, f"{NAME}:1", **{forwarded: NAME}, **token)[0] == 421
    with (
        served(tmp_path, names=(f"{NAME}:8443",)) as running,
        tls_before(running.port, certificate) as port,
    ):
        token = {"Authorization": f"Bearer {running.token()}"}
        assert asked_over_tls(port, certificate, f"{NAME}:8443", **token)[0] == 200
        assert asked_over_tls(port, certificate, NAME, **token)[0] == 421


@pytest.fixture
def silent():
    """A server that accepts connections, or answers the first bytes of PostgreSQL's, and says nothing more."""
    kept = []
    listening = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                kept.append(listening.accept()[0])
            except OSError:
                return

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    for each in (listening, *kept):
        each.close()
    thread.join(10)


def test_a_database_that_accepts_and_stays_silent_is_given_up_and_named(silent, tmp_path, monkeypatch):
    monkeypatch.setattr("entwined.connecting.SECONDS", 2)  # psycopg waits no less
    begun = time.monotonic()
    with pytest.raises(BadTable, match="stays silent"):
        addresses = Addresses()
        address = addresses.remember(f"postgresql://u@127.0.0.1:{silent}/base?table=rows", "")
        Project.begin(tmp_path, "mine", address, addresses)
    assert time.monotonic() - begun < 8


def test_a_database_that_goes_silent_after_the_first_words_is_given_up_too():
    """What was let in hears no answer to its first question."""

    class Wire:
        def __init__(self):
            self.near, self.far = socket.socketpair()

        def fileno(self):
            return self.near.fileno()

    wire = Wire()
    begun = time.monotonic()
    with deadline(wire, 0.2):
        assert wire.near.recv(1) == b"", "the wait ends"
    assert time.monotonic() - begun < 5
    wire.near.close()
    wire.far.close()


def test_a_release_keeps_the_request_that_was_charged_whatever_is_looked_at_meanwhile(tmp_path, monkeypatch):
    """Somebody opens the plan at another leakage, and loads the request file, while the release runs."""
    forget_rows()
    people(tmp_path)
    made = Project.begin(tmp_path, "mine", "people.csv")
    (made.folder / "schema.toml").write_text(SCHEMA)
    approve(made.folder / "schema.toml")
    made.change(queries=[{"kind": "histogram", "column": "ill"}], leakage="0.5")
    seen = seen_as(made.outlook("0.75"))
    fulfil = projects.fulfil

    def crossed(request, planned):
        made.change(leakage="0.25", title="another one")
        made.outlook()
        made.outlook("2.5")
        return fulfil(request, planned)

    monkeypatch.setattr(projects, "fulfil", crossed)
    number = made.release("0.75", seen)
    kept = made.file(number, "release.toml").read_text()
    assert 'leakage = "0.75"' in kept
    assert "another one" not in kept


def test_the_request_file_of_a_project_says_the_draft_and_no_slider(tmp_path):
    people(tmp_path)
    made = Project.begin(tmp_path, "mine", "people.csv")
    (made.folder / "schema.toml").write_text(SCHEMA)
    approve(made.folder / "schema.toml")
    made.change(queries=[{"kind": "histogram", "column": "ill"}], leakage="0.5")
    made.outlook()
    made.outlook("2.5")
    assert 'leakage = "0.5"' in (made.folder / "release.toml").read_text()


def test_open_table_says_what_a_silent_server_is(silent):
    schema = Schema((Integer("age", 0, 120),))
    with pytest.raises(BadTable) as refused:
        open_table(f"postgresql://u@127.0.0.1:{silent}/base?table=rows&connect_timeout=2", schema)
    assert "connect_timeout=60" in str(refused.value)
    assert len(str(refused.value)) <= 200
