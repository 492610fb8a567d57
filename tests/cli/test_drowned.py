"""Surveys whose noise drowns the answers are warned about everywhere, and the way proposed leads out; others are not.

Every figure is measured on rows that were generated: how far released counts and a uniform guess are from the truth.
"""

import json
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest

from entwined.schema import Categorical, Cells, Schema, write_schema

LEVELS = ("often", "sometimes", "rarely")
WORDS = (
    "WARNING",
    "not be published",
    "Not everything here can be published",
    "Not to be published alone.",
    "no number that could be published",
    "no better than a guess",
)


def answers(draw, chances):
    """One respondent: who gave an answer often gives the same to the next question."""
    row = [draw.choices(range(len(LEVELS)), chances[0])[0]]
    for chance in chances[1:]:
        row.append(row[-1] if draw.random() < 0.4 else draw.choices(range(len(LEVELS)), chance)[0])
    return row


def generated(questions, rows, seed):
    """Write a pilot, a private table and its schema; give the true counts."""
    draw = random.Random(seed)
    names = [f"q{number}" for number in range(questions)]
    chances = [draw.choice([(0.7, 0.2, 0.1), (0.2, 0.1, 0.7), (0.15, 0.75, 0.1)]) for _ in names]
    for name, count in (("pilot.csv", 800), ("wave.csv", rows)):
        found = [answers(draw, chances) for _ in range(count)]
        lines = [",".join(names), *(",".join(LEVELS[code] for code in row) for row in found)]
        Path(name).write_text("\n".join(lines) + "\n")
    columns = tuple(Categorical(name, LEVELS, missing="drop") for name in names)
    write_schema(Schema(columns, unit=Cells(), rows=rows, most_rows=rows).approve(), "schema.toml")
    return np.array([np.bincount(column, minlength=len(LEVELS)) for column in np.array(found).T])


class Office:
    """Plans and releases one generated survey with the command."""

    def __init__(self, run, questions, rows, seed):
        self.run, self.rows = run, rows
        self.truth = generated(questions, rows, seed)
        self.said("survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml")

    def said(self, *words):
        code, out, err = self.run(*words)
        assert code == 0, err
        return out

    def asked(self, name, *options):
        """Have a request written for a copy of the table: a table has one ledger."""
        Path(f"{name}.csv").write_text(Path("wave.csv").read_text())
        given = ("--rows", self.rows, "--cap", "100", "--ledger", f"{name}.sqlite", *options)
        return self.said(
            "survey", "request", "survey.toml", "--table", f"{name}.csv", "-o", f"{name}.toml", *given
        )

    def released(self, name):
        """Release it, and give what was said, the document and how far its counts are from the truth.

        Rows have one ledger in a holder's home, so every release is of a holder of its own.
        """
        os.environ["XDG_STATE_HOME"] = str(Path(f"home-{name}").absolute())
        out = self.said("release", f"{name}.toml", "-o", name, "--yes")
        found = json.loads(Path(name, "release.json").read_text())
        counts = {one["query"]["column"]: one["value"] for one in found["answers"]}
        made = np.array([counts[f"q{number}"] for number in range(len(self.truth))])
        return out, found, float(np.sqrt(((made - self.truth) ** 2).sum()))

    @property
    def guess(self):
        """How far a uniform guess is from the truth."""
        return float(np.sqrt(((self.truth - self.rows / len(LEVELS)) ** 2).sum()))


def best_of(out):
    return re.search(r"^Best: (.*)$", out, re.MULTILINE)[1]


def without_warning(*texts):
    return not any(word in text for text in texts for word in WORDS)


def follow_request(office, drowned, leakage):
    """Take the options that `survey request` prints as the best, as they stand."""
    options = re.match(r"((?:--\w+ \S+ ?)+)", best_of(drowned))[1].split()
    kept = [] if "--leakage" in options else ["--leakage", leakage]
    return office.asked("better", *options, *kept)


def follow_plan(told):
    """Put what `plan` prints as the best into the request."""
    text = Path("drowned.toml").read_text()
    more = re.search(r"delta = (\S+?)[,:]", told)
    leakage = re.search(r"leakage of ([\d.]+)", told)
    if leakage:
        text = re.sub(r"^leakage = .*$", f"leakage = {leakage[1].rstrip('.')}", text, flags=re.MULTILINE)
    if more:
        text = text.replace('knowledge = "', f'delta = {more[1]}\nknowledge = "', 1)
    Path("planned.csv").write_text(Path("wave.csv").read_text())
    Path("planned.toml").write_text(
        text.replace("drowned.csv", "planned.csv").replace("drowned.sqlite", "planned.sqlite")
    )


def leads_out(run, questions, rows, leakage, seed):
    office = Office(run, questions, rows, seed)
    asked = office.asked("drowned", "--leakage", leakage)
    assert "WARNING" in asked
    assert "not be published" in Path("drowned.toml").read_text()
    told = office.said("plan", "drowned.toml", "--html", "drowned.html")
    assert "WARNING" in told
    assert "not be published" in told
    assert "Not everything here can be published" in Path("drowned.html").read_text()
    out, found, error = office.released("drowned")
    assert "WARNING" in out
    assert "no better than a guess" in out
    assert error > office.guess  # so the warning was right
    for one in found["answers"]:
        assert set(one["quality"]) == {"not"}
        assert 0 <= min(one["interval"]["low"]) <= max(one["interval"]["high"]) <= rows
    assert "Not everything here can be published" in Path("drowned/report.html").read_text()
    assert "publish" not in Path("drowned/values.csv").read_text()

    better = follow_request(office, asked, leakage)
    assert without_warning(better)
    out, found, error = office.released("better")
    assert without_warning(out, Path("better/values.csv").read_text())
    assert error < office.guess
    assert "publish" in {level for one in found["answers"] for level in one["quality"]}
    follow_plan(best_of(told))
    out, _, error = office.released("planned")
    assert without_warning(out)
    assert error < office.guess
    for name in ("better", "planned"):
        assert json.loads(Path(name, "plan.json").read_text())["quality"]["warning"] is None


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def test_the_way_proposed_leads_out_of_the_noise(here, run):
    leads_out(run, questions=8, rows=120, leakage="0.1", seed=3)


@pytest.mark.slow
def test_the_way_proposed_leads_out_of_the_noise_of_a_wide_survey(here, run):
    leads_out(run, questions=160, rows=600, leakage="0.1", seed=4)


def test_where_noise_is_small_nothing_is_warned_of(here, run):
    office = Office(run, questions=8, rows=900, seed=5)
    asked = office.asked("fine", "--leakage", "4")
    told = office.said("plan", "fine.toml", "--html", "fine.html")
    out, found, error = office.released("fine")
    assert error < office.guess
    assert without_warning(
        asked, told, out, Path("fine.toml").read_text(), Path("fine/values.csv").read_text()
    )
    assert not any(
        word in Path(page).read_text() for page in ("fine.html", "fine/report.html") for word in WORDS
    )
    assert not any("not" in one["quality"] for one in found["answers"])
    plan = json.loads(Path("fine/plan.json").read_text())
    assert plan["quality"]["warning"] is None
    assert all(one["quality"] == "publish" for one in plan["statistics"])
