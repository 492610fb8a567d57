"""Copies of the source in which bugs are planted, one at a time; the checkout itself is never touched."""

import compileall
import os
import shutil
import subprocess
import sys
import time
from queue import Queue

from mutants import SOURCE

ROOT = SOURCE.parent.parent
WORKERS = 2
PATIENCE = 240
ENDS = {0: "SURVIVED", 1: "caught", -1: "TOOK TOO LONG"}


class Field:
    """Copies of the source to plant in, one a worker."""

    def __init__(self, folder, workers=WORKERS):
        self._free = Queue()
        for worker in range(workers):
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
                f"{ENDS.get(ended, f'DID NOT RUN ({ended})'):>13} {time.monotonic() - start:5.1f} s  {mutant.name}",
                flush=True,
            )
            return ended
        finally:
            file.write_text(sound)
            self._free.put(copy)

    def passes(self, tests):
        """Say how tests end without a bug."""
        copy = self._free.get()
        try:
            return run(copy, tests)
        finally:
            self._free.put(copy)


def run(copy, tests):
    """Run tests against a copy of the source; 0 if all pass, 1 if some fail, -1 if they do not end."""
    words = [word.replace("src/", f"{copy}/") if word.startswith("src/") else word for word in tests]
    surroundings = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    try:
        return subprocess.run(
            [*pytest, *words], cwd=ROOT, env=surroundings, capture_output=True, check=False, timeout=PATIENCE
        ).returncode
    except subprocess.TimeoutExpired:
        return -1
