"""Bugs that would break a promise are noticed: they are planted one at a time, and some test must fail."""

import ast
import compileall
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest

from mutants import SOURCE, mutants

HERE = Path(__file__).parent.parent.parent
PLANTED = mutants()
FEWEST = 40
WORKERS = 2
CAUGHT = 0.95
PATIENCE = 240
ENDS = {0: "SURVIVED", 1: "caught", -1: "TOOK TOO LONG"}


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda mutant: mutant.name)
def test_every_bug_can_still_be_planted(mutant):
    """So that the list does not rot: its texts stand in the source once, and its tests are there."""
    planted = mutant.planted((SOURCE / mutant.file).read_text())
    ast.parse(planted)
    files = [word for word in mutant.tests if word.endswith(".py")]
    assert files
    assert all((HERE / file).is_file() for file in files)


def test_names_are_there_once_and_bugs_enough():
    assert len({mutant.name for mutant in PLANTED}) == len(PLANTED) >= FEWEST


class Field:
    """Copies of the source to plant in, one a worker."""

    def __init__(self, folder):
        self._free = Queue()
        for worker in range(WORKERS):
            copy = folder / str(worker)
            shutil.copytree(SOURCE, copy / "entwined", ignore=shutil.ignore_patterns("__pycache__"))
            compileall.compile_dir(copy, quiet=1)
            self._free.put(copy)

    def ends(self, mutant):
        """Plant one bug and give how pytest ended."""
        copy = self._free.get()
        file = copy / "entwined" / mutant.file
        sound = file.read_text()
        start = time.monotonic()
        try:
            file.write_text(mutant.planted(sound))
            for stale in file.parent.glob(f"__pycache__/{file.stem}.*"):
                stale.unlink()
            ended = run(copy, mutant.tests)
            print(
                f"{ENDS.get(ended, f'DID NOT RUN ({ended})'):>13} {time.monotonic() - start:5.1f} s  {mutant.name}"
            )
            return ended
        finally:
            file.write_text(sound)
            self._free.put(copy)


def run(copy, tests):
    """Run tests against a copy of the source; 0 if all pass, 1 if some fail."""
    words = [word.replace("src/", f"{copy}/") if word.startswith("src/") else word for word in tests]
    surroundings = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "pyproject.toml",
        *words,
    ]
    try:
        return subprocess.run(
            command, cwd=HERE, env=surroundings, capture_output=True, check=False, timeout=PATIENCE
        ).returncode
    except subprocess.TimeoutExpired:
        return -1


@pytest.mark.slow
def test_planted_bugs_are_noticed(tmp_path, capsys):
    field = Field(tmp_path)
    with capsys.disabled(), ThreadPoolExecutor(WORKERS) as pool:
        ended = list(pool.map(field.ends, PLANTED))
        caught = ended.count(1)
        print(f"{len(PLANTED)} bugs planted, {caught} caught, {len(PLANTED) - caught} not")
    assert caught >= CAUGHT * len(PLANTED)
    assert set(ended) <= {0, 1}


@pytest.mark.slow
def test_without_a_bug_the_same_tests_pass(tmp_path):
    """Else a bug could be caught by what fails anyway."""
    field = Field(tmp_path)
    copy = field._free.get()
    selections = {mutant.tests for mutant in PLANTED}
    with ThreadPoolExecutor(WORKERS) as pool:
        assert set(pool.map(lambda tests: run(copy, tests), sorted(selections))) == {0}
