"""Commands that ask a request's table something else need its terms alone: its own queries are not read."""

from pathlib import Path

import pytest

from entwined.schema import Boolean, Integer, Schema, write_schema
from support.command import document

TERMS = """\
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 9
leakage = 1
"""
QUERIES = {
    "none": "",
    "one of a column that is gone": '[[query]]\nkind = "mean"\ncolumn = "gone"\n',
    "a list that is none": "query = 3\n",
    "a mechanism that there is not": '[[mechanism]]\nkind = "oracle"\nloss = 1\n',
    "a comparison of nothing": '[[comparison]]\nkind = "difference"\none = "a"\nother = "b"\n',
}
SELECT = "SELECT count(*) FROM t WHERE ill"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    columns = Boolean("ill"), Integer("age", 0, 99), Integer("height", 0, 250)
    write_schema(Schema(columns, rows=400).approve(), Path("schema.toml"))
    rows = "".join(f"{n % 3 == 0},{20 + n % 50},{120 + n % 70}\n" for n in range(400))
    Path("people.csv").write_text("ill,age,height\n" + rows)
    return tmp_path


@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
def test_a_select_needs_only_the_terms_of_a_request(folder, run, queries):
    Path("release.toml").write_text(TERMS + queries)
    found = document(
        run("sql", SELECT, "--request", "release.toml", "--leakage", "0.5", "--dry-run", "--json")
    )
    assert found["budget"]["after"]["nominal"] == pytest.approx(0.5)


def test_so_does_what_is_learned_from_the_table(folder, run):
    Path("release.toml").write_text(TERMS + QUERIES["one of a column that is gone"])
    options = ("--columns", "age,height", "--budget", "8", "-o", "found.json", "--yes", "--json")
    assert document(run("learn", "covariance", "release.toml", *options))["columns"] == ["age", "height"]


@pytest.mark.parametrize("command", ["plan", "audit"])
def test_a_request_that_asks_nothing_is_still_no_release(folder, run, command):
    Path("release.toml").write_text(TERMS)
    code, out, err = run(command, "release.toml")
    assert (code, out) == (2, "")
    assert "0 queries" in err
