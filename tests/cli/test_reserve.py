"""A reserve on the command line: worked out, written into the request, asked twice, and shown by the budget."""

import json
from pathlib import Path

import pytest

from entwined.schema import Categorical, Cells, Schema, write_schema

ANSWERS = ("no", "yes")
REQUEST = """table = "wave.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 1
delta = 1e-6
leakage = 0.5
{reserve}
[[dependence]]
model = "model.json"
missing_says_nothing = ["q1", "q2"]
[[query]]
kind = "histogram"
column = "{column}"
"""


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """Two questions that depend on each other."""
    monkeypatch.chdir(tmp_path)
    Path("wave.csv").write_text(
        "q1,q2\n" + "".join(f"{ANSWERS[n % 2]},{ANSWERS[n // 2 % 2]}\n" for n in range(40))
    )
    columns = tuple(Categorical(name, ANSWERS) for name in ("q1", "q2"))
    write_schema(Schema(columns, unit=Cells(), rows=40).approve(), "schema.toml")
    first = {"name": "q1", "values": ANSWERS, "parents": [], "table": [[0.5, 0.5]]}
    second = {"name": "q2", "values": ANSWERS, "parents": ["q1"], "table": [[0.7, 0.3], [0.3, 0.7]]}
    Path("model.json").write_text(json.dumps({"kind": "bayes_net", "variables": [first, second]}))


def test_a_reserve_is_worked_out_written_and_used_twice(run):
    Path("release.toml").write_text(REQUEST.format(reserve="", column="q1"))
    code, out, _ = run("budget", "reserve", "release.toml")
    assert code == 0
    reserve = out[out.index("[reserve]") :]
    found = json.loads(run("budget", "reserve", "release.toml", "--json")[1])
    assert set(found["reserve"]) == {"q1", "q2"}
    asked = json.loads(
        run("budget", "reserve", "release.toml", "--as-asked", "--leakage", "0.5", "--json")[1]
    )
    assert set(asked["reserve"]) == {"q1"}
    assert run("budget", "reserve", "release.toml", "--as-asked", "--column", "q1")[0] == 2
    for column in ("q1", "q2"):
        Path("release.toml").write_text(REQUEST.format(reserve=reserve, column=column))
        assert "the ledger is charged once for all that is reserved" in " ".join(
            run("plan", "release.toml")[1].split()
        )
        assert run("release", "release.toml", "-o", column, "--yes")[0] == 0
        assert run("verify", f"{column}/certificate.json")[0] == 0
    shown = run("budget", "release.toml")[1]
    assert "% of what is reserved for q1" in shown
    assert json.loads(run("budget", "release.toml", "--json")[1])["reserve_left"]["q2"][0] < 1
    Path("release.toml").write_text(REQUEST.format(reserve=reserve, column="q1").replace("0.5\n", "0.99\n"))
    planned = json.loads(run("plan", "release.toml", "--json")[1])["budget"]
    assert "more would be shown than is reserved" in planned["refused"]
    code, _, err = run("release", "release.toml", "-o", "more", "--yes")
    assert code == 1
    assert "more would be shown than is reserved" in " ".join(err.split())
