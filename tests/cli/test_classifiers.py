"""Classifiers from a release file: planned, released with coefficients by name, and verified."""

import csv
import json

import numpy as np
import pytest

from entwined.schema import Boolean, Categorical, Integer, Schema, Text, write_schema

FILE = """
title = "Who is ill"
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 10
{more}
[[dependence]]
model = {{kind = "groups", largest = 2}}
by = "home"

[[mechanism]]
name = "Illness"
kind = "{kind}"
label = "{label}"
{fields}
leakage = 4.0
"""
COLUMNS = (
    Text("home", compare="exact"), Integer("age", 0, 99), Categorical("town", ("a", "b")), Boolean("ill"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    ages = np.random.default_rng(2).integers(0, 100, 600)
    lines = "".join(f"h{at // 2},{age},{'ab'[at % 2]},{age > 50}\n" for at, age in enumerate(ages))
    (tmp_path / "people.csv").write_text("home,age,town,ill\n" + lines)
    write_schema(Schema(COLUMNS, most_rows=1000).approve(), tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, kind="logistic_regression", label="ill", fields="", more=""):
    text = FILE.format(kind=kind, label=label, fields=fields, more=more)
    (folder / "release.toml").write_text(text)


@pytest.mark.parametrize(
    ("more", "kind", "fields", "columns"),
    [
        ("", "logistic_regression", 'columns = ["age", "town"]', ["feature", "coefficient"]),
        ('delta = "1e-6"', "linear_svm", 'method = "output"', ["feature", "coefficient", "from", "to"]),
    ],
)
def test_coefficients_are_planned_released_and_verified(folder, run, more, kind, fields, columns):
    write(folder, kind, fields=fields, more=more)
    code, out, _ = run("plan", "release.toml", "--json")
    (one,) = json.loads(out)["mechanisms"]
    assert code == 0
    assert 3.9 < one["price"]["leakage"]["groups by home"] <= 4
    assert one["expected"]["rows"][0] == {"about": "method", "figure": "output" if more else "objective"}
    code, out, _ = run("release", "release.toml", "-o", "out", "--yes", "--json")
    assert code == 0
    with (folder / "out" / "illness.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == columns
    assert [line["feature"] for line in lines] == [
        "intercept",
        "age",
        "town = a",
        "town = b",
        "town is missing",
    ]
    assert max(lines, key=lambda line: float(line["coefficient"]))["feature"] == "age"
    assert "of ill by age, town" in (folder / "out" / "report.html").read_text()
    assert run("verify", "out/illness.json")[1].startswith("Valid.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"label": "age"}, "100 values"),
        ({"fields": "columns = 3"}, "Give a list of columns' names"),
        ({"fields": 'method = "magic"'}, "objective, output, descent"),
        ({"fields": "centres = 3"}, "centres"),
    ],
)
def test_what_is_wrong_is_said_in_words(folder, run, given, said):
    write(folder, **given)
    code, out, error = run("plan", "release.toml")
    assert code == 2
    assert said in out + error
