"""Run a command in a process of its own and see what it takes."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Taken(NamedTuple):
    """What a command took, and what it printed."""

    wall: float
    cpu: float
    gigabytes: float
    output: str


def command(arguments: list[str], folder: Path) -> Taken:
    """Run the `entwined` command as it is installed: with compiled code, and one thread a sum."""
    code = "import sys; sys.argv[0] = 'entwined'; from entwined.cli import main; main()"
    surrounding = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    running = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=surrounding | {"OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    output = running.stdout.read() if running.stdout else ""
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise RuntimeError(f"entwined {' '.join(arguments)} ended with {running.returncode}")
    wall = time.perf_counter() - began
    return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024**2, output)
