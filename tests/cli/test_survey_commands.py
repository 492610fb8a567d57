"""`entwined learn` and `entwined survey`: what is written, confirmed and refused."""

import json
import math
import random
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from entwined.dependence import read_model
from entwined.errors import BadInput
from entwined.estimate.answers import Answered, Release
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.spans import Around
from entwined.learning import Codes
from entwined.noise import DiscreteLaplace
from entwined.schema import Categorical, Cells, Schema, write_schema
from entwined.survey.sense import Blank, Decided, Form
from entwined.survey.survey import Survey
from entwined.survey.working_out import worked_out
from support.command import document

ANSWERS = {"mood": ("good", "bad"), "health": ("well", "ill", "unsure"), "short": ("fine", "not fine")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    for name, rows in (("pilot.csv", 400), ("wave.csv", 500)):
        lines = [",".join(ANSWERS)]
        for _ in range(rows):
            good = draw.random() < 0.5
            health = "well" if draw.random() < (0.8 if good else 0.3) else draw.choice(["ill", "unsure"])
            lines.append(f"{'good' if good else 'bad'},{health},{'fine' if health == 'well' else 'not fine'}")
        Path(name).write_text("\n".join(lines) + "\n")
    columns = tuple(Categorical(name, values, missing="drop") for name, values in ANSWERS.items())
    write_schema(Schema(columns, unit=Cells(), most_rows=1000).approve(), "schema.toml")
    write_schema(Schema(columns, most_rows=1000).approve(), "rows.toml")
    return tmp_path


def test_a_model_is_learned_and_named(folder, run):
    said = document(run("learn", "pilot.csv", "--schema", "schema.toml", "-o", "model.json", "--json"))
    assert said["columns"] == 3
    assert "pilot.csv (400 rows" in said["learned"]
    assert list(said["curve"].values()) == sorted(said["curve"].values())
    model = read_model("model.json")
    assert (model.source, model.names) == ("proxy", tuple(ANSWERS))
    safe = document(
        run(
            "learn",
            "pilot.csv",
            "--schema",
            "schema.toml",
            "-o",
            "wide.json",
            "--confidence",
            "0.95",
            "--json",
        )
    )
    assert safe["loss_of_leakage_1"] < said["loss_of_leakage_1"]  # intervals hold stronger laws


def test_what_is_confirmed_is_used_and_nothing_else(folder, run):
    assert run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")[0] == 0
    asked = ("survey", "request", "survey.toml", "--table", "wave.csv", "--rows", "500")
    plain = document(run(*asked, "-o", "plain.toml", "--json"))
    assert plain["questions"] == 3
    text = Path("survey.toml").read_text()
    Path("survey.toml").write_text(text.replace("confirmed = false", "confirmed = true"))
    merged = document(run(*asked, "-o", "merged.toml", "--json"))
    assert merged["questions"] == 2
    assert merged["gain"] > plain["gain"] > 1
    assert run("release", "merged.toml", "-o", "out", "--yes")[0] == 0
    assert run("verify", "out/certificate.json")[0] == 0
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert certificate["models"][0]["name"].startswith("learned from pilot.csv (400 rows")
    assert certificate["models"][0]["certificate"]["leakage"] <= 1


def test_with_a_delta_the_noise_is_gaussian_and_shares_are_of_rho(folder, run):
    run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")
    asked = ("survey", "request", "survey.toml", "--table", "wave.csv", "--rows", "500", "--leakage", "0.5")
    said = document(run(*asked, "--delta", "1e-6", "-o", "noisy.toml", "--json"))
    assert set(said["l2_beside"]) == {
        "plain Laplace noise",
        "plain Gaussian noise",
        "Gaussian noise with all answers as one group",
        "Laplace noise shared by what depends on what",
    }
    assert said["plain_l2"] == said["l2_beside"]["plain Laplace noise"]  # of three questions
    written = tomllib.loads(Path("noisy.toml").read_text())
    assert (written["delta"], written["leakage"]) == (1e-6, 0.5)
    squared = sum(len(ANSWERS[one["column"]]) / one["share"] for one in written["query"])
    assert squared**0.5 == pytest.approx(said["l2"], rel=1e-6)
    code, out, _ = run(*asked, "--delta", "1e-6", "-o", "other.toml")
    assert code == 0
    assert "Laplace noise is better here" in out
    code, out, err = run(*asked, "--delta", "2", "-o", "third.toml")
    assert (code, out) == (2, "")
    assert "δ" in err
    assert not Path("third.toml").exists()


def test_what_others_decide_is_added_up_with_honest_intervals(folder, run):
    run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")
    Path("survey.toml").write_text(
        Path("survey.toml").read_text().replace("confirmed = false", "confirmed = true")
    )
    asked = ("survey", "request", "survey.toml", "--rows", "500", "--cap", "1000")
    lines = Path("wave.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    truth = {answer: sum(row[2] == answer for row in rows) for answer in ANSWERS["short"]}
    held = 0
    for turn in range(8):
        asked_of = (*asked, "--table", "wave.csv", "--leakage", f"{3 + turn / 100}")
        assert run(*asked_of, "-o", f"r{turn}.toml")[0] == 0
        assert run("release", f"r{turn}.toml", "-o", f"out{turn}", "--yes")[0] == 0
        said = run("survey", "derive", "survey.toml", f"out{turn}", "-o", f"d{turn}.csv")
        assert said[0] == 0, said
        lines = [line.split(",") for line in Path(f"d{turn}.csv").read_text().splitlines()]
        told = ["question", "question_label", "answer", "answer_label", "value", "low", "high"]
        assert lines[0] == told
        released = {line[2]: [int(number) for number in line[4:]] for line in lines[1:]}
        assert set(released) == set(truth)
        for answer, (value, low, high) in released.items():
            assert 0 <= low <= value <= high
            held += low <= truth[answer] <= high
    assert held >= 11  # of 16, each held with 95 %: fewer once in ten thousand times


@pytest.mark.parametrize(("bent", "noise"), [(100, ()), (0, ("--delta", "1e-6"))])
def test_a_rule_that_the_private_rows_contradict_is_caught_by_a_charged_count(folder, run, bent, noise):
    """Every fifth respondent of the wave has the other answer; noise of a few rows hides none of that."""
    lines = Path("wave.csv").read_text().splitlines()
    for at in range(1, bent * 5, 5):
        mood, health, short = lines[at].split(",")
        lines[at] = f"{mood},{health},{'not fine' if short == 'fine' else 'fine'}"
    Path("wave.csv").write_text("\n".join(lines))
    run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")
    text = Path("survey.toml").read_text()
    assert "rows of the pilot confirm it" in text
    Path("survey.toml").write_text(text.replace("confirmed = false", "confirmed = true"))
    asked = ("survey", "request", "survey.toml", "--table", "wave.csv", "--rows", "500", "--leakage", "8")
    assert run(*asked, "--cap", "9", "--check-rules", *noise, "-o", "r.toml")[0] == 0
    assert tomllib.loads(Path("r.toml").read_text())["dependence"][0]["worked_out"] == {"short": "health"}
    assert run("release", "r.toml", "-o", "out", "--yes")[0] == 0
    assert run("verify", "out/certificate.json")[0] == 0
    believed = json.loads(Path("out/certificate.json").read_text())["trusted"]
    assert any("worked out from another" in line and "'short' from 'health'" in line for line in believed)
    assert "worked out from another" in Path("out/report.html").read_text()
    code, out, _ = run("survey", "derive", "survey.toml", "out", "-o", "d.csv")
    assert code == 0
    found = document(run("survey", "derive", "survey.toml", "out", "-o", "e.csv", "--json"))["contradict"]
    value, low, high = found["short by health"]
    assert low <= value <= high
    assert abs(value - bent) < 30  # a scale of 2: more once in a million times
    assert low > 0 or not bent  # where nobody contradicts, noise looks so once in forty times
    assert ("CONTRADICTED: short is not decided by health" in out) == (low > 0)
    assert (f"none is contradicted by more than {high} rows" in out) == (low == 0)


def test_a_release_of_something_else_is_refused(folder, run):
    run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")
    Path("survey.toml").write_text(
        Path("survey.toml").read_text().replace("confirmed = false", "confirmed = true")
    )
    Path("other").mkdir()
    for text in ("", "{", "[]", '{"format": "entwined release 1"}'):
        Path("other/release.json").write_text(text)
        code, out, err = run("survey", "derive", "survey.toml", "other", "-o", "d.csv")
        assert (code, out) == (2, "")
        assert "Give" in err or "missing" in err
    assert not Path("d.csv").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('by = "health"', 'by = "mood"'), "is not decided by"),
        (("confirmed = true", "confirmed = 1"), "confirmed = true or false"),
        (("pilot =", "pilots ="), "'pilots' is not known"),
        (("pilot.csv", "gone.csv"), "gone.csv"),
        (("smoothing = 1.0", "smoothing = 0"), "not above zero"),
        (("schema.toml", "rows.toml"), "cells"),
        (("[[decided]]", "[[decided"), "no TOML"),
    ],
)
def test_wrong_confirmations_are_refused(folder, run, change, said):
    run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")
    text = Path("survey.toml").read_text().replace("confirmed = false", "confirmed = true")
    assert change[0] in text
    Path("survey.toml").write_text(text.replace(*change))
    code, out, err = run(
        "survey", "request", "survey.toml", "--table", "wave.csv", "--rows", "500", "-o", "r.toml"
    )
    assert (code, out) in {(1, ""), (2, "")}
    assert said in err
    assert not Path("r.toml").exists()


