"""`entwined stream` on the command line: plan, page, answers, and going on."""

import json

import pytest
from typer.testing import CliRunner

from entwined.canonical import canonical, sha256
from entwined.cli.app import app
from support.streams import LINES, stream_in


@pytest.fixture
def request_file(tmp_path):
    return stream_in(tmp_path, 'leakage = 1\nwhere = "at_home"')


def run(*arguments, **more):
    return CliRunner().invoke(app, ["stream", *map(str, arguments)], **more)


def test_the_plan_has_a_curve_that_climbs_to_its_limit(request_file, tmp_path):
    done = run(request_file, "--plan", "--json", "--html", tmp_path / "plan.html")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    (model,) = document["models"]
    curve = [one["leakage"] for one in model["horizon"]]
    assert curve == sorted(curve)
    assert curve[0] == pytest.approx(document["nominal"])
    assert curve[-1] <= model["limit"] * (1 + 1e-9)
    assert model["limit"] == pytest.approx(document["leakage"]) == pytest.approx(1)
    assert all(0 < one["deviation"] < one["within"] for one in document["errors"])
    page = (tmp_path / "plan.html").read_text()
    assert "<svg" in page
    assert "without an end" in page
    assert not (tmp_path / "ledger.sqlite").exists()
    said = run(request_file, "--plan")
    assert "without an end" in said.stdout


def test_answers_are_written_and_gone_on_with(request_file, tmp_path):
    (tmp_path / "lines.csv").write_text(LINES[:200])
    refused = run(request_file)
    assert "nothing was charged" in str(refused.exception)
    done = run(request_file, "--yes")
    assert done.exit_code == 0, done.output
    header, *first = done.stdout.splitlines()
    assert header == "step,value,within"
    (tmp_path / "lines.csv").write_text(LINES)
    whole = run(request_file, "-o", tmp_path / "answers.csv")
    assert whole.exit_code == 0, whole.output
    rows = (tmp_path / "answers.csv").read_text().splitlines()[1:]
    assert rows[: len(first)] == first
    assert [row.split(",")[0] for row in rows] == [str(at) for at in range(1, 61)]
    again = [json.loads(line) for line in run(request_file, "--json", "--after", 58).stdout.splitlines()]
    assert [one["step"] for one in again] == [59, 60]
    verified = CliRunner().invoke(app, ["verify", str(tmp_path / "home.json"), "--json"])
    assert json.loads(verified.stdout)["valid"], verified.output
    assert f"{again[1]['value']:.0f}" == rows[-1].split(",")[1]


def verdict(folder):
    done = CliRunner().invoke(
        app, ["verify", str(folder / "home.json"), "--ledger", str(folder / "ledger.sqlite")]
    )
    return done.exit_code, done.output


def test_a_journal_with_other_answers_is_refused_though_its_hashes_were_made_again(request_file, tmp_path):
    (tmp_path / "lines.csv").write_text(LINES[:200])
    assert run(request_file, "--yes").exit_code == 0
    code, said = verdict(tmp_path)
    assert code == 0, said
    assert "home.journal" in said
    journal = tmp_path / "home.journal"
    head, *lines = journal.read_text().splitlines()
    forged, block, before = [head], [], ""
    for line in map(json.loads, lines):
        if isinstance(line, list):
            line[1] += 400
            block.append(canonical(line))
            continue
        before = sha256(before, *block)
        forged += [*block, canonical({"end": line["end"], "hash": before})]
        block = []
    journal.write_text("\n".join([*forged, ""]))
    code, said = verdict(tmp_path)
    assert code == 1
    assert "other answers" in said


def test_a_stream_is_not_released_at_once(request_file):
    done = CliRunner().invoke(app, ["release", str(request_file), "-o", "out", "--yes"])
    assert "step by step" in str(done.exception)
