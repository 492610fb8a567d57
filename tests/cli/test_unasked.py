"""Nothing is spent unasked: a second ledger, an edited cap, a missing terminal are refused or asked about, in words."""

import io
import os
import pty
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from entwined.cli import main
from entwined.ledger import Book
from entwined.schema import Boolean, Categorical, Schema, write_schema

REQUEST = """\
table = "table.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 4.0
loss = 1.0

[[query]]
kind = "histogram"
column = "answer"
"""
SELECT = ("sql", "SELECT answer, count(*) FROM t GROUP BY answer", "--loss", "0.5")
RELEASE = ("release", "release.toml", "-o", "out")
LEARN = ("learn", "release.toml", "--budget", "1", "-o", "model.json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("answer,new\n" + "yes,true\nno,false\n" * 30)
    schema = Schema((Categorical("answer", ("yes", "no")), Boolean("new")), neighbours="add_remove")
    write_schema(schema.approve(), "schema.toml")
    Path("release.toml").write_text(REQUEST)
    return tmp_path


@pytest.fixture
def streams(monkeypatch):
    """Run the command with these streams as they are, and say how it ended."""

    def run(arguments, stdin, stderr):
        monkeypatch.setattr(sys, "argv", ["entwined", *arguments])
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stderr", stderr)
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0

    return run


def charged():
    if not Path("ledger.sqlite").exists():
        return 0
    book = Book("ledger.sqlite")
    try:
        return float(book.spent().price.worst)
    finally:
        book.close()


def seen(outside):
    """Read a screen up to the end of a question."""
    found = ""
    while "[y/N]" not in found:
        found += os.read(outside, 4096).decode()
    return found


@pytest.fixture
def terminal():
    """A real terminal: what is typed there beforehand, and both of its ends as streams."""
    with ExitStack() as opened:

        def typing(text):
            outside, inside = pty.openpty()
            os.write(outside, text.encode())
            keyboard = opened.enter_context(os.fdopen(os.dup(inside), "r"))
            screen = opened.enter_context(os.fdopen(inside, "w"))
            opened.callback(os.close, outside)
            return keyboard, screen, lambda: seen(outside)

        yield typing


@pytest.mark.parametrize("command", [RELEASE, SELECT, LEARN], ids=lambda one: one[0])
@pytest.mark.parametrize("answer", ["n\n", "y\n", ""])
def test_without_a_terminal_nothing_is_charged(folder, streams, command, answer):
    """What comes through a pipe is no answer, not even a yes: nobody saw the question."""
    read, write = os.pipe()
    os.write(write, answer.encode())
    os.close(write)
    said = io.StringIO()
    with os.fdopen(read) as stdin:
        assert streams(command, stdin, said) == 2
    assert "There is no terminal to ask at, so nothing was charged. Say --yes" in said.getvalue()
    assert " Spend " in said.getvalue()
    assert charged() == 0
    assert not Path("out").exists()


@pytest.mark.parametrize(("answer", "code", "spent"), [("n\n", 1, 0), ("\n", 1, 0), ("y\n", 0, 0.5)])
def test_at_a_terminal_the_answer_counts(folder, streams, terminal, answer, code, spent):
    keyboard, screen, shown = terminal(answer)
    assert streams(SELECT, keyboard, screen) == code
    assert charged() == spent
    screen.flush()
    assert "Spend 0.5, after which 3.5 is left? [y/N]" in shown()


def test_a_terminal_whose_question_nobody_sees_is_none(folder, streams, terminal):
    keyboard, _, _ = terminal("y\n")
    said = io.StringIO()
    assert streams(SELECT, keyboard, said) == 2
    assert charged() == 0


def test_a_dry_run_says_what_it_would_cost_and_charges_nothing(folder, run):
    code, out, err = run(*SELECT, "--dry-run")
    assert (code, err, charged()) == (0, "", 0)
    assert "It would leak 0.5 (nominal ε 0.5). Nothing was charged." in out
    assert "after this release 0.5, and 3.5 is left" in out
    assert not Path("ledger.sqlite").exists()
    assert run(*SELECT, "--yes")[0] == 0
    assert "answered before" in run(*SELECT, "--dry-run")[1]
    code, out, _ = run(*SELECT[:2], "--loss", "9", "--dry-run")
    assert (code, charged()) == (0, 0.5)
    assert "would refuse: The total would leak 9.5, 5.5 over the cap of 4" in out


def test_a_second_ledger_and_an_edited_cap_are_refused_in_words(folder, run):
    assert run(*RELEASE, "--yes")[0] == 0
    for line, words in (
        ('ledger = "second.sqlite"', "was released from before, under the ledger "),
        ("cap = 40.0", "the cap was 4 and is 40. Give the terms it was made for, or change them inside it"),
        ("calendar = {year = 1}", "the calendar was none and is 1 a year."),
        ('knowledge = "model"', "knowledge was any and is model."),
    ):
        key = line.partition(" ")[0]
        kept = [one for one in REQUEST.splitlines() if not one.startswith(f"{key} ")]
        Path("release.toml").write_text("\n".join([line, *kept]))
        for command in (("release", "release.toml", "-o", "two"), SELECT, LEARN):
            code, out, err = run(*command, "--yes")
            assert (code, out, words in err) == (2, "", True), (line, command, err)
        assert charged() == 1
    assert not Path("second.sqlite").exists()
    code, out, _ = run("budget", "migrate", "release.toml")
    assert (code, "knowledge was any and is model" in out) == (1, True), "nobody said yes"


def test_the_history_says_what_was_asked_and_a_charge_that_costs_nothing_more_is_no_repetition(folder, run):
    for answer in ("yes", "no"):
        text = SELECT[1].replace("GROUP BY answer", f"WHERE answer = '{answer}'").replace("answer, ", "")
        code, out, _ = run("sql", text, *SELECT[2:], "--yes")
        assert (code, "Asked before" in out, charged()) == (0, False, 0.5)
    assert "Asked before" in run("sql", text, *SELECT[2:], "--yes")[1]
    code, out, _ = run("budget")
    for words in (
        "Number of rows, of the rows with answer yes",
        "Number of rows, of the rows with answer no",
    ):
        assert words in out
    assert run("budget", "--export", "history.csv")[0] == 0
    assert "of the rows with answer no" in Path("history.csv").read_text()
