"""`entwined learn --check`, and what a model that failed says in plans, releases and certificates."""

import json
import random
from pathlib import Path

import pytest

from entwined.dependence import read_model
from entwined.learning import check as checking
from entwined.learning import strong_learner
from entwined.schema import Categorical, Cells, Schema, write_schema
from support.command import document

SIDES = tuple(f"q{n}" for n in range(12))
REQUEST = """\
title = "Sides"
table = "wave.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 3
leakage = 1
knowledge = "model"
"""
LEARN = ("learn", "pilot.csv", "--schema", "schema.toml", "--knowledge", "model", "--check")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    # the fewest laws and trees that show it
    monkeypatch.setattr(checking.check, "__kwdefaults__", {"classes": (2,)})
    monkeypatch.setattr(strong_learner, "TREES", 3)
    draw = random.Random(4)
    for name, rows in (("pilot.csv", 600), ("wave.csv", 400)):
        lines = [",".join(SIDES)]
        for _ in range(rows):
            side = draw.random() < 0.5
            lines.append(",".join("01"[side if draw.random() < 0.85 else not side] for _ in SIDES))
        Path(name).write_text("\n".join(lines) + "\n")
    columns = tuple(Categorical(name, ("0", "1"), missing="value") for name in SIDES)
    write_schema(Schema(columns, unit=Cells(), rows=400).approve(), "schema.toml")
    return tmp_path


def requested(*models):
    laws = "".join(f'[[dependence]]\nname = "{Path(one).stem}"\nmodel = "{one}"\n' for one in models)
    asked = "".join(f'[[query]]\nkind = "histogram"\ncolumn = "{name}"\n' for name in SIDES)
    Path("release.toml").write_text(REQUEST + laws + asked)


def test_a_hidden_side_fails_the_tree_and_what_covers_it_is_written_beside(folder, run):
    code, out, _ = run(*LEARN, "-o", "tree.json")
    assert code == 0
    assert out.startswith(
        "The tree alone failed its check. What covers it stands beside it: declare tree.beside-1.json"
    )
    assert "nats beyond the model" in out
    tree, beside = read_model("tree.json"), read_model("tree.beside-1.json")
    assert tree.check.law == "a tree"
    assert [beside.check.law] == list(tree.check.needed)
    assert beside.hidden == (12,)
    assert beside.learned_from == tree.learned_from

    requested("tree.json")
    code, out, _ = run("plan", "release.toml")
    assert out.startswith("THE MODEL FAILED ITS CHECK: noise that leaks 1 under tree leaks up to ")
    assert "Does tree hold?" in out
    alone = document(run("plan", "release.toml", "--json"))
    requested("tree.json", "tree.beside-1.json")
    both = document(run("plan", "release.toml", "--json"))
    assert len(alone["failed_checks"]) == 1
    assert both["failed_checks"] == []
    loss = {
        name: next(way["loss"] for way in one["ways"] if way["way"] == one["proposed"])
        for name, one in (("alone", alone), ("both", both))
    }
    assert loss["both"] < loss["alone"]


def test_a_tree_that_is_kept_says_in_the_first_line_that_it_failed(folder, run):
    code, out, _ = run(*LEARN, "--keep-tree", "--delta", "1e-6", "-o", "tree.json")
    assert code == 0
    assert out.startswith("THE MODEL FAILED ITS CHECK")
    assert not Path("tree.beside-1.json").exists()
    assert read_model("tree.json").check.delta == "1/1000000"
    requested("tree.json")
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    says = json.loads(Path("out/certificate.json").read_text())["says"]
    assert says.startswith("THE MODEL FAILED ITS CHECK")
    assert run("verify", "out/certificate.json")[1].startswith("Valid. THE MODEL FAILED ITS CHECK")
    page = Path("out/report.html").read_text()
    assert page.index("A model failed its check.") < page.index("Statistics released with protection")
    assert "Does the model hold?" in page


def test_a_check_needs_public_rows(folder, run):
    requested()
    code, _, err = run("learn", "release.toml", "--budget", "1", "--check", "-o", "tree.json")
    assert code == 2
    assert "public" in err


def test_a_survey_declares_what_its_tree_needs(folder, run):
    assert run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")[0] == 0
    text = Path("survey.toml").read_text().replace("confirmed = false", "confirmed = true")
    Path("survey.toml").write_text(text)
    asked = (
        "survey",
        "request",
        "survey.toml",
        "--table",
        "wave.csv",
        "--rows",
        "400",
        "--knowledge",
        "model",
    )
    plain = document(run(*asked, "-o", "plain.toml", "--json"))
    found = document(run(*asked, "--check", "-o", "checked.toml", "--json"))
    assert found["check"]["needed"]
    assert found["l2"] == pytest.approx(plain["l2"] * found["check"]["price"])
    assert Path("checked.toml").read_text().count("[[dependence]]") == 1 + len(found["check"]["needed"])
    assert read_model("checked.beside-1.json").check.law == found["check"]["needed"][0]
    planned = document(run("plan", "checked.toml", "--json"))
    assert planned["failed_checks"] == []
    assert len(planned["models"]) == 1 + len(found["check"]["needed"])
