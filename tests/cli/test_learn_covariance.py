"""`entwined learn covariance`: with a budget from last year's table, for a secret of this year's."""

import json
from pathlib import Path

import numpy as np
import pytest

from entwined.schema import Integer, Schema, Text, write_schema
from support.command import document

ROWS = 20_000
COLUMNS = Integer("income", 0, 100), Integer("weight", 0, 200)
COVARIANCE = [[100.0, -60.0], [-60.0, 225.0]]
LAST = """
table = "last_year.csv"
schema = "schema.toml"
ledger = "last.sqlite"
cap = 5
loss = 0.5

[[query]]
kind = "mean"
column = "weight"
"""
THIS = """
table = "{table}"
schema = "{schema}"
ledger = "{ledger}"
individuals = "not protected"

[[query]]
name = "weight"
kind = "mean"
column = "weight"

[[secret]]
column = "income"
figure = "mean"
apart = [49, 51]
epsilon = 1
delta = 0.001
covariance = "covariance.json"
"""


@pytest.fixture
def years(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(list(str(tmp_path).encode()))
    for name, rows in (("last_year", ROWS), ("this_year", 500)):
        drawn = np.rint(rng.multivariate_normal([50, 90], COVARIANCE, rows)).astype(int)
        Path(f"{name}.csv").write_text("income,weight\n" + "".join(f"{a},{b}\n" for a, b in drawn))
    write_schema(Schema(COLUMNS, rows=ROWS).approve(), "schema.toml")
    write_schema(Schema(COLUMNS, rows=500).approve(), "this_schema.toml")
    Path("last.toml").write_text(LAST)
    Path("this.toml").write_text(
        THIS.format(table="this_year.csv", schema="this_schema.toml", ledger="this.sqlite")
    )
    return tmp_path


def test_a_covariance_is_learned_with_a_budget_and_used_for_a_secret(years, run):
    asked = (
        "learn",
        "covariance",
        "last.toml",
        "--columns",
        "income, weight",
        "--budget",
        "1",
        "-o",
        "covariance.json",
    )
    found = document(run(*asked, "--yes", "--json"))
    assert found["spent"] == pytest.approx(1, rel=1e-6)
    assert "confidence 0.95" in found["learned"]
    code, _, err = run("release", "this.toml", "-o", "out", "--yes")
    assert (code, err) == (0, "")
    assert run("verify", "out/answers.json")[0] == 0
    proof = json.loads(Path("out/answers.json").read_text())["certificate"]
    assert any("learned from the private table with a budget" in line for line in proof["trusted"])
    (law,) = proof["secrets"]["kept"][0]["linked"]
    low, high = (float(np.divide(*map(int, end.split("/")))) for end in law["slope"])
    assert -1.2 < low < -0.6 < high < -0.2
    again = run(*asked, "--yes")
    assert (again[0], "covariance.json" in again[2]) == (2, True)  # it is not written over


def test_it_is_refused_for_the_same_rows_and_where_it_cannot_be_read(years, run):
    asked = (
        "learn",
        "covariance",
        "last.toml",
        "--columns",
        "income,weight",
        "--budget",
        "1",
        "-o",
        "covariance.json",
    )
    assert run(*asked, "--yes")[0] == 0
    Path("same.toml").write_text(
        THIS.format(table="last_year.csv", schema="schema.toml", ledger="last.sqlite")
    )
    code, _, err = run("release", "same.toml", "-o", "same", "--yes")
    assert (code, "made for other terms" in " ".join(err.split())) == (2, True)
    Path("covariance.json").write_text("{}")
    code, _, err = run("plan", "this.toml")
    assert (code, "entwined learn covariance" in " ".join(err.split())) == (2, True)
    code, _, err = run(
        "learn", "covariance", "last.toml", "--columns", "income", "--budget", "1", "-o", "one.json", "--yes"
    )
    assert (code, "2 to 12" in err) == (2, True)


FAMILIES = """
table = "people.csv"
schema = "people.toml"
ledger = "people.sqlite"
cap = 2
leakage = 1

[[dependence]]
model = "kin.json"
by = "family"
columns = ["weight"]
missing_says_nothing = ["weight"]

[[query]]
kind = "mean"
column = "weight"
"""


@pytest.mark.parametrize("option", [(), ("--at-most",)])
def test_members_of_families_are_learned_as_a_model_that_a_release_takes(years, run, option):
    pair = Integer("first", 0, 200), Integer("second", 0, 200)
    write_schema(Schema(pair, rows=ROWS).approve(), "schema.toml")
    rng = np.random.default_rng(5)
    drawn = np.rint(rng.multivariate_normal([90, 90], [[225, 68], [68, 225]], ROWS)).astype(int)
    Path("last_year.csv").write_text("first,second\n" + "".join(f"{a},{b}\n" for a, b in drawn))
    Path("last.toml").write_text(LAST.replace("weight", "first"))
    asked = (
        "learn",
        "covariance",
        "last.toml",
        "--columns",
        "first,second",
        "--budget",
        "2",
        "--members",
        "2",
    )
    found = document(run(*asked, *option, "-o", "kin.json", "--yes", "--json"))
    assert found["low"] < 68 / 225 < found["high"]
    assert found["taken"] == pytest.approx(found["high"], rel=1e-6)
    assert found["spent"] == pytest.approx(2, rel=1e-6)
    assert json.loads(Path("kin.json").read_text())["source"] == "learned"
    people = Text("family", compare="exact"), Integer("weight", 0, 200)
    write_schema(Schema(people, most_rows=1000).approve(), "people.toml")
    Path("people.csv").write_text("family,weight\n" + "".join(f"f{at // 2},{80 + at}\n" for at in range(40)))
    Path("families.toml").write_text(FAMILIES)
    assert run("release", "families.toml", "-o", "out", "--yes")[0] == 0
    assert run("verify", "out/certificate.json")[0] == 0
    certificate = json.loads(Path("out/certificate.json").read_text())
    (model,) = certificate["models"]
    assert model["declared"]["model"]["source"] == "learned"
    (leaked,) = certificate["total"]["leakage"].values()
    assert leaked == pytest.approx(1, rel=1e-3)
