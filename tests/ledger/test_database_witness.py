"""A table in PostgreSQL remembers its ledger in the database itself, whatever address, user, name or view leads to it."""

import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import count
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from entwined.cli.app import main
from entwined.door.witnessed import witness_of
from entwined.errors import BadLedger, LedgerUnavailable
from entwined.ledger import Ledger
from entwined.promise.promise import Promise
from entwined.queries import Histogram, codes_in
from entwined.request.verbs import release
from entwined.schema import Boolean, Schema, write_schema
from entwined.tables import open_table
from entwined.tables.postgres_notes import RowNotes, relations
from support.postgres import database, new_schema

SCHEMA = Schema((Boolean("a"),)).approve()
_numbers = count()


class Hospital:
    """A schema of its own in the database, with a table of visits."""

    def __init__(self, folder):
        self.url, self.folder = new_schema(), folder
        self.schema = self.run("SELECT current_schema()")[0][0]
        self.run("CREATE TABLE visits AS SELECT n % 2 = 0 AS a FROM generate_series(1, 20) AS n")

    def run(self, statement):
        with psycopg.connect(self.url, autocommit=True) as link:
            done = link.execute(statement)
            return done.fetchall() if done.description else []

    def at(self, table, url=None):
        return f"{url or self.url}&table={quote(table)}"

    def ledger(self, name):
        place = self.folder / f"{name}.sqlite"
        made = Ledger.open if place.exists() else Ledger.create
        return made(place, Fraction(9), Promise.of(SCHEMA), anchor=self.folder / f"{name}.anchor")

    def ask(self, name, source, *, where=None):
        given = {} if where is None else {"where": codes_in("a", 3, ((where, where),))}
        with self.ledger(name) as ledger, open_table(source, SCHEMA) as table:
            return release(table, Histogram("a", **given), ledger=ledger, loss=1)

    def refuses(self, source, match="another one"):
        name = f"fresh{next(_numbers)}"
        with pytest.raises(BadLedger, match=match):
            self.ask(name, source)
        with self.ledger(name) as ledger:
            assert ledger.spent().parts == ()


