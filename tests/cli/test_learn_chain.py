"""`entwined learn chain`: from public series for nothing, or with a budget, to a model that a release takes."""

from pathlib import Path

import numpy as np
import pytest

from entwined.dependence import read_model
from entwined.schema import Categorical, Integer, Schema, Text, write_schema
from support.command import document

COLUMNS = Text("who", compare="exact"), Integer("month", 1, 12), Categorical("state", ("well", "ill"))
REQUEST = """\
table = "private.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 20.0
loss = 0.5

[[dependence]]
model = { kind = "groups", largest = 12 }
by = "who"

[[query]]
kind = "count"
where = "state = 'ill' and month = 3"
"""


def panel(seed):
    rng, lines = np.random.default_rng(seed), ["who,month,state"]
    for who in range(80):
        ill = rng.random() < 0.3
        for month in range(1, 13):
            lines.append(f"p{who},{month},{'ill' if ill else 'well'}")
            ill = rng.random() < (0.7 if ill else 0.1)
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Path("pilot.csv").write_text(panel(1))
    Path("private.csv").write_text(panel(2))
    write_schema(Schema(COLUMNS, most_rows=10_000).approve(), "schema.toml")
    Path("release.toml").write_text(REQUEST)
    return tmp_path


def test_a_chain_from_public_series_is_checked_and_used(folder, run):
    asked = ("learn", "chain", "pilot.csv", "--schema", "schema.toml", "--state", "state", "--order", "month")
    found = document(run(*asked, "--by", "who", "-o", "chain.json", "--json"))
    assert (found["states"], found["steps"]) == (3, 12)
    assert not found["check"]["needed"]
    assert found["check"]["steps"] == 800
    model = read_model("chain.json")
    assert model.source == "proxy"
    assert model.transition.low[1, 1] == pytest.approx(0.7, abs=0.1)
    chain = 'model = "chain.json"\norder = "month"\npanel = true'
    Path("release.toml").write_text(REQUEST.replace('model = { kind = "groups", largest = 12 }', chain))
    planned = document(run("plan", "release.toml", "--json"))
    assert planned["budget"]["series_in_all"] == pytest.approx(0.5)
    code, out, _ = run("plan", "release.toml")
    assert code == 0
    assert "counted for a whole series without the chain 0.5" in out
    code, _, err = run(*asked[:-2], "--by", "who", "-o", "other.json")
    assert code == 2
    assert "--order is missing" in err


def test_a_chain_with_a_budget_is_charged_once(folder, run):
    asked = (
        "learn",
        "chain",
        "release.toml",
        "--budget",
        "1",
        "--state",
        "state",
        "--order",
        "month",
        "--yes",
    )
    found = document(run(*asked, "-o", "chain.json", "--confidence", "0.9", "--json"))
    assert found["spent"] == pytest.approx(12, rel=1e-6)
    assert found["left"] == pytest.approx(8, rel=1e-6)
    model = read_model("chain.json")
    assert model.source == "learned"
    assert not model.transition.is_exact
    again = document(run(*asked, "-o", "same.json", "--confidence", "0.9", "--json"))
    assert again["spent"] == found["spent"]
    assert Path("same.json").read_text() == Path("chain.json").read_text()
    code, out, _ = run(*asked, "-o", "smooth.json")
    assert code == 0
    assert "was not checked" in out
    code, _, err = run(
        "learn", "chain", "release.toml", "--budget", "1", "--state", "state", "-o", "x.json", "--yes"
    )
    assert code == 2
    assert "Give --by and --order" in err
