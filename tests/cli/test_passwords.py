"""A database's password is nowhere: not on the screen, in a file, in the ledger or in the database itself."""

from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from entwined.schema import Boolean, Categorical, Schema, write_schema
from support.postgres import new_schema

PASSWORD = "hunter2-Querétaro"  # noqa: S105  (the one that must never be seen)
SPELLINGS = (PASSWORD, quote(PASSWORD), "hunter2")
SCHEMA = Schema((Boolean("a"), Categorical("place", ("north", "south"))), most_rows=100)
REQUEST = """\
table = "{table}"
schema = "schema.toml"
ledger = "{ledger}"
cap = 9.0
{more}
loss = 0.5

[[query]]
kind = "histogram"
column = "place"
"""


class Secretive:
    """A database whose addresses hold a password, and every command that is given one of them."""

    def __init__(self, run, folder):
        self.run, self.folder, self.shown = run, folder, []
        self.plain = new_schema()
        self.ledger = new_schema()

    def with_password(self, url):
        return url.replace("postgresql://postgres:", f"postgresql://postgres:{quote(PASSWORD)}", 1)

    def command(self, *arguments):
        code, out, err = self.run(*arguments)
        self.shown.append(out + err)
        return code

    def request(self, name="release.toml", more="", **changed):
        places = {
            "table": self.with_password(self.plain) + "&table=visits",
            "ledger": self.with_password(self.ledger),
        }
        Path(name).write_text(REQUEST.format(**places | changed, more=more))
        return name

    def tables(self):
        """All that the database holds of ours."""
        for url in (self.plain, self.ledger):
            with psycopg.connect(url) as link:
                names = link.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
                ).fetchall()
                for (name,) in names:
                    yield str(
                        link.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))).fetchall()
                    )


@pytest.fixture
def hospital(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    made = Secretive(run, tmp_path)
    assert PASSWORD not in made.plain
    assert quote(PASSWORD) in made.with_password(made.plain)
    with psycopg.connect(made.plain) as link:
        link.execute(
            "CREATE TABLE visits AS SELECT n % 2 = 0 AS a, 'north' AS place FROM generate_series(1, 20) AS n"
        )
    write_schema(SCHEMA.approve(), "schema.toml")
    return made


def test_a_password_is_nowhere(hospital):
    request, source = hospital.request(), hospital.with_password(hospital.plain) + "&table=visits"
    done = [
        hospital.command("describe", source, "-o", "described.toml"),
        hospital.command("init", source, "-o", "begun.toml", "--schema", "described.toml"),
        hospital.command("plan", request),
        hospital.command("plan", request, "--json", "--html", "plan.html"),
        hospital.command("release", request, "-o", "out", "--yes"),
        hospital.command("release", request, "-o", "again", "--yes", "--json"),
        hospital.command("sql", "SELECT count(*) FROM visits WHERE a", "--loss", "1", "--yes"),
        hospital.command("sql", "SELECT count(*) FROM t WHERE a", "--loss", "1", "--dry-run", "--json"),
        hospital.command("learn", request, "--budget", "1", "-o", "model.json", "--yes"),
        hospital.command("budget", request, "--export", "history.json"),
        hospital.command("budget", hospital.with_password(hospital.ledger), "--json"),
        hospital.command("budget", "check", request, "--json"),
        hospital.command("verify", "out/certificate.json"),
        hospital.command(
            "budget", "migrate", hospital.request("more.toml", "calendar = {year = 8}"), "--yes"
        ),
        hospital.command("budget", "adopt", request, "--yes"),
    ]
    assert done == [0] * len(done), [text for text, code in zip(hospital.shown, done, strict=True) if code]
    wrong = [
        hospital.request("no-table.toml", table=source.replace("visits", "nothing")),
        hospital.request("no-base.toml", table=source.replace("/alone", "/nobody"), ledger="ledger.sqlite"),
        hospital.request(
            "no-ledger.toml", ledger=hospital.with_password(hospital.ledger).replace("host=", "host=%2Fno")
        ),
        hospital.request("strange.toml", table=source + "&nonsense=1"),
        hospital.request(
            "strange-ledger.toml", ledger=hospital.with_password(hospital.ledger) + "&nonsense=1"
        ),
        hospital.request("second.toml", ledger="second.sqlite"),
    ]
    for request in wrong:
        assert hospital.command("release", request, "-o", "never", "--yes") in {1, 2}, hospital.shown[-1]
    assert hospital.command("describe", source.replace("visits", "nothing"), "-o", "never.toml") == 2
    ours = [path for path in hospital.folder.rglob("*") if path.is_file() and path.suffix != ".toml"]
    written = [
        path.read_bytes().decode("latin-1") for path in (*ours, Path("begun.toml"), Path("described.toml"))
    ]
    names = [str(path) for path in hospital.folder.rglob("*")]
    seen = {
        word
        for word in SPELLINGS
        for text in (*hospital.shown, *written, *names, *hospital.tables())
        if word in text
    }
    assert not seen
    assert any("PGPASSWORD" in text for text in hospital.shown), (
        "who begins with a URL is told where it belongs"
    )
    assert len(ours) > 20