def test_nothing_that_was_gone_through_is_written_over(folder, run):
    Path("there.toml").write_text("mine")
    for command in (
        ("learn", "pilot.csv", "--schema", "schema.toml", "-o", "there.toml"),
        ("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "there.toml"),
        ("survey", "request", "there.toml", "--table", "wave.csv", "--rows", "5", "-o", "there.toml"),
    ):
        code, out, err = run(*command)
        assert (code, out) == (2, "")
        assert "already" in err
    assert Path("there.toml").read_text() == "mine"


def test_who_was_not_asked_is_counted_by_the_form():
    """Form 1 of 17 respondents was not asked: seven blanks, which the decided column counts among its own."""
    pilot = Codes.of(
        {"form": 2, "a": 3, "d": 2, "z": 2},
        [[0, 0, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1], [1, 2, 1, 0], [1, 2, 1, 1]] * 10,
    )
    blank = Blank("a", 2, "form", (0,))
    survey = Survey(pilot, "pilot", (Decided("d", "a", (0, 1, 1)),), Form("form", (blank,), 0.0))
    schema = Schema(
        (Categorical("form", ("A", "B")), Categorical("a", ("no", "yes", "-")), Categorical("d", ("x", "y")))
    )
    noise = (DiscreteLaplace(Fraction(2)),)
    answers = [
        Answered('{"column":"form","query":"histogram"}', (10, 7), Around(6), ((11, 6),), noise),
        Answered('{"column":"a","query":"histogram"}', (4, 6, 0), Around(6), ((4, 7, -1),), noise),
    ]
    found = worked_out(survey, schema, Release(tuple(answers), {}))
    assert [(one.answer, one.value) for one in found] == [("x", 4), ("y", 13)]
    one, two = (ErrorLaw.of([1] * m, [DiscreteLaplace(Fraction(2))] * m).half_width(0.95) for m in (1, 2))
    assert (found[0].low, found[0].high) == (0, math.ceil(4 + one))
    assert (found[1].low, found[1].high) == (math.floor(13 - two), math.ceil(13 + two))
    with pytest.raises(BadInput, match="no histogram of 'form'"):
        worked_out(survey, schema, Release(tuple(answers[1:]), {}))
