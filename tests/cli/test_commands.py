"""The commands from a table to a report, as people run them: exit codes, JSON, words, and nothing about rows."""

import csv
import json
import os
import pty
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from entwined.estimate.answers import Release
from entwined.schema import Categorical, Integer, Schema, Text, approve, read_schema, write_schema
from support.command import SECRET, document, entwined

SCHEMA = Schema(
    (
        Text("household", compare="exact"),
        Categorical("sex", ("m", "f"), missing="drop"),
        Integer("age", 0, 99),
    ),
    most_rows=10_000,
).approve()
REQUEST = """\
title = "Survey"
table = "survey.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 2.0
leakage = 1.0
expected_rows = 600

[[dependence]]
name = "households"
model = { kind = "groups", largest = 4 }
by = "household"

[[query]]
name = "By sex"
kind = "histogram"
column = "sex"
within = 30

[[query]]
kind = "mean"
column = "age"

[[query]]
kind = "median"
column = "age"
"""
BY_SEX = "SELECT sex, count(*) FROM t WHERE age > 20 GROUP BY sex"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    lines = [f"h{place // 3},{'mf'[place % 2]},{20 + place % 50}" for place in range(600)]
    lines[7] = f"h2,{SECRET},{SECRET}"
    Path("survey.csv").write_text("household,sex,age\n" + "\n".join(lines) + "\n")
    write_schema(SCHEMA, "schema.toml")
    Path("release.toml").write_text(REQUEST)
    return tmp_path


def test_from_a_table_to_a_report_that_verifies(folder, run):
    for name in ("schema.toml", "release.toml"):
        Path(name).unlink()
    Path("survey.csv").write_text(
        Path("survey.csv").read_text().replace(SECRET, "m", 1).replace(SECRET, "27")
    )
    code, out, err = run("init", "survey.csv")
    assert (code, err) == (0, "")
    assert "entwined approve schema.toml" in out
    code, out, err = run("plan", "release.toml")
    assert (code, out) == (1, "")
    assert "not approved" in err
    assert run("approve", "schema.toml")[0] == 1, "without a yes nothing is approved"
    assert not read_schema("schema.toml").approved
    assert run("approve", "schema.toml", typed="no\n")[0] == 1
    code, out, _ = run("approve", "schema.toml", typed="yes\n")
    assert (code, read_schema("schema.toml").approved) == (0, True)
    assert "household" in out
    Path("release.toml").write_text(
        Path("release.toml").read_text().replace("# expected_rows", "expected_rows")
    )
    code, out, err = run("plan", "release.toml")
    assert (code, err) == (0, "")
    assert not Path("ledger.sqlite").exists()
    code, out, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, err) == (0, "")
    names = {path.name for path in Path("out").iterdir()}
    assert names >= {
        "values.csv",
        "values.parquet",
        "release.json",
        "certificate.json",
        "plan.json",
        "report.html",
        "schema.toml",
    }
    assert all(f"{name}" in out for name in names)
    assert SECRET not in "".join(path.read_bytes().decode("latin-1") for path in Path("out").iterdir())
    assert document(run("verify", "out/certificate.json", "--json"))["valid"]
    assert run("budget")[0] == 0


def test_a_release_is_written_in_further_formats_when_asked(folder, run):
    code, out, err = run("release", "release.toml", "-o", "out", "--format", "docx", "--yes")
    assert (code, out) == (2, "")
    assert "Give one of xlsx, r" in err
    assert not Path("ledger.sqlite").exists(), "nothing is charged for what cannot be written"
    told = document(
        run("release", "release.toml", "-o", "out", "--format", "xlsx", "--format", "r", "--yes", "--json")
    )
    assert {"values.xlsx", "values.R"} <= set(told["files"])
    assert "values.xlsx" in document(run("verify", "out/certificate.json", "--json"))["why"]


