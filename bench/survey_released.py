"""Surveys through the door: the L2 error of the numbers that were released, beside that of plain Gaussian noise.

One half of the rows is the pilot; the other half is released by the commands, at leakage 1 and δ = 10⁻⁶. All columns
count, those that others decide and questions that some forms leave out included. The numbers are those that were drawn,
before anything was made to agree, as the error of plain noise is that of its draws.
"""

import json
import os
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.measure import command
from bench.survey_path import commands, confirm, taken
from bench.surveys import FILES, KNOWLEDGE, file_of, histogram
from entwined.bounds.profiles.curves import largest_shift
from entwined.estimate.answers import Release
from entwined.learning.codes import public_codes
from entwined.survey.proposals import read_confirmed
from entwined.survey.survey import Survey

RUNS: Final = 3


def drawn_of(survey: Survey, release: Release) -> dict[str, Any]:
    """The histogram of every column from what was drawn; those who were not asked are counted by the form."""
    answers = {json.loads(one.asked)["column"]: one for one in release.answers}
    found: dict[str, Any] = {}
    for name in reversed(survey.released):  # the form first
        cells = np.array(answers[name].numbers[0], dtype=float)
        blank = survey.blanks.get(name)
        if blank is not None:
            others = np.delete(found[blank.by], list(blank.asked)).sum()
            weights = json.loads(answers[name].asked).get("weights")
            if weights is not None:
                cells -= others * np.array(weights) / sum(weights)
            if blank.code < cells.size:
                cells[blank.code] = others
        found[name] = cells
    for one in survey.decided:
        cells = np.zeros(survey.cells[one.column] + 2)  # −1, an answer nobody gave, is the last
        np.add.at(cells, list(one.answers[: found[one.by].size]), found[one.by])
        found[one.column] = cells
    return found


def released(name: str, knowledge: str) -> dict[str, float]:
    """Walk the path once, and hold what was drawn against the true counts."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["XDG_STATE_HOME"] = place
        rows = taken(name, folder)
        command(["survey", "propose", "pilot.csv", "--schema", "schema.toml", "-o", "survey.toml"], folder)
        confirm(folder / "survey.toml")
        for what, words in commands(rows, knowledge):
            if what != "plan":
                command(words, folder)
        schema, survey = read_confirmed(folder / "survey.toml")
        rest = public_codes(folder / "rest.csv", schema)
        release = Release.from_document(json.loads((folder / "out" / "release.json").read_text()))
    drawn, squares = drawn_of(survey, release), 0.0
    for column, cells in survey.cells.items():
        squares += float(np.sum((drawn[column][:cells] - histogram(rest, column)[:cells]) ** 2))
    plain = (
        2
        * len(survey.cells)
        * sum(survey.cells.values())
        / largest_shift(Fraction(1), Fraction(1, 10**6)) ** 2
    )
    return {"l2": squares**0.5, "plain_gaussian_l2": plain**0.5, "gain": (plain / squares) ** 0.5}


def run() -> dict[str, Any]:
    """Print and return all figures."""
    figures: dict[str, Any] = {}
    for name in (one for one in FILES if file_of(one).exists()):
        for knowledge in KNOWLEDGE:
            found = [released(name, knowledge) for _ in range(RUNS)]
            figures[f"{name}, {knowledge}"] = found
            gains = ", ".join(f"{one['gain']:.3f}" for one in found)
            mean = (found[0]["plain_gaussian_l2"] ** 2 / np.mean([one["l2"] ** 2 for one in found])) ** 0.5
            print(
                f"  {name}, knowledge {knowledge}: {gains}; of the mean squared error {mean:.3f}", flush=True
            )
    if not figures:
        print("Set ENTWINED_DATA to the folder of the surveys.")
    return figures
