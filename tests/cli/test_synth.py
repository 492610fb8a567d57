"""`entwined synth`: charged once, described, generated for nothing, verified."""

import json

import numpy as np
import pandas as pd
import psycopg
import pytest

from entwined.schema import Boolean, Categorical, Integer, Schema, Text, write_schema
from support.postgres import new_schema

FILE = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 10
{more}
[[dependence]]
model = {{kind = "groups", largest = 2}}
by = "home"

[[mechanism]]
kind = "synthesis"
impossible = ["age < 18 and ill"]
leakage = 4.0
"""
COLUMNS = (
    Text("home", compare="exact"), Integer("age", 0, 99), Categorical("town", ("a", "b")), Boolean("ill"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    ages = np.random.default_rng(2).integers(0, 100, 300)
    lines = "".join(f"h{at // 2},{age},{'ab'[at % 2]},{age > 50}\n" for at, age in enumerate(ages))
    (tmp_path / "people.csv").write_text("home,age,town,ill\n" + lines)
    write_schema(Schema(COLUMNS, most_rows=1000).approve(), tmp_path / "schema.toml")
    (tmp_path / "release.toml").write_text(FILE.format(more=""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_described_once_and_generated_for_nothing(folder, run):
    code, out, _ = run("plan", "release.toml", "--json")
    assert code == 0
    assert json.loads(out)["mechanisms"][0]["kind"] == "synthesis"
    code, out, _ = run("synth", "release.toml", "-o", "out", "--rows", "700", "--yes", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["budget"]["after"]["leakage"] == {"groups by home": pytest.approx(4, rel=1e-4)}
    assert {"description.json", "synthetic.csv", "synthetic.parquet", "dictionary.md"} <= set(told["files"])
    rows = pd.read_csv("out/synthetic.csv")
    assert len(rows) == 700
    assert not ((rows.age < 18) & (rows.ill == True)).any()  # noqa: E712  (missing is neither)
    assert run("verify", "out/description.json")[0] == 0
    (folder / "people.csv").unlink()
    code, out, _ = run(
        "synth", "out/description.json", "-o", "more", "--copies", "2", "--format", "csv", "--json"
    )
    assert code == 0
    assert json.loads(out)["charged"] == 0
    assert {"synthetic_1.csv", "synthetic_2.csv"} <= set(json.loads(out)["files"])
    (folder / "out" / "synthetic.csv").write_text("age\n1\n")
    assert run("verify", "out/description.json")[0] != 0


def test_every_mode_is_one_charge_of_what_was_asked(folder, run):
    """TRUST 40: what the ledger holds is what all written files cost."""
    for spent, mode in enumerate(("independent", "correlated"), start=1):
        code, out, _ = run(
            "synth", "people.csv", "--schema", "schema.toml", "--ledger", "other.sqlite", "--cap", "9",
            "--loss", "1", "--mode", mode, "-o", mode, "--yes", "--json",
        )  # fmt: skip
        assert code == 0, out
        assert json.loads(out)["budget"]["after"]["nominal"] == pytest.approx(spent, rel=1e-6)
    code, out, _ = run("synth", "schema.toml", "--mode", "random", "--rows", "20", "-o", "random", "--json")
    assert code == 0
    assert json.loads(out)["charged"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("people.csv", "--leakage", "1"), "--schema and --ledger"),
        (("release.toml", "--mode", "best"), "mode"),
        (("release.toml", "--copies", "0"), "--copies"),
        (("schema.toml", "--mode", "random", "--rows", "0"), "synthetic rows"),
        (("people.json",), "people.json"),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(folder, run, arguments, said):
    (folder / "people.json").write_text("{}")
    code, _, err = run("synth", *arguments, "-o", "out", "--yes")
    assert code in (1, 2)
    assert said in err
    assert not (folder / "out").exists()
    assert not (folder / "ledger.sqlite").exists()


def test_a_table_of_a_database_is_described_by_its_address(tmp_path, monkeypatch, run):
    """An address was taken for a path, which lost one of its strokes."""
    monkeypatch.chdir(tmp_path)
    url = new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE people (age bigint, ill boolean)")
        link.execute("INSERT INTO people SELECT at % 50, at % 3 = 0 FROM generate_series(1, 300) AS at")
    schema = Schema((Integer("age", 0, 99), Boolean("ill")), most_rows=1000).approve()
    write_schema(schema, tmp_path / "schema.toml")
    where = ["--schema", "schema.toml", "--ledger", "ledger.sqlite", "--cap", "3000"]
    run(
        "synth",
        f"{url}&table=people",
        *where,
        "--loss",
        "2000",
        "--mode",
        "independent",
        "-o",
        "out",
        "--yes",
    )
    made = pd.read_csv(tmp_path / "out" / "synthetic.csv")
    assert len(made) == 300
    assert made["ill"].sum() == 100
