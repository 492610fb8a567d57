"""`entwined synth` for households: protected as a whole by options or by the schema, one charge, the same bytes again."""

import json
from pathlib import Path

import pandas as pd
import pytest

from entwined.schema import write_schema
from support.census import census, census_schema

TERMS = (
    "--schema",
    "schema.toml",
    "--ledger",
    "ledger.sqlite",
    "--cap",
    "9",
    "--leakage",
    "2",
    "--yes",
    "--json",
)
ROLES = (
    "--role", "relation", "--head", "head", "--partner", "partner", "--child", "child", "--shared", "region",
    "--younger", "child:age:15",
)  # fmt: skip
HOMES = ("--household", "home", "--largest", "4")
FILE = """
table = "people.csv"
schema = "households.toml"
ledger = "other.sqlite"
cap = 9
delta = "1e-6"

[[mechanism]]
kind = "households"
role = "relation"
head = "head"
shared = ["region"]
leakage = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(census(120).to_pandas().to_csv(index=False))
    write_schema(census_schema(by_row=True), tmp_path / "schema.toml")
    write_schema(census_schema(4), tmp_path / "households.toml")
    (tmp_path / "release.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_options_protect_households_and_rows_come_out_as_such(folder, run):
    code, out, err = run("synth", "people.csv", "-o", "out", *TERMS, *HOMES, *ROLES)
    assert code == 0, err
    assert json.loads(out)["budget"]["after"]["nominal"] == pytest.approx(2, rel=1e-6)
    rows = pd.read_csv("out/synthetic.csv")
    assert rows.groupby("home").size().max() <= 4
    assert (rows[rows.relation == "head"].groupby("home").size() == 1).all()
    assert not set(rows.home) & set(pd.read_csv("people.csv").home)
    assert 'kind = "household"' in Path("out/schema.toml").read_text()
    code, said, _ = run("verify", "out/description.json")
    assert code == 0
    assert "all rows of one household" in said
    code, out, _ = run("synth", "people.csv", "-o", "again", *TERMS, *HOMES, *ROLES)
    assert json.loads(out)["budget"]["after"]["nominal"] == pytest.approx(2, rel=1e-6)
    assert (
        json.loads(Path("again/description.json").read_text())["drawn"]
        == (json.loads(Path("out/description.json").read_text())["drawn"])
    )
    code, out, _ = run("inspect", "out", "-o", "word.html", "--json")
    told = json.loads(out)
    assert (code, told["counted"]) == (0, "households")
    (folder / "people.csv").unlink()
    code, out, _ = run(
        "synth", "out/description.json", "-o", "more", "--rows", "900", "--format", "csv", "--json"
    )
    assert (code, json.loads(out)["charged"]) == (0, 0)
    assert 800 < len(pd.read_csv("more/synthetic.csv")) < 1000


def test_a_file_plans_and_releases_households(folder, run):
    code, out, _ = run("plan", "release.toml", "--json")
    assert code == 0
    assert json.loads(out)["mechanisms"][0]["kind"] == "households"
    code, out, err = run("synth", "release.toml", "-o", "out", "--yes", "--json")
    assert code == 0, err
    assert pd.read_parquet("out/synthetic.parquet").groupby("home").region.nunique(dropna=False).max() == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*TERMS, "--household", "home"), "--largest"),
        ((*TERMS, *HOMES, "--mode", "independent"), "--mode"),
        ((*TERMS, *HOMES, "--younger", "child"), "child:age:15"),
        ((*TERMS, "--role", "relation", "--head", "head"), "protects rows"),
        ((*TERMS, "--household", "street", "--largest", "3"), "street"),
        ((*TERMS, "--household", "home", "--largest", "1"), "largest"),
    ],
)
def test_what_cannot_be_is_refused_in_words(folder, run, arguments, said):
    code, _, err = run("synth", "people.csv", "-o", "out", *arguments)
    assert code != 0
    assert said in err
    assert not (folder / "out").exists()


def test_another_unit_or_a_model_of_the_same_households_is_refused(folder, run):
    code, _, err = run("synth", "release.toml", "-o", "out", "--yes", "--household", "home", "--largest", "3")
    assert code != 0
    assert "approve it" in err
    (folder / "release.toml").write_text(
        FILE.replace("households.toml", "schema.toml")
        + '\n[[dependence]]\nmodel = {kind = "groups", largest = 4}\nby = "home"\n'
    )
    code, _, err = run("synth", "release.toml", "-o", "out", "--yes", *HOMES)
    assert code != 0
    assert "Leave the model out" in err


def test_both_ways_are_compared_for_nothing_and_rehearsed_for_the_holder(folder, run):
    asked = ("households", "schema.toml", "-o", "page.html", "--leakage", "2", *HOMES, *ROLES[:8], "--json")
    code, out, err = run(*asked)
    assert code == 0, err
    assert json.loads(out)["files"] == ["page.html"]
    assert not (folder / "ledger.sqlite").exists()
    code, out, err = run(*asked[:-1], "--table", "people.csv", "--runs", "1")
    assert code == 0, err
    assert "May be published: page.html" in out
    hidden = folder / "page.holder-only.html"
    assert "HOLDER ONLY" in hidden.read_text().splitlines()[0]
    assert hidden.stat().st_mode & 0o077 == 0
    code, _, err = run(*asked[:-1], "--runs", "0")
    assert code != 0
    assert "--runs" in err
