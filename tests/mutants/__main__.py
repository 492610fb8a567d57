"""Plant random faults and say which no test notices, or list the refusals that no test reaches.

    make mutate N=200 SEED=7     faults in the rooms that decide over privacy, money and truth
    make refusals                each `raise` of these rooms that no fast test runs

Both need to know which test runs which line. It is noted once, in `.reach` (`make reach`), by running the fast tests.
A fault that no test notices is not always a gap: some change nothing that matters (a limit of time or memory, a bound
that only becomes looser, a message). That is judged by reading; the file in which the judgements stand is
`equivalent.toml`, by the text of the line, so that a judged fault is not planted again.
"""

import argparse
import ast
import os
import random
import secrets
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from mutants import HERE, SOURCE
from mutants.faults import ROOMS, all_faults
from mutants.field import ROOT, WORKERS, Field
from mutants.reaching import VARIABLE, Reach

REACH = ROOT / ".reach"
MOST_TESTS = 40  # of those that reach a line: those of the fewest files first


def note(folder, words):
    """Run tests and note which lines each runs."""
    surroundings = {**os.environ, VARIABLE: str(folder), "PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants.reaching", "-m", "not slow", *words]
    subprocess.run(command, cwd=ROOT, env=surroundings, check=False)


def judged():
    """Faults that were read and found to change nothing that matters: file, text of the line, kind."""
    entries = tomllib.loads((HERE / "equivalent.toml").read_text()).get("fault", [])
    return {(entry["file"], entry["line"], entry["kind"]) for entry in entries}


def drawn(reach, number, seed, rooms=ROOMS):
    """Draw faults in lines that some test runs, each with the tests that do."""
    known, generator = judged(), random.Random(seed)
    faults = all_faults(rooms)
    generator.shuffle(faults)
    for fault in faults:
        if number == 0:
            return
        line = (SOURCE / fault.file).read_text().splitlines()[fault.line - 1].strip()
        tests = reach.tests(fault.file, fault.line)
        if tests and (fault.file, line, fault.kind) not in known:
            number -= 1
            chosen = generator.sample(tests, min(MOST_TESTS, len(tests)))
            yield replace(fault, tests=tuple(sorted(chosen)))


def mutate(number, seed, folder=REACH, rooms=ROOMS):
    """Plant faults one at a time in copies of the source; give how each ended."""
    print(f"seed {seed}: make mutate N={number} SEED={seed} plants the same", flush=True)
    faults = list(drawn(Reach(folder), number, seed, rooms))
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(WORKERS) as pool:
        ends = list(pool.map(Field(Path(work)).ends, faults))
    survived = [fault for fault, end in zip(faults, ends, strict=True) if end == 0]
    print(f"{len(faults)} faults, {len(faults) - len(survived)} noticed, {len(survived)} not:")
    for fault in survived:
        print(f"  {fault.name}    ({len(fault.tests)} tests run it)")
    return list(zip(faults, ends, strict=True))


def refusals(reach, rooms=ROOMS):
    """List each `raise` that no test runs: file, line, and the start of what it says."""
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            file = str(path.relative_to(SOURCE))
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Raise) and not reach.is_run(file, node.lineno):
                    yield file, node.lineno, " ".join(ast.unparse(node).split())[:90]


def count_refusals(rooms=ROOMS):
    """Count every `raise`."""
    files = [path for room in rooms for path in (SOURCE / room).rglob("*.py")]
    return sum(
        isinstance(node, ast.Raise) for path in files for node in ast.walk(ast.parse(path.read_text()))
    )


def main():
    """Read the words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=["reach", "mutate", "refusals"])
    parser.add_argument("tests", nargs="*", help="for reach: what pytest is given, all fast tests if nothing")
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--room", action="append")
    given, more = parser.parse_known_args()
    rooms = tuple(given.room or ROOMS)
    if given.act == "reach" or not REACH.exists():
        note(REACH, [*given.tests, *more] if given.act == "reach" else [])
    if given.act == "mutate":
        mutate(given.number, secrets.randbelow(10**6) if given.seed is None else given.seed, rooms=rooms)
    if given.act == "refusals":
        found = list(refusals(Reach(REACH), rooms))
        for file, line, says in found:
            print(f"{file}:{line}  {says}")
        print(f"{len(found)} of {count_refusals(rooms)} refusals are run by no fast test")


if __name__ == "__main__":
    main()