@pytest.fixture
def hospital(tmp_path):
    return Hospital(tmp_path)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process, and give its exit code and what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["entwined", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code or 0, shown.out, shown.err

    return run


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The state folder of another user, or of another machine."""
    return lambda: monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state{next(_numbers)}"))


def test_another_spelling_of_the_address_is_the_same_table(hospital, elsewhere):
    hospital.ask("one", hospital.at("visits"))
    socket = urlsplit(hospital.url).query.partition("host=")[2].partition("&")[0]
    for turn in range(2):
        for source in (
            hospital.at("visits", f"{hospital.url}&application_name=x"),
            hospital.at("visits", hospital.url.replace("postgresql://", "postgres://")),
            hospital.at("visits", hospital.url.replace(socket, f"{socket}/.")),
            hospital.at(f"{hospital.schema}.visits", database()),
        ):
            hospital.refuses(source, "entwined_rollback_guard" if turn else "another one")
        elsewhere()  # where nothing but the database itself remembers
    hospital.ask("one", hospital.at("visits"), where=1)
    assert hospital.run("SELECT name, position FROM entwined_rollback_guard") == [("visits", 5)]


def test_a_view_is_made_of_a_table_that_has_a_ledger(hospital):
    hospital.run("CREATE VIEW ill AS SELECT * FROM visits WHERE a")
    hospital.run("CREATE MATERIALIZED VIEW kept AS SELECT * FROM ill")
    hospital.ask("one", hospital.at("visits"))
    for view in ("ill", "kept"):
        hospital.refuses(hospital.at(view), "made of another one")
    hospital.ask("one", hospital.at("ill"))
    hospital.run("CREATE TABLE wards AS SELECT true AS a")
    hospital.run("CREATE VIEW staff AS SELECT wards.a FROM wards")
    hospital.ask("two", hospital.at("staff"))
    hospital.refuses(hospital.at("wards"))


def test_a_view_of_other_people_has_a_ledger_by_the_holders_word(hospital):
    hospital.run("CREATE VIEW others AS SELECT a FROM visits WHERE NOT a")
    hospital.ask("one", hospital.at("visits"))
    with open_table(hospital.at("others"), SCHEMA) as table:
        witness_of(table).forget()
        witness_of(table).refuse_new()
    hospital.ask("two", hospital.at("others"))
    hospital.ask("two", hospital.at("others"), where=1)
    hospital.ask("one", hospital.at("visits"), where=1)
    hospital.refuses(hospital.at("others"))
    hospital.refuses(hospital.at("visits"))


def test_parts_of_a_table_and_a_table_that_was_renamed_or_loaded_anew(hospital, elsewhere):
    hospital.run("CREATE TABLE whole (a boolean) PARTITION BY LIST (a)")
    hospital.run("CREATE TABLE part PARTITION OF whole FOR VALUES IN (true)")
    hospital.ask("one", hospital.at("whole"))
    hospital.refuses(hospital.at("part"))
    hospital.ask("two", hospital.at("visits"))
    hospital.run("ALTER TABLE visits RENAME TO old")
    hospital.refuses(hospital.at("old"))
    hospital.run("CREATE TABLE visits AS TABLE old")
    elsewhere()
    hospital.refuses(hospital.at("visits"))
    hospital.ask("two", hospital.at("visits"))


def test_who_may_only_read_is_still_held_to_it(hospital, elsewhere):
    role = f"reader_{hospital.schema}"
    hospital.run(f"CREATE ROLE {role} LOGIN")
    hospital.run(f"GRANT USAGE ON SCHEMA {hospital.schema} TO {role}")
    hospital.run(f"GRANT SELECT ON visits TO {role}")
    parts = urlsplit(hospital.url)
    reader = parts._replace(netloc=f"{role}@").geturl()
    hospital.ask("one", hospital.at("visits", reader))
    assert hospital.run("SELECT to_regclass('entwined_rollback_guard')") == [(None,)]
    hospital.refuses(hospital.at("visits", reader))
    hospital.refuses(hospital.at("visits"))
    hospital.ask("one", hospital.at("visits"), where=0)
    elsewhere()
    with pytest.raises(LedgerUnavailable, match="SELECT"):
        hospital.ask("one", hospital.at("visits", reader), where=1)
    hospital.run(f"GRANT SELECT ON entwined_rollback_guard TO {role}")
    hospital.refuses(hospital.at("visits", reader))
    hospital.ask("one", hospital.at("visits", reader), where=1)


GUARD = (
    "CREATE TABLE {schema}.entwined_rollback_guard (relation bigint NOT NULL, name text NOT NULL, ledger text NOT NULL,"
    " position bigint NOT NULL, hash text NOT NULL, PRIMARY KEY (relation, name))"
)


def analyst_of(hospital, rights=""):
    """The URL of a role with the least rights that docs/operations.md names, and further ones on the guard table."""
    role = f"analyst_{hospital.schema}"
    hospital.run(f"CREATE ROLE {role} LOGIN")
    hospital.run(f"GRANT USAGE ON SCHEMA {hospital.schema} TO {role}")
    hospital.run(f"GRANT SELECT ON visits TO {role}")
    if rights:
        hospital.run(GUARD.format(schema=hospital.schema))
        hospital.run(f"GRANT {rights} ON {hospital.schema}.entwined_rollback_guard TO {role}")
    return urlsplit(hospital.url)._replace(netloc=f"{role}@").geturl()


def test_a_role_that_may_only_write_the_guard_table_binds_the_table_for_all(hospital, elsewhere):
    analyst = analyst_of(hospital, "SELECT, INSERT, UPDATE")
    hospital.ask("one", hospital.at("visits", analyst))
    rows = hospital.run("SELECT name, position FROM entwined_rollback_guard")
    assert rows == [("visits", 3)]
    hospital.ask("one", hospital.at("visits", analyst), where=1)
    elsewhere()
    hospital.refuses(hospital.at("visits", analyst), "entwined_rollback_guard")
    hospital.refuses(hospital.at("visits"), "entwined_rollback_guard")
    assert hospital.run("SELECT position FROM entwined_rollback_guard") == [(5,)]


@pytest.mark.parametrize("rights", ["", "SELECT", "SELECT, INSERT"])
def test_a_release_whose_guard_cannot_be_kept_says_so(hospital, rights, tmp_path, monkeypatch, run):
    """In the plan, in the release, and in the ledger for who looks later."""
    monkeypatch.chdir(tmp_path)
    write_schema(SCHEMA, "schema.toml")
    analyst = hospital.at("visits", analyst_of(hospital, rights))
    text = 'schema = "schema.toml"\nledger = "l.sqlite"\ncap = 4.0\nloss = 1.0\n'
    Path("release.toml").write_text(
        f'table = "{analyst}"\n{text}[[query]]\nkind = "histogram"\ncolumn = "a"\n'
    )
    shown = {
        "plan": run("plan", "release.toml"),
        "release": run("release", "release.toml", "-o", "out", "--yes"),
        "ledger": run("budget", "release.toml"),
    }
    for place, (code, out, err) in shown.items():
        assert code == 0, (place, err)
        assert "guard cannot be kept in the row of visits in" in " ".join(out.split()), place
    hospital.run("DROP TABLE IF EXISTS entwined_rollback_guard")
    hospital.run(GUARD.format(schema=hospital.schema))
    hospital.run(f"GRANT SELECT, INSERT, UPDATE ON entwined_rollback_guard TO analyst_{hospital.schema}")
    for command in ("plan",), ("release", "-o", "next", "--yes"), ("budget",):
        code, out, _ = run(command[0], "release.toml", *command[1:])
        assert (code, "guard cannot be kept" in out) == (0, False)


def relations_of(hospital):
    with psycopg.connect(hospital.url) as link:
        return relations(link, "visits")


def test_two_first_releases_at_once_make_one_guard_table(hospital):
    notes = [RowNotes(hospital.url, one) for one in relations_of(hospital)] * 6
    with ThreadPoolExecutor(6) as pool:
        assert not any(pool.map(lambda one: one.start(3, 64 * "a", "l"), notes))
    assert notes[0].read() == (3, 64 * "a", "l")
