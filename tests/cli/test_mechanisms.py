"""Mechanisms from a release file: planned, released, verified, given again for nothing, and refused in words."""

import csv
import json

import numpy as np
import pytest

from entwined.schema import Real, Schema, Text, write_schema

FILE = """
title = "Places"
table = "places.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 10
{more}
[[dependence]]
model = {{kind = "groups", largest = 2}}
by = "home"

[[mechanism]]
name = "Where people are"
kind = "k_means"
columns = ["x", "y"]
centres = 2
rounds = 2
leakage = {leakage}
"""
TWIN = (
    '[[mechanism]]\nname = "where people, are!"\nkind = "k_means"\ncolumns = ["x"]\ncentres = 1\nloss = 1\n'
)
QUESTION = '\n[[query]]\nkind = "histogram"\ncolumn = "x"\nbins = 2\n'
COLUMNS = Text("home", compare="exact"), Real("x", 0, 10, step="0.1"), Real("y", 0, 10, step="0.1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    rows = np.clip(np.repeat([[2, 2], [8, 7]], 1000, axis=0) + rng.normal(0, 0.5, (2000, 2)), 0, 10)
    lines = "".join(f"h{at // 2},{x:.1f},{y:.1f}\n" for at, (x, y) in enumerate(rows))
    (tmp_path / "places.csv").write_text("home,x,y\n" + lines)
    write_schema(Schema(COLUMNS, most_rows=5000).approve(), tmp_path / "schema.toml")
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, leakage=2.0, more="", then=""):
    (folder / "release.toml").write_text(FILE.format(leakage=leakage, more=more) + then)


def test_a_mechanism_is_planned_released_verified_and_given_again(folder, run):
    code, out, _ = run("plan", "release.toml", "--json")
    planned = json.loads(out)
    (one,) = planned["mechanisms"]
    assert (code, one["name"], one["kind"]) == (0, "Where people are", "k_means")
    assert 1.9 < one["price"]["leakage"]["groups by home"] <= 2
    assert one["expected"]["columns"][0] == "rows of a centre"
    code, out, _ = run("plan", "release.toml", "--html", "plan.html")
    assert "2 centres, 2 rounds" in out
    page = (folder / "plan.html").read_text()
    assert "k-means of x, y: 2 centres, 2 rounds" in page
    assert "rows of a centre" in page
    assert "entwined verify" not in page

    code, out, _ = run("release", "release.toml", "-o", "out", "--yes", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["files"] == [
        "plan.json", "report.html", "schema.toml", "where_people_are.csv", "where_people_are.json",
    ]  # fmt: skip
    low, high = told["outputs"]["Where people are"]["rows"]
    assert low["x from"] < low["x"] < low["x to"] < 5 < high["x"]
    with (folder / "out" / "where_people_are.csv").open() as file:
        assert [line["centre"] for line in csv.DictReader(file)] == ["1", "2"]
    page = (folder / "out" / "report.html").read_text()
    assert "Where people are" in page
    assert "k-means of x, y" in page

    code, out, _ = run("verify", "out/where_people_are.json")
    assert (code, out[:6]) == (0, "Valid.")
    assert "where_people_are.csv" in out
    assert run("verify", "out/where_people_are.json", "--ledger", "ledger.sqlite")[0] == 0

    code, out, _ = run("release", "release.toml", "-o", "again", "--yes")
    assert code == 0
    assert "nothing new was charged" in out
    first, again = (
        json.loads((folder / name / "where_people_are.json").read_text()) for name in ("out", "again")
    )
    assert first["drawn"] == again["drawn"]
    assert "k-means of x, y: 2 centres, 2 rounds" in run("budget", "ledger.sqlite")[1]


def test_forged_output_or_file_is_noticed(folder, run):
    run("release", "release.toml", "-o", "out", "--yes")
    path = folder / "out" / "where_people_are.json"
    given = json.loads(path.read_text())

    moved = json.loads(path.read_text())
    moved["output"]["rows"][0]["x"] += 1
    path.write_text(json.dumps(moved))
    assert run("verify", path)[0] == 1

    from entwined.canonical import canonical, sha256
    from entwined.door.certificate import covering

    numbers = {key: value for key, value in moved.items() if key != "certificate"}
    proof = dict(covering(moved["certificate"], released=sha256(canonical(numbers))))
    path.write_text(json.dumps(numbers | {"certificate": proof}))
    code, out, _ = run("verify", path)
    assert code == 1
    assert "not what was drawn" in out

    path.write_text(json.dumps(given))
    assert run("verify", path)[0] == 0
    table = folder / "out" / "where_people_are.csv"
    table.write_text(table.read_text().replace("no", "yes"))
    code, out, _ = run("verify", path)
    assert code == 1
    assert "where_people_are.csv is not the file" in out


def test_beside_questions_both_are_charged_certified_and_shown(folder, run):
    write(folder, more="leakage = 1.0\n", then=QUESTION)
    plan = json.loads(run("plan", "release.toml", "--json")[1])
    assert 2.9 < plan["budget"]["after"]["leakage"]["groups by home"] <= 3
    assert [one["name"] for one in plan["mechanisms"]] == ["Where people are"]
    assert run("plan", "release.toml", "--html", "plan.html")[0] == 0
    assert "What mechanisms will give" in (folder / "plan.html").read_text()
    code, out, _ = run("release", "release.toml", "-o", "out", "--yes")
    assert code == 0
    assert "k-means" in out
    assert "Spent so far: 3 of 10" in out
    assert run("verify", "out/certificate.json", "out/where_people_are.json")[0] == 0
    assert "What was computed beside them" in (folder / "out" / "report.html").read_text()


def test_what_does_not_fit_under_the_cap_together_charges_nothing(folder, run):
    write(folder, leakage=9.5, more="leakage = 1.0\n", then=QUESTION)
    code, _, err = run("release", "release.toml", "-o", "out", "--yes")
    assert code
    assert "Nothing was charged" in err
    assert not (folder / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('kind = "k_means"', 'kind = "kmeans"'), "Ask for k_means"),
        (("centres = 2", "centers = 2"), "Did you mean 'centres'?"),
        (("centres = 2", "centres = 2\nseed = 7"), "no seeds here"),
        (("leakage = 2.0", ""), "either a leakage or a loss"),
        (('name = "Where people are"', 'name = "report"'), "another file"),
        (('columns = ["x", "y"]', 'columns = ["home"]'), "[[mechanism]] 'Where people are'"),
        (("cap = 10", "cap = 10\nleakage = 1.0"), "Give each mechanism its own"),
        (
            ("[[mechanism]]", TWIN + "[[mechanism]]"),
            "Two mechanisms are called 'where people, are!' or nearly so",
        ),
    ],
)
def test_what_is_no_mechanism_is_refused_in_words(folder, run, change, why):
    path = folder / "release.toml"
    path.write_text(path.read_text().replace(*change))
    code, _, err = run("plan", "release.toml")
    assert code
    assert why in " ".join(err.split())
