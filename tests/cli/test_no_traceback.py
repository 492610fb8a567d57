"""Every command with every kind of request, sound and with one thing changed: exit code 0, 1 or 2, and no traceback."""

import random
import tomllib

import pytest

from corpus import requests as bad_requests
from corpus.workshop import Workshop
from support.every_command import (
    CALLS,
    Example,
    commands_there_are,
    ended,
    examples_of_the_documentation,
    faults,
    mutants,
)
from support.example_requests import small_examples

READING = "plan {request}"
SLOW = ("attack", "audit", "paper", "demo", "serve", "survey init")
OF_EACH = 12
ASKED_OF_EACH = 2


def wrongs(runs):
    return [(run.call, run.wrong) for run in runs if run.wrong]


def changed(example):
    return mutants(tomllib.loads((example.folder / example.request).read_text()))


@pytest.fixture
def examples(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return small_examples(tmp_path)


def test_no_command_is_left_out():
    said = {call.split(" {")[0] for call in CALLS}
    assert {
        name for name in commands_there_are() if not any(f"{call} ".startswith(f"{name} ") for call in said)
    } == set()


def test_no_command_ends_in_a_traceback(examples, tmp_path):
    """Each command with two of the requests, as text and as JSON in turn."""
    sound = [one for one in examples if one.name != "queries"]
    calls = [call for call in CALLS if not call.startswith(SLOW)]
    runs = [
        ended(sound[(at + turn * 7) % len(sound)], call, tmp_path, as_json=bool((at + turn) % 2))
        for at, call in enumerate(calls)
        for turn in range(ASKED_OF_EACH)
    ]
    assert wrongs(runs) == []


def test_nor_does_a_plan_of_a_request_with_one_thing_changed(examples, tmp_path):
    """A fixed sample of changes of each request: one value of another type, one key more or less."""
    draw = random.Random(7)
    runs = [
        ended(example, READING, tmp_path, as_json=True, changed=other)
        for example in examples
        if example.name != "queries"
        for _, other in draw.sample(list(changed(example)), OF_EACH)
    ]
    assert wrongs(runs) == []


@pytest.mark.parametrize(
    "command", ["attack {request}", "audit {request}", "budget reserve {request} --as-asked"]
)
def test_a_request_without_queries_is_refused_by_name(examples, tmp_path, command, run, monkeypatch):
    example = next(one for one in examples if one.name == "synthesis")
    monkeypatch.chdir(example.folder)
    code, out, err = run(*command.format(request="release.toml").split())
    assert (code, out) == (1, "")
    assert "it asks for synthesis. Add a [[query]]" in err


def test_an_unforeseen_error_is_one_line_without_its_text_and_counts_as_a_fault(examples, run, monkeypatch):
    """The last resort says where, never what: the text of an error may quote rows."""

    def broken(*_):
        raise KeyError("a cell of somebody")

    monkeypatch.setattr("entwined.request.request_file.read_schema", broken)
    monkeypatch.chdir(examples[0].folder)
    code, out, err = run("plan", "release.toml")
    assert (code, out, err.count("\n")) == (70, "", 1)
    assert "KeyError at entwined.request.request_file:" in err
    assert "somebody" not in err
    assert list(faults("plan", code, out, err, as_json=False))
    assert list(faults("plan {request}", 0, "{} {}", "", as_json=True))


@pytest.mark.slow
def test_no_command_with_any_request_of_the_documentation(tmp_path, monkeypatch):
    """The full matrix: every call × every request of the pages and of ours × text and JSON."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    every = [*examples_of_the_documentation(tmp_path), *small_examples(tmp_path)]
    assert len(every) > 30
    runs = (
        ended(example, call, tmp_path, as_json=as_json)
        for example in every
        for call in CALLS
        for as_json in (False, True)
    )
    assert wrongs(runs) == []


@pytest.mark.slow
def test_no_plan_of_any_request_with_anything_changed(tmp_path, monkeypatch):
    """Every change of every request, planned; of the slowest request a sample."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    draw = random.Random(3)
    wrong = []
    for example in [*examples_of_the_documentation(tmp_path), *small_examples(tmp_path)]:
        others = [other for _, other in changed(example)]
        for other in draw.sample(others, min(len(others), 300)):
            wrong += wrongs([ended(example, READING, tmp_path, as_json=True, changed=other)])
    assert wrong == []


@pytest.mark.slow
def test_no_command_with_any_bad_request_of_the_corpus(tmp_path, monkeypatch):
    """The corpus asks `release` alone; here every command reads its requests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    calls = [call for call in CALLS if "{request}" in call and not call.startswith(("paper", "demo"))]
    wrong = []
    for at, case in enumerate(bad_requests.CASES):
        place = Workshop(tmp_path / f"place{at}")
        case.make(place)
        example = Example(case.name, place.folder)
        words = {
            "request": "release.toml",
            "schema": "schema.toml",
            "table": "survey.csv",
            "model": "model.json",
        }
        example.__dict__["words"] = words | {
            "folder": ".",
            "column": "age",
            "other": "income",
            "by": "region",
        }
        for call in calls:
            wrong += wrongs([ended(example, call, tmp_path, as_json=bool(at % 2))])
    assert wrong == []