def test_plan_prints_one_document_or_words_and_writes_a_page(folder, run):
    found = document(run("plan", "release.toml", "--json"))
    assert found["format"] == "entwined plan 2"
    assert found["proposed"] == "group"
    code, out, err = run("plan", "release.toml", "--html", "plan.html")
    assert (code, err) == (0, "")
    for words in (
        "Plain differential privacy",
        "Group privacy (proposed)",
        "By sex",
        "30 not met",
        "ranks",
        "if the size of the largest group were larger by 10 %, the same noise would leak at most",
        "2 is spent",
    ):
        assert words in out
    assert "\x1b" not in out, "no colour in pipes"
    assert Path("plan.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_plan_reads_no_rows_and_says_the_same_whatever_they_are(folder, run):
    """TRUST 25: the same bytes with other rows, and with none."""
    first = run("plan", "release.toml", "--json")
    Path("survey.csv").write_text("household,sex,age\nx,m,1\n")
    assert run("plan", "release.toml", "--json") == first
    Path("survey.csv").unlink()
    assert run("plan", "release.toml", "--json") == first


def test_a_release_is_charged_once_and_given_again_for_nothing(folder, run):
    first = document(run("release", "release.toml", "-o", "one", "--yes", "--json"))
    assert first["budget"]["after"]["leakage"]["households"] == pytest.approx(1)
    assert first["budget"]["spent"]["nominal"] == 0
    again = document(run("release", "release.toml", "-o", "two", "--yes", "--json"))
    assert again["budget"]["after"] == first["budget"]["after"] == again["budget"]["spent"]
    assert Path("one/release.json").read_bytes() == Path("two/release.json").read_bytes()
    code, out, _ = run("release", "release.toml", "-o", "three", "--yes")
    assert code == 0
    assert "nothing new was charged" in out
    assert "answered before" in run("plan", "release.toml")[1]
    assert Release.from_document(json.loads(Path("one/release.json").read_text())).answers


def test_a_file_that_grew_is_asked_and_charged_anew(folder, run):
    first = document(run("release", "release.toml", "-o", "one", "--yes", "--json"))
    path = Path(next(folder.glob("*.csv")))
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
    assert "answered before" not in run("plan", "release.toml")[1]
    again = document(run("release", "release.toml", "-o", "two", "--yes", "--json"))
    assert again["budget"]["after"]["nominal"] == pytest.approx(2 * first["budget"]["after"]["nominal"])
    assert Path("one/release.json").read_bytes() != Path("two/release.json").read_bytes()


def test_reports_need_no_extra_and_papers_say_which_they_need(folder, run, monkeypatch):
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    drawn = document(run("release", "release.toml", "-o", "out", "--yes", "--json"))
    assert "report.html" in drawn["files"]
    assert "<svg" in Path("out/report.html").read_text(encoding="utf-8")
    assert run("verify", "out/certificate.json")[0] == 0
    code, _, err = run("paper", "golden", "-o", "figures")
    assert code
    assert "pip install 'entwined[papers]'" in err


def test_over_the_cap_nothing_is_charged_and_no_ledger_begun(folder, run):
    Path("release.toml").write_text(REQUEST.replace("cap = 2.0", "cap = 0.5"))
    code, out, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, out) == (1, "")
    assert "over the cap" in err
    assert not Path("ledger.sqlite").exists()
    assert not Path("out").exists()
    Path("release.toml").write_text(REQUEST.replace("cap = 2.0", "cap = 1.5"))
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    Path("release.toml").write_text(
        REQUEST.replace("cap = 2.0", "cap = 1.5").replace("leakage = 1.0", "leakage = 0.9")
    )
    code, out, err = run("release", "release.toml", "-o", "two", "--yes")
    assert (code, out) == (1, "")
    assert "more than the cap" in err
    assert document(run("budget", "--json"))["spent"]["leakage"]["households"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (lambda: Path("survey.csv").unlink(), 2, "survey.csv"),
        (lambda: Path("survey.csv").write_text("household,sex\nh,m\n"), 2, "age"),
        (lambda: Path("release.toml").unlink(), 2, "no such file"),
        (lambda: Path("schema.toml").write_text("x"), 2, "schema.toml"),
        (lambda: write_schema(Schema(SCHEMA.columns), "schema.toml"), 1, "not approved"),
        (lambda: Path("out").write_text("a file"), 2, "out"),
        (lambda: (Path("out").mkdir(), Path("out/mine").write_text("x")), 2, "not empty"),
        (lambda: Path("ledger.sqlite").write_text("not a database" * 100), 1, "not a sound database"),
        (lambda: Path("release.toml").write_text(REQUEST.replace("cap = 2.0", "")), 2, "cap"),
    ],
    ids=["no table", "column", "no request", "schema", "unapproved", "file", "full", "ledger", "cap"],
)
def test_a_refused_release_charges_nothing_and_writes_nothing(folder, run, change, code, says):
    change()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    ended, out, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (ended, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    locks = {folder / "ledger.sqlite-locks", folder / "state" / "entwined" / "spill" / "lock"}
    assert {path for path in after if after[path] != before.get(path)} <= locks


def test_sql_through_the_request_and_by_options(folder, run):
    found = document(run("sql", "--yes", BY_SEX, "--leakage", "0.5", "--json"))
    assert [record["name"] for record in found["answers"]] == ["count(*) by sex"]
    assert found["budget"]["after"]["leakage"]["households"] == pytest.approx(0.5)
    code, out, err = run(
        "sql",
        "--yes",
        BY_SEX.replace("FROM t", "FROM survey"),
        "--request",
        "release.toml",
        "--leakage",
        "0.5",
    )
    assert (code, err) == (0, "")
    assert "nothing new was charged" in out
    values = found["answers"][0]["value"]
    assert all(f"{value:,}" in out for value in values)
    Path("model.json").write_text('{"kind": "groups", "largest": 2}')
    heading, *rows = Path("survey.csv").read_text().splitlines()
    Path("other.csv").write_text("\n".join([heading, *rows[1:], ""]))  # the same rows would be refused
    options = (
        "--table",
        "other.csv",
        "--schema",
        "schema.toml",
        "--ledger",
        "other.sqlite",
        "--model",
        "model.json",
    )
    code, out, err = run("sql", "--yes", BY_SEX, *options, "--cap", "3", "--loss", "0.5")
    assert (code, err) == (0, "")
    assert "1 of 3" in out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("SELECT * FROM t", "--leakage", "1"), 2, "SELECT"),
        (("SELECT count(*) FROM users WHERE age > 3", "--leakage", "1"), 2, "the table is 'survey'"),
        ((BY_SEX,), 2, "either --leakage"),
        ((BY_SEX, "--leakage", "1", "--loss", "1"), 2, "either --leakage"),
        ((BY_SEX, "--leakage", "0"), 2, "not above zero"),
        ((BY_SEX, "--leakage", "9"), 1, "over the cap"),
        ((BY_SEX, "--leakage", "1", "--request", "release.toml", "--cap", "1"), 2, "--cap"),
        ((BY_SEX, "--leakage", "1", "--table", "survey.csv"), 2, "--schema"),
        ((BY_SEX, "--leakage", "1", "--request", "none.toml"), 2, "none.toml"),
    ],
)
def test_a_refused_select_is_one_line(folder, run, arguments, code, says):
    ended, out, err = run("sql", "--yes", *arguments)
    assert (ended, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1
    assert not Path("ledger.sqlite").exists()


def test_sql_without_a_request_says_what_is_missing(folder, run):
    Path("release.toml").unlink()
    code, _, err = run("sql", "--yes", BY_SEX, "--leakage", "1")
    assert code == 2
    assert "--request" in err


def test_budget_tells_history_what_if_and_exports(folder, run):
    assert run("budget")[0] == 2, "no ledger yet"
    run("sql", "--yes", BY_SEX, "--leakage", "0.5")
    run("sql", "--yes", BY_SEX.replace("20", "30"), "--leakage", "0.5")
    found = document(run("budget", "release.toml", "--json"))
    assert found == document(run("budget", "ledger.sqlite", "--json")) | {"ledger": "ledger.sqlite"}
    assert (found["cap"], len(found["history"])) == (2.0, 2)
    assert found["spent"]["leakage"]["households"] == pytest.approx(1)
    assert found["left"] == pytest.approx(1)
    assert [row["outcome"] for row in found["history"]] == ["answered", "answered"]
    supposed = document(run("budget", "--what-if", "0.1", "--json"))["what_if"]
    assert (supposed["refused"], supposed["left"] < found["left"]) == (None, True)
    assert "over the cap" in document(run("budget", "--what-if", "5", "--json"))["what_if"]["refused"]
    code, _, err = run("budget", "ledger.sqlite", "--what-if", "0.1")
    assert code == 1
    assert "release.toml" in err
    code, out, _ = run("budget", "--export", "history.csv")
    assert code == 0
    assert "The last 2 of 2 charges" in out
    with Path("history.csv").open(newline="") as file:
        assert [row["outcome"] for row in csv.DictReader(file)] == ["answered", "answered"]
    run("budget", "--export", "history.json")
    assert json.loads(Path("history.json").read_text()) == found["history"]
    code, _, err = run("budget", "--export", "history.xls")
    assert code == 2


def test_budget_of_a_ledger_without_models_adds_up(folder, run):
    Path("release.toml").write_text(
        REQUEST.replace("[[dependence]]", "[unused]").split("[unused]")[0]
        + REQUEST[REQUEST.index("[[query]]") :]
    )
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    supposed = document(run("budget", "ledger.sqlite", "--what-if", "0.5", "--json"))["what_if"]
    assert supposed["after"]["nominal"] == pytest.approx(1.5)
    assert supposed["left"] == pytest.approx(0.5)


@pytest.mark.parametrize("text", [b"\xff\xfe", b"ledger = 5", b"[[[", b"x = 1", b"ledger = 'a\\u0000'"])
def test_budget_refuses_a_request_that_names_no_ledger(folder, run, text):
    Path("release.toml").write_bytes(text)
    code, out, err = run("budget", "release.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_certificate_that_was_changed_or_has_another_schema_is_not_valid(folder, run):
    run("release", "release.toml", "-o", "out", "--yes")
    code, out, _ = run("verify", "out/certificate.json")
    assert (code, out.startswith("Valid.")) == (0, True)
    text = Path("out/certificate.json").read_text()
    Path("out/certificate.json").write_text(text.replace('"any"', '"model"', 1))
    code, out, _ = run("verify", "out/certificate.json", "--json")
    assert (code, json.loads(out)["valid"]) == (1, False)
    Path("out/certificate.json").write_text(text)
    write_schema(Schema(SCHEMA.columns, most_rows=9).approve(), "other.toml")
    assert run("verify", "out/certificate.json", "--schema", "other.toml")[0] == 1
    Path("out/schema.toml").unlink()
    code, _, err = run("verify", "out/certificate.json")
    assert code == 2
    assert "--schema" in err
    assert run("verify", "out/certificate.json", "--schema", "schema.toml")[0] == 0
    Path("list.json").write_text("[1]")
    assert run("verify", "list.json")[0] == 2
    for given in ("out", "out/release.json"):  # the folder, and the numbers: it says which file is meant
        code, _, err = run("verify", given)
        assert (code, "certificate.json" in err) == (2, True)


def test_a_certificate_of_a_graph_finds_its_edges(folder, run):
    Path("graphs").mkdir()
    Path("graphs/edges.csv").write_text("source,target\n1,2\n2,3\n")
    Path("graphs/graph.json").write_text('{"kind": "graph", "edges": "edges.csv", "log_odds": 0.4}')
    Path("release.toml").write_text(
        REQUEST.replace('{ kind = "groups", largest = 4 }', '"graphs/graph.json"')
    )
    code, out, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, err) == (0, "")
    assert "edges.csv" in out
    assert run("verify", "out/certificate.json")[0] == 0
    Path("out/edges.csv").unlink()
    assert run("verify", "out/certificate.json")[0] == 1
    assert run("verify", "out/certificate.json", "--models", "graphs")[0] == 0
    Path("out/edges.csv").write_text("source,target\n1,2\n1,3\n")
    assert run("verify", "out/certificate.json", "--models", "graphs")[0] == 1


def test_approve_signs_what_it_shows_and_a_change_undoes_it(folder, run):
    text = Path("schema.toml").read_text().replace("high = 99", "high = 120")
    Path("schema.toml").write_text(text)
    assert run("plan", "release.toml")[0] == 2
    code, out, err = run("approve", "schema.toml", "-y")
    assert (code, err) == (0, "")
    assert "120" in out
    assert read_schema("schema.toml").approved
    said = document(run("approve", "schema.toml", "--yes", "--json"))
    assert said["digest"] == read_schema("schema.toml").digest
    for name in ("none.toml", "survey.csv", "."):
        code, out, err = run("approve", name, "--yes")
        assert (code, out, err.count("\n")) == (2, "", 1)


def test_init_writes_over_nothing_and_its_request_holds_for_any_names(folder, run):
    code, _, err = run("init", "survey.csv")
    assert code == 2
    assert "release.toml is there already" in err
    strange = 'a "quoted"\\ = [col] # é'
    write_schema(
        Schema((Categorical(strange, ("x", "y")), Integer("n", 0, 999)), most_rows=100), "strange.toml"
    )
    approve("strange.toml")
    code, _, err = run("init", "survey.csv", "-o", "deep.toml", "--schema", "strange.toml")
    assert (code, Path("deep.toml").exists()) == (2, False), "the table lacks a declared column"
    with Path("strange.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[strange, "n"], ["x", 3]])
    said = document(run("init", "strange.csv", "-o", "deep.toml", "--schema", "strange.toml", "--json"))
    assert said == {"request": "deep.toml", "schema": "strange.toml", "proposed": False, "notes": None}
    code, out, err = run("plan", "deep.toml", "--json")
    assert (code, err) == (0, "")
    assert strange in [one["query"].get("column") for one in json.loads(out)["statistics"]]
    Path("sub").mkdir()
    assert run("init", "survey.csv", "-o", "sub/release.toml", "--schema", "schema.toml")[0] == 0
    assert '"../survey.csv"' in Path("sub/release.toml").read_text()
    assert run("release", "sub/release.toml", "-o", "sub/out", "--yes")[0] == 0
    assert Path("sub/ledger.sqlite").exists()


def test_names_cannot_move_the_cursor_or_mark_up_the_screen(folder, run):
    hostile = r'name = "[bold]x[/red]\u001b[2Jy\nz"'
    Path("release.toml").write_text(REQUEST.replace('name = "By sex"', hostile))
    code, out, err = run("plan", "release.toml")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "[bold]x[/red]?[2Jy z" in out.replace("\n", "")
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0


def test_every_refusal_of_rows_says_the_same_whatever_they_hold(folder, run):
    """TRUST 60: two tables that differ in a cell, and the same words."""
    said = []
    for cell in (SECRET, "5"):
        Path("survey.csv").write_text(f"household,sex\nh1,{cell}\n")
        said.append(run("release", "release.toml", "-o", "out", "--yes"))
    assert said[0] == said[1]


LONG = "x" * 5000


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", LONG), ("plan", "pipe"), ("plan", "/dev/zero"), ("plan", "."), ("plan", "release.toml", "--html", LONG),
        ("release", "release.toml", "-o", LONG), ("release", LONG, "-o", "out"), ("budget", LONG), ("budget", "."),
        ("budget", "survey.csv"), ("budget", "none.toml"), ("budget", "none.sqlite"), ("approve", "pipe", "-y"),
        ("approve", LONG, "-y"), ("approve", "/dev/zero", "-y"), ("verify", "pipe"), ("verify", LONG), ("verify", "."),
        ("verify", "survey.csv"), ("init", "none.csv", "-o", "new.toml"), ("init", "survey.csv", "-o", LONG),
        ("init", "survey.csv", "-o", "new.toml", "--schema", LONG), ("sql", "--yes", LONG, "--leakage", "1"),
        ("sql", "--yes", BY_SEX, "--leakage", "1", "--request", LONG), ("describe", "survey.csv", "-o", LONG),
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)  # fmt: skip
def test_what_is_no_file_or_cannot_be_one_is_refused_in_a_line(folder, run, arguments):
    os.mkfifo("pipe")
    code, out, err = run(*arguments)
    assert code in {1, 2}
    assert (out, err.count("\n")) == ("", 1)
    assert not Path("ledger.sqlite").exists()


def test_budget_starts_in_under_half_a_second_of_cpu(folder, run):
    run("sql", "--yes", BY_SEX, "--leakage", "0.5")
    entwined("budget", "release.toml", folder=folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = entwined("budget", "release.toml", "--json", folder=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    assert (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime) < 0.5


def test_shells_can_complete_commands(folder):
    done = entwined(
        folder=folder, _ENTWINED_COMPLETE="complete_bash", COMP_WORDS="entwined re", COMP_CWORD="1"
    )
    assert done.stdout.split() == ["release"]


def test_a_person_at_a_terminal_is_asked_before_anything_is_spent(folder):
    code = "import sys; sys.argv[0] = 'entwined'; from entwined.cli import main; main()"
    terminal, end = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", code, "release", "release.toml", "-o", "out"],
        cwd=folder, stdin=end, stdout=subprocess.PIPE, stderr=end, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(end)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, b"n\n")
    out, _ = running.communicate(timeout=60)
    os.close(terminal)
    assert (running.returncode, out) == (1, b"")
    assert b"Spend 1, after which 1 is left?" in shown
    assert not Path("ledger.sqlite").exists()
    assert not Path("out").exists()


def test_gaussian_noise_from_file_to_verified_release(folder, run):
    """With a δ the noise is Gaussian: the plan says so, the release holds it, the certificate derives it."""
    text = Path("release.toml").read_text().replace("ledger.sqlite", "gaussian.sqlite")
    Path("gaussian.toml").write_text("delta = 1e-6\n" + text)
    code, out, err = run("plan", "gaussian.toml")
    assert code == 0, err
    assert "but for a chance of 1e-06" in out
    assert run("release", "gaussian.toml", "-o", "out", "--yes")[0] == 0
    assert "discrete Gaussian" in Path("out/values.csv").read_text()
    code, out, err = run("verify", "out/certificate.json")
    assert (code, "but for a chance of 1e-06" in out) == (0, True), err
