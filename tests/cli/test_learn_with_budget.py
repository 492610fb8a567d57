"""`entwined learn --budget`: from private rows to a model file, charged, under the request's own models."""

import json
from pathlib import Path

import pytest

from entwined.dependence import read_model
from entwined.schema import Boolean, Integer, Schema, write_schema
from support.command import document

SCHEMA = Schema(
    (Integer("home", 0, 200), Boolean("a"), Boolean("b"), Integer("c", 0, 2)), most_rows=2000
).approve()
REQUEST = """\
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 6.0
leakage = 1.0

[[dependence]]
name = "households"
model = { kind = "groups", largest = 2 }
by = "home"

[[query]]
kind = "histogram"
column = "c"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    lines = [f"{at // 3},{at % 2},{at % 2},{at % 3}" for at in range(600)]
    Path("people.csv").write_text("home,a,b,c\n" + "\n".join(lines) + "\n")
    write_schema(SCHEMA, "schema.toml")
    Path("release.toml").write_text(REQUEST)
    return tmp_path


def test_a_model_is_learned_charged_once_and_found_again(folder, run):
    found = document(run("learn", "release.toml", "--budget", "2", "-o", "model.json", "--yes", "--json"))
    assert found["columns"] == 4
    assert 0 < found["spent"] <= 4.0001  # the loss of 2, and two rows of a household are kept
    assert read_model(Path("model.json")).source == "learned"
    again = document(run("learn", "release.toml", "--budget", "2", "-o", "same.json", "--yes", "--json"))
    assert again["spent"] == found["spent"]
    assert json.loads(Path("same.json").read_text()) == json.loads(Path("model.json").read_text())
    code, out, _ = run("budget", "release.toml", "--json")
    assert code == 0
    assert [row["kind"] for row in json.loads(out)["history"]] == ["structure search", "batch"]


def test_what_cannot_be_learned_says_what_to_do(folder, run):
    code, out, err = run("learn", "release.toml", "--budget", "40", "-o", "model.json", "--yes")
    assert (code, out) == (1, "")
    assert "cap" in err
    assert not Path("model.json").exists()
    code, _, err = run("learn", "people.csv", "-o", "model.json")
    assert code == 2
    assert "--schema is missing" in err
    code, _, err = run("learn", "release.toml", "--budget", "0", "-o", "model.json")
    assert code == 2
