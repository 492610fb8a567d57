"""A wide survey from file to report: CPU seconds of every command, on a generated questionnaire in two waves."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.measure import command
from entwined.schema import Categorical, Cells, Schema, write_schema

QUESTIONS = 594
RESPONDENTS = 700
ANSWERS = 5
LIMITS = {"describe": 8.0, "learn": 4.0, "plan": 8.0, "release": 8.0, "verify": 2.0}


def wave(path: Path, seed: int) -> None:
    """Write answers that hang together along the questionnaire and through one mood."""
    random = np.random.default_rng(seed)
    shape = (RESPONDENTS, QUESTIONS)
    mood = random.integers(1, ANSWERS + 1, (RESPONDENTS, 1))
    answers = np.where(random.random(shape) < 0.4, mood, random.integers(1, ANSWERS + 1, shape))
    for question in range(1, QUESTIONS):
        alike = random.random(RESPONDENTS) < 0.3
        answers[alike, question] = answers[alike, question - 1]
    head = ",".join(f"q{number}" for number in range(QUESTIONS))
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in answers)]) + "\n")


def commands() -> Iterator[tuple[str, list[str]]]:
    """Say what is run, in order."""
    yield "describe", ["describe", "wave.csv", "-o", "described.toml"]
    yield "learn", ["learn", "pilot.csv", "--schema", "schema.toml", "-o", "model.json"]
    yield "survey propose", ["survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml"]
    asked = ["--table", "wave.csv", "--rows", str(RESPONDENTS), "-o", "release.toml"]
    yield "survey request", ["survey", "request", "survey.toml", *asked]
    yield "plan", ["plan", "release.toml", "--html", "plan.html"]
    yield "release", ["release", "release.toml", "-o", "out", "--yes"]
    yield "verify", ["verify", "out/certificate.json"]


def run() -> dict[str, float]:
    """Measure, and print the figures."""
    values = tuple(str(answer) for answer in range(1, ANSWERS + 1))
    columns = tuple(Categorical(f"q{number}", values, missing="drop") for number in range(QUESTIONS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = name
        wave(folder / "pilot.csv", 1)
        wave(folder / "wave.csv", 2)
        write_schema(Schema(columns, unit=Cells(), rows=RESPONDENTS).approve(), folder / "schema.toml")
        found = {what: command(words, folder).cpu for what, words in commands()}
    for what, seconds in found.items():
        limit = LIMITS.get(what)
        said = (
            "" if limit is None else f", {'within' if seconds < limit else 'OVER'} the limit of {limit:g} s"
        )
        print(f"{what:<16} {seconds:6.2f} s of CPU{said}")
    return found
