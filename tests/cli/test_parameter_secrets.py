"""A school hides what incomes are drawn by: from a release file with a network to the report, verified."""

import json
import random
from pathlib import Path

import pytest

from entwined.door.certificate import opened, sealed
from entwined.request.request_file import read_request
from entwined.request.verification import verify
from entwined.schema import Boolean, Schema, read_schema, write_schema

ROWS = 400
RELEASE = """
title = "The school"
table = "pupils.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
individuals = "not protected"

[[secret]]
name = "incomes"
column = "income"
network = "network.json"
apart = [[["low"], ["high"]]]
epsilon = 1
delta = 0.001
"""
LEVELS = ["low", "high"]
FOLLOWS = [[0.8, 0.2], [0.2, 0.8]]
NETWORK = {
    "kind": "bayes_net",
    "variables": [
        {"name": "income", "values": LEVELS, "parents": [], "table": [[0.5, 0.5]]},
        {"name": "good", "values": LEVELS, "parents": ["income"], "table": FOLLOWS},
        {"name": "girl", "values": LEVELS, "parents": ["income"], "table": [[0.6, 0.4], [0.4, 0.6]]},
        {"name": "tall", "values": LEVELS, "parents": ["girl"], "table": [[0.9, 0.1], [0.1, 0.9]]},
    ],
}
TALL = '\n[[query]]\nname = "tall"\nkind = "count"\nwhere = "tall"\n'
GOOD = '\n[[query]]\nname = "good"\nkind = "count"\nwhere = "good"\n'


@pytest.fixture
def school(tmp_path, monkeypatch):
    luck = random.Random(str(tmp_path))
    lines = [f"{luck.random() < 0.5},{luck.random() < 0.4},{luck.random() < 0.3}\n" for _ in range(ROWS)]
    (tmp_path / "pupils.csv").write_text("tall,girl,good\n" + "".join(lines))
    schema = Schema((Boolean("tall"), Boolean("girl"), Boolean("good")), rows=ROWS)
    write_schema(schema.approve(), tmp_path / "schema.toml")
    (tmp_path / "network.json").write_text(json.dumps(NETWORK))
    monkeypatch.chdir(tmp_path)
    return sum(line.startswith("True") for line in lines)


def test_remote_columns_are_released_as_they_are_and_verified(school, run):
    Path("release.toml").write_text(RELEASE + TALL)
    code, out, _ = run("plan", "release.toml")
    assert (code, out[:29]) == (0, "INDIVIDUALS ARE NOT PROTECTED")
    code, _, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, err) == (0, "")
    written = json.loads(Path("out/answers.json").read_text())
    assert str(school) in json.dumps(written.get("answers", written))
    certificate = written["certificate"]
    assert certificate["secrets"]["kept"][0]["parameter"]["column"] == "income"
    assert certificate["mechanism"]["noise"]["variances"] == ["0/1"]
    schema = read_schema("schema.toml")
    assert verify(certificate, schema).valid
    changed = opened(certificate)
    changed["secrets"]["kept"][0]["network"]["variables"][2]["table"] = [[0.9, 0.1], [0.1, 0.9]]
    assert not verify(sealed(changed), schema).valid
    page = Path("out/report.html").read_text()
    assert "whether the law that income is drawn by is low, or high" in page
    code, _, err = run("release", "release.toml", "-o", "again", "--yes")
    assert code == 0  # the same question has the same answer


def test_near_columns_get_noise_for_all_rows(school, run):
    Path("release.toml").write_text(RELEASE + GOOD)
    code, _, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, err) == (0, "")
    (variance,) = json.loads(Path("out/answers.json").read_text())["certificate"]["mechanism"]["noise"][
        "variances"
    ]
    needed = (ROWS * 2.5747) ** 2  # ε = 1 at δ = 0.001, for a count that all rows may move
    over, under = map(int, variance.split("/"))
    assert needed * 0.999 < over / under < needed * 1.01


def test_what_is_wrong_is_told(school, run):
    Path("release.toml").write_text(
        RELEASE.replace('apart = [[["low"], ["high"]]]', "apart = [[0.2, 0.5]]") + TALL
    )
    code, _, err = run("plan", "release.toml")
    assert code == 2
    assert "pairs of sets of the network's values" in err
    Path("release.toml").write_text(RELEASE + 'level = "table"\n' + TALL)
    assert run("plan", "release.toml")[0] == 2
    Path("release.toml").write_text(RELEASE + TALL)
    request = read_request("release.toml")
    assert request.secrets.guards[0].secret.rows == ROWS
    other = {**NETWORK, "variables": NETWORK["variables"][:3]}
    Path("network.json").write_text(json.dumps(other))
    code, _, err = run("plan", "release.toml")
    assert code == 2
    assert "Add it to the network" in err
