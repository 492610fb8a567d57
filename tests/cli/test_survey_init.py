"""From a labelled pilot to a report in five commands and no Python: what is set aside, proposed and refused."""

import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from entwined.cli import survey_init
from entwined.learning.codes import public_codes
from entwined.schema import Cells, read_schema
from support.command import document
from support.labelled_survey import ASIDE, write_wave

PATH = (
    ("survey", "init", "pilot.sav", "wave.sav", "--rows", "300"),
    ("approve", "schema.toml", "--yes"),
    ("survey", "request", "survey.toml", "-o", "release.toml"),
    ("plan", "release.toml"),
    ("release", "release.toml", "-o", "out", "--yes"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("questions", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_a_labelled_survey_is_reported_in_five_commands(folder, run, questions):
    write_wave("pilot.sav", 1, 300, questions)
    write_wave("wave.sav", 2, 300, questions)
    for command in PATH:
        code, out, err = run(*command)
        assert (code, err) == (0, ""), err
        if command == PATH[0]:
            assert f"{questions} questions are in schema.toml" in out
            assert f"{len(ASIDE)} columns are set aside" in out
            assert "entwined survey request survey.toml" in out
    schema = read_schema("schema.toml")
    assert (schema.unit, schema.rows) == (Cells(), 300)
    assert {column.missing for column in schema.columns} == {"value"}
    first = schema.coded("q0")
    assert first.values == tuple("1234567")  # the labels name three of them
    assert (first.missing_codes, first.label) == (("998",), "How often: topic 0")
    found = json.loads(Path("out/release.json").read_text())
    assert len(found["answers"]) == questions
    assert Path("out/report.html").stat().st_size > 10_000


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    folder = tmp_path_factory.mktemp("waves")
    write_wave(folder / "pilot.sav", 1, 300, 12)
    write_wave(folder / "wave.sav", 2, 300, 11)
    return folder


def test_what_is_no_question_is_set_aside_at_once_with_reasons(folder, run, waves):
    said = document(run("survey", "init", waves / "pilot.sav", waves / "wave.sav", "--rows", "300", "--json"))
    reasons = {one["column"]: one["reason"] for one in said["set_aside"]}
    assert set(reasons) == {*ASIDE, "q7"}
    assert reasons["q7"] == "the private table has no such column"
    assert "identifier" in reasons["respondent_id"]
    assert "different answers, over 30" in reasons["weight"]
    assert "a date" in reasons["day"]
    assert "everybody says 3" in reasons["version"]
    assert "no value was seen" in reasons["nothing"]
    assert said["questions"] == 11
    text = Path("schema.toml").read_text()
    assert all(f"#   {name}: " in text for name in reasons)
    assert said["next"] == [
        "entwined approve schema.toml",
        "entwined survey request survey.toml -o release.toml",
    ]


def test_forms_and_decided_columns_are_proposed_with_what_they_rest_on(folder, run, waves):
    said = document(run("survey", "init", waves / "pilot.sav", "-o", "deep/er", "--rows", "300", "--json"))
    assert (said["forms"], said["decided"]) == (1, 1)
    written = tomllib.loads(Path("deep/er/survey.toml").read_text())
    assert written["form"] == [{"column": "form", "public": False, "confirmed": False}]
    assert written["decided"] == [{"column": "short", "by": "q0", "confirmed": False}]
    assert "missing" not in written  # it is counted
    comments = [
        line for line in Path("deep/er/survey.toml").read_text().splitlines() if line.startswith("# '")
    ]
    assert all("rows of the pilot confirm it" in line and " 0 contradict it" in line for line in comments)
    run("approve", "deep/er/schema.toml", "--yes")
    code, _, err = run("survey", "request", "deep/er/survey.toml", "-o", "r.toml")
    assert code == 2
    assert "names no private table. Give it with --table" in err


def test_the_number_of_rows_is_asked_for(folder, run, waves, monkeypatch):
    code, out, err = run("survey", "init", waves / "pilot.sav")
    assert (code, out) == (2, "")
    assert "Give it with --rows" in err
    assert not Path("schema.toml").exists()
    monkeypatch.setattr(survey_init, "sys", Terminal("1,234\n"))
    assert survey_init.rows_given(None) == 1234


@pytest.mark.parametrize("words", [["none.csv"], ["pilot.csv", "none.csv"]])
def test_a_file_that_is_missing_is_named_before_anything_is_asked(folder, run, words):
    Path("pilot.csv").write_text("mood\n1\n2\n")
    code, _, err = run("survey", "init", *words)
    assert code == 2
    assert "There is no file 'none.csv'" in err


@pytest.mark.parametrize(("rows", "proposed"), [(48, 0), (240, 1)])
def test_a_pilot_of_few_rows_supports_no_proposal_and_that_is_said(folder, run, rows, proposed):
    lines = [f"{n % 2},{n % 2},{n * n % 7 % 3}" for n in range(rows)]
    Path("pilot.csv").write_text("\n".join(["mood,again,other", *lines]))
    code, out, _ = run("survey", "init", "pilot.csv", "--rows", "9")
    assert (code, "so few support no proposal" in out) == (0, not proposed)
    written = Path("survey.toml").read_text()
    assert ("so few support no proposal" in written, written.count("[[decided]]")) == (not proposed, proposed)
    said = document(
        run("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "again.toml", "--json")
    )
    assert (said["decided"], said["warning"] is None) == (proposed, bool(proposed))


class Terminal:
    """Somebody who types an answer."""

    stderr = sys.stderr

    def __init__(self, typed):
        self.stdin = self
        self.stderr = self
        self.readline = lambda: typed

    isatty = staticmethod(lambda: True)
    write = flush = staticmethod(lambda *_: None)


def test_codes_that_are_no_answers_are_named_for_a_table_without_labels(folder, run):
    rows = [f"{1 + n % 5},{(998, 10 * (n % 4))[n % 7 > 0]},{n % 2},{n % 60}" for n in range(240)]
    Path("pilot.csv").write_text("\n".join(["mood,far,form,many", *rows]))
    document(run("survey", "init", "pilot.csv", "--rows", "9", "--missing", "998, 999", "--json"))
    schema = read_schema("schema.toml")
    assert {one.name: one.values for one in schema.columns} == {
        "mood": ("1", "2", "3", "4", "5"),
        "far": ("0", "10", "20", "30"),
        "form": ("0", "1"),
    }
    assert schema.coded("far").missing_codes == ("998", "998.0", "999", "999.0")
    document(
        run("survey", "init", "pilot.csv", "--rows", "9", "--most-answers", "61", "-o", "wide", "--json")
    )
    assert read_schema("wide/schema.toml").coded("far").values == ("0", "10", "20", "30", "998")
    assert "many" in read_schema("wide/schema.toml").names
    code, _, err = run("survey", "init", "pilot.csv", "--rows", "9")
    assert (code, "is there already" in err) == (2, True)


def test_codes_are_those_that_the_table_holds_however_they_are_written(folder, run):
    """Tables of floating-point numbers write 1 as 1.0; a column that writes it in two ways is a number."""
    rows = [f"{1 + n % 3}.0,{(998, 5)[n % 9 > 0]}.0,{('1', '1.0', '2')[n % 3]},{n % 2}" for n in range(180)]
    Path("pilot.csv").write_text("\n".join(["mood,far,ways,plain", *rows]))
    document(run("survey", "init", "pilot.csv", "--rows", "9", "--missing", "998", "--json"))
    schema = read_schema("schema.toml")
    assert schema.coded("mood").values == ("1.0", "2.0", "3.0")
    assert schema.coded("mood").labels == ("1", "2", "3")
    assert schema.names == ("mood", "ways", "plain")  # nobody says anything but 5 in the other
    assert (schema.coded("ways").kind, schema.coded("plain").labels) == ("integer", ())
    codes = public_codes("pilot.csv", schema)
    missing = [schema.coded(name).missing_code for name in schema.names]
    assert not (codes.values == np.array(missing)).any()
