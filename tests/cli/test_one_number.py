"""One count about a series on the command line: every mechanism is listed, it is released, and a second one counts."""

import json
from pathlib import Path

import numpy as np
import pytest

from entwined.schema import Categorical, Integer, Schema, Text, write_schema

STEP = [[0.95, 0.05, 0.0], [0.04, 0.92, 0.04], [0.0, 0.1, 0.9]]
STATES = ("well", "unwell", "ill")
CHAIN = {"kind": "markov_chain", "length": 20, "initial": [0.4, 0.4, 0.2], "transition": STEP}
TOP = 'table = "days.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 2\nleakage = 1\nknowledge = "model"\n'
MODEL = '[[dependence]]\nmodel = "chain.json"\nby = "who"\norder = "day"\n'
NEVER = 'never_missing = ["state"]\n'


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """Thirty people, each for some days."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    rows = ["who,day,state"]
    for who in range(30):
        state = 0
        for day in range(1, int(rng.integers(5, 21))):
            rows.append(f"w{who},{day},{STATES[state]}")
            state = int(rng.choice(3, p=STEP[state]))
    Path("days.csv").write_text("\n".join(rows) + "\n")
    columns = (Text("who", compare="exact"), Integer("day", 1, 20), Categorical("state", STATES))
    write_schema(Schema(columns, most_rows=1000).approve(), "schema.toml")
    Path("chain.json").write_text(json.dumps(CHAIN))


def asked(where, more=NEVER):
    query = f'[[query]]\nname = "days"\nkind = "count"\nwhere = "{where}"\n'
    Path("release.toml").write_text(TOP + MODEL + more + query)


def test_every_mechanism_is_listed_with_its_noise_or_why_not(run):
    asked("state = 'ill'")
    found = json.loads(run("plan", "release.toml", "--json")[1])
    ways = {way["way"]: way for way in found["ways"]}
    noise = {name: 1 / way["loss"] for name, way in ways.items() if way["applies"]}
    assert found["proposed"] == "exact scalar of series"
    assert noise.keys() >= {"group", "markov quilt", "block transport", "transport", "wasserstein of series"}
    assert noise["exact scalar of series"] < 0.9 * min(noise["transport"], noise["block transport"])
    code, out, _ = run("plan", "release.toml")
    said = " ".join(out.split())
    assert code == 0
    assert "Not here: Markov closed form. A transition has probability zero" in said
    assert "Not here: Lazy symmetric. It is about chains of two states" in said
    assert "Exact law of one number (proposed)" in said
    assert (
        "beside any other release everything is priced by its losses, and this number counts for 1." in said
    )


def test_why_there_is_no_price_of_its_own_is_said(run):
    asked("state = 'ill'", 'missing_says_nothing = ["state"]\n')
    _, out, _ = run("plan", "release.toml")
    assert "Not here: Exact law of one number. It needs the law of every row" in " ".join(out.split())


def test_it_is_released_and_a_second_one_is_priced_by_all_losses(run):
    asked("state = 'ill'")
    assert run("release", "release.toml", "-o", "first", "--yes")[0] == 0
    first = json.loads(Path("first/certificate.json").read_text())
    assert first["models"][0]["certificate"]["theorem"]["name"] == "exact scalar of series"
    spent = next(iter(first["total"]["leakage"].values()))
    assert 0.99 < spent <= 1
    assert run("verify", "first/certificate.json", "--schema", "schema.toml")[0] == 0
    asked("state = 'well'")
    Path("release.toml").write_text(Path("release.toml").read_text().replace("leakage = 1", "leakage = 0.1"))
    assert run("release", "release.toml", "-o", "second", "--yes")[0] == 0
    second = json.loads(Path("second/certificate.json").read_text())
    assert next(iter(second["total"]["leakage"].values())) > 1.3
    assert run("verify", "second/certificate.json", "--schema", "schema.toml")[0] == 0
