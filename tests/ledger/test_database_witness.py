"""A table in PostgreSQL remembers its ledger in the database itself, whatever address, user, name or view leads to it."""

from fractions import Fraction
from itertools import count
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from entwined.door.witnessed import witness_of
from entwined.errors import BadLedger, LedgerUnavailable
from entwined.ledger import Ledger
from entwined.promise.promise import Promise
from entwined.queries import Histogram, codes_in
from entwined.request.verbs import release
from entwined.schema import Boolean, Schema
from entwined.tables import open_table
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
            hospital.refuses(source, "entwined_witness" if turn else "another one")
        elsewhere()  # where nothing but the database itself remembers
    hospital.ask("one", hospital.at("visits"), where=1)
    assert hospital.run("SELECT name, position FROM entwined_witness") == [("visits", 5)]


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
    assert hospital.run("SELECT to_regclass('entwined_witness')") == [(None,)]
    hospital.refuses(hospital.at("visits", reader))
    hospital.refuses(hospital.at("visits"))
    hospital.ask("one", hospital.at("visits"), where=0)
    elsewhere()
    with pytest.raises(LedgerUnavailable, match="SELECT"):
        hospital.ask("one", hospital.at("visits", reader), where=1)
    hospital.run(f"GRANT SELECT ON entwined_witness TO {role}")
    hospital.refuses(hospital.at("visits", reader))
    hospital.ask("one", hospital.at("visits", reader), where=1)
