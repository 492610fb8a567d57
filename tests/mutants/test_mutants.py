"""Bugs that would break a promise are noticed: they are planted one at a time, and some test must fail."""

import ast
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mutants import SOURCE, mutants
from mutants.__main__ import mutate, note, refusals
from mutants.faults import faults_in
from mutants.field import WORKERS, Field
from mutants.reaching import Reach

HERE = Path(__file__).parent.parent.parent
PLANTED = mutants()
FEWEST = 40
CAUGHT = 0.95
FEW = 12  # random faults
NOTICED = 0.6  # of them at least, those that change nothing counted as not noticed
WATCHED = ("promise", "noise")


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
    selections = {mutant.tests for mutant in PLANTED}
    with ThreadPoolExecutor(WORKERS) as pool:
        assert set(pool.map(field.passes, sorted(selections))) == {0}


@pytest.mark.slow
def test_random_faults_are_noticed(tmp_path, capsys):
    """A few of them, drawn anew each time, in two rooms and by their own tests; `make mutate` plants more, anywhere."""
    before = {path: path.read_bytes() for path in SOURCE.rglob("*.py")}
    note(tmp_path / "reach", [f"tests/{room}" for room in WATCHED])
    with capsys.disabled():
        ends = mutate(FEW, secrets.randbelow(10**6), tmp_path / "reach", WATCHED)
    assert {path: path.read_bytes() for path in SOURCE.rglob("*.py")} == before
    assert len(ends) == FEW
    assert sum(end != 0 for _, end in ends) >= NOTICED * FEW
    reach = Reach(tmp_path / "reach")
    assert reach.tests("promise/price.py", 1 + _line("promise/price.py", "def worst"))
    assert all("promise/" in file for file, _, _ in refusals(reach, ("promise",)))


def _line(file, start):
    return next(at for at, line in enumerate((SOURCE / file).read_text().splitlines(), 1) if start in line)


def test_a_random_fault_is_one_slip_in_one_place():
    """Each can be planted, is code again, and changes what the file does; of every kind there are some."""
    kinds = set()
    for file in ("promise/measure.py", "promise/price.py", "bounds/theorem.py", "noise/laplace.py"):
        text = (SOURCE / file).read_text()
        sound = ast.dump(ast.parse(text))
        faults = faults_in(file)
        for fault in faults:
            planted = fault.planted(text)
            assert ast.dump(ast.parse(planted)) != sound, fault.name
            kinds.add(fault.kind.split(" ")[0])
        assert faults
    assert {"comparison", "arithmetic", "dropped", "off", "min", "max", "swapped", "and/or"} <= kinds
