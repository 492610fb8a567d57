"""Ties and graphs on the command line: planned beside messages and group, released, checked, and who drives the noise."""

import json
from pathlib import Path

import pytest

from entwined.schema import Categorical, Schema, Text, write_schema

NAMES = [f"friend{number:02d}" for number in range(12)]
KERNEL = [[0.8, 0.2], [0.2, 0.8]]
ANALYST = "--knowledge", "model"


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """One who knows all others, who stand in a ring."""
    monkeypatch.chdir(tmp_path)
    ring = [(NAMES[k], NAMES[k % 11 + 1]) for k in range(1, 12)]
    pairs = [(NAMES[0], other) for other in NAMES[1:]] + ring
    rows = ["source,target", *(f"{one},{other}" for one, other in pairs)]
    Path("ties.csv").write_text("\n".join(rows) + "\n")
    Path("ties.json").write_text(json.dumps({"kind": "ties", "edges": "ties.csv", "kernel": KERNEL}))
    Path("graph.json").write_text(json.dumps({"kind": "graph", "edges": "ties.csv", "log_odds": 4.976}))


@pytest.fixture
def office():
    """A table of the same people, and what to release of it."""
    rows = [f"{name},{'yes' if place % 3 else 'no'}" for place, name in enumerate(NAMES)]
    Path("people.csv").write_text("\n".join(["who,went", *rows]) + "\n")
    columns = (Text("who", compare="loose"), Categorical("went", ("no", "yes"), missing="drop"))
    write_schema(Schema(columns, most_rows=50).approve(), "schema.toml")
    Path("release.toml").write_text(
        'table = "people.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 2\nleakage = 1\n'
        'knowledge = "model"\n[[query]]\nkind = "histogram"\ncolumn = "went"\n'
        '[[dependence]]\nmodel = "ties.json"\nby = "who"\nname = "friends"\nmissing_says_nothing = ["went"]\n'
    )


def test_a_bound_by_ties_stands_beside_messages_and_group_and_what_proves_nothing(run):
    found = json.loads(run("bound", "ties.json", "--loss", "0.1", *ANALYST, "--json")[1])
    others = {one["theorem"]: one.get("leakage") for one in found["alternatives"]}
    assert found["theorem"] == "ties"
    assert found["leakage"] < others["message passing"] <= others["group"]
    assert found["spread"]["0.5"] < found["spread"]["1"] == found["leakage"]
    assert "who" not in found
    _, out, _ = run("bound", "ties.json", "--loss", "0.1", *ANALYST)
    said = " ".join(out.split())
    assert "and uses no ties but those of the unit that it is after can change the odds" in said
    assert "WITHOUT A GUARANTEE, to compare: linear correlations (Zhu, Xiong, Li, Zhou 2015)" in said
    assert "Of all units half leak at most" in said


def test_who_drives_the_noise_is_named_when_the_holder_asks(run):
    found = json.loads(run("bound", "ties.json", "--loss", "1", "--who", "2", "--json")[1])
    assert [one["name"] for one in found["who"]] == ["'friend00'", "'friend01'"]
    assert [one["ties"] for one in found["who"]] == [11, 3]
    assert "'friend00'" in run("bound", "graph.json", "--loss", "1", "--who", "1")[1]
    assert "friend" not in run("bound", "graph.json", "--loss", "1")[1]


def test_where_messages_say_no_more_than_the_group_it_is_said(run):
    said = " ".join(run("bound", "graph.json", "--loss", "0.1")[1].split())
    assert "log odds up to 4.976 the messages along the ties say no more than the group: all 12 units" in said


def test_a_graph_with_a_cap_on_ties_is_planned_released_and_checked(run, office):
    """At equal leakage a cap allows a larger loss, so less noise; the report and the certificate tell of it."""
    asked = Path("release.toml").read_text().replace('missing_says_nothing = ["went"]\n', "")
    Path("release.toml").write_text(asked)
    losses = {}
    for most in (None, 1):
        capped = {"kind": "graph", "edges": "ties.csv", "log_odds": 4.976} | (
            {"most_ties": most} if most else {}
        )
        Path("ties.json").write_text(json.dumps(capped))
        _, out, said = run("plan", "release.toml", "--json")
        assert out, said
        planned = json.loads(out)
        losses[most] = {way["way"]: way["loss"] for way in planned["ways"] if way["applies"]}
    assert "capped messages" not in losses[None]
    assert losses[1]["capped messages"] > 4 * losses[1]["group"]
    assert planned["proposed"] == "capped messages"
    code, _, said = run("release", "release.toml", "-o", "out", "--yes")
    assert code == 0, said
    assert run("verify", "out/certificate.json")[0] == 0
    assert "no more than 1 say anything" in Path("out/report.html").read_text()
    certificate = Path("out/certificate.json")
    assert "capped messages" in certificate.read_text()
    certificate.write_text(certificate.read_text().replace('"most_ties": 1', '"most_ties": 3'))
    assert run("verify", "out/certificate.json")[0] == 1


def test_ties_are_planned_released_and_checked(run, office):
    planned = json.loads(run("plan", "release.toml", "--json")[1])
    applying = {way["way"]: way for way in planned["ways"] if way["applies"]}
    assert planned["proposed"] == "ties"
    assert applying["ties"]["loss"] > applying["message passing"]["loss"] >= applying["group"]["loss"]
    assert all(applying[name]["keeps_promise"] for name in ("ties", "message passing", "group"))
    (model,) = planned["models"]
    assert model["remarks"][0].startswith("What 'ties' rests on, first of all: Given i, those tied to i are")
    zhu = next(one for one in planned["rivals"] if one["title"].startswith("WITHOUT A GUARANTEE"))
    assert zhu["times"] == pytest.approx(
        1, abs=0.01
    )  # of two values the correlation is nearly the coefficient
    assert "Zhu" not in planned["because"]
    _, out, _ = run("plan", "release.toml", "--who", "1", "--html", "plan.html")
    assert "Who drives the noise" in out
    assert "'friend00'" in out
    assert "those tied to i are independent" in Path("plan.html").read_text()
    code, _, said = run("release", "release.toml", "-o", "out", "--yes")
    assert code == 0, said
    assert not any("friend00" in (Path("out") / name).read_text() for name in ("plan.json", "report.html"))
    assert "those tied to i are independent" in Path("out/report.html").read_text()
    code, out, _ = run("verify", "out/certificate.json")
    assert code == 0, out
    Path("out/ties.csv").write_text("source,target\nfriend00,friend01\n")
    assert run("verify", "out/certificate.json")[0] == 1
