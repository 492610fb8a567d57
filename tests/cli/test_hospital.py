"""A hospital's year: visits of households in a file or a database, twelve monthly releases, one migration, one calendar."""

import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import psycopg
import pytest

from entwined.ledger.pages import Pages
from entwined.ledger.postgres import PostgresStore, ServerPages
from entwined.ledger.sqlite import SqliteStore
from entwined.schema import Categorical, Integer, Moment, Schema, Text, write_schema
from support.command import document
from support.postgres import new_schema

STAGES = "SELECT stage, count(*) FROM visits"
YEAR = (datetime(2026, 1, 1), datetime(2026, 12, 31))
REQUEST = """\
table = "{table}"
schema = "schema.toml"
ledger = "{ledger}"
cap = 8.0
calendar = {{year = 3.4}}
loss = {loss}

[[dependence]]
name = "households"
model = {{kind = "groups", largest = 3}}
by = "household"

[[query]]
kind = "group_by"
keys = ["month", "ward"]
"""


class File:
    """Visits in a Parquet file, written anew every month, and a ledger beside it."""

    table, ledger = "visits.parquet", "ledger.sqlite"

    def load(self, visits):
        visits.to_parquet(self.table)


class Database:
    """Visits in PostgreSQL, and the ledger there as well."""

    def __init__(self):
        self.url, self.ledger = new_schema(), new_schema()
        self.table = f"{self.url}&table=visits"

    def load(self, visits):
        with psycopg.connect(self.url) as link:
            link.execute("CREATE TABLE IF NOT EXISTS visits (household text, day date, ward text, age int)")
            link.execute("TRUNCATE visits")
            rows = list(visits.itertuples(index=False, name=None))
            link.cursor().executemany("INSERT INTO visits VALUES (%s, %s, %s, %s)", rows)


def schema(*more):
    wards = ("surgery", "birth", *more)
    return Schema(
        (
            Text("household", compare="exact"),
            Moment("day", *YEAR, bands={"month": "month"}),
            Categorical("ward", wards, labels=tuple(ward.title() for ward in wards)),
            Integer("age", 0, 120, bands={"stage": {"child": 0, "adult": 18, "old": 65}}),
        ),
        most_rows=1000,
    ).approve()


def visits(month):
    """Twenty visits a month up to this one."""
    made = [
        (f"h{turn // 2}", date(2026, at, 1 + turn), ("surgery", "birth")[turn % 2], 20 + turn)
        for at in range(1, month + 1)
        for turn in range(20)
    ]
    return pd.DataFrame(made, columns=["household", "day", "ward", "age"])


class Hospital:
    """One year of it: the calendar's clock, the rows of the month, and the commands."""

    def __init__(self, run, kept):
        self.run, self.kept, self.now = run, kept, datetime(2026, 1, 31, 18, tzinfo=UTC)

    def goes_on_to(self, year, month):
        self.now = datetime(year, month, 28, 18, tzinfo=UTC)
        self.kept.load(visits(12 if year > 2026 else month))

    def request(self, loss=0.1, ledger=None):
        places = {"table": self.kept.table, "ledger": ledger or self.kept.ledger}
        Path("release.toml").write_text(REQUEST.format(**places, loss=loss))

    def month(self, month):
        """Ask how many came to each ward in a month."""
        self.request()
        first = f"DATE '2026-{month:02}-01'"
        which = f"month = {first}" if month % 2 else f"date_trunc('month', day) = {first}"
        return self.run("sql", "--yes", f"{STAGES} WHERE {which} GROUP BY stage", "--loss", "0.1")

    def quarter(self, loss=0.1, ledger=None):
        """Release how many came to each ward so far."""
        self.request(loss, ledger)
        return self.run("release", "release.toml", "-o", f"out-{self.now:%Y-%m}-{loss}", "--yes")

    def left(self):
        return document(self.run("budget", "release.toml", "--json"))["calendar"][0]["left"]


@pytest.fixture(params=[File, Database], ids=["parquet", "postgres"])
def hospital(request, run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)  # reports are drawn elsewhere
    write_schema(schema(), "schema.toml")
    made = Hospital(run, request.param())
    for kind in (Pages, ServerPages, SqliteStore, PostgresStore):
        monkeypatch.setattr(kind, "clock", lambda _: made.now)
    return made


def test_twelve_months_under_a_calendar_with_a_migration_between(hospital):
    for month in range(1, 13):
        hospital.goes_on_to(2026, month)
        if month == 7:
            write_schema(schema("intensive care"), "schema.toml")
            code, _, err = hospital.month(month)
            assert (code, "values gained 'intensive care'" in err, "budget migrate" in err) == (2, True, True)
            code, out, _ = hospital.run("budget", "migrate", "release.toml", "--yes")
            assert code == 0
            assert (
                "column changed: 'ward' (labels gained 'Intensive Care', values gained 'intensive care')"
                in out
            )
            assert (
                "Spent so far: 0.9 of 8. Under the new terms: 2.4 of 8." in out
            )  # other lots: a condition is charged as if all were inside
            assert "1 of 3.4 is left in 2026; the next year begins on 2027-01-01" in out
        code, out, err = hospital.month(month)
        assert (code, err, "Asked before" in out) == (0, "", False), "another month, though it leaks no more"
        if month % 3 == 0:
            assert hospital.quarter()[0] == 0
    assert hospital.left() == pytest.approx(0.1)
    code, _, err = hospital.quarter(loss=0.05)
    assert code == 1
    assert "more than the 3.4 that the calendar allows a year" in err
    assert "the next year begins on 2027-01-01 (UTC). Nothing was charged." in err
    hospital.goes_on_to(2027, 1)
    assert hospital.left() == 3.4
    code, out, _ = hospital.quarter()
    assert (code, "Spent so far: 3.6 of 8; 4.4 is left. In 2027 3.1 is left." in out) == (0, True)
    history = document(hospital.run("budget", "release.toml", "--json"))["history"]
    assert [row["asked"] for row in history[:2]] == [
        [f"Number of rows for each value of stage of age, of the rows with day from 2026-{at} to 2026-{to}"]
        for at, to in (("01-01", "01-31"), ("02-01", "02-28"))
    ]
    assert len(history) == 17
    code, _, err = hospital.quarter(0.2, "second.sqlite")
    assert (code, bool(re.search("was released from before, under the ledger|another one", err))) == (2, True)
    certificates = sorted(str(path) for path in Path().glob("out-*/certificate.json"))
    code, out, _ = hospital.run("verify", *certificates)
    assert (code, "They can belong to one history" in out) == (0, True)
