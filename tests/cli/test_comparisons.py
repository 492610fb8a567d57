"""Comparisons in a release file: refused before a charge or printed, written, shown, covered and given as JSON."""

import json
from pathlib import Path

import pytest

from entwined.schema import Boolean, Categorical, Integer, Schema, write_schema

TOP = 'table = "people.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 9\nleakage = 3\n'
ASKED = """
[[query]]
name = "ill"
kind = "count"
where = "ill"
[[query]]
name = "all"
kind = "count"
[[query]]
name = "by sex"
kind = "histogram"
column = "sex"
[[query]]
name = "age of men"
kind = "mean"
column = "age"
where = "sex = 'm'"
[[query]]
name = "age of women"
kind = "mean"
column = "age"
where = "sex = 'f'"
"""
COMPARED = """
[[comparison]]
name = "women and men"
one = ["by sex", "women"]
other = ["by sex", "m"]
[[comparison]]
kind = "share"
one = "ill"
other = "all"
[[comparison]]
name = "older"
one = "age of women"
other = "age of men"
"""


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{'mf'[n % 2]},{30 + n % 40},{n % 5 == 0}" for n in range(600)]
    Path("people.csv").write_text("\n".join(["sex,age,ill", *rows]) + "\n")
    columns = (
        Categorical("sex", ("m", "f"), labels=("men", "women")),
        Integer("age", 0, 100),
        Boolean("ill"),
    )
    schema = Schema(columns, neighbours="add_remove", most_rows=1000).approve()
    write_schema(schema, "schema.toml")


def test_comparisons_are_printed_written_shown_and_covered(run):
    Path("release.toml").write_text(TOP + ASKED + COMPARED)
    code, out, _ = run("release", "release.toml", "-o", "out", "--yes")
    assert code == 0
    said = " ".join(out.split())
    assert "women and men │ difference │ by sex · women │ by sex · m" in said
    found = json.loads(Path("out/comparisons.json").read_text())["comparisons"]
    assert [one["name"] for one in found] == ["women and men", "share 2", "older"]
    assert [one["confidence"] for one in found] == [0.95, 0.95, 0.95]
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert "comparisons.json" in certificate["published"]
    assert "Numbers beside each other" in Path("out/report.html").read_text()
    assert run("verify", "out/certificate.json", "--schema", "schema.toml")[0] == 0
    Path("out/comparisons.json").write_text("{}")
    assert run("verify", "out/certificate.json", "--schema", "schema.toml")[0] != 0
    again = json.loads(run("release", "release.toml", "-o", "again", "--yes", "--json")[1])
    assert again["comparisons"] == found  # the stored answers, for nothing


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('one = "ill"\nother = "nobody"', "nothing is called 'nobody'"),
        ('one = "ill"\nother = ["by sex", "x"]', "has no cell"),
        ('one = "ill"\nother = "by sex"', "Name one of its cells"),
        ('kind = "ratio"\none = "age of men"\nother = "age of women"', "what is no count"),
        ('kind = "product"\none = "ill"\nother = "all"', 'Give "difference" or "ratio" or "share"'),
        ('one = "ill"', "Give the name of a query"),
        ('one = "ill"\nother = "all"\nwith = 3', "the key 'with'"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_charged(run, given, says):
    Path("release.toml").write_text(f"{TOP}{ASKED}\n[[comparison]]\n{given}\n")
    code, _, wrong = run("release", "release.toml", "-o", "out", "--yes")
    assert code == 2
    assert says in " ".join(wrong.split())
    assert not Path("ledger.sqlite").exists()


def test_a_release_without_comparisons_has_no_file_of_them(run):
    Path("release.toml").write_text(TOP + ASKED)
    told = json.loads(run("release", "release.toml", "-o", "out", "--yes", "--json")[1])
    assert "comparisons" not in told
    assert "comparisons.json" not in told["files"]
