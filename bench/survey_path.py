"""The survey path from file to report: CPU seconds of every command, on the surveys of ENTWINED_DATA and one made up.

One half of the rows is the public pilot, the other half is released, every question of it, with Gaussian noise. What
the pilot shows of the design is taken as confirmed; of forms the first that hardly anything tells about.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.measure import command
from bench.surveys import FILES, RANDOM_FORM, codebook, file_of, split
from entwined.schema import Categorical, Cells, Schema, write_schema

QUESTIONS: Final = 300
WIDE: Final = 594  # columns that are only described
RESPONDENTS: Final = 700
ANSWERS: Final = 5
DELTA: Final = "1e-6"
LIMITS: Final = {"describe": 8.0, "request": 20.0, "plan": 8.0, "release": 8.0, "verify": 2.0}
GIGABYTES: Final = 1.0


def wave(path: Path, seed: int, questions: int) -> None:
    """Write answers that hang together along the questionnaire and through one mood."""
    random = np.random.default_rng(seed)
    shape = (RESPONDENTS, questions)
    mood = random.integers(1, ANSWERS + 1, (RESPONDENTS, 1))
    answers = np.where(random.random(shape) < 0.4, mood, random.integers(1, ANSWERS + 1, shape))
    for question in range(1, questions):
        alike = random.random(RESPONDENTS) < 0.3
        answers[alike, question] = answers[alike, question - 1]
    head = ",".join(f"q{number}" for number in range(questions))
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in answers)]) + "\n")


def generated(folder: Path) -> int:
    """Make up a survey in two waves, and its schema; say how many answered."""
    wave(folder / "pilot.csv", 1, QUESTIONS)
    wave(folder / "rest.csv", 2, QUESTIONS)
    values = tuple(str(answer) for answer in range(1, ANSWERS + 1))
    columns = tuple(Categorical(f"q{number}", values, missing="drop") for number in range(QUESTIONS))
    write_schema(Schema(columns, unit=Cells(), rows=RESPONDENTS).approve(), folder / "schema.toml")
    return RESPONDENTS


def taken(name: str, folder: Path) -> int:
    """Cut a survey in two, and write its schema; say how many answered in the half that is released."""
    _, _, rows = split(file_of(name), folder)
    write_schema(replace(codebook(file_of(name)), unit=Cells(), rows=rows).approve(), folder / "schema.toml")
    return rows


def confirm(path: Path) -> None:
    """Confirm what is proposed, of forms the first if it looks drawn at random."""
    entries = re.split(r"(?m)^(?=# ')", path.read_text())
    seen = 0
    for place, entry in enumerate(entries):
        if "[[form]]" in entry:
            told = re.search(r"more than ([\d.]+) nats", entry)
            seen += 1
            if seen > 1 or told is None or float(told[1]) >= RANDOM_FORM:
                continue
        entries[place] = entry.replace("confirmed = false", "confirmed = true")
    path.write_text("".join(entries))


def commands(rows: int, knowledge: str) -> Iterator[tuple[str, list[str]]]:
    """Say what is run, in order."""
    asked = ["--table", "rest.csv", "--rows", str(rows), "--knowledge", knowledge, "--delta", DELTA]
    yield "request", ["survey", "request", "survey.toml", *asked, "-o", "release.toml"]
    yield "plan", ["plan", "release.toml", "--html", "plan.html"]
    yield "release", ["release", "release.toml", "-o", "out", "--yes"]
    yield "verify", ["verify", "out/certificate.json"]


def measured(what: str, words: list[str], folder: Path) -> dict[str, float]:
    """Run one command and hold it against its limit."""
    took = command(words, folder)
    limit = LIMITS.get(what)
    within = limit is None or (took.cpu < limit and (what != "request" or took.gigabytes < GIGABYTES))
    said = "" if limit is None else f", {'within' if within else 'OVER'} the limit of {limit:g} s"
    print(f"  {what:<10} {took.cpu:6.2f} s of CPU, {took.gigabytes:.2f} GB{said}")
    return {"cpu": took.cpu, "gigabytes": took.gigabytes}


def path_of(name: str, knowledge: str) -> dict[str, Any]:
    """Walk the whole path with one survey."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["XDG_STATE_HOME"] = place
        rows = taken(name, folder) if name in FILES else generated(folder)
        print(f"{name}, knowledge {knowledge}")
        propose = ["survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml"]
        found = {"describe": measured("describe", ["describe", "rest.csv", "-o", "described.toml"], folder)}
        found["propose"] = measured("propose", propose, folder)
        confirm(folder / "survey.toml")
        return found | {what: measured(what, words, folder) for what, words in commands(rows, knowledge)}


def described() -> dict[str, float]:
    """Describe a very wide file."""
    with tempfile.TemporaryDirectory() as place:
        print(f"{WIDE} generated columns")
        wave(Path(place) / "wide.csv", 3, WIDE)
        return measured("describe", ["describe", "wide.csv", "-o", "described.toml"], Path(place))


def run() -> dict[str, Any]:
    """Print and return all figures; where no data is given, of the generated survey alone."""
    names = [name for name in FILES if file_of(name).exists()]
    if not names:
        print("Only a generated survey: set ENTWINED_DATA to the folder of the surveys for the others.")
    found: dict[str, Any] = {f"describe {WIDE}": described()}
    for name in (*names, "generated"):
        found[name] = {knowledge: path_of(name, knowledge) for knowledge in ("any", "model")}
    return found
